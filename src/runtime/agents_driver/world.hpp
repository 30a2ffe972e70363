#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "runtime/agents/admission.hpp"
#include "runtime/agents/pipeline.hpp"
#include "runtime/agents/registry.hpp"
#include "runtime/agents/sqlite_store.hpp"

namespace tare::agents_driver {

namespace asio = boost::asio;

/// Starts nothing: each step lets the event loop turn once, as a real one does at least.
class IdleBackend final : public agents::Backend {
 public:
  explicit IdleBackend(agents::Loop& loop) : loop_(loop) {}
  agents::Task<void> initialize(const agents::NewRun&) override { co_await loop_.turn(); }
  agents::Task<void> dispatch(const agents::NewRun&) override { co_await loop_.turn(); }
  agents::Task<void> clean_up(const agents::NewRun&, agents::SpawnPhase) override { co_return; }

 private:
  agents::Loop& loop_;
};

/// The budget of a sample is used up.
struct Late : std::exception {
  const char* what() const noexcept override { return "not done in time"; }
};

/// A registry with all that it needs, in memory, or in a new database that is removed at the end. It may run
/// for the budget of a sample.
class World {
 public:
  /// Throws Error when there are runs in the database already; it is then left as it is.
  World(const std::optional<std::filesystem::path>& database, std::chrono::milliseconds budget,
        agents::RegistryOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs whatever is ready until nothing is left to do. Throws Late when the budget is used up first; the
  /// world can then only be left.
  void run() {
    io.restart();
    io.run_until(end_);
    if (!io.stopped()) throw Late();
  }

  /// Starts a task whose failure comes out of `run`.
  template <class T>
  void start(agents::Task<T> task) {
    loop.start(std::move(task), [](const std::exception_ptr& failure, auto&&...) {
      if (failure) std::rethrow_exception(failure);
    });
  }

  bool durable() const { return on_disk_ != nullptr; }
  const std::filesystem::path& database() const { return database_; }

  /// Leaves the database's files where they are.
  void keep() { on_disk_->keep(); }

  /// Closes the database and removes its files.
  void close();

  asio::io_context io{1};
  agents::Loop loop{io};
  SystemClock clock;

 private:
  Instant end_;
  std::filesystem::path database_;
  agents::SqliteStore* on_disk_ = nullptr;  ///< the store, if it is one

 public:
  std::unique_ptr<agents::Store> store;
  std::unique_ptr<agents::Registry> registry;
  agents::Admission admission;
  IdleBackend backend{loop};
};

/// A child of the one requester: "agent:main:subagent:<nonce>-<number>".
agents::NewRun child_of(const std::string& nonce, std::size_t number);

/// What is in a database, read through a connection of its own.
struct OnDisk {
  std::int64_t open_runs = 0;  ///< that have not ended
  std::int64_t ended_runs = 0;
  std::int64_t open_tasks = 0;
  std::int64_t ended_tasks = 0;
};
OnDisk read_disk(const std::filesystem::path& database);

/// What a folder may hold beside named pipes and what a file system puts there.
enum class Holds { nothing, the_database };

/// Throws Error unless the folder of this database is there and holds nothing else. Touches nothing.
void check_folder(const std::filesystem::path& database, Holds known);

/// Nanoseconds since `start`.
inline std::uint64_t ns_since(Instant start) {
  return static_cast<std::uint64_t>((SystemClock().now() - start).count());
}

}  // namespace tare::agents_driver
