#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <node.h>
#include <optional>
#include <v8-platform.h>
#include <vector>

namespace tare::engine {

/// Tasks that V8 posts to the thread of one isolate: collection, deoptimisation, finished compilations. That
/// thread runs them between turns of its loop. Posting is for any thread.
class ForegroundTasks final : public v8::TaskRunner {
 public:
  using Clock = std::chrono::steady_clock;

  /// What wakes the thread; null while it isn't in a loop.
  void set_wake(std::function<void()> wake);

  /// Runs what is there now, and no task that those post: a task may post itself for ever.
  void run_some();

  /// Forgets all tasks, before the isolate goes.
  void clear();

  /// When the next delayed task is due; nothing when there is none.
  std::optional<Clock::time_point> next() const;

  bool IdleTasksEnabled() override { return false; }
  bool NonNestableTasksEnabled() const override { return true; }
  bool NonNestableDelayedTasksEnabled() const override { return true; }

 protected:
  void PostTaskImpl(std::unique_ptr<v8::Task> task, const v8::SourceLocation& location) override;
  void PostNonNestableTaskImpl(std::unique_ptr<v8::Task> task, const v8::SourceLocation& location) override;
  void PostDelayedTaskImpl(std::unique_ptr<v8::Task> task, double seconds,
                           const v8::SourceLocation& location) override;
  void PostNonNestableDelayedTaskImpl(std::unique_ptr<v8::Task> task, double seconds,
                                      const v8::SourceLocation& location) override;
  void PostIdleTaskImpl(std::unique_ptr<v8::IdleTask>, const v8::SourceLocation&) override {}

 private:
  struct Delayed {
    Clock::time_point due;
    std::unique_ptr<v8::Task> task;
  };
  void post(std::unique_ptr<v8::Task> task);

  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<v8::Task>> tasks_;
  std::vector<Delayed> delayed_;
  std::function<void()> wake_;
};

/// What Node's platform asks of an isolate that has no loop of libuv.
class Delegate final : public node::IsolatePlatformDelegate {
 public:
  std::shared_ptr<v8::TaskRunner> GetForegroundTaskRunner() override { return tasks_; }
  bool IdleTasksEnabled() override { return false; }
  ForegroundTasks& tasks() { return *tasks_; }

 private:
  std::shared_ptr<ForegroundTasks> tasks_ = std::make_shared<ForegroundTasks>();
};

}  // namespace tare::engine
