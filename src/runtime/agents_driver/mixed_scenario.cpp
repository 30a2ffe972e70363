#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "runtime/agents/sweeper.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "runtime/agents_driver/world.hpp"

namespace tare::agents_driver {
namespace {

/// Between two sweeps.
constexpr std::chrono::milliseconds sweep_every{2};

/// Remembers which sessions went with their runs. Each has one run here.
class Sessions final : public agents::SweepEffects {
 public:
  void project_recovery(const agents::RunView&) override {}
  void end_session(std::string_view child) override { ended_.emplace(child); }
  bool is_lost(const agents::RunView&) override { return false; }
  bool ended(const std::string& child) const { return ended_.contains(child); }

 private:
  std::unordered_set<std::string> ended_;
};

/// Somebody who waits until something else is done.
class Told {
 public:
  explicit Told(agents::Loop& loop) : loop_(loop) {}
  void tell() {
    told_ = true;
    if (resume_) (*resume_)({});
  }
  agents::Task<void> wait() {
    if (told_) co_return;
    co_await agents::suspend<std::monostate>(loop_, [&](const auto& resume) { resume_.emplace(resume); });
  }

 private:
  agents::Loop& loop_;
  bool told_ = false;
  std::optional<agents::Resumer<std::monostate>> resume_;
};

class MixedLoad final : public Scenario {
 public:
  explicit MixedLoad(Task task) : task_(std::move(task)) {}

  Sample sample() override {
    World world(task_.database(), task_.budget, {std::chrono::milliseconds(0)});
    Sessions sessions;
    agents::Sweeper sweeper(*world.registry, sessions);
    counts_ = {};
    spawned_.clear();
    clients_ = task_.size;
    const Instant start = world.clock.now();
    for (std::uint32_t i = 0; i < task_.size; ++i) world.start(client(world, i, start + task_.duration));
    world.start(sweep(world, sweeper));
    world.run();
    Sample sample;
    sample.ns["total"] = elapsed_ / counts_.cycles;
    const auto whole = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    auto& counters = sample.counters;
    counters["cycles"] = whole(counts_.cycles);
    counters["spawns"] = whole(spawned_.size());
    counters["waits"] = whole(counts_.waits);
    counters["settles"] = whole(counts_.settles);
    counters["sweeps"] = whole(counts_.sweeps);
    counters["outstandingWaits"] = whole(world.registry->waiting());
    counters["lostRuns"] = lost(*world.registry, sessions);
    tear_down(world, task_, ids_in(*world.registry), counters);
    return sample;
  }

 private:
  struct Counts {
    std::uint64_t cycles = 0, waits = 0, settles = 0, sweeps = 0;
  };
  struct Spawned {
    agents::RunId id;
    std::size_t number;
  };

  static std::vector<agents::RunId> ids_in(const agents::Registry& registry) {
    const agents::RunTable& table = registry.table();
    std::vector<agents::RunId> ids;
    for (agents::Slot slot = 0; slot < table.slots(); ++slot) {
      if (table[slot].id != 0) ids.push_back(table[slot].id);
    }
    return ids;
  }

  /// Those that were spawned, are not there, and were not swept either.
  std::int64_t lost(const agents::Registry& registry, const Sessions& sessions) const {
    return std::ranges::count_if(spawned_, [&](const Spawned& run) {
      return !registry.find(run.id) && !sessions.ended(child_of(task_.nonce, run.number).child);
    });
  }

  agents::Task<void> client(World& world, std::uint32_t number, Instant end) {
    const agents::Decide decide = [](const agents::Pending&) { return std::optional<agents::Refusal>(); };
    const Instant start = world.clock.now();
    for (std::uint64_t cycle = 0; cycle == 0 || world.clock.now() < end; ++cycle) {
      co_await world.loop.turn();  // as a request comes in
      const std::size_t serial = cycle * task_.size + number;
      agents::NewRun run = child_of(task_.nonce, serial);
      run.cleanup = agents::Cleanup::remove;
      const agents::RunId id =
          co_await agents::spawn(*world.registry, world.admission, world.backend, std::move(run), decide);
      spawned_.push_back({id, serial});
      Told told(world.loop);
      world.loop.start(world.registry->wait(id),
                       [&](const std::exception_ptr& failure, const agents::Settlement& settlement) {
                         if (!failure && settlement.outcome == agents::Outcome::ok) counts_.waits += 1;
                         told.tell();
                       });
      if (co_await world.registry->settle(id, agents::Outcome::ok)) counts_.settles += 1;
      co_await told.wait();
      counts_.cycles += 1;
    }
    elapsed_ = ns_since(start);
    clients_ -= 1;
  }

  agents::Task<void> sweep(World& world, agents::Sweeper& sweeper) {
    asio::steady_timer timer(world.io);
    do {
      co_await sweeper.sweep();
      counts_.sweeps += 1;
      timer.expires_after(sweep_every);
      co_await agents::suspend<std::monostate>(world.loop, [&](const auto& resume) {
        timer.async_wait([resume](boost::system::error_code) { resume({}); });
      });
    } while (clients_ > 0);
  }

  Task task_;
  Counts counts_;
  std::uint32_t clients_ = 0;
  std::uint64_t elapsed_ = 0;
  std::vector<Spawned> spawned_;
};

}  // namespace

std::unique_ptr<Scenario> mixed_load(Task task) {
  return std::make_unique<MixedLoad>(std::move(task));
}

}  // namespace tare::agents_driver
