#pragma once

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "runtime/agents/registry.hpp"

/// For tests: a loop, a clock that stands still, and ways to run tasks to their end.
namespace tare::agents {

class AgentsTest : public testing::Test {
 protected:
  AgentsTest() { clock.advance(std::chrono::hours(500'000)); }
  ~AgentsTest() override { loop.abandon(); }

  /// Runs until nothing is ready and nothing is written.
  void run() {
    io.restart();
    io.run();
  }

  /// Runs a task to its end. Throws what it throws.
  template <class T>
  T finish(Task<T> task) {
    if constexpr (std::is_void_v<T>) {
      std::exception_ptr failure;
      loop.start(std::move(task), [&](const std::exception_ptr& why) { failure = why; });
      run();
      if (failure) std::rethrow_exception(failure);
    } else {
      std::optional<T> result;
      std::exception_ptr failure;
      loop.start(std::move(task), [&](const std::exception_ptr& why, T value) {
        failure = why;
        result = std::move(value);
      });
      run();
      if (failure) std::rethrow_exception(failure);
      return *std::move(result);
    }
  }

  static NewRun child(std::string name, Cleanup cleanup = Cleanup::keep) {
    NewRun run;
    run.child = std::move(name);
    run.requester = "main";
    run.controller = "main";
    run.label = "label";
    run.task = "task";
    run.payload = R"({"a":1})";
    run.cleanup = cleanup;
    return run;
  }

  asio::io_context io{1};
  Loop loop{io};
  ManualClock clock;
};

/// A store whose writes wait until a test says how they end.
class HeldStore final : public Store {
 public:
  explicit HeldStore(Loop& loop) : loop_(loop) {}
  bool durable() const override { return true; }
  Task<void> write(std::vector<Change> changes) override {
    written.push_back(std::move(changes));
    co_await suspend<std::monostate>(loop_, [&](const auto& resume) { waiting_.push_back(resume); });
  }
  void load(const std::function<void(const Run&)>& each) override {
    for (const Run& run : kept) each(run);
  }

  void succeed() {
    for (const auto& one : std::exchange(waiting_, {})) one({});
  }
  void fail(std::exception_ptr failure) {
    for (const auto& one : std::exchange(waiting_, {})) one.fail(failure);
  }

  std::vector<std::vector<Change>> written;
  std::vector<Run> kept;

 private:
  Loop& loop_;
  std::vector<Resumer<std::monostate>> waiting_;
};

}  // namespace tare::agents
