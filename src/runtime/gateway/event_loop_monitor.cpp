#include "runtime/gateway/event_loop_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <malloc.h>

#include <sys/resource.h>
#include <unistd.h>

#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {
namespace {

constexpr std::chrono::milliseconds tick_every{20};
constexpr std::chrono::seconds window_length{1};
/// A loop that is so late, or so busy, is named degraded.
constexpr std::chrono::milliseconds late_loop{100};
constexpr double busy_loop = 0.95;

Nanoseconds of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

EventLoopMonitor::CpuTimes cpu_times() {
  EventLoopMonitor::CpuTimes times;
  timespec thread{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread) == 0)
    times.thread = std::chrono::seconds(thread.tv_sec) + Nanoseconds(thread.tv_nsec);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  times.user = of(usage.ru_utime);
  times.system = of(usage.ru_stime);
  return times;
}

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

}  // namespace

EventLoopMonitor::EventLoopMonitor(boost::asio::io_context& io, const Clock& clock)
    : timer_(io), clock_(clock) {}

void EventLoopMonitor::start() {
  window_from_ = std::chrono::steady_clock::now();
  cpu_from_ = cpu_times();
  wait();
}

void EventLoopMonitor::stop() {
  timer_.cancel();
}

void EventLoopMonitor::wait() {
  due_ = std::chrono::steady_clock::now() + tick_every;
  timer_.expires_at(due_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

void EventLoopMonitor::tick() {
  const auto now = std::chrono::steady_clock::now();
  delays_.push_back(now - due_);
  if (now - window_from_ >= window_length) {
    const CpuTimes cpu = cpu_times();
    conclude(std::exchange(delays_, {}), now - window_from_,
             {cpu.thread - cpu_from_.thread, cpu.user - cpu_from_.user, cpu.system - cpu_from_.system});
    window_from_ = now;
    cpu_from_ = cpu;
  }
  wait();
}

void EventLoopMonitor::conclude(std::vector<Nanoseconds> delays, Nanoseconds window, const CpuTimes& spent) {
  if (delays.empty()) return;
  std::ranges::sort(delays);
  // Nearest rank.
  const std::size_t rank = (delays.size() * 99 + 99) / 100;
  const auto seconds = [](Nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  const double cpu = seconds(spent.user + spent.system);
  sample_ = LoopSample{window,
                       delays[rank - 1],
                       delays.back(),
                       std::min(1.0, seconds(spent.thread) / seconds(window)),
                       cpu / seconds(window),
                       cpu > 0 ? seconds(spent.user) / cpu : 0};
  const bool is_bad = sample_->delay_max > late_loop || sample_->utilization > busy_loop;
  if (!is_bad) {
    degraded_since_.reset();
  } else if (!degraded_since_) {
    degraded_since_ = clock_.now();
  }
}

std::string EventLoopMonitor::json() const {
  std::string out;
  ObjectText object(out);
  object.boolean("degraded", is_degraded());
  if (degraded_since_) {
    object.number(
        "degradedSinceMs",
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - *degraded_since_).count());
  } else {
    object.null("degradedSinceMs");
  }
  if (!sample_) {
    object.json("reasons", "[]");
    for (const std::string_view key :
         {"intervalMs", "delayP99Ms", "delayMaxMs", "utilization", "cpuCoreRatio", "cpuBreakdown"})
      object.null(key);
    object.close();
    return out;
  }
  std::string reasons = "[";
  if (sample_->delay_max > late_loop) reasons += R"("event_loop_delay")";
  if (sample_->utilization > busy_loop)
    reasons += reasons.size() > 1 ? R"(,"event_loop_utilization")" : R"("event_loop_utilization")";
  reasons += ']';
  object.json("reasons", reasons)
      .decimal("intervalMs", rounded(sample_->window.count()))
      .decimal("delayP99Ms", rounded(sample_->delay_p99.count()))
      .decimal("delayMaxMs", rounded(sample_->delay_max.count()))
      .decimal("utilization", rounded(sample_->utilization))
      .decimal("cpuCoreRatio", rounded(sample_->cpu_cores));
  ObjectText(object.value("cpuBreakdown"))
      .decimal("userRatio", rounded(sample_->cpu_cores * sample_->user_share))
      .decimal("systemRatio", rounded(sample_->cpu_cores * (1 - sample_->user_share)))
      .close();
  object.close();
  return out;
}

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  if (statm >> size >> resident) memory.rss = resident * ::sysconf(_SC_PAGESIZE);
  const struct mallinfo2 heap = ::mallinfo2();
  memory.heap_used = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
  memory.heap_total = static_cast<std::int64_t>(heap.arena + heap.hblkhd);
  return memory;
}

std::int64_t process_id() {
  return ::getpid();
}

}  // namespace tare::gateway
