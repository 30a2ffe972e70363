#include "lab/bench/agents/run.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/bench/agents/disk.hpp"
#include "lab/bench/agents/memory.hpp"
#include "lab/bench/agents/worker.hpp"
#include "lab/bench/common/recorder.hpp"
#include "lab/bench/common/resume.hpp"
#include "lab/bench/common/worker_comparisons.hpp"
#include "lab/measure/random.hpp"

namespace tare::agents_bench {
namespace {

/// A worker failed: in one line.
struct Aborted {
  std::string sentence;
};

/// How long a worker takes, roughly, in milliseconds: its share of the time that is left.
std::uint64_t weight_of(const driver::Workload& workload, const Options& options) {
  constexpr std::uint64_t start = 100;
  const Rounds rounds = rounds_of(options, workload);
  const std::uint64_t samples = rounds.runs + rounds.warmup;
  if (workload.work == driver::Work::mixed_load) return start + samples * options.mixed_ms;
  if (workload.work == driver::Work::durable_crash) return samples * 3 * start;
  return start + samples;
}

bool measured_durable_rows(const report::Document& document) {
  return std::ranges::any_of(document.rows, [](const report::Row& row) {
    const auto workload = driver::find_workload(row.row);
    return workload && is_durable(workload->work) && !row.metrics.empty();
  });
}

class Run {
 public:
  Run(const Request& request, const bench::Surroundings& around)
      : options_(request.options), life_(request, around) {}
  bench::Result execute();

 private:
  using Entry = bench::Life::Entry;

  void measure();
  void measure_row(const driver::Workload& workload, std::uint64_t number);
  /// `seed`: what all lanes have in common; `lane` tells them apart.
  void measure_worker(const driver::Workload& workload, const Entry& entry, std::uint64_t seed,
                      std::uint64_t lane, std::uint32_t process);
  void seal();

  const Options& options_;
  bench::Life life_;
  std::uint64_t weight_done_ = 0;
  std::uint64_t weight_ = 0;
};

bench::Result Run::execute() {
  life_.begin(options_.seed, json::parse(json::line(options_), "options"));
  life_.reach("before the first worker");
  report::Document& document = life_.document();
  if (!document.memory) document.memory.emplace().rss_start_bytes = own_rss_bytes();
  // What failed then is measured anew.
  std::erase_if(document.rows, [](const auto& row) { return row.status == report::RowStatus::failed; });
  std::optional<std::string> failure;
  try {
    life_.prepare({options_.bench, options_.targets, options_.node});
    measure();
    life_.complete();
  } catch (const bench::Interrupted&) {
    life_.interrupted();
  } catch (const Aborted& aborted) {
    failure = aborted.sentence;
  }
  seal();
  return life_.result(std::move(failure));
}

void Run::seal() {
  report::Document& document = life_.document();
  // Of a run that ended early: rows that no worker has come to.
  std::erase_if(document.rows, [](const report::Row& row) {
    return row.status == report::RowStatus::ok && row.metrics.empty();
  });
  document.comparisons = bench::worker_comparisons(document, options_.seed);
  if (auto note = bench::unpaired_note(document, options_.processes, "registry"))
    document.findings.push_back(std::move(*note));
  if (measured_durable_rows(document) &&
      is_in_memory(options_.state ? std::filesystem::path(*options_.state)
                                  : std::filesystem::temp_directory_path())) {
    document.findings.push_back({report::FindingLevel::warn,
                                 {},
                                 {},
                                 "the state folder is in memory: what is kept there waits for no disk "
                                 "(--state names another)"});
  }
  document.memory->rss_end_bytes = own_rss_bytes();
  document.memory->worker_process_max_rss_bytes = largest_worker(document);
  life_.seal();
}

void Run::measure() {
  std::vector<driver::Workload> all = workloads(options_);
  if (!options_.scenarios_named)
    std::erase_if(all, [&](const driver::Workload& workload) { return !life_.is_offered(workload.row); });
  if (all.empty()) {
    throw Error(ErrorCode::usage, "none of the targets has any of these scenarios", "", "see `tare targets`");
  }
  for (const driver::Workload& workload : all) weight_ += weight_of(workload, options_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    measure_row(all[i], i);
    weight_done_ += weight_of(all[i], options_);
  }
}

void Run::measure_row(const driver::Workload& workload, std::uint64_t number) {
  const std::vector<Entry> entries = life_.entries_of(workload);
  const std::uint64_t all = options_.processes * entries.size();
  std::uint64_t done = 0;
  for (std::uint64_t k = 0; k < options_.processes; ++k) {
    // Balanced over the whole run, as a row may have one worker a lane.
    for (const std::size_t i :
         measure::lane_order(options_.seed, number * options_.processes + k, entries.size())) {
      if (bench::workers_done(*entries[i].row) <= k)
        measure_worker(workload, entries[i], measure::mix(measure::mix(options_.seed, number), k), i,
                       static_cast<std::uint32_t>(k));
      done += 1;
      life_.reach(fmt::format("after worker {} of {} of {}", done, all, workload.row));
      life_.progress().update({workload.row, done, all,
                               weight_done_ * all + weight_of(workload, options_) * done, weight_ * all});
      life_.stop_if_told();
      if (life_.is_due()) life_.save();
    }
  }
}

void Run::measure_worker(const driver::Workload& workload, const Entry& entry, std::uint64_t seed,
                         std::uint64_t lane, std::uint32_t process) {
  const Job job{*entry.lane, workload, options_, life_, measure::mix(seed, 1 + lane), seed};
  const bench::Taken taken =
      workload.work == driver::Work::durable_crash ? take_crashes(job) : take_samples(job);
  bench::Recorder recorder(*entry.row, workload, bench::excused_checks(entry.lane->defects, workload.row));
  bench::record(taken, recorder,
                {process, static_cast<std::uint32_t>(process * rounds_of(options_, workload).runs)});
  note_memory(*entry.row);
  if (entry.row->status != report::RowStatus::failed) return;
  throw Aborted{text::one_line(fmt::format("worker of {} on {} failed: {}", workload.row, entry.lane->spec.id,
                                           entry.row->reason.value_or("")))};
}

}  // namespace

bench::Result run(const Request& request, bench::Surroundings surroundings) {
  return Run(request, surroundings).execute();
}

Options resumed_options(const report::Document& before, const RawOptions& raw, std::string_view source) {
  bench::check_resumable(before, Options{}.bench, source);
  const auto options = json::read<Options>(before.config, fmt::format("{}: config", source));
  const Options resumed = resume(options, raw, source);
  std::map<std::string, std::uint64_t> runs;  // of each worker, by row
  std::vector<std::string> rows;
  for (const driver::Workload& workload : workloads(resumed)) {
    rows.push_back(workload.row);
    runs[workload.row] = rounds_of(resumed, workload).runs;
  }
  bench::check_rows(before, rows, source,
                    [&](const std::string& row) { return runs.at(row) * resumed.processes; });
  for (const report::Row& row : before.rows) {
    const auto total = row.metrics.find("total");
    if (row.status == report::RowStatus::failed || total == row.metrics.end()) continue;
    if (total->second.samples.size() == bench::workers_done(row) * runs.at(row.row)) continue;
    throw Error(ErrorCode::input, fmt::format("{}: {} on {}", source, row.row, row.target),
                fmt::format("{} samples are no whole workers", total->second.samples.size()),
                "start a new run with --output");
  }
  return resumed;
}

}  // namespace tare::agents_bench
