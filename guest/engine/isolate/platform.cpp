#include "engine/isolate/platform.hpp"

#include <algorithm>
#include <utility>

namespace tare::engine {

void ForegroundTasks::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void ForegroundTasks::run_some() {
  std::deque<std::unique_ptr<v8::Task>> now;
  {
    const std::lock_guard lock(mutex_);
    now.swap(tasks_);
    const Clock::time_point time = Clock::now();
    const auto due = std::stable_partition(delayed_.begin(), delayed_.end(),
                                           [&](const Delayed& one) { return one.due > time; });
    for (auto one = due; one != delayed_.end(); ++one) now.push_back(std::move(one->task));
    delayed_.erase(due, delayed_.end());
  }
  for (const std::unique_ptr<v8::Task>& task : now) task->Run();
}

void ForegroundTasks::clear() {
  std::deque<std::unique_ptr<v8::Task>> tasks;
  std::vector<Delayed> delayed;
  const std::lock_guard lock(mutex_);
  tasks.swap(tasks_);
  delayed.swap(delayed_);
  wake_ = nullptr;
}

std::optional<ForegroundTasks::Clock::time_point> ForegroundTasks::next() const {
  const std::lock_guard lock(mutex_);
  const auto first = std::ranges::min_element(delayed_, {}, &Delayed::due);
  if (first == delayed_.end()) return std::nullopt;
  return first->due;
}

void ForegroundTasks::post(std::unique_ptr<v8::Task> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (wake_) wake_();
}

void ForegroundTasks::PostTaskImpl(std::unique_ptr<v8::Task> task, const v8::SourceLocation&) {
  post(std::move(task));
}

void ForegroundTasks::PostNonNestableTaskImpl(std::unique_ptr<v8::Task> task, const v8::SourceLocation&) {
  post(std::move(task));
}

void ForegroundTasks::PostDelayedTaskImpl(std::unique_ptr<v8::Task> task, double seconds,
                                          const v8::SourceLocation&) {
  const auto delay = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const std::lock_guard lock(mutex_);
  delayed_.push_back({Clock::now() + delay, std::move(task)});
  if (wake_) wake_();
}

void ForegroundTasks::PostNonNestableDelayedTaskImpl(std::unique_ptr<v8::Task> task, double seconds,
                                                     const v8::SourceLocation& location) {
  PostDelayedTaskImpl(std::move(task), seconds, location);
}

}  // namespace tare::engine
