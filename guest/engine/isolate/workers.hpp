#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/clock.hpp"
#include "engine/isolate/loop.hpp"
#include "engine/kernel/process.hpp"

namespace tare::engine {

class Guest;

/// Runs `work` on one of the engine's worker threads, which know no V8; then `done` on the guest's own
/// thread, in a turn of its loop, within a HandleScope and the guest's context: it calls JavaScript by
/// Realm::call. Until then the guest's loop is kept alive. On the guest's thread only.
///
/// `work` may outlive the guest and its isolate: what it touches it must own (a shared_ptr), and nothing of
/// that may need the isolate to be freed. A v8::BackingStore is all right. `done` stays with the guest: it
/// may hold a v8::Global, and is destroyed on the guest's thread before the isolate goes, called or not.
/// `work` must not throw.
///
/// The threads, as many as processors, start when they are first needed and are shared by all guests. Guests
/// take turns, job by job, and where there is more than one thread no guest has all of them. Jobs of a guest
/// that ends or is killed are dropped if they have not begun. A guest with very many jobs waiting does the
/// next one itself, before this returns.
void in_background(Guest& guest, std::function<void()> work, std::function<void()> done);

/// Drops what has not begun and lets the threads end; false when some still ran at the deadline. No job is
/// taken afterwards.
bool shut_down_workers(Instant deadline);

/// How many worker threads there are.
std::size_t worker_threads();

/// The jobs of one guest. A member of Guest, whose thread is the only one to use it.
class BackgroundJobs {
 public:
  BackgroundJobs(Loop& loop, std::shared_ptr<kernel::Process> process);
  ~BackgroundJobs();
  BackgroundJobs(const BackgroundJobs&) = delete;
  BackgroundJobs& operator=(const BackgroundJobs&) = delete;

  void add(std::function<void()> work, std::function<void()> done);

  class Queue;

 private:
  void finish(std::uint64_t id);

  Loop& loop_;
  const std::shared_ptr<Queue> queue_;  ///< shared with the threads
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, std::function<void()>> waiting_;  ///< what is to be called when a job is done
};

}  // namespace tare::engine
