#include "engine/isolate/pool.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <malloc.h>
#include <optional>
#include <pthread.h>
#include <utility>

#include "engine/isolate/assignment.hpp"
#include "engine/isolate/containment.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/profiles.hpp"
#include "engine/kernel/shell.hpp"
#include "engine/kernel/trace.hpp"
#include "engine/kernel/vm.hpp"
#include "engine/modules/code_cache.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {
namespace {

/// V8 counts about 1 MB down from where an isolate was made; the rest is for what is above and below that.
constexpr std::size_t stack_bytes = std::size_t{2} << 20;

Nanoseconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

IsolateOwner::Limits limits_of(const kernel::Limits& limits) {
  return {limits.heap_bytes, limits.array_buffer_bytes};
}

bool usual(const kernel::Limits& limits) {
  return limits.heap_bytes == kernel::Limits{}.heap_bytes;
}

/// V8 is about to run out of the guest's heap. More is granted, as V8 would end the whole process otherwise;
/// the guest itself ends as soon as the collector lets it.
std::size_t near_heap_limit(void* data, std::size_t current, std::size_t) {
  constexpr std::size_t enough = std::size_t{2} << 30;
  auto* process = static_cast<kernel::Process*>(data);
  static_cast<void>(process->signal(SIGKILL, std::string(guest::reason::memory)));
  return current + enough;
}

/// Buffers that can grow are not in the budget of the allocator; V8 counts them, and collects as they grow.
/// So it does with what has a budget of its own.
void check_external(v8::Isolate* isolate, v8::GCType, v8::GCCallbackFlags, void* data) {
  constexpr std::size_t others = std::size_t{16} << 20;  // strings that lie outside, and the like
  auto* process = static_cast<kernel::Process*>(data);
  v8::HeapStatistics statistics;
  isolate->GetHeapStatistics(&statistics);
  const Guest* guest = guest_of(isolate);
  const std::uint64_t counted = guest == nullptr ? 0 : guest->isolate().buffers().told();
  if (statistics.external_memory() > process->vm()->limits().array_buffer_bytes + counted + others)
    static_cast<void>(process->signal(SIGKILL, std::string(guest::reason::array_buffer)));
}

/// Where the code of its program is kept, if that is a folder.
CodeFolder* code_folder_of(const kernel::Process& process) {
  const Assignment* assignment = assignment_of(process);
  const ContextSetup* context = assignment == nullptr ? nullptr : assignment->context();
  return context == nullptr ? nullptr : context->folder.get();
}

/// What was killed has had its share.
void keep_code_of(Realm& realm, const kernel::Process& process) {
  if (process.kill_requested()) return;
  const kernel::Stopwatch keeping(process.vm()->trace());
  const v8::HandleScope handles(realm.isolate());
  CodeFolder* const folder = code_folder_of(process);
  keep_code(realm.context(), folder);
  if (folder != nullptr) folder->save();
  keeping.record(kernel::Stage::js_exit_keep_code);
}

void run_node(IsolateOwner& isolate, Realm& realm, const std::shared_ptr<kernel::Process>& process,
              Watchdog& watchdog) {
  const Nanoseconds start = thread_cpu_time();
  const kernel::Limits& limits = process->vm()->limits();
  isolate.buffers().set_most(limits.array_buffer_bytes);
  isolate.get()->AddNearHeapLimitCallback(near_heap_limit, process.get());
  isolate.get()->AddGCEpilogueCallback(check_external, process.get());
  const Blame blame(process);
  kernel::Exit exit;
  {
    Watchdog::Guard guard = watchdog.watch(process, isolate.get());
    const v8::HandleScope handles(isolate.get());
    const v8::Context::Scope context(realm.context());
    Guest guest(isolate, realm, process, [&guard] { guard.killed(); });
    Profiles profiles(isolate.get(), *process);
    if (!process->kill_requested()) exit = guest.run();
    profiles.deliver();
  }
  process->set_cpu_time(thread_cpu_time() - start + process->background_time());
  // What is kept in a folder is there when the process has ended; for the rest nobody should wait.
  const bool awaited = code_folder_of(*process) != nullptr;
  if (awaited) keep_code_of(realm, *process);
  process->post_exit(std::move(exit));
  if (!awaited) keep_code_of(realm, *process);
  isolate.get()->RemoveGCEpilogueCallback(check_external, process.get());
  isolate.get()->RemoveNearHeapLimitCallback(near_heap_limit, 0);
}

void run_shell_process(const std::shared_ptr<kernel::Process>& process, Watchdog& watchdog) {
  const Watchdog::Guard guard = watchdog.watch(process, nullptr);
  process->post_exit(kernel::run_shell(process));
}

}  // namespace

/// One thread and what it is to run.
class Pool::Slot {
 public:
  Slot(Pool& pool, std::shared_ptr<kernel::Process> process)
      : pool_(pool),
        process_(std::move(process)),
        handed_over_(pool.trace_.get()),
        cold_(process_ != nullptr) {}

  static void* main(void* self) {
    const std::unique_ptr<std::shared_ptr<Slot>> slot(static_cast<std::shared_ptr<Slot>*>(self));
    (*slot)->run();
    (*slot)->pool_.thread_ended();
    return nullptr;
  }

  enum class Isolate : std::uint8_t { made, in_the_making };

  void give(std::shared_ptr<kernel::Process> process, Isolate isolate) {
    const std::lock_guard lock(mutex_);
    process_ = std::move(process);
    handed_over_ = kernel::Stopwatch(pool_.trace_.get());
    cold_ = isolate == Isolate::in_the_making;
    given_.notify_one();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    given_.notify_one();
  }

  bool ready() const { return ready_.load(std::memory_order_acquire); }

 private:
  void run() {
    const std::shared_ptr<kernel::Process> early = given();
    if (early != nullptr && early->program() == kernel::Program::shell) {
      run_shell_process(early, pool_.watchdog_);
      return;
    }
    kernel::Stopwatch disposing(nullptr);
    run_in_isolate(early == nullptr ? kernel::Limits{} : early->vm()->limits(), disposing);
    disposing.record(kernel::Stage::js_exit_dispose);
  }

  /// `disposing` runs from the end of the process.
  void run_in_isolate(const kernel::Limits& limits, kernel::Stopwatch& disposing) {
    const kernel::Stopwatch making_isolate(pool_.trace_.get());
    IsolateOwner isolate(Origin::snapshot, limits_of(limits));
    const v8::Isolate::Scope inside(isolate.get());
    set_isolate_callbacks(isolate.get());
    making_isolate.record(kernel::Stage::js_start_isolate);
    const kernel::Stopwatch making_context(pool_.trace_.get());
    Realm realm(isolate.get());
    making_context.record(kernel::Stage::js_create_context);
    if (given() == nullptr) realm.rehearse();
    const std::shared_ptr<kernel::Process> process = wait();
    if (process == nullptr) return;
    run_node(isolate, realm, process, pool_.watchdog_);
    pool_.process_ended();
    disposing = kernel::Stopwatch(pool_.trace_.get());
  }

  std::shared_ptr<kernel::Process> given() {
    const std::lock_guard lock(mutex_);
    return process_;
  }

  /// The isolate is there: now the process is.
  std::shared_ptr<kernel::Process> wait() {
    std::unique_lock lock(mutex_);
    if (process_ == nullptr) {
      ready_.store(true, std::memory_order_release);
      {
        const std::lock_guard pool_lock(pool_.mutex_);
        pool_.changed_.notify_all();
      }
      given_.wait(lock, [&] { return process_ != nullptr || stop_; });
    }
    if (process_ != nullptr) handed_over_.record(kernel::Stage::js_start_claim);
    if (std::exchange(cold_, false)) pool_.cold_is_made();
    return std::exchange(process_, nullptr);
  }

  Pool& pool_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::shared_ptr<kernel::Process> process_;
  kernel::Stopwatch handed_over_;  ///< since the process is here
  bool cold_;                      ///< its process counts as one that waits for its isolate
  bool stop_ = false;
  std::atomic<bool> ready_{false};
};

Pool::Pool(std::size_t size, std::optional<std::uint64_t> memory_limit, std::shared_ptr<kernel::Trace> trace)
    : size_(size), trace_(std::move(trace)), watchdog_(memory_limit) {
  if (size_ > 0) refiller_ = std::thread([this] { refill(); });
}

Pool::~Pool() {
  shut_down(std::chrono::steady_clock::now() + std::chrono::seconds(5));
}

bool Pool::launch(const std::shared_ptr<Slot>& slot) {
  {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  auto self = std::make_unique<std::shared_ptr<Slot>>(slot);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, &Slot::main, self.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    thread_ended();
    return false;
  }
  static_cast<void>(self.release());
  return true;
}

void Pool::thread_ended() {
  {
    const std::lock_guard lock(mutex_);
    --threads_;
    changed_.notify_all();
  }
  if (size_ > 0) return;
  tidy();
  adopt();
}

/// Where each start makes its own isolate, that takes less time with a snapshot of this process's own.
void Pool::adopt() {
  constexpr std::uint64_t many = 4;
  const std::lock_guard lock(mutex_);
  if (misses_ >= many && is_idle() && !stopping_ && !adopter_.joinable())
    adopter_ = std::thread(adopt_snapshot);
}

/// Now and then, when there is nothing to do, what ended isolates have left between the memory of others goes
/// back to the system.
void Pool::tidy() {
  constexpr std::uint64_t often = 256;
  constexpr std::size_t many = 16;  // at once
  {
    const std::lock_guard lock(mutex_);
    if ((ended_ < often && most_running_ < many) || !is_idle() || ready_.size() < size_) return;
    ended_ = 0;
    most_running_ = 0;
  }
  ::malloc_trim(0);
}

void Pool::cold_is_made() {
  const std::lock_guard lock(mutex_);
  --cold_;
  changed_.notify_all();
}

void Pool::process_ended() {
  const std::lock_guard lock(mutex_);
  --running_;
  ++ended_;
  changed_.notify_all();
}

kernel::Result<void> Pool::start(std::shared_ptr<kernel::Process> process) {
  const kernel::Stopwatch starting(trace_.get());
  std::shared_ptr<Slot> slot;
  bool cold = false;
  const bool node = process->program() == kernel::Program::node;
  if (node) {
    const std::lock_guard lock(mutex_);
    most_running_ = std::max(most_running_, ++running_);
    last_start_ = std::chrono::steady_clock::now();
    const bool pooled = usual(process->vm()->limits());
    if (pooled && !ready_.empty()) {
      slot = std::move(ready_.front());
      ready_.pop_front();
    }
    cold = slot == nullptr;
    if (pooled && cold) slot = std::exchange(making_, nullptr);  // it is further than a new one
    changed_.notify_all();
    ++(cold ? misses_ : hits_);
    if (Assignment* assignment = assignment_of(*process); assignment != nullptr && !cold)
      assignment->set_pooled();
    if (cold) ++cold_;
  }
  if (slot != nullptr) {
    slot->give(std::move(process), cold ? Slot::Isolate::in_the_making : Slot::Isolate::made);
    starting.record(kernel::Stage::js_start_execution);
    return {};
  }
  if (launch(std::make_shared<Slot>(*this, std::move(process)))) {
    starting.record(kernel::Stage::js_start_execution);
    return {};
  }
  if (node) {
    const std::lock_guard lock(mutex_);
    --running_;
    --cold_;
    --misses_;
  }
  return kernel::Errno{EAGAIN};
}

/// Whether no process runs, but for those that have been given up.
bool Pool::is_idle() const {
  return running_ <= abandoned();
}

/// Waits until an isolate is wanted. Processes have the processors for themselves while they start: none is
/// made while another start waits for its own, and then not until all have ended, or the last one that
/// started has had its moment.
void Pool::wait_to_refill(std::unique_lock<std::mutex>& lock) {
  constexpr auto moment = std::chrono::milliseconds(2);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || (ready_.size() < size_ && cold_ == 0); });
    const Instant until = last_start_ + moment;
    changed_.wait_until(lock, until, [&] { return stopping_ || is_idle() || last_start_ + moment > until; });
    const bool quiet = is_idle() || std::chrono::steady_clock::now() >= last_start_ + moment;
    if (stopping_ || (ready_.size() < size_ && cold_ == 0 && quiet)) return;
  }
}

void Pool::refill() {
  constexpr auto before_another_try = std::chrono::milliseconds(100);
  for (;;) {
    const auto slot = std::make_shared<Slot>(*this, nullptr);
    {
      std::unique_lock lock(mutex_);
      wait_to_refill(lock);
      if (stopping_) return;
    }
    const bool launched = launch(slot);
    {
      std::unique_lock lock(mutex_);
      if (!launched) {
        changed_.wait_for(lock, before_another_try, [&] { return stopping_; });
        continue;
      }
      making_ = slot;
      changed_.wait(lock, [&] { return stopping_ || making_ == nullptr || slot->ready(); });
      if (std::exchange(making_, nullptr) != nullptr) ready_.push_back(slot);
      if (stopping_) return;
    }
    tidy();
  }
}

Pool::Counters Pool::counters() const {
  const std::lock_guard lock(mutex_);
  return {hits_, misses_, ready_.size(), threads_};
}

bool Pool::shut_down(Instant deadline) {
  std::deque<std::shared_ptr<Slot>> waiting;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (refiller_.joinable()) refiller_.join();
  if (adopter_.joinable()) adopter_.join();
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(ready_);
  }
  for (const std::shared_ptr<Slot>& slot : waiting) slot->stop();
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return threads_ == 0; });
}

}  // namespace tare::engine
