#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "benchmark.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/workload.hpp"

/// What the benchmarks of agent registries share: workers as `tare agents` starts them, whose every answer is
/// judged, in turns.
namespace tare::benchmarks {

/// A fresh process of a registry's driver. Throws Broken for an answer that is wrong and for a process that
/// does not leave well, DriverFailure for one that does not answer.
class Worker {
 public:
  explicit Worker(const driver::DriverCommand& command);

  /// Samples of a row, each of them right. `params` name the folder that its state goes to.
  std::vector<driver::Sample> ask(const driver::Workload& workload, const json::Object& params,
                                  std::int64_t iterations);

  /// Sees it off; returns the most memory that it ever held: the larger of what it said last and what the
  /// system says of the process.
  double leave();

 private:
  driver::Driver driver_;
  double said_bytes_ = 0;
};

/// How many samples a worker gives; as many as in `tare agents`, unless a row takes seconds.
struct Shape {
  std::int64_t warmup = 1;
  std::int64_t samples = 10;
};

/// What one worker gave.
struct Worked {
  double median_ns = 0;   ///< of the samples' `total`
  double peak_bytes = 0;  ///< as Worker::leave
};

/// A registry that fresh workers are started of.
class Registry {
 public:
  /// A target of the agents bench. Throws Error(unavailable) when it is not there.
  explicit Registry(const std::string& target, const std::vector<std::string>& arguments = {});

  /// One fresh worker in a folder of its own.
  Worked work(const std::string& row, Shape shape = {});

  /// The same, and only its median in nanoseconds.
  double median_ns(const std::string& row, Shape shape = {}) { return work(row, shape).median_ns; }

  const driver::DriverCommand& command() const { return command_; }
  /// Another one each time.
  std::uint64_t nonce();

 private:
  driver::DriverCommand command_;
  std::uint64_t requests_ = 0;
};

/// The row as a workload. Throws Error(failed) when there is no such row.
driver::Workload workload_of(const std::string& row);

struct Rounds {
  std::size_t fewest = 6;  ///< the least that an interval rests on
  std::size_t most = 60;
  Nanoseconds limit = std::chrono::seconds(18);
};

/// Gives one figure: that of one worker, or of what stands beside it.
using Lane = std::function<double()>;

/// Every lane once a round, in an order that is balanced over rounds. Returns the figures of each lane.
std::vector<std::vector<double>> interleave(const std::vector<Lane>& lanes, const Rounds& rounds);

/// The first lane against the second, worker by worker; the note says how many there were.
Measurement compared(const std::vector<double>& ours, const std::vector<double>& theirs);

/// What else was seen of two lanes, for the note: "against Node warm (62.0 µs) 0.74× (0.70–0.78×)".
std::string beside(std::string_view what, const Measurement& compared, std::string_view unit);

/// One lane by itself: the median of its workers, with the interval of order statistics.
Measurement alone(std::vector<double> figures);

/// What a row of the scenario costs when there are a million of them, against a thousand.
Measurement growth_per_row(const std::string& scenario);

}  // namespace tare::benchmarks
