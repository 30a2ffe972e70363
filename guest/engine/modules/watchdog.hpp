#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <v8.h>

namespace tare::engine {

/// Ends the JavaScript of an isolate once `timeout_ms` have passed; does nothing for -1. For the option
/// `timeout` of the module vm. On the isolate's thread.
class ScriptWatchdog {
 public:
  ScriptWatchdog(v8::Isolate* isolate, std::int64_t timeout_ms);
  ~ScriptWatchdog();
  ScriptWatchdog(const ScriptWatchdog&) = delete;
  ScriptWatchdog& operator=(const ScriptWatchdog&) = delete;

  /// To be called when the JavaScript has come back. If the time was up, the isolate can go on, unless its
  /// guest is at its end.
  enum class Outcome : bool { in_time, timed_out };
  Outcome stop();

 private:
  v8::Isolate* const isolate_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool fired_ = false;
  std::thread thread_;
};

}  // namespace tare::engine
