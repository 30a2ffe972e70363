#include <unordered_set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "runtime/agents_driver/world.hpp"

namespace tare::agents_driver {
namespace {

/// n children of one requester, from their first step to their last.
class Children {
 public:
  Children(World& world, const Task& task) : world_(world) {
    for (std::uint32_t i = 0; i < task.size; ++i) wanted_.push_back(child_of(task.nonce, i));
    ids_.resize(task.size);
  }

  /// All at once; returns how long it took until the last was registered.
  std::uint64_t spawn() {
    std::uint64_t took = 0;
    const Instant start = world_.clock.now();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      world_.loop.start(
          agents::spawn(*world_.registry, world_.admission, world_.backend, std::move(wanted_[i]), decide_),
          [&, i](const std::exception_ptr& failure, agents::RunId id) {
            if (failure) std::rethrow_exception(failure);
            ids_[i] = id;
            if (++registered_ == ids_.size()) took = ns_since(start);
          });
    }
    world_.run();
    return took;
  }

  /// Starts a wait for each and lets all of them block.
  void wait() {
    for (const agents::RunId id : ids_) {
      world_.loop.start(world_.registry->wait(id),
                        [&](const std::exception_ptr& failure, const agents::Settlement& settlement) {
                          if (!failure && settlement.outcome == agents::Outcome::ok) ++told_;
                        });
    }
    world_.io.restart();
    world_.io.poll();
  }

  /// Settles all at once; returns how long it took until the last waiter was told.
  std::uint64_t settle() {
    const Instant start = world_.clock.now();
    for (const agents::RunId id : ids_) {
      world_.loop.start(world_.registry->settle(id, agents::Outcome::ok, R"({"text":"done"})"),
                        [&](const std::exception_ptr& failure, bool first) {
                          if (failure) std::rethrow_exception(failure);
                          if (first) ++settled_;
                        });
    }
    world_.run();
    return ns_since(start);
  }

  const std::vector<agents::RunId>& ids() const { return ids_; }
  std::int64_t granted() const { return granted_; }
  std::int64_t told() const { return told_; }
  std::int64_t settled() const { return settled_; }

 private:
  World& world_;
  std::vector<agents::NewRun> wanted_;
  std::vector<agents::RunId> ids_;
  std::size_t registered_ = 0;
  std::int64_t granted_ = 0;
  std::int64_t told_ = 0;
  std::int64_t settled_ = 0;
  agents::Decide decide_ = [this](const agents::Pending&) -> std::optional<agents::Refusal> {
    ++granted_;
    return std::nullopt;
  };
};

std::int64_t unique(const std::vector<agents::RunId>& ids) {
  return static_cast<std::int64_t>(std::unordered_set(ids.begin(), ids.end()).size());
}

class Spawn final : public Scenario {
 public:
  Spawn(Task task, Kept kept) : task_(std::move(task)), kept_(kept) {}

  Sample sample() override {
    World world(kept_ == Kept::on_disk ? std::optional(task_.database()) : std::nullopt, task_.budget);
    Children children(world, task_);
    Sample sample;
    sample.ns["total"] = children.spawn();
    auto& counters = sample.counters;
    counters["registeredRuns"] = static_cast<std::int64_t>(world.registry->open_tasks());
    counters["uniqueRunIds"] = unique(children.ids());
    counters["reservationsReleased"] =
        children.granted() - static_cast<std::int64_t>(world.admission.pending());
    children.wait();
    counters["blockedWaits"] = static_cast<std::int64_t>(world.registry->waiting());
    const OnDisk before = disk(world);
    counters["durableSubagentRows"] = before.open_runs;
    counters["durableTaskRows"] = before.open_tasks;
    counters["durableStateFile"] = is_file(task_.database()) ? 1 : 0;
    children.settle();
    counters["settledRuns"] = children.settled();
    counters["settledTasks"] =
        world.durable() ? disk(world).ended_tasks
                        : static_cast<std::int64_t>(world.registry->size() - world.registry->open_tasks());
    counters["outstandingWaits"] = static_cast<std::int64_t>(task_.size) - children.told() +
                                   static_cast<std::int64_t>(world.registry->waiting());
    tear_down(world, task_, children.ids(), counters);
    return sample;
  }

 private:
  static bool is_file(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::exists(path, unknown);
  }

  static OnDisk disk(const World& world) { return world.durable() ? read_disk(world.database()) : OnDisk{}; }

  Task task_;
  Kept kept_;
};

class SpawnSettle final : public Scenario {
 public:
  explicit SpawnSettle(Task task) : task_(std::move(task)) {}

  Sample sample() override {
    World world(task_.database(), task_.budget);
    Children children(world, task_);
    Sample sample;
    const std::uint64_t spawn = children.spawn();
    const Instant second = world.clock.now();
    children.wait();
    children.settle();
    const std::uint64_t settle = ns_since(second);
    sample.ns = {{"total", spawn + settle}, {"spawn", spawn}, {"settle", settle}};
    auto& counters = sample.counters;
    counters["registeredRuns"] = unique(children.ids());
    counters["waitersNotified"] = children.told();
    counters["settledRuns"] = children.settled();
    counters["outstandingWaits"] = static_cast<std::int64_t>(world.registry->waiting());
    const OnDisk disk = read_disk(world.database());
    counters["settledTasks"] = disk.ended_tasks;
    counters["durableEndedRows"] = disk.ended_runs;
    tear_down(world, task_, children.ids(), counters);
    return sample;
  }

 private:
  Task task_;
};

}  // namespace

void tear_down(World& world, const Task& task, const std::vector<agents::RunId>& ids,
               std::map<std::string, std::int64_t>& counters) {
  world.start(world.registry->erase(ids));
  world.run();
  counters["postTeardownRegistryRows"] = static_cast<std::int64_t>(world.registry->size());
  counters["postTeardownTaskRows"] = static_cast<std::int64_t>(world.registry->open_tasks());
  counters["postTeardownActiveRootWork"] =
      static_cast<std::int64_t>(world.admission.pending() + world.registry->open_tasks());
  OnDisk left;
  if (world.durable()) left = read_disk(task.database());
  counters["postTeardownDurableSubagentRows"] = left.open_runs + left.ended_runs;
  counters["postTeardownDurableTaskRows"] = left.open_tasks + left.ended_tasks;
  world.close();
}

std::unique_ptr<Scenario> spawn_pipeline(Task task, Kept kept) {
  return std::make_unique<Spawn>(std::move(task), kept);
}

std::unique_ptr<Scenario> spawn_settle(Task task) {
  return std::make_unique<SpawnSettle>(std::move(task));
}

}  // namespace tare::agents_driver
