#include "engine/modules/watchdog.hpp"

#include <chrono>

#include "engine/isolate/guest.hpp"

namespace tare::engine {

ScriptWatchdog::ScriptWatchdog(v8::Isolate* isolate, std::int64_t timeout_ms) : isolate_(isolate) {
  if (timeout_ms < 0) return;
  thread_ = std::thread([this, timeout_ms] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return stopped_; })) return;
    fired_ = true;
    isolate_->TerminateExecution();
  });
}

ScriptWatchdog::~ScriptWatchdog() {
  stop();
}

ScriptWatchdog::Outcome ScriptWatchdog::stop() {
  if (!thread_.joinable()) return Outcome::in_time;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
  if (!fired_) return Outcome::in_time;
  Guest* guest = guest_of(isolate_);
  if (guest != nullptr && guest->ending()) return Outcome::timed_out;
  isolate_->CancelTerminateExecution();
  // A kill may have come in between, and it must not be lost.
  if (guest != nullptr && guest->ending()) isolate_->TerminateExecution();
  return Outcome::timed_out;
}

}  // namespace tare::engine
