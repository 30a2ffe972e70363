#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <v8.h>
#include <vector>

#include <poll.h>

#include "base/clock.hpp"
#include "engine/isolate/platform.hpp"
#include "engine/isolate/realm.hpp"
#include "engine/kernel/description.hpp"
#include "engine/kernel/waker.hpp"
#include "protocol/eager.hpp"

namespace tare::kernel {
class Trace;
}

namespace tare::engine {

/// The event loop of one guest, on its own thread: timers, then what became ready, then immediates, as libuv
/// orders them. It sleeps where the process's blocking calls sleep, so that a kill ends it.
class Loop {
 public:
  /// `trace` may be null.
  Loop(Realm& realm, std::shared_ptr<kernel::Wait> wait, ForegroundTasks& tasks, kernel::Trace* trace);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Whether something keeps the process alive: a timer, an immediate, a watch or a request that counts.
  bool alive() const;

  /// One turn; `Sleep::yes` waits for something to happen if there is nothing to do. Returns at once when the
  /// process is killed.
  enum class Sleep : std::uint8_t { no, yes };
  void turn(Sleep sleep);

  /// For any thread: `work` runs on the loop's thread in its next turn, each within a callback scope of its
  /// own when it calls Realm::call. What is posted after the loop's end is dropped.
  class Port;
  std::shared_ptr<Port> port() const { return port_; }

  /// Calls `ready` (JavaScript) whenever `description` can be read or written, until it is stopped. Edge
  /// cases are level-triggered: while there is something left it is called every turn.
  using WatchId = std::uint32_t;
  WatchId watch(std::shared_ptr<kernel::Description> description, kernel::Description::Direction direction,
                v8::Local<v8::Function> ready);
  void unwatch(WatchId id);
  void set_counted(WatchId id, bool counted);

  /// Requests in flight that keep the process alive; `delta` of +1 or -1.
  void count(int delta) { requests_ += delta; }

  /// JavaScript has completions to deliver in the next turn (callbacks.drain).
  void set_pending() { pending_ = true; }

  // The binding `timers`.
  std::int64_t now_ms() const;  ///< since the loop's start, as of this turn
  void schedule_timer(std::int64_t ms);
  void count_timer(bool counted) { timer_counted_ = counted; }
  void count_immediate(bool counted) { immediate_counted_ = counted; }

 private:
  struct Watch {
    std::shared_ptr<kernel::Description> description;
    kernel::Description::Direction direction;
    v8::Global<v8::Function> ready;
    std::optional<int> host_fd;  ///< of the description, when it is one of the host's
    bool host_ready = false;     ///< as of the last poll_host(), until it is told
    bool counted = true;
  };
  void update_now();
  void run_timers();
  bool run_posted();
  bool run_watches();
  bool run_pending();
  void run_immediates();
  void sleep(kernel::Wait::Ticket ticket);
  void wait(kernel::Wait::Ticket ticket, std::optional<Instant> until);
  /// Sees which watched descriptors of the host are ready, in one call for all of them and `event` (-1 for
  /// none). True when one is. Waits for `timeout`, for ever without.
  bool poll_host(const timespec* timeout, int event = -1);
  std::optional<Instant> deadline() const;

  Realm& realm_;
  const std::shared_ptr<kernel::Wait> wait_;
  ForegroundTasks& tasks_;
  kernel::Trace* const trace_;
  const std::shared_ptr<Port> port_;
  const Instant start_;
  std::int64_t now_ms_ = 0;
  std::optional<std::int64_t> timer_at_ms_;
  bool timer_counted_ = false;
  bool immediate_counted_ = false;
  bool pending_ = false;
  bool settled_ = false;  ///< has given back what it needed to get so far
  int requests_ = 0;
  WatchId next_watch_ = 1;
  std::map<WatchId, Watch> watches_;
  std::vector<pollfd> polled_;  ///< of poll_host(), kept for its memory
  guest::Eager eager_;
  std::uint32_t* immediate_info_;  ///< [0] how many, [1] how many count, [2] whether some are left over
};

/// Hands work to a loop from other threads. Outlives the loop.
class Loop::Port {
 public:
  explicit Port(std::shared_ptr<kernel::Wait> wait) : wait_(std::move(wait)) {}
  void post(std::function<void()> work);
  std::vector<std::function<void()>> take();
  void close();

 private:
  const std::shared_ptr<kernel::Wait> wait_;
  std::mutex mutex_;
  std::vector<std::function<void()>> work_;
  bool closed_ = false;
};

}  // namespace tare::engine
