#include "engine/serve/stages.hpp"

#include "engine/kernel/trace.hpp"

namespace tare::engine {

bool can_trace() {
  return kernel::tracing;
}

guest::StageReport stage_report(const kernel::Trace& trace) {
  guest::StageReport report;
  const std::vector<kernel::Trace::Count> counts = trace.counts();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const kernel::Trace::Count& count = counts[i];
    if (count.calls == 0) continue;
    report.stages.emplace(kernel::stage_table[i].name,
                          guest::StageCount{count.calls, static_cast<double>(count.total_ns) / 1e3,
                                            static_cast<double>(count.max_ns) / 1e3});
  }
  return report;
}

}  // namespace tare::engine
