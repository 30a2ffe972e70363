#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "runtime/agents_driver/world.hpp"

namespace tare::agents_driver {
namespace {

constexpr std::uint32_t in_flight = 64;
constexpr std::size_t rows_a_commit = 10'000;

/// What is there after a restart, and how long it took to have it in memory.
struct Restored {
  explicit Restored(const std::filesystem::path& database) {
    const Instant start = clock.now();
    store = std::make_unique<agents::SqliteStore>(loop, agents::DatabaseOptions{database});
    registry = std::make_unique<agents::Registry>(loop, *store, clock);
    registry->restore();
    took = ns_since(start);
  }

  Sample sample() const {
    Sample sample;
    sample.ns["total"] = took;
    std::int64_t interrupted = 0;
    each([&](const agents::RunView& run) {
      interrupted += run.status == agents::Status::interrupted ? 1 : 0;
    });
    sample.counters = {{"restoredRuns", static_cast<std::int64_t>(registry->size())},
                       {"interruptedRuns", interrupted}};
    return sample;
  }

  /// In the order of registration.
  template <class Visit>
  void each(Visit visit) const {
    const agents::RunTable& table = registry->table();
    for (agents::Slot slot = 0; slot < table.slots(); ++slot) visit(table.view(slot));
  }

  asio::io_context io{1};
  agents::Loop loop{io};
  SystemClock clock;
  std::unique_ptr<agents::SqliteStore> store;
  std::unique_ptr<agents::Registry> registry;
  std::uint64_t took = 0;
};

agents::NewRun numbered(const std::string& nonce, std::size_t number) {
  agents::NewRun run = child_of(nonce, number);
  run.task = std::string(100, static_cast<char>('a' + number % 26));
  return run;
}

/// Registers runs and says of each that it is acknowledged, until somebody kills the process.
class Register final : public Scenario {
 public:
  explicit Register(Task task) : task_(std::move(task)) {}

  Sample sample() override {
    open_acks();
    World world(task_.database(), task_.budget);
    next_ = 0;
    const Instant start = world.clock.now();
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      world.start(client(world));
    }
    world.run();
    Sample sample;
    sample.ns["total"] = ns_since(start);
    sample.counters["registeredRuns"] = static_cast<std::int64_t>(world.registry->open_tasks());
    world.keep();
    return sample;
  }

 private:
  void open_acks() {
    // Nobody who reads is an error, not a wait.
    acks_ = Fd(::open(task_.acks.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!acks_ || ::fcntl(acks_.get(), F_SETFL, 0) != 0)
      throw Error(ErrorCode::failed, fmt::format("cannot open {}", task_.acks.string()), errno_text(errno));
  }

  agents::Task<void> client(World& world) {
    const agents::Decide decide = [](const agents::Pending&) { return std::optional<agents::Refusal>(); };
    while (next_ < task_.size) {
      agents::NewRun run = numbered(task_.nonce, next_++);
      const std::string line = run.label + "\n";
      co_await agents::spawn(*world.registry, world.admission, world.backend, std::move(run), decide);
      acknowledge(line);
    }
  }

  /// A line of a pipe is written whole or not at all.
  void acknowledge(const std::string& line) const {
    while (::write(acks_.get(), line.data(), line.size()) < 0) {
      if (errno != EINTR) throw Error(ErrorCode::failed, "cannot acknowledge a run", errno_text(errno));
    }
  }

  Task task_;
  Fd acks_;
  std::uint32_t next_ = 0;
};

class Recover final : public Scenario {
 public:
  explicit Recover(Task task) : task_(std::move(task)) {}

  Sample sample() override {
    Sample sample;
    {
      const Restored restored(task_.database());
      sample = restored.sample();
      std::string& output = sample.output.emplace();
      restored.each([&](const agents::RunView& run) {
        output +=
            fmt::format("{} {} {}\n", run.label, boost::describe::enum_to_string(run.status, "?"), run.task);
      });
    }
    agents::remove_database(task_.database());
    return sample;
  }

 private:
  Task task_;
};

/// Makes a database of its own, in a folder that was empty, and removes its files with the last sample.
class Restart final : public Scenario {
 public:
  explicit Restart(Task task) : task_(std::move(task)) {
    agents::Database database({task_.database()});
    database.remove_when_closed();  // unless all could be written
    const WallTime now = SystemClock().wall();
    for (std::size_t first = 0; first < task_.size; first += rows_a_commit) {
      std::vector<std::vector<agents::Change>> batch(1);
      for (std::size_t i = first; i < std::min<std::size_t>(first + rows_a_commit, task_.size); ++i) {
        agents::Run run;
        static_cast<agents::NewRun&>(run) = numbered(task_.nonce, i);
        run.id = static_cast<agents::RunId>(i + 1);
        run.created = now;
        batch.front().emplace_back(agents::Insert{std::move(run)});
      }
      database.commit(batch);
    }
    database.keep();
  }
  ~Restart() override { agents::remove_database(task_.database()); }

  Sample sample() override { return Restored(task_.database()).sample(); }

 private:
  Task task_;
};

}  // namespace

std::unique_ptr<Scenario> durable_crash(Task task) {
  if (task.phase == "recover") return std::make_unique<Recover>(std::move(task));
  return std::make_unique<Register>(std::move(task));
}

std::unique_ptr<Scenario> restart(Task task) {
  return std::make_unique<Restart>(std::move(task));
}

}  // namespace tare::agents_driver
