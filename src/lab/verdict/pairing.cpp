#include "lab/verdict/pairing.hpp"

#include <algorithm>
#include <set>

namespace tare::verdict {
namespace {

/// From here on the sign test of processes can fall to 5 %.
constexpr std::size_t fewest_pairs = 6;

std::size_t processes_of(const report::Row& row) {
  std::size_t most = 0;
  for (const auto& [name, metric] : row.metrics)
    most = std::max(most, std::set<std::uint32_t>(metric.process.begin(), metric.process.end()).size());
  return most;
}

}  // namespace

measure::Pairing pairing_of_lanes(const report::Row& a, const report::Row& b) {
  if (a.bench != "agents" && a.bench != "import" && a.bench != "gateway") return measure::Pairing::paired;
  return std::min(processes_of(a), processes_of(b)) >= fewest_pairs ? measure::Pairing::paired
                                                                    : measure::Pairing::unpaired;
}

PairedBy paired_by(const report::Row& row) {
  return row.bench == "gateway" ? PairedBy::processes : PairedBy::rounds;
}

std::string_view repeat_flag(const report::Row& row) {
  return row.bench == "gateway" ? "--runs" : "--processes";
}

}  // namespace tare::verdict
