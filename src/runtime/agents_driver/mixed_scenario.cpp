#include <chrono>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "runtime/agents/sweeper.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "runtime/agents_driver/world.hpp"

namespace tare::agents_driver {
namespace {

/// Between two sweeps.
constexpr std::chrono::milliseconds sweep_every{2};

class NoEffects final : public agents::SweepEffects {
 public:
  void project_recovery(const agents::RunView&) override {}
  void end_session(std::string_view) override {}
  bool is_lost(const agents::RunView&) override { return false; }
};

class MixedLoad final : public Scenario {
 public:
  explicit MixedLoad(Task task) : task_(std::move(task)) {}

  Sample sample() override {
    World world(task_.database(), {std::chrono::milliseconds(0)});
    NoEffects effects;
    agents::Sweeper sweeper(*world.registry, effects);
    counts_ = {};
    clients_ = task_.size;
    const Instant start = world.clock.now();
    for (std::uint32_t i = 0; i < task_.size; ++i) world.start(client(world, i, start + task_.duration));
    world.start(sweep(world, sweeper));
    world.run();
    Sample sample;
    if (counts_.cycles == 0) throw Error(ErrorCode::failed, "no cycle was done in time");
    sample.ns["total"] = elapsed_ / counts_.cycles;
    const auto whole = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    std::vector<agents::RunId> left;
    for (const agents::RunView& run : world.registry->runs(agents::By::requester, requester_))
      left.push_back(run.id);
    auto& counters = sample.counters;
    counters["cycles"] = whole(counts_.cycles);
    counters["spawns"] = whole(counts_.spawns);
    counters["waits"] = whole(counts_.waits);
    counters["settles"] = whole(counts_.settles);
    counters["sweeps"] = whole(counts_.sweeps);
    counters["outstandingWaits"] = whole(world.registry->waiting());
    counters["lostRuns"] = whole(counts_.spawns) - whole(counts_.swept) - whole(world.registry->size());
    tear_down(world, task_, left, counters);
    return sample;
  }

 private:
  struct Counts {
    std::uint64_t cycles = 0, spawns = 0, waits = 0, settles = 0, sweeps = 0, swept = 0;
  };

  agents::Task<void> client(World& world, std::uint32_t number, Instant end) {
    const agents::Decide decide = [](const agents::Pending&) { return std::optional<agents::Refusal>(); };
    const Instant start = world.clock.now();
    for (std::uint64_t cycle = 0; world.clock.now() < end; ++cycle) {
      agents::NewRun run = child_of(task_.nonce, cycle * task_.size + number);
      run.cleanup = agents::Cleanup::remove;
      requester_ = run.requester;
      const agents::RunId id =
          co_await agents::spawn(*world.registry, world.admission, world.backend, std::move(run), decide);
      counts_.spawns += 1;
      world.loop.start(world.registry->wait(id),
                       [&](const std::exception_ptr& failure, const agents::Settlement& told) {
                         if (!failure && told.outcome == agents::Outcome::ok) counts_.waits += 1;
                       });
      if (co_await world.registry->settle(id, agents::Outcome::ok)) counts_.settles += 1;
      counts_.cycles += 1;
    }
    elapsed_ = ns_since(start);
    clients_ -= 1;
  }

  agents::Task<void> sweep(World& world, agents::Sweeper& sweeper) {
    asio::steady_timer timer(world.io);
    do {
      counts_.swept += (co_await sweeper.sweep()).removed;
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
  std::string requester_;
};

}  // namespace

std::unique_ptr<Scenario> mixed_load(Task task) {
  return std::make_unique<MixedLoad>(std::move(task));
}

}  // namespace tare::agents_driver
