#pragma once

#include <cstdint>

#include "lab/bench/common/worker.hpp"
#include "lab/bench/import/options.hpp"
#include "lab/driver/import.hpp"

namespace tare::import_bench {

/// What a worker is for.
struct Job {
  const bench::Lane& lane;
  const driver::Workload& workload;
  const Options& options;
  const bench::Life& life;
  driver::ImportPlace place;
  std::uint64_t seed = 0;  ///< of its nonces: each worker's own
};

/// Starts a fresh worker, takes the warm-ups and the samples, and sees it off. A primed row has one more
/// sample before the warm-ups, which finds its cache empty. Round trips are asked for in one request, as one
/// process echoes all of them; each sample of a scenario is a request of its own. Samples have what follows
/// from their times and markers. A sample that takes too long ends the worker. Throws bench::Interrupted.
bench::Taken take_samples(const Job& job);

/// How long it took to start the engine of a worker is known once a worker, and then of its first request,
/// which may be a warm-up: the first sample takes that figure over, and no other has one.
void keep_engine_start(bench::Taken& taken);

}  // namespace tare::import_bench
