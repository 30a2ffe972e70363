#include <ctime>

#include "base/error.hpp"
#include "guest_lanes.hpp"
#include "registry_worker.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::benchmarks {
namespace {

/// Enough guests that each made for the pool has been made, and each that was taken is used up.
constexpr int guests_a_block = 16;
constexpr int processes_a_block = 3;

/// User and system time of a process with all its threads, those that have ended too.
double cpu_ms(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0)
    throw Error(ErrorCode::failed, "cannot read the CPU time of the engine");
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Of the engine, and of this process, which is its client.
double both_ms(Guests& guests) {
  double sum = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
  for (const int pid : guests.engine().pids()) {
    clockid_t clock{};
    if (::clock_getcpuclockid(pid, &clock) != 0)
      throw Error(ErrorCode::failed, "cannot read the CPU time of the engine");
    sum += cpu_ms(clock);
  }
  return sum;
}

/// A block of guests, one after another, from a pool that is full until it is full again: so what it does
/// in the background counts.
double guest_ms(Guests& guests) {
  guests.settle();
  const double before = both_ms(guests);
  for (int i = 0; i < guests_a_block; ++i) {
    guest::Execution one = guests.start(guest_driver::exit_script);
    expect_success(one);
  }
  guests.settle();
  return (both_ms(guests) - before) / guests_a_block;
}

double node_ms(SpawnLane& node) {
  double sum = 0;
  for (int i = 0; i < processes_a_block; ++i) {
    const auto resources = node.sample().resources;
    if (!resources || !resources->cpu_user_us || !resources->cpu_system_us)
      throw Error(ErrorCode::failed, "tare-spawner does not know the CPU time of a process");
    sum += static_cast<double>(*resources->cpu_user_us + *resources->cpu_system_us) / 1e3;
  }
  return sum / processes_a_block;
}

Measurement measure_cpu() {
  Guests pooled;
  guest::EngineOptions without_pool;
  without_pool.pool = 0;
  Guests cold(without_pool);
  SpawnLane node("native", "node_exit_1");
  const std::vector<Lane> lanes{[&] { return guest_ms(pooled); }, [&] { return node_ms(node); },
                                [&] { return guest_ms(cold); }};
  for (const Lane& lane : lanes) lane();
  const auto figures = interleave(lanes, {.fewest = 20, .most = 100, .limit = std::chrono::seconds(30)});
  Measurement measurement = p50_against(figures[0], figures[1], "16 guests and 3 processes");
  const Measurement to_cold = p50_against(figures[2], figures[1], "");
  measurement.note +=
      fmt::format("; without a pool {:.2f} ms, {:.3f}×", to_cold.measured.value(), to_cold.ratio.value());
  return measurement;
}

}  // namespace

Benchmark guest_cpu() {
  return {{"guest.cpu",
           "CPU of a guest, engine and client together, against a process of host Node",
           "ms",
           Judged::ratio,
           {{}, 0.25}},
          measure_cpu};
}

}  // namespace tare::benchmarks
