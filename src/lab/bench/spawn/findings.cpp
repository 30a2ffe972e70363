#include "lab/bench/spawn/findings.hpp"

#include <algorithm>

namespace tare::spawn {

using report::FindingLevel;

std::vector<report::Finding> findings(const report::Document& document, const std::vector<bench::Lane>& lanes,
                                      const Options& options) {
  std::vector<report::Finding> found;
  for (const bench::Lane& lane : lanes) {
    if (!lane.hello.asynchronous_spawn.value_or(false)) continue;
    found.push_back({FindingLevel::note,
                     lane.spec.id,
                     {},
                     "spawn returns before the work: its spawn phase is not compared"});
  }
  const bool traced =
      std::ranges::any_of(document.rows, [](const report::Row& row) { return row.trace.has_value(); });
  if (options.trace && !traced)
    found.push_back({FindingLevel::note, {}, {}, "trace: no target of this run has stages to trace"});
  return found;
}

}  // namespace tare::spawn
