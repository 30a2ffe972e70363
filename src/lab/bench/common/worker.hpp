#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "lab/bench/common/lane.hpp"
#include "lab/bench/common/life.hpp"
#include "lab/bench/common/recorder.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/workload.hpp"

/// What the benches whose lanes take turns worker by worker have in common: a worker is a fresh driver
/// process for one row of one lane.
namespace tare::bench {

/// A sample, what the judges said of it, and when it began since the start of the run.
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

/// One worker process. `lane` and `life` must outlive it.
class Worker {
 public:
  /// Starts it; it has to say hello within the limit.
  Worker(const Lane& lane, const Life& life, Nanoseconds hello_limit);

  pid_t pid() const { return driver_.pid(); }
  std::vector<driver::Sample> sample(const driver::SampleRequest& request) { return driver_.sample(request); }

  /// The last lines of what it has said on stderr.
  std::string stderr_tail() { return driver_.stderr_tail(); }

  /// What was wrong with how it left, if anything was: any other way than by itself with exit code 0, or with
  /// something left running. Throws Interrupted.
  std::optional<std::string> see_off();

 private:
  const Lane& lane_;
  const Life& life_;
  driver::Driver driver_;
};

/// The budget that a worker with so much time is told. It is shorter, so that a worker that ends a sample
/// itself when the budget is over can still say so before it is killed.
Nanoseconds budget_within(Nanoseconds left);

/// A failure in one line, with the end of the driver's stderr.
std::string sentence_of(const driver::DriverFailure& failure);

/// Runs `take` and turns what a driver did wrong into a failure. Throws Interrupted.
template <class F>
Taken guarded(F take) {
  Taken taken;
  try {
    take(taken);
  } catch (const driver::DriverFailure& failure) {
    if (failure.kind() == driver::FailureKind::interrupted) throw Interrupted{};
    taken.failure = sentence_of(failure);
  }
  return taken;
}

/// Workers of a row that a lane has behind it.
std::uint64_t workers_done(const report::Row& row);

/// Which worker of its lane it is, and the first round that its samples stand for.
struct Turn {
  std::uint32_t process = 0;
  std::uint32_t first_round = 0;
};

/// Writes what a worker gave into its row.
void record(const Taken& taken, Recorder& recorder, Turn turn);

}  // namespace tare::bench
