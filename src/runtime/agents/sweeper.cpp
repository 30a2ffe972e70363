#include "runtime/agents/sweeper.hpp"

#include <exception>
#include <string>
#include <utility>

namespace tare::agents {
namespace {

/// After so many rows whatever else is ready has its turn, so that a million rows don't stop a gateway.
constexpr Slot rows_at_a_time = 8192;

}  // namespace

Sweeper::Sweeper(Registry& registry, SweepEffects& effects, SweeperOptions options)
    : registry_(registry), effects_(effects), options_(options) {}

Task<SweepReport> Sweeper::sweep() {
  if (sweeping_) {
    co_return co_await suspend<SweepReport>(registry_.loop(),
                                            [&](const auto& resume) { waiting_.push_back(resume); });
  }
  sweeping_ = true;
  SweepReport report;
  std::exception_ptr failure;
  try {
    report = co_await run();
  } catch (...) {
    failure = std::current_exception();
  }
  sweeping_ = false;
  for (const auto& resume : std::exchange(waiting_, {})) failure ? resume.fail(failure) : resume(report);
  if (failure) std::rethrow_exception(failure);
  co_return report;
}

Task<SweepReport> Sweeper::run() {
  SweepReport report;
  Due due = co_await look(report);
  co_await retire(std::move(due.retire), report);
  co_await recover(due.recover, report);
  co_await complete(due.complete, report);
  co_return report;
}

Task<Sweeper::Due> Sweeper::look(SweepReport& report) {
  Due due;
  const RunTable& table = registry_.table();
  const WallTime now = registry_.clock().wall();
  for (Slot slot = 0; slot < table.slots(); ++slot) {
    if (slot % rows_at_a_time == rows_at_a_time - 1) co_await registry_.loop().turn();
    if (table[slot].id == 0) continue;
    report.seen += 1;
    classify(slot, now, due);
  }
  co_return due;
}

void Sweeper::classify(Slot slot, WallTime now, Due& due) {
  const RunTable& table = registry_.table();
  const Entry& entry = table[slot];
  if (entry.settling || table.is_suppressed(slot)) return;
  switch (entry.status) {
    case Status::terminal:
      if (entry.cleanup == Cleanup::remove && entry.archive_at <= now) due.retire.push_back(entry.id);
      break;
    case Status::interrupted:
      if (!entry.recovered) due.recover.push_back(entry.id);
      break;
    case Status::running:
      if (entry.created + options_.orphan_grace <= now && effects_.is_lost(table.view(slot)))
        due.complete.push_back(entry.id);
      break;
    case Status::queued:
      break;
  }
}

Task<void> Sweeper::retire(std::vector<RunId> ids, SweepReport& report) {
  if (ids.empty()) co_return;
  const Registry::Erased erased = co_await registry_.erase(std::move(ids));
  report.removed += erased.runs;
  for (const std::string& session : erased.sessions) {
    report.session_effects += 1;
    effects_.end_session(session);
  }
}

Task<void> Sweeper::recover(const std::vector<RunId>& ids, SweepReport& report) {
  if (ids.empty()) co_return;
  co_await registry_.mark_recovered(ids);
  for (const RunId id : ids) {
    const auto run = registry_.find(id);
    if (!run) continue;
    report.recovery_projections += 1;
    effects_.project_recovery(*run);
  }
}

Task<void> Sweeper::complete(const std::vector<RunId>& ids, SweepReport& report) {
  if (!ids.empty()) report.lost_context_completions += co_await registry_.settle_all(ids, Outcome::lost);
}

}  // namespace tare::agents
