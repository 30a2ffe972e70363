#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "lab/bench/common/lane.hpp"
#include "lab/bench/common/life.hpp"
#include "lab/bench/common/recorder.hpp"
#include "lab/bench/spawn/options.hpp"
#include "lab/bench/spawn/resources.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/workload.hpp"

namespace tare::spawn {

/// What all rows of a run share.
struct Session {
  const Options& options;
  const bench::Life& life;
  std::function<void(std::uint64_t rounds_done)> after_round;
};

/// One row on all lanes that offer it: fresh drivers, warm-up, interleaved rounds, an untimed arm for memory.
class RowRun {
 public:
  using Entry = bench::Life::Entry;
  /// Everything passed must outlive this object. The rows may hold rounds of an interrupted run.
  RowRun(Session& session, const std::string& row, std::uint64_t seed, const std::vector<Entry>& entries);

  /// Measures the rounds that are missing. Throws bench::Interrupted; what was
  /// measured in whole rounds is in the document.
  void execute();

  /// Brings the rows of the document up to date, as it may be written now.
  void settle();

 private:
  /// A lane in this row.
  struct Runner {
    Runner(const Entry& entry, const driver::Workload& workload, std::uint64_t number);
    const bench::Lane& lane;
    report::Row& row;
    std::uint64_t number;  ///< among the lanes of this row
    bench::Recorder recorder;
    Costs costs;
    std::optional<PeakWatch> peaks;
    std::optional<std::uint64_t> rss_floor;  ///< no child's peak can be told below this
    std::unique_ptr<driver::Driver> driver;
    report::Resources earlier_resources;  ///< of the interrupted run, and how many samples it had
    std::uint64_t earlier;
    std::uint32_t next_process;  ///< number of the next driver process
    bool out = false;            ///< no longer takes part
  };
  struct Taken {
    Runner* runner;
    driver::Sample sample;
    std::vector<driver::Judgement> judgements;
    bench::Position position;
  };

  std::uint64_t rounds_done() const;
  void run_process(std::uint64_t first, std::uint64_t end, bool last);
  static void raise_floor(Runner& runner);
  void start_drivers();
  void stop_drivers();
  void warm_up(std::uint64_t round);
  void round(std::uint64_t round);
  void memory_arm(Runner& runner);
  /// Nothing when the lane's part in the row has ended.
  std::optional<Taken> sample(Runner& runner, std::uint64_t stream);
  void end(Runner& runner, const driver::DriverFailure& failure);
  std::vector<Runner*> in_order(std::uint64_t round);

  Session& session_;
  driver::Workload workload_;
  Rounds rounds_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Runner>> runners_;
  file::TemporaryFolder folder_;  ///< the host folder of the rows that need one
};

}  // namespace tare::spawn
