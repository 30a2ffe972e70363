#include "lab/bench/spawn/row_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/random.hpp"
#include "lab/process/tree.hpp"

namespace tare::spawn {
namespace {

/// A lane whose operations only run into the limit is not asked for all the others: 200 of them would take
/// hours.
constexpr std::uint64_t timeouts_that_end_a_row = 3;
constexpr std::uint64_t memory_operations = 3;

/// Nonces of warm-ups and of the memory arm come from streams that no round has.
constexpr std::uint64_t warmup_stream = std::uint64_t{1} << 62;
constexpr std::uint64_t memory_stream = std::uint64_t{1} << 63;

std::uint64_t rounds_of(const report::Row& row) {
  std::uint64_t rounds = 0;
  for (const auto& [name, metric] : row.metrics) {
    if (!metric.round.empty()) rounds = std::max(rounds, std::uint64_t{metric.round.back()} + 1);
  }
  return rounds;
}

std::uint32_t next_process_of(const report::Row& row) {
  std::uint32_t next = 0;
  for (const auto& [name, metric] : row.metrics) {
    if (!metric.process.empty()) next = std::max(next, metric.process.back() + 1);
  }
  return next;
}

}  // namespace

RowRun::Runner::Runner(const Entry& entry, const driver::Workload& workload, std::uint64_t number)
    : lane(*entry.lane),
      row(*entry.row),
      number(number),
      recorder(*entry.row, workload, bench::excused_checks(entry.lane->defects, workload.row)),
      rss_floor(entry.lane->hello.rss_floor_bytes),
      earlier_resources(entry.row->resources),
      earlier(entry.row->metrics.at("total").samples.size()),
      next_process(next_process_of(*entry.row)) {}

RowRun::RowRun(Session& session, const std::string& row, std::uint64_t seed,
               const std::vector<Entry>& entries)
    : session_(session),
      workload_(driver::find_workload(row).value()),
      rounds_(rounds_of(session.options, workload_)),
      seed_(seed),
      folder_("tare-host") {
  for (const Entry& entry : entries)
    runners_.push_back(std::make_unique<Runner>(entry, workload_, runners_.size()));
  // A lane that had dropped out of the interrupted run stays out.
  for (const auto& runner : runners_) runner->out = rounds_of(runner->row) < rounds_done();
}

std::uint64_t RowRun::rounds_done() const {
  std::uint64_t done = 0;
  for (const auto& runner : runners_) done = std::max(done, rounds_of(runner->row));
  return done;
}

void RowRun::execute() {
  const std::uint64_t per_process = rounds_.iterations;
  const std::uint64_t all = session_.options.processes * per_process;
  for (std::uint64_t round = rounds_done(); round < all;) {
    const std::uint64_t end = (round / per_process + 1) * per_process;
    run_process(round, end, end == all);
    round = end;
  }
}

void RowRun::run_process(std::uint64_t first, std::uint64_t end, bool last) {
  start_drivers();
  for (std::uint64_t i = 0; i < rounds_.warmup; ++i) warm_up(first + i);
  for (const auto& runner : runners_) {
    if (!runner->out) runner->costs.begin(runner->driver->pid());
  }
  for (std::uint64_t i = first; i < end; ++i) round(i);
  for (const auto& runner : runners_) {
    if (runner->out) continue;
    runner->costs.end(runner->driver->pid());
    raise_floor(*runner);
    if (last) memory_arm(*runner);
  }
  stop_drivers();
}

void RowRun::raise_floor(Runner& runner) {
  // The driver grew since its hello, and what it starts inherits its peak. No child of it is left now.
  if (!runner.rss_floor) return;
  const auto usage = process::read_tree(runner.driver->pid(), process::TreeFields::peak);
  if (usage && usage->peak_rss_bytes) runner.rss_floor = std::max(*runner.rss_floor, *usage->peak_rss_bytes);
}

void RowRun::start_drivers() {
  for (const auto& runner : runners_) {
    if (runner->out) continue;
    try {
      runner->driver =
          std::make_unique<driver::Driver>(runner->lane.command(), session_.life.driver_options());
      runner->next_process += 1;
    } catch (const driver::DriverFailure& failure) {
      end(*runner, failure);
    }
  }
}

void RowRun::stop_drivers() {
  for (const auto& runner : runners_) {
    if (runner->driver) runner->driver->bye();
    runner->driver.reset();
  }
  // Only when all are gone is it known what each of them left.
  for (const auto& runner : runners_) {
    const std::size_t left = session_.life.driver_options().roster->take_left_by(runner->lane.spec.id);
    if (left > 0 && !runner->out)
      runner->recorder.fail(fmt::format("its driver left {} running, which had to be killed", left));
  }
}

std::vector<RowRun::Runner*> RowRun::in_order(std::uint64_t round) {
  std::vector<Runner*> order;
  for (const std::size_t i : measure::lane_order(seed_, round, runners_.size())) {
    if (!runners_[i]->out) order.push_back(runners_[i].get());
  }
  return order;
}

void RowRun::warm_up(std::uint64_t round) {
  for (Runner* runner : in_order(round)) {
    if (const auto taken = sample(*runner, warmup_stream + round))
      runner->recorder.warm_up(taken->sample, taken->judgements);
  }
}

void RowRun::round(std::uint64_t round) {
  // Only whole rounds are recorded, so that an interruption leaves no lane with a sample more than another.
  std::vector<Taken> taken;
  for (Runner* runner : in_order(round)) {
    if (auto one = sample(*runner, round)) taken.push_back(std::move(*one));
  }
  for (Taken& one : taken) {
    one.position.round = static_cast<std::uint32_t>(round);
    one.runner->recorder.add(one.sample, one.judgements, one.position);
    one.runner->costs.add(one.sample);
    if (one.runner->recorder.timeouts_in_a_row() == timeouts_that_end_a_row) {
      one.runner->recorder.fail(fmt::format("{} operations in a row took longer than {} s",
                                            timeouts_that_end_a_row,
                                            timeout_of(session_.options, workload_).count() / 1000));
      one.runner->out = true;
    }
  }
  session_.after_round(round + 1);
}

std::optional<RowRun::Taken> RowRun::sample(Runner& runner, std::uint64_t stream) {
  const std::uint64_t nonce = measure::mix(measure::mix(seed_, stream), runner.number);
  driver::SampleRequest request;
  request.row = workload_.row;
  request.params = driver::make_params(workload_, nonce, folder_.path());
  request.timeout = timeout_of(session_.options, workload_);
  request.metrics = workload_.metrics;
  request.sizes = workload_.sizes;
  Taken taken{&runner, {}, {}, {}};
  taken.position.process = runner.next_process - 1;
  taken.position.at = session_.life.now();
  try {
    taken.sample = runner.driver->sample(request).front();
    taken.judgements = driver::judge(workload_, request.params, taken.sample);
    return taken;
  } catch (const driver::DriverFailure& failure) {
    end(runner, failure);
    return std::nullopt;
  }
}

void RowRun::end(Runner& runner, const driver::DriverFailure& failure) {
  if (failure.kind() == driver::FailureKind::interrupted) throw bench::Interrupted{};
  runner.out = true;
  runner.driver.reset();
  const std::string tail = text::tail(failure.stderr_tail(), 2, 300);
  runner.recorder.fail(failure.sentence() + (tail.empty() ? "" : "; its stderr ends: " + tail));
}

void RowRun::memory_arm(Runner& runner) {
  // A row that starts runtimes measures their memory itself, or takes too long for it.
  if (workload_.is_cold()) return;
  runner.peaks.emplace(runner.driver->pid());
  for (std::uint64_t i = 0; i < memory_operations && !runner.out; ++i) sample(runner, memory_stream + i);
  runner.peaks->stop();
}

void RowRun::settle() {
  for (const auto& runner : runners_) {
    runner->recorder.finish();
    report::Resources& resources = runner->row.resources = runner->earlier_resources;
    runner->costs.write(resources, runner->earlier);
    if (runner->peaks) {
      runner->peaks->stop();  // an interrupted arm left it running
      runner->peaks->write(resources);
    }
    resources.max_rss_floor_bytes = runner->rss_floor;
  }
}

}  // namespace tare::spawn
