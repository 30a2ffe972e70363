#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/describe.hpp>

#include "base/clock.hpp"
#include "lab/process/child.hpp"

/// The timed operations: start processes, see each exit, reap.
namespace tare::spawner {

struct Resources {
  std::int64_t cpu_user_us = 0;
  std::int64_t cpu_system_us = 0;
  std::uint64_t max_rss_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(Resources, (), (cpu_user_us, cpu_system_us, max_rss_bytes))

/// One sample, as the driver protocol has it.
struct Sample {
  std::map<std::string, std::int64_t> ns;
  std::string outcome = "ok";
  std::optional<std::string> error;
  std::map<std::string, std::int64_t> counters;
  std::optional<std::string> output;
  std::optional<Resources> resources;
};
BOOST_DESCRIBE_STRUCT(Sample, (), (ns, outcome, error, counters, output, resources))

/// The lab closed our stdin in the middle of an operation. Everything that the operation started is killed
/// by the time this is thrown.
struct LabVanished {};

/// Starts one process without pipes and reaps it. Metrics: total, spawn, wait_reap.
Sample run_one(const process::SpawnOptions& command, Nanoseconds timeout);

/// Starts `count` processes one after the other, then reaps each. Metrics: total, spawn_batch,
/// wait_reap_batch.
Sample run_batch(const process::SpawnOptions& command, unsigned count, Nanoseconds timeout);

/// run_batch, and whether this process is afterwards what it was before. Metric: total.
Sample run_storm(const process::SpawnOptions& command, unsigned count, Nanoseconds timeout);

/// Feeds `input`, takes all of stdout. Metric: total.
Sample run_piped(const process::SpawnOptions& command, std::string_view input, Nanoseconds timeout);

/// VmHWM of this process: what the kernel hands to every child as the start of its peak.
std::optional<std::uint64_t> own_peak_rss_bytes();

}  // namespace tare::spawner
