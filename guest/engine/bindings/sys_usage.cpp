// `host.sys`, part: clocks and what the process uses.

#include <array>
#include <ctime>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "engine/bindings/sys.hpp"

namespace tare::engine::sys {
namespace {

/// hrtime(Uint32Array of 3): the seconds' upper and lower half, the nanoseconds.
void hrtime(const Arguments& args) {
  const std::span<std::byte> room = memory(args[0]);
  if (room.size() < 3 * sizeof(std::uint32_t)) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  auto* out = reinterpret_cast<std::uint32_t*>(room.data());
  out[0] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.tv_sec) >> 32);
  out[1] = static_cast<std::uint32_t>(now.tv_sec);
  out[2] = static_cast<std::uint32_t>(now.tv_nsec);
}

/// hrtimeBigInt(the same array): nanoseconds, in its first eight bytes.
void hrtime_big(const Arguments& args) {
  const std::span<std::byte> room = memory(args[0]);
  if (room.size() < sizeof(std::uint64_t)) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  *reinterpret_cast<std::uint64_t*>(room.data()) =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::span<double> numbers(const Arguments& args, std::size_t count) {
  const std::span<std::byte> room = memory(args[0]);
  if (room.size() < count * sizeof(double)) return {};
  return {reinterpret_cast<double*>(room.data()), count};
}

/// memoryUsage(Float64Array of 5): resident (of this guest: what its heap and buffers hold), heapTotal,
/// heapUsed, external, arrayBuffers.
std::int64_t memory_usage(Guest& guest, const Arguments& args) {
  v8::HeapStatistics heap;
  args.GetIsolate()->GetHeapStatistics(&heap);
  const auto buffers = static_cast<double>(guest.isolate().buffers().used());
  const std::array<double, 5> values{
      static_cast<double>(heap.total_physical_size()) + buffers, static_cast<double>(heap.total_heap_size()),
      static_cast<double>(heap.used_heap_size()), static_cast<double>(heap.external_memory()), buffers};
  const std::span<double> out = numbers(args, values.size());
  std::copy(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(out.size()), out.begin());
  return 0;
}

std::int64_t resident(Guest& guest, const Arguments& args) {
  v8::HeapStatistics heap;
  args.GetIsolate()->GetHeapStatistics(&heap);
  return static_cast<std::int64_t>(heap.total_physical_size() + guest.isolate().buffers().used());
}

/// What the guest's thread has used since the process was there.
rusage usage_of(const Guest& guest) {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const rusage& before = guest.used_before();
  timersub(&usage.ru_utime, &before.ru_utime, &usage.ru_utime);
  timersub(&usage.ru_stime, &before.ru_stime, &usage.ru_stime);
  usage.ru_minflt -= before.ru_minflt;
  usage.ru_majflt -= before.ru_majflt;
  usage.ru_inblock -= before.ru_inblock;
  usage.ru_oublock -= before.ru_oublock;
  usage.ru_nvcsw -= before.ru_nvcsw;
  usage.ru_nivcsw -= before.ru_nivcsw;
  return usage;
}

double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

/// cpuUsage(Float64Array of 2): user and system, in microseconds.
std::int64_t cpu_usage(Guest& guest, const Arguments& args) {
  const std::span<double> out = numbers(args, 2);
  if (out.empty()) return -EINVAL;
  const rusage usage = usage_of(guest);
  out[0] = microseconds(usage.ru_utime);
  out[1] = microseconds(usage.ru_stime);
  return 0;
}

/// resourceUsage(Float64Array of 16): in the order of rusage.
std::int64_t resource_usage(Guest& guest, const Arguments& args) {
  const std::span<double> out = numbers(args, 16);
  if (out.empty()) return -EINVAL;
  const rusage u = usage_of(guest);
  const auto number = [](long value) { return static_cast<double>(value); };
  const std::array<double, 16> values{
      microseconds(u.ru_utime), microseconds(u.ru_stime), number(u.ru_maxrss),  number(u.ru_ixrss),
      number(u.ru_idrss),       number(u.ru_isrss),       number(u.ru_minflt),  number(u.ru_majflt),
      number(u.ru_nswap),       number(u.ru_inblock),     number(u.ru_oublock), number(u.ru_msgsnd),
      number(u.ru_msgrcv),      number(u.ru_nsignals),    number(u.ru_nvcsw),   number(u.ru_nivcsw)};
  std::copy(values.begin(), values.end(), out.begin());
  return 0;
}

/// uptime() → seconds since the process began
void uptime(Guest& guest, const Arguments& args) {
  const auto age = std::chrono::steady_clock::now() - guest.process().started();
  args.GetReturnValue().Set(std::chrono::duration<double>(age).count());
}

/// memoryLimit() → the bytes that heap and buffers may take
void memory_limit(Guest&, const Arguments& args) {
  v8::HeapStatistics heap;
  args.GetIsolate()->GetHeapStatistics(&heap);
  args.GetReturnValue().Set(static_cast<double>(heap.heap_size_limit()));
}

const Native sys_usage_natives[] = {
    {"hrtime", hrtime},
    {"hrtimeBigInt", hrtime_big},
    {"memoryUsage", number_call<memory_usage>},
    {"rss", number_call<resident>},
    {"cpuUsage", number_call<cpu_usage>},
    {"resourceUsage", number_call<resource_usage>},
    {"uptime", any_call<uptime>},
    {"memoryLimit", any_call<memory_limit>},
};

}  // namespace

std::span<const Native> usage_natives() {
  return sys_usage_natives;
}

}  // namespace tare::engine::sys
