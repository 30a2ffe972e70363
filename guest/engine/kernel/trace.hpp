#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

/// 0 compiles every stage point away. A file that includes this header is compiled once for each value that
/// the build needs; no header but this one may depend on it.
#ifndef TARE_GUEST_TRACING
#define TARE_GUEST_TRACING 1
#endif

namespace tare::kernel {

inline constexpr bool tracing = TARE_GUEST_TRACING != 0;

/// A part of what the engine does for a process. The names are those of stage_table, in the same order.
enum class Stage : std::uint8_t {
  resolve_execute_request,
  kernel_spawn_process,
  js_create_context,
  js_start_execution,
  process_register_and_lifecycle,
  execute_total,
  execute_response_to_exit_event_queued,
  process_exit_event_queue_wait,
  process_exit_cleanup,
  process_exit_cleanup_sync_host_writes,
  process_exit_cleanup_sync_host_writes_clean_skip,
  process_exit_cleanup_wait_and_reap,
  child_process_spawn_and_start_execution,
  child_process_register,
  child_process_spawn_total,
  child_process_exit_cleanup,
  js_start_isolate,
  js_start_claim,
  js_start_attach,
  js_start_main,
  js_event_turn,
  js_event_wait,
  js_exit_keep_code,
  js_exit_dispose,
};

struct StageText {
  std::string_view name;
  std::string_view covers;
};

/// What each stage is in this engine. docs/guest.md repeats it.
inline constexpr std::array stage_table = {
    StageText{"resolve_execute_request", "a spawn message is read, its machine found, its streams made"},
    StageText{"kernel_spawn_process",
              "the process is checked, its program and folder found, entered into the table and handed to a "
              "thread; of processes that the client starts"},
    StageText{"js_create_context", "a context with Node's library is made in an isolate from the snapshot"},
    StageText{"js_start_execution", "a thread is found for the process and woken, or made"},
    StageText{"process_register_and_lifecycle",
              "the client is told that the process has started, and it is entered among those that live"},
    StageText{"execute_total",
              "from the spawn message until the client has been told that the process has started"},
    StageText{"execute_response_to_exit_event_queued",
              "from the word that it has started until its end is to be told: its life"},
    StageText{"process_exit_event_queue_wait", "the end waits for its turn on the client's socket"},
    StageText{"process_exit_cleanup",
              "descriptors are closed and the process leaves the table, before anybody is told; of processes "
              "that the client started"},
    StageText{"process_exit_cleanup_sync_host_writes",
              "what the process wrote to mounts is brought to the host"},
    StageText{"process_exit_cleanup_sync_host_writes_clean_skip", "there was nothing to bring to the host"},
    StageText{"process_exit_cleanup_wait_and_reap",
              "within the clean-up: children are adopted, zombies and the process itself leave the table"},
    StageText{"child_process_spawn_and_start_execution",
              "as kernel_spawn_process, of processes that a guest starts"},
    StageText{"child_process_register", "within that: the child enters the table below its parent"},
    StageText{"child_process_spawn_total", "a guest's call to spawn, with the reading of its arguments"},
    StageText{"child_process_exit_cleanup", "as process_exit_cleanup, of processes that a guest started"},
    StageText{"js_start_isolate", "an isolate is made from the snapshot, for the pool or for a process"},
    StageText{"js_start_claim",
              "from the handing over of a process until its thread has it, with its isolate"},
    StageText{"js_start_attach", "the library gets arguments, environment and descriptors of the process"},
    StageText{"js_start_main", "the program is loaded and run until it returns for the first time, or exits"},
    StageText{"js_event_turn",
              "a turn of the event loop: timers, what became ready, immediates; its sleep, too"},
    StageText{"js_event_wait", "within the turns: the loop sleeps"},
    StageText{"js_exit_keep_code", "after the end was told: code that was compiled is kept for others"},
    StageText{"js_exit_dispose", "after that: context and isolate are disposed of"},
};

inline constexpr std::size_t stage_count = stage_table.size();
static_assert(stage_count == static_cast<std::size_t>(Stage::js_exit_dispose) + 1);

/// How often each stage was passed, and how long it took. Thread-safe, without locks.
class Trace {
 public:
  struct Count {
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t max_ns = 0;
  };

  void record(Stage stage, Nanoseconds took) {
    Cell& cell = cells_[static_cast<std::size_t>(stage)];
    const auto ns = static_cast<std::uint64_t>(took.count() < 0 ? 0 : took.count());
    cell.total_ns.fetch_add(ns, std::memory_order_relaxed);
    std::uint64_t max = cell.max_ns.load(std::memory_order_relaxed);
    while (ns > max && !cell.max_ns.compare_exchange_weak(max, ns, std::memory_order_relaxed)) {
    }
    cell.calls.fetch_add(1, std::memory_order_release);
  }

  /// In the order of stage_table. What is recorded meanwhile may be in some figures and not in others.
  std::vector<Count> counts() const {
    std::vector<Count> all;
    all.reserve(stage_count);
    for (const Cell& cell : cells_) {
      const std::uint64_t calls = cell.calls.load(std::memory_order_acquire);
      all.push_back({calls, cell.total_ns.load(std::memory_order_relaxed),
                     cell.max_ns.load(std::memory_order_relaxed)});
    }
    return all;
  }

 private:
  struct alignas(64) Cell {  // threads that pass different stages do not share a line of the cache
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> total_ns{0};
    std::atomic<std::uint64_t> max_ns{0};
  };
  std::array<Cell, stage_count> cells_;
};

/// Runs from where it is made, if there is a trace; else it does nothing, but for a look whether there is.
class Stopwatch {
 public:
  explicit Stopwatch(Trace* trace) : trace_(trace) {
    if (on()) start_ = std::chrono::steady_clock::now();
  }

  /// A stage has taken as long as this has run. Any number of stages may.
  void record(Stage stage) const {
    if (on()) trace_->record(stage, std::chrono::steady_clock::now() - start_);
  }

  /// A stage that takes no time.
  void count(Stage stage) const {
    if (on()) trace_->record(stage, Nanoseconds(0));
  }

 private:
  bool on() const { return tracing && trace_ != nullptr; }

  Trace* trace_;
  Instant start_{};
};

}  // namespace tare::kernel
