#include "lab/bench/spawn/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::spawn {
namespace {

using report::FindingLevel;

/// Above this, an interval from independent samples is too narrow.
constexpr double notable_lag1 = 0.3;

std::optional<report::Finding> dependence(const report::Document& document) {
  std::vector<std::string> rows;
  for (const report::Row& row : document.rows) {
    const auto total = row.metrics.find("total");
    if (total == row.metrics.end() || total->second.summary.lag1.value_or(0) <= notable_lag1) continue;
    rows.push_back(fmt::format("{} on {} ({:.2f})", row.row, row.target, *total->second.summary.lag1));
  }
  if (rows.empty()) return std::nullopt;
  return report::Finding{FindingLevel::warn,
                         {},
                         {},
                         fmt::format("samples depend on each other, intervals are too narrow; lag-1: {}",
                                     text::join(rows, ", "))};
}

}  // namespace

report::Invariants broken_invariants(const report::Document& document) {
  report::Invariants result;
  for (const report::Row& row : document.rows) {
    if (row.status != report::RowStatus::failed) continue;
    result.failures.push_back(
        fmt::format("{} on {}: {}", row.row, row.target, row.reason.value_or("failed")));
  }
  result.ok = result.failures.empty();
  return result;
}

std::vector<report::Finding> findings(const report::Document& document, const std::vector<Lane>& lanes,
                                      const measure::Noise& noise) {
  std::vector<report::Finding> found;
  if (noise.level != measure::NoiseLevel::quiet) {
    found.push_back({FindingLevel::warn,
                     {},
                     {},
                     fmt::format("the machine was {}: {}", boost::describe::enum_to_string(noise.level, "?"),
                                 text::join(noise.reasons, "; "))});
  }
  for (const Lane& lane : lanes) {
    if (!lane.hello.asynchronous_spawn.value_or(false)) continue;
    found.push_back({FindingLevel::note,
                     lane.spec.id,
                     {},
                     "spawn returns before the work: its spawn phase is not compared"});
  }
  for (const Lane& lane : lanes) {
    for (report::Finding& finding : defect_findings(document, lane.spec.id, lane.defects))
      found.push_back(std::move(finding));
  }
  const json::Object& config = document.config.as_object();
  const json::Value* trace = config.if_contains("trace");
  const bool traced =
      std::ranges::any_of(document.rows, [](const report::Row& row) { return row.trace.has_value(); });
  if (trace != nullptr && trace->is_bool() && trace->get_bool() && !traced) {
    found.push_back({FindingLevel::note, {}, {}, "trace: no target of this run has stages to trace"});
  }
  if (auto finding = dependence(document)) found.push_back(std::move(*finding));
  return found;
}

}  // namespace tare::spawn
