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
  const Due due = co_await look(report);
  co_await retire(due.retire, report);
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
  if (entry.settling || table.names()[entry.child()].suppressed > 0) return;
  switch (entry.status) {
    case Status::terminal:
      if (entry.cleanup == Cleanup::remove && entry.archive_at && *entry.archive_at <= now)
        due.retire.push_back(entry.id);
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

Task<void> Sweeper::retire(const std::vector<RunId>& ids, SweepReport& report) {
  if (ids.empty()) co_return;
  // The sessions that go with their last run; known only while the runs are there.
  boost::unordered_flat_map<NameId, std::uint32_t> going;
  const RunTable& table = registry_.table();
  for (const RunId id : ids) {
    if (const Slot slot = table.find(id); slot != none) going[table[slot].child()] += 1;
  }
  std::vector<std::string> sessions;
  for (const auto& [child, runs] : going) {
    const Name& name = table.names()[child];
    if (name.count[static_cast<std::size_t>(By::child)] == runs) sessions.push_back(name.text);
  }
  report.removed += co_await registry_.erase(ids);
  for (const std::string& session : sessions) {
    if (registry_.count(By::child, session) > 0) continue;  // it was used again meanwhile
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
