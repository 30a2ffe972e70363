#include <cerrno>
#include <chrono>
#include <numeric>

#include <fmt/format.h>
#include <sys/timerfd.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/measure/summary.hpp"
#include "load_lanes.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto timing_every = std::chrono::microseconds(100);
constexpr std::uint64_t timing_starts = 20'000;  ///< a block
constexpr std::uint64_t timing_bare_starts = 10'000;
constexpr std::uint64_t timing_warmup = 2'000;
constexpr std::size_t timing_blocks = 8;

struct TimingBlock {
  std::vector<double> error_ms;
  std::uint64_t late = 0;
  std::uint64_t unsent = 0;
};

TimingBlock probe_block(const net::Url& server) {
  boost::asio::io_context io{1};
  Probes probes(io, server, "/fast", {.every = timing_every, .rounds = timing_warmup + timing_starts});
  probes.begin();
  run_loop_until(io, [&] { return probes.done(); });
  TimingBlock block;
  const auto& samples = probes.series().samples();
  for (std::size_t i = timing_warmup; i < samples.size(); ++i)
    block.error_ms.push_back(to_ms(samples[i].sent - samples[i].due));
  block.late = probes.series().late_starts();
  block.unsent = probes.series().unsent_starts();
  return block;
}

/// How late this machine wakes up who asks for nothing but that, at the same cadence.
std::vector<double> bare_block() {
  const Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!timer) throw Error(ErrorCode::failed, "no timer", errno_text(errno));
  const SystemClock clock;
  const Instant begin = clock.now();
  std::vector<double> error_ms;
  for (std::uint64_t i = 1; i <= timing_bare_starts; ++i) {
    const Instant due = begin + i * timing_every;
    const auto ns = due.time_since_epoch().count();
    itimerspec when{};
    when.it_value.tv_sec = ns / 1'000'000'000;
    when.it_value.tv_nsec = ns % 1'000'000'000;
    std::uint64_t times = 0;
    if (::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &when, nullptr) < 0 ||
        ::read(timer.get(), &times, sizeof times) < 0)
      throw Error(ErrorCode::failed, "the timer does not work", errno_text(errno));
    error_ms.push_back(to_ms(clock.now() - due));
  }
  return error_ms;
}

Measurement measure_timing() {
  const HelperServer server("probed_server");
  std::vector<double> ours;
  std::vector<double> bare;
  std::uint64_t late = 0;
  std::uint64_t unsent = 0;
  for (std::size_t i = 0; i < timing_blocks; ++i) {
    const TimingBlock block = probe_block(server.url());
    ours.insert(ours.end(), block.error_ms.begin(), block.error_ms.end());
    late += block.late;
    unsent += block.unsent;
    const std::vector<double> error_ms = bare_block();
    bare.insert(bare.end(), error_ms.begin(), error_ms.end());
  }
  const measure::Summary summary = measure::summarise(std::move(ours));
  const measure::Summary floor = measure::summarise(std::move(bare));
  std::string note = fmt::format(
      "{} starts, p50 {:.3f} ms, max {:.1f} ms, {} late by over 1 ms, {} unsent; a bare timer: p50 {:.3f}, "
      "p99 "
      "{:.3f} ms",
      summary.count, summary.p50.value(), summary.max.value(), late, unsent, floor.p50.value(),
      floor.p99.value());
  return {summary.p99, floor.p99, {}, summary.p99_interval, std::move(note), {}, floor.p99};
}

}  // namespace

Benchmark load_timing() {
  return {{"load.timing",
           "how late a probe starts that is due on a schedule of 10,000 a second, p99",
           "ms",
           Judged::time,
           {{}, 0.3}},
          measure_timing};
}

}  // namespace tare::benchmarks
