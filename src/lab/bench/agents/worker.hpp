#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/bench/agents/options.hpp"
#include "lab/bench/common/life.hpp"
#include "lab/driver/workload.hpp"

namespace tare::agents_bench {

/// A sample, what the judges said of it, and when it began since the start of the run. The samples of one
/// request are spread evenly over its time.
struct Judged {
  driver::Sample sample;
  std::vector<driver::Judgement> judgements;
  Nanoseconds at{};
};

/// What one worker gave. When something went wrong with it, that stands in `failure`, and the samples are
/// those that it had given until then.
struct Taken {
  std::vector<Judged> warmups;
  std::vector<Judged> samples;
  std::optional<std::string> failure;
};

/// What a worker is for.
struct Job {
  const bench::Lane& lane;
  const driver::Workload& workload;
  const Options& options;
  const bench::Life& life;
  std::uint64_t seed = 0;      ///< of its nonces: each worker's own
  std::uint64_t row_seed = 0;  ///< of what all workers of a row have in common
};

/// The budget that a worker with so much time is told. It is shorter, so that a worker that ends a sample
/// itself when the budget is over can still say so before it is killed.
Nanoseconds budget_within(Nanoseconds left);

/// After which acknowledgement, from 1 to `runs`, a worker is killed: each as likely, the same for the same
/// seed.
std::uint64_t kill_point(std::uint64_t seed, std::int64_t runs);

/// Starts a fresh worker, asks it for the warm-ups and for the samples, and sees it off. It has the time
/// limit of the options for all of that; then it is killed with all that it started. A worker that ends in
/// any other way than by itself with exit code 0, or leaves something running, has failed. Throws
/// bench::Interrupted.
Taken take_samples(const Job& job);

/// The same for the rows that kill their workers: each sample is a worker that registers runs and is killed
/// after an acknowledgement that chance picks, and another one that says what it finds in the same folder.
/// The sample is that of the second.
Taken take_crashes(const Job& job);

}  // namespace tare::agents_bench
