#include "lab/report/consistency.hpp"

#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/measure/summary.hpp"

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

void check_summary(const Metric& metric, const std::string& place) {
  std::vector<double> good;
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (!metric.samples[i] || metric.outcome[i] != Outcome::ok) continue;
    if (!std::isfinite(*metric.samples[i]))
      refuse(fmt::format("{}.samples[{}]", place, i), "not a finite number");
    good.push_back(*metric.samples[i]);
  }
  if (order_statistics(measure::summarise(std::move(good))) != order_statistics(metric.summary))
    refuse(place + ".summary", "does not follow from the samples");
}

/// Every metric of a row has one entry a sample, so any of them tells how many ended how.
void check_outcomes(const Row& row, const std::string& place) {
  if (row.metrics.empty()) return;
  std::map<std::string, std::uint64_t> counted;
  for (const Outcome outcome : row.metrics.begin()->second.outcome)
    counted[boost::describe::enum_to_string(outcome, "?")] += 1;
  std::map<std::string, std::uint64_t> said = row.outcomes;
  std::erase_if(said, [](const auto& entry) { return entry.second == 0; });
  if (said != counted) refuse(place + ".outcomes", "are not those of the samples");
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
