#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/bench/agents/options.hpp"
#include "lab/bench/common/worker.hpp"
#include "lab/driver/workload.hpp"

namespace tare::agents_bench {

/// What a worker is for.
struct Job {
  const bench::Lane& lane;
  const driver::Workload& workload;
  const Options& options;
  const bench::Life& life;
  std::uint64_t seed = 0;      ///< of its nonces: each worker's own
  std::uint64_t row_seed = 0;  ///< of what all workers of a row have in common
};

/// After which acknowledgement, from 1 to `runs`, a worker is killed: each as likely, the same for the same
/// seed.
std::uint64_t kill_point(std::uint64_t seed, std::int64_t runs);

/// Starts a fresh worker, asks it for the warm-ups and for the samples, and sees it off. It has the time
/// limit of the options for all of that; then it is killed with all that it started. A worker that ends in
/// any other way than by itself with exit code 0, or leaves something running, has failed. Throws
/// bench::Interrupted.
bench::Taken take_samples(const Job& job);

/// The same for the rows that kill their workers: each sample is a worker that registers runs and is killed
/// after an acknowledgement that chance picks, and another one that says what it finds in the same folder.
/// The sample is that of the second.
bench::Taken take_crashes(const Job& job);

}  // namespace tare::agents_bench
