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
  failed_effect_ = nullptr;
  Due due = co_await look(report);
  co_await retire(std::move(due.retire), report);
  co_await recover(std::move(due.recover), report);
  co_await complete(std::move(due.complete), report);
  if (failed_effect_) std::rethrow_exception(failed_effect_);
  co_return report;
}

Task<Sweeper::Due> Sweeper::look(SweepReport& report) {
  Due due;
  const RunTable& table = registry_.table();
  const WallTime now = registry_.clock().wall();
  // Room for all costs nothing until it is used; growing would copy.
  for (std::vector<Place>* list : {&due.retire, &due.recover, &due.complete}) list->reserve(table.size());
  for (Slot slot = 0; slot < table.slots(); ++slot) {
    if (slot % rows_at_a_time == rows_at_a_time - 1) co_await registry_.loop().turn();
    if (table[slot].id == 0) continue;
    report.seen += 1;
    const Place run{table[slot].id, slot};
    switch (kind_of(slot, now)) {
      case Kind::retire:
        due.retire.push_back(run);
        break;
      case Kind::recover:
        due.recover.push_back(run);
        break;
      case Kind::complete:
        due.complete.push_back(run);
        break;
      case Kind::nothing:
        break;
    }
  }
  co_return due;
}

Sweeper::Kind Sweeper::kind_of(Slot slot, WallTime now) const {
  const RunTable& table = registry_.table();
  const Entry& entry = table[slot];
  if (entry.settling || entry.erasing || table.is_suppressed(slot)) return Kind::nothing;
  switch (entry.status) {
    case Status::terminal:
      return entry.cleanup == Cleanup::remove && entry.archive_at <= now ? Kind::retire : Kind::nothing;
    case Status::interrupted:
      return entry.recovered ? Kind::nothing : Kind::recover;
    case Status::running:
      return entry.created + options_.orphan_grace <= now && effects_.is_lost(table.view(slot))
                 ? Kind::complete
                 : Kind::nothing;
    case Status::queued:
      return Kind::nothing;
  }
  return Kind::nothing;
}

std::vector<Place> Sweeper::still(Kind kind, std::vector<Place> runs) const {
  const WallTime now = registry_.clock().wall();
  std::erase_if(
      runs, [&](const Place& run) { return !registry_.table().has(run) || kind_of(run.slot, now) != kind; });
  return runs;
}

template <class Effect>
void Sweeper::perform(Effect effect) {
  try {
    effect();
  } catch (...) {
    if (!failed_effect_) failed_effect_ = std::current_exception();
  }
}

Task<void> Sweeper::retire(std::vector<Place> runs, SweepReport& report) {
  runs = still(Kind::retire, std::move(runs));
  if (runs.empty()) co_return;
  const Registry::Erased erased = co_await registry_.erase_at(std::move(runs));
  report.removed += erased.runs;
  for (const std::string& session : erased.sessions) {
    if (registry_.count(By::child, session) > 0) continue;  // it is used again
    report.session_effects += 1;
    perform([&] { effects_.end_session(session); });
  }
}

Task<void> Sweeper::recover(std::vector<Place> runs, SweepReport& report) {
  runs = still(Kind::recover, std::move(runs));
  if (!runs.empty()) runs = co_await registry_.mark_recovered(std::move(runs));
  for (const Place& run : std::exchange(unsaid_, {})) runs.push_back(run);
  const RunTable& table = registry_.table();
  for (const Place& run : runs) {
    // Settled or erased meanwhile: nobody needs to take it up.
    if (!table.has(run) || table[run.slot].status != Status::interrupted) continue;
    if (table.is_suppressed(run.slot) || table[run.slot].settling) {
      unsaid_.push_back(run);
      continue;
    }
    report.recovery_projections += 1;
    perform([&] { effects_.project_recovery(table.view(run.slot)); });
  }
}

Task<void> Sweeper::complete(std::vector<Place> runs, SweepReport& report) {
  std::vector<RunId> ids;
  for (const Place& run : still(Kind::complete, std::move(runs))) ids.push_back(run.id);
  if (!ids.empty())
    report.lost_context_completions += co_await registry_.settle_all(std::move(ids), Outcome::lost);
}

}  // namespace tare::agents
