#include "lab/bench/spawn/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.hpp"
#include "lab/bench/spawn/findings.hpp"
#include "lab/bench/spawn/lane.hpp"
#include "lab/bench/spawn/pin.hpp"
#include "lab/bench/spawn/resume.hpp"
#include "lab/bench/spawn/row_run.hpp"
#include "lab/bench/spawn/taxes.hpp"
#include "lab/bench/spawn/trace.hpp"
#include "lab/driver/workload.hpp"
#include "lab/measure/host.hpp"
#include "lab/measure/noise.hpp"
#include "lab/measure/random.hpp"

namespace tare::spawn {
namespace {

constexpr std::chrono::seconds save_every{10};

/// The share of a row in the time that is left: the processes that one operation starts.
std::uint64_t weight_of(const driver::Workload& workload) {
  switch (workload.work) {
    case driver::Work::fanout:
    case driver::Work::storm:
      return static_cast<std::uint64_t>(workload.size);
    case driver::Work::cold_start:
    case driver::Work::memory:
      return 5;  // a tenth of the rounds, each as long as 50 processes
    case driver::Work::nested:
      return static_cast<std::uint64_t>(workload.size) + 1;
    default:
      return 1;
  }
}

bool has_size(const driver::Workload& workload) {
  return workload.work == driver::Work::fanout || workload.work == driver::Work::storm ||
         workload.work == driver::Work::nested || workload.work == driver::Work::memory;
}

class Run {
 public:
  Run(const Request& request, const Surroundings& around);
  Result execute();

 private:
  void prepare();
  void measure();
  void measure_row(const driver::Workload& workload, std::uint64_t seed);
  void trace_row(const driver::Workload& workload);
  std::vector<RowRun::Entry> entries_of(const driver::Workload& workload);
  report::Row& row_of(const driver::Workload& workload, const Lane& lane);
  void after_round(const driver::Workload& workload, RowRun& row, std::uint64_t rounds);
  void save();
  void seal();

  const Request& request_;
  const Options& options_;
  Surroundings around_;
  report::Document document_;
  measure::NoiseFacts noise_before_;
  file::TemporaryFolder scratch_{"tare-run"};
  std::vector<Lane> lanes_;
  Session session_;
  Instant saved_;
  bool save_failed_ = false;
  std::string position_ = "before the first round";
  std::uint64_t weight_done_ = 0;
  std::uint64_t weight_ = 0;
};

Run::Run(const Request& request, const Surroundings& around)
    : request_(request),
      options_(request.options),
      around_(around),
      session_{options_, around.clock, {}, {}, {}} {
  if (options_.pin) pin_to(*options_.pin);
  noise_before_ = measure::read_noise();
  if (request.before) document_ = *request.before;
  document_.complete = false;
  session_.driver_options.interrupt_fd = around.interrupt.fd();
  session_.driver_options.roster = std::make_shared<driver::Roster>();
  session_.start = around.clock.now();
}

Result Run::execute() {
  if (!request_.before) {
    document_.tool = this_tool();
    document_.command = request_.command;
    document_.started_at = rfc3339(around_.clock.wall());
    document_.seed = options_.seed;
    document_.config = json::parse(json::line(options_), "options");
  }
  document_.host = measure::with_noise(measure::read_host(), noise_before_, noise_before_);
  saved_ = around_.clock.now() - save_every;  // the first round is kept at once
  try {
    prepare();
    measure();
    document_.complete = true;
    document_.finished_at = rfc3339(around_.clock.wall());
  } catch (const Interrupted&) {
    document_.findings.push_back(
        {report::FindingLevel::warn, {}, {}, fmt::format("interrupted {}", position_)});
  }
  seal();
  const auto signal = document_.complete ? std::nullopt : around_.interrupt.signal();
  return {std::move(document_), signal, position_};
}

void Run::prepare() {
  try {
    lanes_ = prepare_lanes(options_, session_.driver_options, scratch_.path());
  } catch (const driver::DriverFailure& failure) {
    if (failure.kind() == driver::FailureKind::interrupted) throw Interrupted{};
    throw;
  }
  if (!request_.before) {
    for (const Lane& lane : lanes_) document_.targets.push_back(lane.facts);
    return;
  }
  check_targets(document_, lanes_);
  session_.start -= measured_so_far(document_);
  document_.findings = {
      {report::FindingLevel::note, {}, {}, "this run had been interrupted, and went on with fresh drivers"}};
}

void Run::save() {
  saved_ = around_.clock.now();
  try {
    request_.save(document_);
  } catch (const Error& error) {
    // The disk may have room again at the end; measuring does not depend on it.
    if (save_failed_) return;
    save_failed_ = true;
    document_.findings.push_back(
        {report::FindingLevel::warn, {}, {}, fmt::format("{} ({})", error.what(), error.why())});
  }
}

void Run::measure() {
  std::vector<driver::Workload> workloads;
  for (const std::string& name : options_.rows) {
    driver::Workload workload = driver::find_workload(name).value();
    const auto offers = [&](const Lane& lane) { return lane.hello.offers(name); };
    const bool may_lack = is_floor_row(name) || !options_.rows_named;
    if (may_lack && std::none_of(lanes_.begin(), lanes_.end(), offers)) continue;
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
  RowRun row(session_, workload.row, seed, entries_of(workload));
  session_.after_round = [&](const std::string&, std::uint64_t rounds) {
    after_round(workload, row, rounds);
  };
  try {
    row.execute();
  } catch (const Interrupted&) {
    row.settle();
    throw;
  }
  row.settle();
  if (options_.trace && is_traced(workload)) trace_row(workload);
  save();
}

void Run::trace_row(const driver::Workload& workload) {
  for (const Lane& lane : lanes_) {
    if (!lane.hello.offers(workload.row)) continue;
    report::Row& row = row_of(workload, lane);
    if (row.status != report::RowStatus::ok || row.trace) continue;
    try {
      trace(lane, workload, options_, session_.driver_options, row);
    } catch (const driver::DriverFailure& failure) {
      if (failure.kind() == driver::FailureKind::interrupted) throw Interrupted{};
      row.status = report::RowStatus::failed;
      row.reason = failure.sentence();
      continue;
    }
    fail_if_broken(row);
  }
}

std::vector<RowRun::Entry> Run::entries_of(const driver::Workload& workload) {
  std::vector<const Lane*> offering;
  for (const Lane& lane : lanes_) {
    const std::optional<std::string> defect = why_unavailable(lane.defects, workload.row);
    if (defect) {
      report::Row& row = row_of(workload, lane);
      row.status = report::RowStatus::unavailable;
      row.reason = defect;
    } else if (lane.hello.offers(workload.row)) {
      offering.push_back(&lane);
    } else if (!is_floor_row(workload.row)) {
      report::Row& row = row_of(workload, lane);
      row.status = report::RowStatus::unavailable;
      row.reason = lane.hello.why_not(workload.row);
    }
  }
  // Entries point into the document, so every row is made before the first entry.
  for (const Lane* lane : offering) row_of(workload, *lane);
  std::vector<RowRun::Entry> entries;
  entries.reserve(offering.size());
  for (const Lane* lane : offering) entries.push_back({lane, &row_of(workload, *lane)});
  return entries;
}

report::Row& Run::row_of(const driver::Workload& workload, const Lane& lane) {
  for (report::Row& row : document_.rows) {
    if (row.row == workload.row && row.target == lane.spec.id) return row;
  }
  report::Row row;
  row.bench = options_.bench;
  row.row = workload.row;
  row.target = lane.spec.id;
  if (has_size(workload)) row.size = static_cast<std::uint64_t>(workload.size);
  document_.rows.push_back(std::move(row));
  return document_.rows.back();
}

void Run::after_round(const driver::Workload& workload, RowRun& row, std::uint64_t rounds) {
  const std::uint64_t all = options_.processes * rounds_of(options_, workload).iterations;
  position_ = fmt::format("after round {} of {} of {}", rounds, all, workload.row);
  around_.progress.update(
      {workload.row, rounds, all, weight_done_ * all + weight_of(workload) * rounds, weight_ * all});
  if (around_.interrupt.signal()) throw Interrupted{};
  if (around_.clock.now() - saved_ < save_every) return;
  row.settle();
  save();
}

void Run::seal() {
  const measure::NoiseFacts after = measure::read_noise();
  document_.host = measure::with_noise(std::move(document_.host), noise_before_, after);
  document_.comparisons = taxes(document_, options_.seed);
  document_.invariants = broken_invariants(document_);
  const measure::Noise noise = measure::judge(noise_before_, after, measure::usable_cpus(document_.host));
  for (report::Finding& finding : findings(document_, lanes_, noise))
    document_.findings.push_back(std::move(finding));
}

}  // namespace

Result run(const Request& request, Surroundings surroundings) {
  return Run(request, surroundings).execute();
}

}  // namespace tare::spawn
