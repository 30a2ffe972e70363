#include "lab/report/consistency.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/report/metric.hpp"

namespace tare::report {
namespace {

[[noreturn]] void refuse(const std::string& place, std::string why) {
  throw Error(ErrorCode::input, place, std::move(why), "it is not as a run writes it");
}

void check_parallel(const Metric& metric, const std::string& place) {
  const std::size_t n = metric.samples.size();
  if (metric.round.size() == n && metric.process.size() == n && metric.at_ms.size() == n &&
      metric.outcome.size() == n && metric.error.size() == n) {
    return;
  }
  refuse(place, "samples, round, process, atMs, outcome and error differ in length");
}

/// The order statistics are samples, so they are equal to the last digit whoever computed them.
auto order_statistics(const measure::Summary& s) {
  return std::tie(s.count, s.min, s.p50, s.p90, s.p95, s.p99, s.max, s.p50_interval, s.p90_interval,
                  s.p95_interval, s.p99_interval);
}

void check_finite(const Metric& metric, const std::string& place) {
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (metric.samples[i] && !std::isfinite(*metric.samples[i]))
      refuse(fmt::format("{}.samples[{}]", place, i), "not a finite number");
  }
}

measure::Summary summarised(const Metric& metric, const std::string& place) {
  try {
    return summary_of(metric);
  } catch (const Error& error) {
    refuse(place + ".histogram", error.why());
  }
}

void check_summary(const Metric& metric, const std::string& place) {
  check_finite(metric, place);
  if (order_statistics(summarised(metric, place)) != order_statistics(metric.summary)) {
    refuse(place + ".summary",
           fmt::format("does not follow from the {}", metric.histogram ? "histogram" : "samples"));
  }
  if (metric.histogram && metric.histogram->count < good_values(metric).size())
    refuse(place + ".histogram", "counts fewer than the samples that are kept");
}

/// By their names, without those that there are none of.
using Outcomes = std::map<std::string, std::uint64_t>;

Outcomes outcomes_of(const Metric& metric) {
  Outcomes counted;
  for (const Outcome outcome : metric.outcome) counted[boost::describe::enum_to_string(outcome, "?")] += 1;
  return counted;
}

/// Whether a metric that keeps some samples of a row could be of one with these outcomes.
bool keeps_some_of(const Metric& metric, const Outcomes& said) {
  const auto at_most = [&](const std::string& name, std::uint64_t n) {
    const auto found = said.find(name);
    return n <= (found == said.end() ? 0 : found->second);
  };
  const Outcomes counted = outcomes_of(metric);
  return at_most("ok", metric.histogram->count) &&
         std::ranges::all_of(counted, [&](const auto& one) { return at_most(one.first, one.second); });
}

/// Every metric of a row has one entry a sample, so any of them tells how many ended how. Where samples are
/// counted that are not kept, the entries can only not be more than what is said.
void check_outcomes(const Row& row, const std::string& place) {
  if (row.metrics.empty()) return;
  Outcomes said = row.outcomes;
  std::erase_if(said, [](const auto& entry) { return entry.second == 0; });
  const auto counts = [](const auto& metric) { return metric.second.histogram.has_value(); };
  const auto counting = std::ranges::find_if(row.metrics, counts);
  const bool agrees = counting == row.metrics.end() ? said == outcomes_of(row.metrics.begin()->second)
                                                    : keeps_some_of(counting->second, said);
  if (!agrees) refuse(place + ".outcomes", "are not those of the samples");
}

void check_calibration(const Calibration& entry, const std::string& place) {
  if (entry.first.size() != entry.second.size()) refuse(place, "first and second differ in length");
}

}  // namespace

void check_consistent(const Document& document, std::string_view source) {
  std::set<std::string_view> targets;
  for (const Target& target : document.targets) {
    if (!targets.insert(target.id).second)
      refuse(fmt::format("{}: target '{}'", source, text::one_line(target.id)), "is there twice");
  }
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> rows;
  for (std::size_t i = 0; i < document.rows.size(); ++i) {
    const Row& row = document.rows[i];
    const std::string place = fmt::format("{}: rows[{}]", source, i);
    if (!rows.insert({row.bench, row.row, row.target}).second) {
      refuse(place,
             fmt::format("{} on {} is there twice", text::one_line(row.row), text::one_line(row.target)));
    }
    for (const auto& [name, metric] : row.metrics) {
      const std::string metric_place = fmt::format("{}.metrics.{}", place, text::one_line(name));
      check_parallel(metric, metric_place);
      check_summary(metric, metric_place);
    }
    check_outcomes(row, place);
  }
  if (!document.calibrations) return;
  for (std::size_t i = 0; i < document.calibrations->size(); ++i)
    check_calibration((*document.calibrations)[i], fmt::format("{}: calibrations[{}]", source, i));
}

}  // namespace tare::report
