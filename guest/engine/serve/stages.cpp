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
  const std::string_view sync =
      kernel::stage_table[static_cast<std::size_t>(kernel::Stage::process_exit_cleanup_sync_host_writes)]
          .name;
  if (!report.stages.contains(std::string(sync)))
    report.absent.emplace(sync, "this version mounts no folders: every exit is a clean skip");
  return report;
}

}  // namespace tare::engine
