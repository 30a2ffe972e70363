#include "engine/isolate/workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>

#include <sys/resource.h>

#include "engine/isolate/guest.hpp"

namespace tare::engine {
namespace {

/// Beyond so many that wait, a guest does its work itself.
constexpr std::size_t most_waiting = 1024;
constexpr std::size_t worker_stack_bytes = std::size_t{1} << 20;

Nanoseconds cpu_time_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

std::uint64_t page_faults_of_this_thread() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

}  // namespace

/// What one guest has for the threads. Guarded by the lock of Workers.
class BackgroundJobs::Queue {
 public:
  explicit Queue(std::shared_ptr<kernel::Process> process) : process(std::move(process)) {}

  const std::shared_ptr<kernel::Process> process;
  std::deque<std::function<void()>> jobs;
  std::size_t running = 0;
  bool listed = false;  ///< has its place among those that take turns
  bool closed = false;
};

namespace {

using Queue = BackgroundJobs::Queue;

/// The threads, and the guests whose turn it is one after another. Guests add to it, whichever thread is free
/// takes from it.
class Workers {
 public:
  /// False when the guest has enough waiting, or when there is no thread: nothing was added.
  bool add(const std::shared_ptr<Queue>& queue, std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue->closed) return true;  // nobody waits for it any more
    if (queue->jobs.size() >= most_waiting || !have_thread()) return false;
    queue->jobs.push_back(std::move(job));
    list(queue);
    return true;
  }

  void close(Queue& queue) {
    std::deque<std::function<void()>> dropped;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    queue.closed = true;
    dropped.swap(queue.jobs);
  }

  bool shut_down(Instant deadline) {
    std::deque<std::shared_ptr<Queue>> dropped;
    std::unique_lock lock(mutex_);
    stopping_ = true;
    dropped.swap(turns_);
    changed_.notify_all();
    return changed_.wait_until(lock, deadline, [&] { return threads_ == 0; });
  }

  std::size_t threads() const {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  static std::size_t most_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

  /// What of the threads one guest may have.
  static std::size_t share() { return std::max<std::size_t>(1, most_threads() - 1); }

  void list(const std::shared_ptr<Queue>& queue) {
    if (queue->listed || queue->jobs.empty() || queue->running >= share()) return;
    queue->listed = true;
    turns_.push_back(queue);
    changed_.notify_one();
  }

  /// Starts one more if those that are idle will have something to do. Whether there is any.
  bool have_thread() {
    if (idle_ > turns_.size() || threads_ >= most_threads()) return true;
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, worker_stack_bytes);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const int error = ::pthread_create(&thread, &attributes, &Workers::main, this);
    ::pthread_attr_destroy(&attributes);
    if (error == 0) ++threads_;
    return threads_ > 0;
  }

  static void* main(void* self) {
    static_cast<Workers*>(self)->run();
    return nullptr;
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      changed_.wait(lock, [&] { return stopping_ || !turns_.empty(); });
      --idle_;
      if (stopping_) break;
      const std::shared_ptr<Queue> queue = std::move(turns_.front());
      turns_.pop_front();
      queue->listed = false;
      if (!queue->jobs.empty()) run_one(lock, queue);
    }
    --threads_;
    changed_.notify_all();
  }

  void run_one(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Queue>& queue) {
    std::function<void()> job = std::move(queue->jobs.front());
    queue->jobs.pop_front();
    ++queue->running;
    list(queue);
    lock.unlock();
    const Nanoseconds start = cpu_time_of_this_thread();
    const std::uint64_t faults = page_faults_of_this_thread();
    if (!queue->process->kill_requested()) job();
    job = nullptr;
    queue->process->add_background(cpu_time_of_this_thread() - start, page_faults_of_this_thread() - faults);
    lock.lock();
    --queue->running;
    list(queue);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Queue>> turns_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

Workers& workers() {
  static Workers* const one = new Workers;  // never destroyed: a thread that is busy may still use it
  return *one;
}

}  // namespace

BackgroundJobs::BackgroundJobs(Loop& loop, std::shared_ptr<kernel::Process> process)
    : loop_(loop), queue_(std::make_shared<Queue>(std::move(process))) {}

BackgroundJobs::~BackgroundJobs() {
  if (next_id_ > 1) workers().close(*queue_);
}

void BackgroundJobs::add(std::function<void()> work, std::function<void()> done) {
  const std::uint64_t id = next_id_++;
  waiting_.emplace(id, std::move(done));
  loop_.count(1);
  // What goes to the other threads has only the number of what it will call here, and `this` is not followed
  // but by the loop, which ends before this does.
  const auto tell = [this, id, port = loop_.port()] { port->post([this, id] { finish(id); }); };
  // Freed before the guest is told: it may want the memory at once.
  auto shared = std::make_shared<std::function<void()>>(std::move(work));
  auto job = [shared, tell] {
    (*shared)();
    *shared = nullptr;
    tell();
  };
  if (!workers().add(queue_, job)) job();
}

void BackgroundJobs::finish(std::uint64_t id) {
  const auto found = waiting_.extract(id);
  if (found.empty()) return;
  loop_.count(-1);
  found.mapped()();
}

void in_background(Guest& guest, std::function<void()> work, std::function<void()> done) {
  guest.jobs().add(std::move(work), std::move(done));
}

bool shut_down_workers(Instant deadline) {
  return workers().shut_down(deadline);
}

std::size_t worker_threads() {
  return workers().threads();
}

}  // namespace tare::engine
