#include <algorithm>
#include <vector>

#include "runtime/agents/dedupe.hpp"
#include "runtime/agents/sweeper.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "runtime/agents_driver/world.hpp"

namespace tare::agents_driver {
namespace {

using agents::Reservation;
using agents::Run;

class Admit final : public Scenario {
 public:
  explicit Admit(Task task) : task_(std::move(task)) {}

  Sample sample() override {
    agents::Admission admission;
    const agents::Demand demand{"agent:main:main"};
    const auto decide = [&](const agents::Pending& pending) -> std::optional<agents::Refusal> {
      if (pending.controller < task_.size) return std::nullopt;
      return agents::Refusal{"maxChildrenPerAgent", task_.size, pending.controller};
    };
    std::vector<Reservation> held;
    held.reserve(task_.size + 1);
    const auto reserve = [&] {
      auto answer = admission.reserve(demand, decide);
      if (auto* reservation = std::get_if<Reservation>(&answer)) held.push_back(std::move(*reservation));
    };
    const Instant start = SystemClock().now();
    for (std::uint32_t i = 0; i < task_.size; ++i) reserve();
    const std::size_t granted = held.size();
    reserve();
    const std::size_t after_overflow = held.size();
    held.front().release();
    const std::uint64_t after_first = admission.pending();
    held.front().release();
    const std::uint64_t after_second = admission.pending();
    for (Reservation& reservation : held) reservation.release();
    const std::uint64_t after_all = admission.pending();
    reserve();
    Sample sample;
    sample.ns["total"] = ns_since(start);
    sample.counters = {{"admissionCap", static_cast<std::int64_t>(granted)},
                       {"overflowRejected", after_overflow == granted ? 1 : 0},
                       {"released", static_cast<std::int64_t>(granted - after_all)},
                       {"doubleReleaseHarmless", after_second == after_first && after_first + 1 == granted},
                       {"slotReused", admission.pending() == 1}};
    return sample;
  }

 private:
  Task task_;
};

/// Three generations of a child: two that were archived and may go, and one that was interrupted.
Run generation_of(const Task& task, std::uint32_t child, std::uint32_t generation, WallTime now) {
  Run run;
  static_cast<agents::NewRun&>(run) = child_of(task.nonce, child);
  run.id = static_cast<agents::RunId>(child) * generations + generation;
  run.generation = generation;
  run.created = now - std::chrono::hours(generations - generation + 1);
  if (generation == generations) {
    run.status = agents::Status::running;
    return run;
  }
  run.status = agents::Status::terminal;
  run.cleanup = agents::Cleanup::remove;
  run.settlement = agents::Settlement{agents::Outcome::ok, run.created + std::chrono::minutes(1), {}};
  run.archive_at = now - std::chrono::minutes(1);
  return run;
}

/// What a process that was lost left behind; keeps nothing.
class LostProcess final : public agents::Store {
 public:
  LostProcess(const Task& task, std::uint32_t children, WallTime now)
      : task_(task), children_(children), now_(now) {}
  bool durable() const override { return false; }
  agents::Task<void> write(std::vector<agents::Change>) override { co_return; }
  void load(const std::function<void(const Run&)>& each) override {
    for (std::uint32_t child = 0; child < children_; ++child) {
      for (std::uint32_t generation = 1; generation <= generations; ++generation)
        each(generation_of(task_, child, generation, now_));
    }
  }

 private:
  const Task& task_;
  std::uint32_t children_;
  WallTime now_;
};

class CountedEffects final : public agents::SweepEffects {
 public:
  void project_recovery(const agents::RunView&) override { ++projections; }
  void end_session(std::string_view) override { ++sessions; }
  bool is_lost(const agents::RunView&) override { return false; }
  std::int64_t projections = 0;
  std::int64_t sessions = 0;
};

class RecoverySweep final : public Scenario {
 public:
  RecoverySweep(Task task, std::uint32_t children) : task_(std::move(task)), children_(children) {}

  Sample sample() override {
    const SystemClock clock;
    asio::io_context io{1};
    agents::Loop loop(io);
    LostProcess store(task_, children_, clock.wall());
    agents::Registry registry(loop, store, clock);
    CountedEffects effects;
    agents::Sweeper sweeper(registry, effects);
    const std::size_t seeded = registry.restore();
    Sample sample;
    const Instant start = clock.now();
    const agents::SweepReport report = sweep(io, loop, sweeper);
    sample.ns["total"] = ns_since(start);
    const std::int64_t projected = effects.projections;
    sweep(io, loop, sweeper);
    const auto whole = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    sample.counters = {{"seededRows", whole(seeded)},
                       {"removedRows", whole(seeded - registry.size())},
                       {"retainedCurrent", whole(retained(registry))},
                       {"sessionEffects", effects.sessions},
                       {"recoveryProjections", projected},
                       {"lostContextCompletions", whole(report.lost_context_completions)},
                       {"repeatedProjections", effects.projections - projected}};
    return sample;
  }

 private:
  static agents::SweepReport sweep(asio::io_context& io, agents::Loop& loop, agents::Sweeper& sweeper) {
    agents::SweepReport report;
    loop.start(sweeper.sweep(), [&](const std::exception_ptr& failure, agents::SweepReport result) {
      if (failure) std::rethrow_exception(failure);
      report = result;
    });
    io.restart();
    io.run();
    return report;
  }

  /// The runs of the newest generation that are still there.
  std::uint64_t retained(const agents::Registry& registry) const {
    std::uint64_t n = 0;
    for (std::uint32_t child = 0; child < children_; ++child) {
      const auto run = registry.find(static_cast<agents::RunId>(child) * generations + generations);
      n += run && run->generation == generations ? 1 : 0;
    }
    return n;
  }

  Task task_;
  std::uint32_t children_;
};

class DuplicateSuppression final : public Scenario {
 public:
  DuplicateSuppression(Task task, std::uint32_t children) : task_(std::move(task)), children_(children) {}

  Sample sample() override {
    // Anew for each sample: the rows of the one before would be in the caches.
    const agents::RunTable table = seeded();
    std::vector<agents::RunKey> oldest_rows;
    oldest_rows.reserve(table.size());
    for (agents::Slot slot = 0; slot < table.slots(); ++slot) oldest_rows.push_back(table.key(slot));
    const std::vector<agents::RunKey> newest_rows(oldest_rows.rbegin(), oldest_rows.rend());
    Sample sample;
    const Instant start = SystemClock().now();
    const std::vector<std::uint32_t> newest_first = agents::newest_per_child(newest_rows);
    const std::vector<std::uint32_t> oldest_first = agents::newest_per_child(oldest_rows);
    sample.ns["total"] = ns_since(start);
    const auto size = [](const auto& rows) { return static_cast<std::int64_t>(rows.size()); };
    sample.counters = {{"inputRowsPerOrdering", size(oldest_rows)},
                       {"newestFirstSelectedRows", size(newest_first)},
                       {"oldestFirstSelectedRows", size(oldest_first)},
                       {"newestFirstSelectedNewest", newest(newest_rows, newest_first)},
                       {"oldestFirstSelectedNewest", newest(oldest_rows, oldest_first)}};
    return sample;
  }

 private:
  agents::RunTable seeded() const {
    agents::RunTable table;
    const WallTime now = SystemClock().wall();
    for (std::uint32_t child = 0; child < children_; ++child) {
      for (std::uint32_t generation = 1; generation <= generations; ++generation)
        table.insert(generation_of(task_, child, generation, now));
    }
    return table;
  }

  static std::int64_t newest(const std::vector<agents::RunKey>& rows,
                             const std::vector<std::uint32_t>& selected) {
    return std::ranges::count_if(selected, [&](std::size_t i) { return rows[i].generation == generations; });
  }

  Task task_;
  std::uint32_t children_;
};

}  // namespace

std::unique_ptr<Scenario> admission(Task task) {
  return std::make_unique<Admit>(std::move(task));
}

std::unique_ptr<Scenario> recovery_sweep(Task task, std::uint32_t children) {
  return std::make_unique<RecoverySweep>(std::move(task), children);
}

std::unique_ptr<Scenario> duplicate_suppression(Task task, std::uint32_t children) {
  return std::make_unique<DuplicateSuppression>(std::move(task), children);
}

}  // namespace tare::agents_driver
