#include "lab/bench/common/findings.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::bench {
namespace {

using report::FindingLevel;

/// Whether an interval from independent samples would be too narrow: the correlation is notable, and more
/// than chance gives so few samples.
bool is_dependent(const measure::Summary& summary) {
  constexpr double notable_lag1 = 0.3;
  const double chance = 2 / std::sqrt(static_cast<double>(std::max<std::uint64_t>(summary.count, 1)));
  return summary.lag1.value_or(0) > std::max(notable_lag1, chance);
}

std::optional<report::Finding> dependence(const report::Document& document) {
  std::vector<std::string> rows;
  for (const report::Row& row : document.rows) {
    const auto total = row.metrics.find("total");
    if (total == row.metrics.end() || !is_dependent(total->second.summary)) continue;
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
    for (report::Finding& finding : defect_findings(document, lane.spec.id, lane.defects))
      found.push_back(std::move(finding));
  }
  if (auto finding = dependence(document)) found.push_back(std::move(*finding));
  return found;
}

}  // namespace tare::bench
