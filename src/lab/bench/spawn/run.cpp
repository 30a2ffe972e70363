#include "lab/bench/spawn/run.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lab/bench/common/resume.hpp"
#include "lab/bench/spawn/findings.hpp"
#include "lab/bench/spawn/pin.hpp"
#include "lab/bench/spawn/row_run.hpp"
#include "lab/bench/spawn/taxes.hpp"
#include "lab/bench/spawn/trace.hpp"
#include "lab/driver/workload.hpp"
#include "lab/measure/random.hpp"

namespace tare::spawn {
namespace {

/// The share of a row in the time that is left: the processes that one operation starts.
std::uint64_t weight_of(const driver::Workload& workload) {
  switch (workload.work) {
    case driver::Work::fanout:
    case driver::Work::storm:
      return static_cast<std::uint64_t>(workload.size);
    case driver::Work::cold_start:
      return 5;  // a tenth of the rounds, each as long as 50 processes
    case driver::Work::memory:
      return 3;  // 6 rounds
    case driver::Work::growth:
      return 20;  // 3 rounds of more than 1,000 processes
    case driver::Work::nested:
      return static_cast<std::uint64_t>(workload.size) + 1;
    default:
      return 1;
  }
}

/// Rows of the floor lanes and of plain commands: a lane that does not offer them lacks nothing.
bool is_floor_row(std::string_view row) {
  constexpr std::array<std::string_view, 3> rows = {"exec_true", "spawn_exit", "command_exit"};
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

class Run {
 public:
  Run(const Request& request, const bench::Surroundings& around)
      : options_(request.options), life_(request, around), session_{options_, life_, {}} {}
  bench::Result execute();

 private:
  void measure();
  void measure_row(const driver::Workload& workload, std::uint64_t seed);
  void trace_row(const driver::Workload& workload);
  void after_round(const driver::Workload& workload, RowRun& row, std::uint64_t rounds);

  const Options& options_;
  bench::Life life_;
  Session session_;
  std::uint64_t weight_done_ = 0;
  std::uint64_t weight_ = 0;
};

bench::Result Run::execute() {
  life_.begin(options_.seed, json::parse(json::line(options_), "options"));
  life_.reach("before the first round");
  try {
    life_.prepare({options_.bench, options_.targets, options_.node});
    measure();
    life_.complete();
  } catch (const bench::Interrupted&) {
    life_.interrupted();
  }
  report::Document& document = life_.document();
  document.comparisons = taxes(document, options_.seed);
  for (report::Finding& finding : findings(document, life_.lanes(), options_))
    document.findings.push_back(std::move(finding));
  life_.seal();
  return life_.result();
}

void Run::measure() {
  std::vector<driver::Workload> workloads;
  for (const std::string& name : options_.rows) {
    driver::Workload workload = driver::find_workload(name).value();
    const bool may_lack = is_floor_row(name) || !options_.rows_named;
    if (may_lack && !life_.is_offered(name)) continue;
    weight_ += weight_of(workload);
    workloads.push_back(std::move(workload));
  }
  if (workloads.empty()) {
    throw Error(ErrorCode::usage, "none of the targets has any of these rows", "", "see `tare targets`");
  }
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    measure_row(workloads[i], measure::mix(options_.seed, i));
    weight_done_ += weight_of(workloads[i]);
  }
}

void Run::measure_row(const driver::Workload& workload, std::uint64_t seed) {
  using Lacking = bench::Life::Lacking;
  const Lacking lacking = is_floor_row(workload.row) ? Lacking::is_silent : Lacking::is_said;
  RowRun row(session_, workload.row, seed, life_.entries_of(workload, lacking));
  session_.after_round = [&](std::uint64_t rounds) { after_round(workload, row, rounds); };
  try {
    row.execute();
  } catch (const bench::Interrupted&) {
    row.settle();
    throw;
  }
  row.settle();
  if (options_.trace && is_traced(workload)) trace_row(workload);
  life_.save();
}

void Run::trace_row(const driver::Workload& workload) {
  for (const bench::Lane& lane : life_.lanes()) {
    if (!lane.hello.offers(workload.row)) continue;
    report::Row& row = life_.row_of(workload, lane);
    if (row.status != report::RowStatus::ok || row.trace) continue;
    try {
      trace(lane, workload, options_, life_.driver_options(), row);
    } catch (const driver::DriverFailure& failure) {
      if (failure.kind() == driver::FailureKind::interrupted) throw bench::Interrupted{};
      row.status = report::RowStatus::failed;
      row.reason = failure.sentence();
      continue;
    }
    bench::fail_if_broken(row);
  }
}

void Run::after_round(const driver::Workload& workload, RowRun& row, std::uint64_t rounds) {
  const std::uint64_t all = options_.processes * rounds_of(options_, workload).iterations;
  life_.reach(fmt::format("after round {} of {} of {}", rounds, all, workload.row));
  life_.progress().update(
      {workload.row, rounds, all, weight_done_ * all + weight_of(workload) * rounds, weight_ * all});
  life_.stop_if_told();
  if (!life_.is_due()) return;
  row.settle();
  life_.save();
}

}  // namespace

bench::Result run(const Request& request, bench::Surroundings surroundings) {
  if (request.options.pin) pin_to(*request.options.pin);
  return Run(request, surroundings).execute();
}

Options resumed_options(const report::Document& before, const RawOptions& raw, std::string_view source) {
  bench::check_resumable(before, Options{}.bench, source);
  const auto options = json::read<Options>(before.config, fmt::format("{}: config", source));
  const Options resumed = resume(options, raw, source);
  bench::check_rows(before, resumed.rows, source, [&](const std::string& row) {
    const auto workload = driver::find_workload(row);
    return (workload ? rounds_of(resumed, *workload).iterations : resumed.iterations) * resumed.processes;
  });
  return resumed;
}

}  // namespace tare::spawn
