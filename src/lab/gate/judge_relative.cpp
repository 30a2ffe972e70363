#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/judge.hpp"
#include "lab/measure/holm.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/figures.hpp"
#include "lab/verdict/calibration.hpp"
#include "lab/verdict/effect.hpp"
#include "lab/verdict/pairing.hpp"

/// Quantiles of a lane against those of the baseline, or of another lane of the same run.
namespace tare::gate {
namespace {

using report::Metric;
using report::Verdict;
using verdict::Effect;
using verdict::effect_of;
using verdict::in_unit;
using verdict::minimum_detectable;
using verdict::Pairing;
using verdict::Series;
using verdict::series_of;

double quantile_share(const std::string& quantile) {
  return text::to_double(quantile.substr(1)).value_or(50) / 100;
}

std::string percent(double share) {
  return text::significant(std::abs(share) * 100) + " %";
}

/// "+37 %", "−5 %"
std::string change_text(double ratio) {
  return (ratio < 1 ? "−" : "+") + percent(ratio - 1);
}

/// How far a limit lies from "no change".
double share_of(double limit) {
  return std::abs(limit - 1);
}

class Measurement {
 public:
  Measurement(const BudgetSpec& budget, const Place& place, std::string metric, const RelativeScene& scene)
      : budget_(budget), place_(place), metric_(std::move(metric)), scene_(scene) {
    result_ = blank(budget, place.row, place.target);
    result_.metric = metric_;
    result_.unit = "×";
    if (budget.max) result_.max = budget.max->value;
    if (budget.min) result_.min = budget.min->value;
  }

  Relative measure();

 private:
  bool to_baseline() const { return budget_.versus == versus_baseline; }
  /// Lanes of one run suffer alike from whatever else ran.
  double noise_floor() const { return to_baseline() ? scene_.noise_floor : 0; }
  Pairing pairing() const {
    return to_baseline() ? Pairing::unpaired : verdict::pairing_of_lanes(*place_.base, *place_.now);
  }
  std::string_view flag() const { return verdict::repeat_flag(*place_.now); }
  std::string base_name() const { return to_baseline() ? "the baseline" : budget_.versus; }

  std::optional<std::string> why_not() const;
  std::string bad_samples() const;
  bool asynchronous(const std::string& target) const;
  Relative done(Verdict verdict, const std::string& reason);
  Relative from_zero();
  Relative compared(const Effect& effect);
  Effect effect(const Series& base, const Series& now) const;
  std::optional<double> detectable(const Effect& effect) const;

  const BudgetSpec& budget_;
  const Place& place_;
  std::string metric_;
  const RelativeScene& scene_;
  BudgetResult result_;
};

bool Measurement::asynchronous(const std::string& target) const {
  const auto found = std::ranges::find(scene_.run.targets, target, &report::Target::id);
  return found != scene_.run.targets.end() && found->asynchronous_spawn.value_or(false);
}

/// Why there is nothing to compare.
std::optional<std::string> Measurement::why_not() const {
  if (to_baseline() && scene_.baseline == nullptr) return "no --baseline was given";
  if (auto why = why_no_row(place_.now, "the run")) return why;
  if (auto why = why_no_row(place_.base, base_name())) return why;
  for (const report::Row* row : {place_.now, place_.base}) {
    const std::string where = row == place_.now ? "the run" : base_name();
    const auto found = row->metrics.find(metric_);
    if (found == row->metrics.end()) return fmt::format("{} has no metric '{}' of this row", where, metric_);
    if (found->second.summary.count == 0) return fmt::format("{} has no good sample", where);
  }
  const bool phase = metric_ != "total" && !to_baseline();
  if (phase && (asynchronous(place_.target) || asynchronous(budget_.versus)))
    return fmt::format("the spawn of {} returns before the work is done: their phases do not mean the same",
                       asynchronous(place_.target) ? place_.target : budget_.versus);
  return std::nullopt;
}

std::string Measurement::bad_samples() const {
  std::string text;
  for (const report::Row* row : {place_.now, place_.base}) {
    const Metric& metric = row->metrics.at(metric_);
    const report::SampleCount count = report::sample_count(*row, metric);
    if (count.ok == count.taken) continue;
    text = joined(text, fmt::format("{}{}: {}", row == place_.now ? "" : base_name() + " ",
                                    report::n_text(count), report::failure_text(*row, metric)));
  }
  return text;
}

Relative Measurement::done(Verdict verdict, const std::string& reason) {
  result_.verdict = verdict;
  if (!reason.empty()) result_.reason = reason;
  return {std::move(result_), std::nullopt};
}

/// There is no ratio to nothing: what was 0 must stay 0, unless the budget only asks for not less.
Relative Measurement::from_zero() {
  const std::string base = fmt::format("{} is 0", base_name());
  if (*result_.now > 0 && result_.max)
    return done(Verdict::fail, fmt::format("{}, now {}", base, figure_text(*result_.now, result_.base_unit)));
  return done(Verdict::pass, *result_.now > 0 ? base : base + ", and so is the new figure");
}

/// p asks about a change past the limit. A limit on the far side of "no change" (at most 0.9×) is none that
/// a tolerance can express: then the base is moved there.
Effect Measurement::effect(const Series& base, const Series& now) const {
  const double q = quantile_share(budget_.quantile);
  const auto ask = [&](const Series& from, double tolerance) {
    return effect_of(from, now,
                     {q, pairing(), tolerance, scene_.options.seed, verdict::paired_by(*place_.now), flag()});
  };
  const bool up = result_.max && (!result_.min || *result_.now >= *result_.base);
  const double limit = up ? *result_.max : *result_.min;
  if (up ? limit >= 1 : limit <= 1) return ask(base, share_of(limit));
  Effect plain = ask(base, 0);
  Series moved = base;
  for (double& sample : moved.samples) sample *= limit;
  plain.p = ask(moved, 0).p;
  return plain;
}

std::optional<double> Measurement::detectable(const Effect& effect) const {
  const std::uint64_t processes =
      std::max<std::uint64_t>(1, std::min(effect.base_processes, effect.now_processes));
  const std::uint64_t samples = std::min(effect.base_n, effect.now_n) / processes;
  std::optional<double> largest;
  for (const std::string& target : {place_.target, to_baseline() ? place_.target : budget_.versus}) {
    const auto one =
        minimum_detectable(scene_.options.calibrations,
                           {target, place_.row, metric_, budget_.quantile, pairing(), processes, samples});
    if (one) largest = std::max(largest.value_or(0), *one);
  }
  if (noise_floor() > 0) largest = std::max(largest.value_or(0), noise_floor());
  return largest;
}

Relative Measurement::compared(const Effect& effect) {
  const std::string bad = bad_samples();
  result_.measured = effect.ratio;
  result_.interval = effect.interval;
  result_.minimum_detectable = detectable(effect);
  if (!effect.ratio)
    return done(Verdict::unmeasured, joined(effect.reason.value_or("there is no ratio"), bad));
  if (to_baseline() && !scene_.same_machine && scene_.options.machines == Machines::must_match)
    return done(Verdict::inconclusive, joined("run and baseline are of different machines", bad));
  if (!effect.interval)
    return done(Verdict::inconclusive, joined(effect.reason.value_or("no interval"), bad));
  if (!bad.empty()) result_.reason = bad;
  const bool past =
      (result_.max && *effect.ratio > *result_.max) || (result_.min && *effect.ratio < *result_.min);
  return {std::move(result_),
          past ? effect.p.value_or(1) : 1.0,
          pairing(),
          effect.pairs,
          std::min(effect.base_processes, effect.now_processes),
          noise_floor(),
          flag()};
}

Relative Measurement::measure() {
  if (const auto why = why_not()) return done(Verdict::unmeasured, *why);
  const Series now = series_of(place_.now->metrics.at(metric_));
  const std::optional<Series> base = in_unit(series_of(place_.base->metrics.at(metric_)), now.unit);
  if (!base)
    return done(Verdict::unmeasured, fmt::format("{} is in {}, the run in {}", base_name(),
                                                 place_.base->metrics.at(metric_).unit, now.unit));
  const double q = quantile_share(budget_.quantile);
  const std::size_t least = measure::smallest_n(q);
  if (std::min(count_of(*base), count_of(now)) < least)
    return done(Verdict::unmeasured, fmt::format("{} in {}", measure::not_carried(q),
                                                 count_of(now) < least ? "the run" : base_name()));
  result_.now = verdict::quantile_of(now, q);
  result_.base = verdict::quantile_of(*base, q);
  result_.base_unit = now.unit;
  if (*result_.base == 0) {
    if (to_baseline() && !scene_.same_machine && scene_.options.machines == Machines::must_match)
      return done(Verdict::inconclusive, "run and baseline are of different machines");
    return from_zero();
  }
  return compared(effect(*base, now));
}

/// The change, which is of pairs or processes, before the figures of all samples, which may disagree with it:
/// "+37 % (p50 of all samples: 25.1 ms, then 34.4 ms)", "(…: node 25.1 ms, bun 34.4 ms)" of lanes.
std::string what_changed(const BudgetResult& result) {
  const std::string base = figure_text(*result.base, result.base_unit);
  const std::string now = figure_text(*result.now, result.base_unit);
  const bool lanes = result.versus != versus_baseline;
  return fmt::format("{} ({} of all samples: {})", change_text(*result.measured), *result.quantile,
                     lanes ? fmt::format("{} {}, {} {}", *result.versus, base, result.target, now)
                           : fmt::format("{}, then {}", base, now));
}

struct Judged {
  Verdict verdict;
  std::string reason;
};

/// Judges one, of `figures` whose p values were adjusted together.
class Judgement {
 public:
  Judgement(const Relative& one, std::size_t figures)
      : one_(one), result_(one.result), figures_(figures), visible_(result_.minimum_detectable.value_or(0)) {}

  Judged judge() const;

 private:
  bool tight(const std::optional<double>& limit) const { return limit && share_of(*limit) < visible_; }
  /// A limit within what equal lanes differ by is moved out of it: outwards to fail, inwards to pass.
  std::optional<double> moved(const std::optional<double>& limit, double to) const {
    return tight(limit) ? std::optional(to) : limit;
  }
  bool by_processes() const { return one_.pairs == one_.processes; }
  std::string more() const {
    return by_processes() ? fmt::format("processes ({})", one_.repeat_flag) : "rounds (--iterations)";
  }
  std::string too_tight() const;
  std::string too_likely() const;

  const Relative& one_;
  const BudgetResult& result_;
  std::size_t figures_;
  double visible_;
};

/// What would make a budget decidable that is tighter than what the machine can see.
std::string Judgement::too_tight() const {
  if (one_.noise_floor >= visible_)
    return fmt::format(
        "tighter than the {} that sharing the processors with other work explains; a quieter machine, or "
        "both "
        "versions as targets of one run, would decide it",
        percent(visible_));
  return fmt::format(
      "tighter than the {} by which equal lanes differ here; more processes ({}), a quieter machine "
      "or a wider budget would decide it",
      percent(visible_), one_.repeat_flag);
}

/// What would make a p that is too large smaller.
std::string Judgement::too_likely() const {
  const std::string over =
      figures_ > 1 ? fmt::format(" after Holm's correction over {} figures", figures_) : "";
  const std::uint64_t enough = verdict::enough_processes(one_.pairing, figures_);
  const std::string needs = by_processes() && one_.processes < enough
                                ? fmt::format("it takes {0} processes ({1} {0})", enough, one_.repeat_flag)
                                : fmt::format("more {} would tell", more());
  return fmt::format("the interval is past the limit, but p = {}{}; {}",
                     text::significant(*result_.p_adjusted), over, needs);
}

Judged Judgement::judge() const {
  const bool too_near = tight(result_.max) || tight(result_.min);
  const Verdict plain = judge_interval({result_.max, result_.min}, *result_.interval);
  if (plain == Verdict::fail) {
    const Bounds outer{moved(result_.max, 1 + visible_), moved(result_.min, 1 - visible_)};
    if (judge_interval(outer, *result_.interval) != Verdict::fail)
      return {Verdict::inconclusive, "past the limit, but that is " + too_tight()};
    if (result_.p_adjusted.value_or(1) > alpha) return {Verdict::inconclusive, too_likely()};
    return {Verdict::fail, "the whole interval is past the limit"};
  }
  if (plain == Verdict::inconclusive)
    return {plain, too_near ? "the limit is " + too_tight()
                            : fmt::format("the limit lies within the interval; more {} narrow it", more())};
  const Bounds inner{moved(result_.max, 1 - visible_), moved(result_.min, 1 + visible_)};
  if (too_near && judge_interval(inner, *result_.interval) != Verdict::pass)
    return {Verdict::inconclusive, "the limit is " + too_tight()};
  return {Verdict::pass, ""};
}

}  // namespace

std::vector<Relative> measure_relative(const BudgetSpec& budget, const Place& place,
                                       const RelativeScene& scene) {
  std::vector<Relative> all;
  for (const std::string& metric : metrics_of(budget, place))
    all.push_back(Measurement(budget, place, metric, scene).measure());
  return all;
}

void judge_relative(std::vector<Relative>& all) {
  std::vector<double> p;
  for (const Relative& one : all) {
    if (one.p) p.push_back(*one.p);
  }
  const std::vector<double> adjusted = measure::holm(p);
  std::size_t next = 0;
  for (Relative& one : all) {
    BudgetResult& result = one.result;
    if (one.p) {
      result.p_adjusted = adjusted[next++];
      const auto [verdict, why] = Judgement(one, p.size()).judge();
      const std::string before = result.reason.value_or("");
      result.verdict = verdict;
      const std::string text = joined(why, before);
      result.reason = text.empty() ? std::nullopt : std::optional(text);
    }
    if (result.measured && result.base && result.verdict != Verdict::pass)
      result.reason = joined(what_changed(result), result.reason.value_or(""));
  }
}

}  // namespace tare::gate
