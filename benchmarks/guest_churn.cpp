#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/text.hpp"
#include "guest_lanes.hpp"
#include "runtime/guest_driver/processes.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::uint32_t processes = 10'000;
/// As many at once as the pool has: each place of it is used more than a thousand times.
constexpr std::uint32_t at_once = 8;
/// Live processes and zombies of the machine: a table that keeps its dead is full at once.
constexpr std::uint32_t most_in_table = 2 * at_once;
constexpr auto facts_limit = std::chrono::seconds(10);
constexpr auto facts_window = std::chrono::milliseconds(50);

using guest_driver::Facts;

bool is_back(const Facts& facts, const Facts& start) {
  return facts.fds <= start.fds && facts.threads <= start.threads && facts.zombies <= start.zombies;
}

/// A guest has told of its end a moment before its thread is gone.
Facts facts_once_back(Guests& guests, const Facts& start) {
  const SystemClock clock;
  const Instant deadline = clock.now() + facts_limit;
  Facts facts = guest_driver::facts_of(guests.engine().pids());
  while (!is_back(facts, start) && clock.now() < deadline) {
    std::this_thread::sleep_for(facts_window);
    facts = guest_driver::facts_of(guests.engine().pids());
  }
  return facts;
}

void run_many(Guests& guests, std::uint32_t count) {
  for (std::uint32_t left = count; left > 0;) {
    std::vector<guest::Execution> batch;
    for (std::uint32_t i = 0; i < std::min(left, at_once); ++i)
      batch.push_back(guests.start(guest_driver::exit_script));
    for (guest::Execution& guest : batch) expect_success(guest);
    left -= static_cast<std::uint32_t>(batch.size());
  }
}

/// One process of an engine serves all of them: it is never exchanged for a fresh one.
Measurement measure_churn() {
  guest::EngineOptions options;
  options.recycle_bytes = options.memory_limit_bytes;
  guest::VmOptions machine = Guests::machine_options();
  machine.limits.processes = most_in_table;
  Guests guests(options, machine);
  run_many(guests, at_once);
  guests.settle();
  const std::vector<int> engine = guests.engine().pids();
  const Facts start = guest_driver::facts_of(engine);
  const double before = guests.pss_mb();

  run_many(guests, processes);
  const auto counters = guests.settle();
  const Facts end = facts_once_back(guests, start);
  const double after = guests.pss_mb();
  const std::uint64_t left = guests.vm().dispose().killed;

  Measurement measurement{after - before, {}, {}, {}, {}, {}};
  measurement.note = fmt::format(
      "{} processes, {} at once: {} to {} threads, {} to {} descriptors, PSS {:.1f} to {:.1f} MB",
      text::count(processes), at_once, start.threads, end.threads, start.fds, end.fds, before, after);
  if (guests.engine().pids() != engine) measurement.broken = "the engine was exchanged";
  if (counters.at("exited") != processes + at_once) measurement.broken = "not every process has ended";
  if (left != 0) measurement.broken = fmt::format("{} processes were still in the table", left);
  if (!is_back(end, start)) measurement.broken = "threads, descriptors or zombies are left";
  return measurement;
}

}  // namespace

Benchmark guest_churn() {
  return {{"guest.churn",
           "PSS that 10,000 processes leave in one engine; threads, descriptors and table are back",
           "MB",
           Judged::size,
           {{}, 15.0}},
          measure_churn};
}

}  // namespace tare::benchmarks
