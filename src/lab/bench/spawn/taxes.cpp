#include "lab/bench/spawn/taxes.hpp"

#include <algorithm>

#include "lab/bench/common/comparison.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/paired.hpp"

namespace tare::spawn {
namespace {

using report::ComparisonKind;

constexpr const char* floor_row = "spawn_exit";
constexpr const char* floor_target = "sh";
constexpr const char* native_target = "native";

class Taxes {
 public:
  Taxes(const report::Document& document, std::uint64_t seed) : document_(document), seed_(seed) {}

  std::vector<report::Comparison> compute() {
    const std::string reference = bench::reference_of(document_);
    for (const report::Row& row : document_.rows) {
      if (bench::lane_of(document_, row.target) == report::Lane::subject)
        paired(ComparisonKind::emulation, row, reference);
      if (row.target != native_target && bench::lane_of(document_, row.target) != report::Lane::floor) {
        paired(ComparisonKind::total, row, native_target);
      }
      if (row.row == "node_exit_1") against_floor(row);
    }
    return std::move(comparisons_);
  }

 private:
  const report::Target* find_target(const std::string& id) const {
    const auto found = std::find_if(document_.targets.begin(), document_.targets.end(),
                                    [&](const report::Target& target) { return target.id == id; });
    return found == document_.targets.end() ? nullptr : &*found;
  }

  /// A phase is compared only where both lanes mean the same by it.
  bool comparable(const std::string& metric, const std::string& a, const std::string& b) const {
    return metric == "total" || (!asynchronous(a) && !asynchronous(b));
  }

  bool asynchronous(const std::string& target) const {
    const report::Target* facts = find_target(target);
    return facts != nullptr && facts->asynchronous_spawn.value_or(false);
  }

  void paired(ComparisonKind kind, const report::Row& row, const std::string& other) {
    const report::Row* reference = report::find_row(document_, row.row, other);
    if (reference == nullptr) return;
    for (const auto& [name, metric] : row.metrics) {
      const auto found = reference->metrics.find(name);
      if (found == reference->metrics.end() || !comparable(name, row.target, other)) continue;
      const bench::Series series = bench::by_round(metric, found->second);
      if (series.subject.empty()) continue;
      const report::Comparison names = bench::named(kind, row, name, other);
      comparisons_.push_back(
          bench::filled(names, "p50", measure::compare_paired(series.subject, series.reference)));
      comparisons_.push_back(bench::filled(
          names, "p95", measure::quantile_ratio_paired(series.subject, series.reference, 0.95, seed_)));
    }
  }

  void against_floor(const report::Row& row) {
    const report::Row* floor = report::find_row(document_, floor_row, floor_target);
    if (floor == nullptr || !row.metrics.contains("total") || !floor->metrics.contains("total")) return;
    const std::vector<double> subject = bench::values(row.metrics.at("total"));
    const std::vector<double> reference = bench::values(floor->metrics.at("total"));
    if (subject.empty() || reference.empty()) return;
    const report::Comparison names =
        bench::named(ComparisonKind::floor, row, "total", std::string(floor_target) + "/" + floor_row);
    comparisons_.push_back(
        bench::filled(names, "p50", measure::quantile_ratio_unpaired(subject, reference, 0.50, seed_)));
    comparisons_.push_back(
        bench::filled(names, "p95", measure::quantile_ratio_unpaired(subject, reference, 0.95, seed_)));
  }

  const report::Document& document_;
  std::uint64_t seed_;
  std::vector<report::Comparison> comparisons_;
};

}  // namespace

std::vector<report::Comparison> taxes(const report::Document& document, std::uint64_t seed) {
  return Taxes(document, seed).compute();
}

}  // namespace tare::spawn
