#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <v8.h>

#include <sys/resource.h>

#include "engine/isolate/isolate.hpp"
#include "engine/isolate/loop.hpp"
#include "engine/isolate/native_objects.hpp"
#include "engine/isolate/realm.hpp"
#include "engine/isolate/receive_room.hpp"
#include "engine/isolate/workers.hpp"
#include "engine/kernel/process.hpp"

namespace tare::engine {

/// A process of a guest at work in its isolate. Lives on the guest's thread; natives reach it by guest_of().
class Guest {
 public:
  /// `realm` is restored and idle, its isolate and context entered, within a HandleScope. `killed` is called
  /// once when a kill comes, on the killer's thread.
  Guest(IsolateOwner& isolate, Realm& realm, std::shared_ptr<kernel::Process> process,
        std::function<void()> killed);
  ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  /// Runs the program to its end and says how it ended.
  kernel::Exit run();

  /// process.reallyExit: nothing more of the program runs after the native that called this has returned.
  void exit(int code);
  bool ending() const { return exit_code_.has_value() || process_->kill_requested(); }

  kernel::Process& process() { return *process_; }
  const std::shared_ptr<kernel::Process>& shared_process() { return process_; }
  Loop& loop() { return loop_; }
  NativeObjects& objects() { return objects_; }
  BackgroundJobs& jobs() { return jobs_; }
  Realm& realm() { return realm_; }
  IsolateOwner& isolate() const { return isolate_; }
  ReceiveRoom& receive_room() { return receive_room_; }
  /// What its thread had used before the process was there, to make the isolate.
  const rusage& used_before() const { return used_before_; }

 private:
  void attach();
  void spin();

  IsolateOwner& isolate_;
  Realm& realm_;
  const std::shared_ptr<kernel::Process> process_;
  NativeObjects objects_;
  Loop loop_;
  BackgroundJobs jobs_;
  ReceiveRoom receive_room_;
  std::optional<int> exit_code_;
  rusage used_before_{};
};

/// The guest of this isolate; null while a snapshot is built or the isolate waits in the pool.
Guest* guest_of(v8::Isolate* isolate);

}  // namespace tare::engine
