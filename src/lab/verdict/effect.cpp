#include "lab/verdict/effect.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/permutation.hpp"
#include "lab/measure/ranks.hpp"

namespace tare::verdict {
namespace {

using Processes = std::vector<std::vector<double>>;

/// From here on the sign test of processes can fall to 5 %.
constexpr std::size_t fewest_paired_processes = 6;
constexpr std::size_t fewest_processes = 4;

/// Relabelling costs about (1−q) of the samples each time; more samples get fewer of them.
std::size_t permutations_for(std::size_t samples) {
  constexpr std::size_t work = 20'000'000;
  return std::clamp<std::size_t>(work / std::max<std::size_t>(samples, 1), 199,
                                 measure::default_permutations);
}

Processes by_process(const Series& series) {
  std::map<std::uint32_t, std::vector<double>> groups;
  const auto at = [&](std::size_t i) { return series.samples.begin() + static_cast<std::ptrdiff_t>(i); };
  // Samples of one process mostly stand together.
  for (std::size_t start = 0, end = 0; start < series.samples.size(); start = end) {
    while (end < series.samples.size() && series.process[end] == series.process[start]) ++end;
    std::vector<double>& group = groups[series.process[start]];
    group.insert(group.end(), at(start), at(end));
  }
  Processes processes;
  for (auto& [process, samples] : groups) processes.push_back(std::move(samples));
  return processes;
}

std::size_t processes_of(const Series& series) {
  std::set<std::uint32_t> processes;
  for (std::size_t i = 0; i < series.process.size(); ++i) {
    if (i == 0 || series.process[i] != series.process[i - 1]) processes.insert(series.process[i]);
  }
  return processes.size();
}

std::vector<double> quantiles_of(const Processes& processes, double q) {
  std::vector<double> values;
  for (const std::vector<double>& samples : processes) values.push_back(quantile_of(samples, q));
  return values;
}

bool each_carries(const Processes& processes, double q) {
  return std::ranges::all_of(processes,
                             [&](const auto& one) { return one.size() >= measure::smallest_n(q); });
}

/// By what the new side is divided before it is tested, so that a change within the tolerance is none.
/// Nothing when the change that was seen is within it.
std::optional<double> tolerated(const std::optional<double>& ratio, double tolerance) {
  if (tolerance <= 0 || !ratio) return 1.0;
  if (*ratio > 1 + tolerance) return 1 + tolerance;
  if (*ratio < 1 - tolerance) return 1 - tolerance;
  return std::nullopt;
}

std::vector<double> divided(std::vector<double> values, double by) {
  if (by != 1) {
    for (double& value : values) value /= by;
  }
  return values;
}

struct Pairs {
  std::vector<double> base;
  std::vector<double> now;
  std::vector<std::uint32_t> process;  ///< of the new side
};

Pairs pairs_of(const Series& base, const Series& now) {
  std::map<std::uint32_t, double> by_round;
  for (std::size_t i = 0; i < base.samples.size(); ++i) by_round.emplace(base.round[i], base.samples[i]);
  Pairs pairs;
  for (std::size_t i = 0; i < now.samples.size(); ++i) {
    const auto found = by_round.find(now.round[i]);
    if (found == by_round.end()) continue;
    pairs.base.push_back(found->second);
    pairs.now.push_back(now.samples[i]);
    pairs.process.push_back(now.process[i]);
  }
  return pairs;
}

/// One pair a process: the medians of its rounds' log-ratios, as now ÷ 1.
std::optional<Pairs> by_process(const Pairs& pairs) {
  std::map<std::uint32_t, std::vector<double>> logs;
  for (std::size_t i = 0; i < pairs.now.size(); ++i) {
    if (!(pairs.now[i] > 0) || !(pairs.base[i] > 0)) return std::nullopt;
    logs[pairs.process[i]].push_back(std::log(pairs.now[i] / pairs.base[i]));
  }
  if (logs.size() < fewest_paired_processes) return std::nullopt;
  Pairs result;
  for (auto& [process, values] : logs) {
    std::ranges::sort(values);
    result.base.push_back(1);
    result.now.push_back(std::exp(measure::midpoint_of_sorted(values)));
    result.process.push_back(process);
  }
  return result;
}

/// The median difference of each process's rounds, ascending.
std::vector<double> differences_by_process(const Pairs& pairs) {
  std::map<std::uint32_t, std::vector<double>> differences;
  for (std::size_t i = 0; i < pairs.now.size(); ++i)
    differences[pairs.process[i]].push_back(pairs.now[i] - pairs.base[i]);
  std::vector<double> medians;
  for (auto& [process, values] : differences) {
    std::ranges::sort(values);
    medians.push_back(measure::midpoint_of_sorted(values));
  }
  std::ranges::sort(medians);
  return medians;
}

double sign_p(const Pairs& pairs, double by) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < pairs.now.size(); ++i) differences.push_back(pairs.now[i] / by - pairs.base[i]);
  return measure::sign_test(differences);
}

void take(Effect& effect, const measure::Comparison& result) {
  effect.ratio = result.ratio;
  effect.interval = result.ratio_interval;
  effect.difference = result.difference;
  effect.difference_interval = result.difference_interval;
  effect.method = result.method;
  if (!result.notes.empty()) effect.reason = text::join(result.notes, "; ");
}

void paired_median(Effect& effect, const Pairs& rounds, const Question& question) {
  take(effect, measure::compare_paired(rounds.now, rounds.base));
  const std::optional<Pairs> processes = by_process(rounds);
  if (processes) {
    const measure::Comparison result = measure::compare_paired(processes->now, processes->base);
    effect.ratio = result.ratio;
    effect.interval = result.ratio_interval;
    effect.pairs = result.pairs;
    effect.method = "median over processes of their rounds' paired log-ratios, sign-test interval";
    effect.reason.reset();
    const std::vector<double> differences = differences_by_process(rounds);
    effect.difference = measure::midpoint_of_sorted(differences);
    effect.difference_interval = measure::quantile_interval(differences, 0.5);
  }
  const auto by = tolerated(effect.ratio, question.tolerance);
  if (effect.interval || effect.difference_interval)
    effect.p = by ? sign_p(processes.value_or(rounds), *by) : 1.0;
}

/// One pair a process: the quantile of each side's rounds in it. Nothing when there are too few processes, or
/// one has too few rounds.
std::optional<Pairs> quantiles_by_process(const Pairs& rounds, double q) {
  std::map<std::uint32_t, std::pair<std::vector<double>, std::vector<double>>> sides;
  for (std::size_t i = 0; i < rounds.now.size(); ++i) {
    auto& [base, now] = sides[rounds.process[i]];
    base.push_back(rounds.base[i]);
    now.push_back(rounds.now[i]);
  }
  if (sides.size() < fewest_paired_processes) return std::nullopt;
  Pairs result;
  for (auto& [process, side] : sides) {
    if (side.first.size() < measure::smallest_n(q)) return std::nullopt;
    result.base.push_back(quantile_of(std::move(side.first), q));
    result.now.push_back(quantile_of(std::move(side.second), q));
    result.process.push_back(process);
  }
  return result;
}

void paired_tail(Effect& effect, const Pairs& rounds, const Question& question) {
  if (const auto processes = quantiles_by_process(rounds, question.quantile)) {
    take(effect, measure::compare_paired(processes->now, processes->base));
    effect.pairs = processes->now.size();
    effect.method = "median over processes of their quantiles' log-ratios, sign-test interval";
    const auto by = tolerated(effect.ratio, question.tolerance);
    if (effect.interval || effect.difference_interval) effect.p = by ? sign_p(*processes, *by) : 1.0;
    return;
  }
  const std::size_t resamples = std::min(measure::default_resamples, permutations_for(2 * rounds.now.size()));
  take(effect,
       measure::quantile_ratio_paired(rounds.now, rounds.base, question.quantile, question.seed, resamples));
  const auto by = tolerated(effect.ratio, question.tolerance);
  if (!effect.interval) return;
  effect.p = by ? measure::paired_permutation_test(divided(rounds.now, *by), rounds.base, question.quantile,
                                                   question.seed, permutations_for(2 * rounds.now.size()))
                : 1.0;
}

/// The change as far as it is seen, without a word on how sure it is.
void bare_change(Effect& effect) {
  effect.method = "quantile ÷ quantile of all samples";
  if (!effect.base || !effect.now) return;
  effect.difference = *effect.now - *effect.base;
  if (*effect.base > 0 && *effect.now > 0) effect.ratio = *effect.now / *effect.base;
}

std::string too_few_in_each(double q) {
  return fmt::format("each process needs {} samples for this quantile", measure::smallest_n(q));
}

/// The samples of each process, by its number.
std::map<std::uint32_t, std::vector<double>> samples_by_process(const Series& series) {
  std::map<std::uint32_t, std::vector<double>> processes;
  for (std::size_t i = 0; i < series.samples.size(); ++i)
    processes[series.process[i]].push_back(series.samples[i]);
  return processes;
}

/// Processes that both sides have, however many samples each took.
void paired_processes(Effect& effect, const Series& base, const Series& now, const Question& question) {
  const auto bases = samples_by_process(base);
  Pairs pairs;
  for (const auto& [process, samples] : samples_by_process(now)) {
    const auto found = bases.find(process);
    if (found == bases.end()) continue;
    if (std::min(samples.size(), found->second.size()) < measure::smallest_n(question.quantile)) {
      effect.reason = too_few_in_each(question.quantile);
      return bare_change(effect);
    }
    pairs.base.push_back(quantile_of(found->second, question.quantile));
    pairs.now.push_back(quantile_of(samples, question.quantile));
  }
  take(effect, measure::compare_paired(pairs.now, pairs.base));
  effect.pairs = pairs.now.size();
  effect.delta = measure::cliffs_delta(pairs.now, pairs.base);
  effect.method = "median over processes of their quantiles' log-ratios, sign-test interval";
  const auto by = tolerated(effect.ratio, question.tolerance);
  if (effect.interval || effect.difference_interval) effect.p = by ? sign_p(pairs, *by) : 1.0;
}

void paired(Effect& effect, const Series& base, const Series& now, const Question& question) {
  if (question.paired_by == PairedBy::processes) return paired_processes(effect, base, now, question);
  const Pairs rounds = pairs_of(base, now);
  effect.pairs = rounds.now.size();
  effect.delta = measure::cliffs_delta(rounds.now, rounds.base);
  if (rounds.now.empty()) {
    effect.reason = "no round in which both have a good sample";
  } else if (question.quantile == 0.5) {
    paired_median(effect, rounds, question);
  } else {
    paired_tail(effect, rounds, question);
  }
}

void unpaired(Effect& effect, const Series& base, const Series& now, const Question& question) {
  const Processes a = by_process(base);
  Processes b = by_process(now);
  const double q = question.quantile;
  effect.pairs = std::min(a.size(), b.size());
  if (effect.pairs < fewest_processes) {
    effect.delta = measure::cliffs_delta(now.samples, base.samples);
    effect.reason = fmt::format("needs {} processes a side ({}), has {} and {}", fewest_processes,
                                question.repeat_flag, a.size(), b.size());
    return bare_change(effect);
  }
  if (!each_carries(a, q) || !each_carries(b, q)) {
    effect.reason = too_few_in_each(q);
    return bare_change(effect);
  }
  const std::vector<double> base_values = quantiles_of(a, q);
  const std::vector<double> now_values = quantiles_of(b, q);
  const measure::Unpaired result = measure::compare_unpaired(now_values, base_values);
  effect.ratio = result.ratio;
  effect.interval = result.ratio_interval;
  effect.difference = result.shift;
  effect.difference_interval = result.interval;
  effect.delta = result.delta;
  if (!result.notes.empty()) effect.reason = text::join(result.notes, "; ");
  const auto by = tolerated(effect.ratio, question.tolerance);
  if (q == 0.5) {
    effect.method = "medians of processes: " + result.method;
    const auto test = measure::mann_whitney(divided(now_values, by.value_or(1)), base_values);
    effect.p = by && test ? test->p : 1.0;
    return;
  }
  effect.method = "quantiles of processes: Hodges-Lehmann shift, p by relabelling whole processes";
  if (!by) {
    effect.p = 1.0;
    return;
  }
  for (std::vector<double>& samples : b) samples = divided(std::move(samples), *by);
  effect.p = measure::process_permutation_test(a, b, q, question.seed,
                                               permutations_for(base.samples.size() + now.samples.size()));
}

/// Figures that left the range of numbers are none.
Effect only_finite(Effect effect) {
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto fits = [&](const std::optional<Interval>& interval) {
    return !interval || (finite((*interval)[0]) && finite((*interval)[1]));
  };
  if ((!effect.ratio || finite(*effect.ratio)) && (!effect.difference || finite(*effect.difference)) &&
      fits(effect.interval) && fits(effect.difference_interval)) {
    return effect;
  }
  effect.ratio = effect.difference = effect.p = std::nullopt;
  effect.interval = effect.difference_interval = std::nullopt;
  effect.reason = "the samples are too far apart for a number";
  return effect;
}

}  // namespace

Effect effect_of(const Series& base, const Series& now, const Question& question) {
  Effect effect;
  effect.base_n = count_of(base);
  effect.now_n = count_of(now);
  effect.base_processes = processes_of(base);
  effect.now_processes = processes_of(now);
  if (effect.base_n == 0 || effect.now_n == 0) {
    effect.reason = effect.base_n == 0 ? "the base has no good sample" : "no good sample";
    return effect;
  }
  const std::size_t least = measure::smallest_n(question.quantile);
  if (std::min(effect.base_n, effect.now_n) < least) {
    effect.reason = measure::not_carried(question.quantile);
    return effect;
  }
  effect.base = quantile_of(base, question.quantile);
  effect.now = quantile_of(now, question.quantile);
  if (base.counted || now.counted) {
    bare_change(effect);
    effect.reason = "more samples were taken than are kept, so that no test can tell how sure the change is";
  } else if (question.pairing == Pairing::paired) {
    paired(effect, base, now, question);
  } else {
    unpaired(effect, base, now, question);
  }
  return only_finite(std::move(effect));
}

}  // namespace tare::verdict
