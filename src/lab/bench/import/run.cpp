#include "lab/bench/import/run.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/bench/common/recorder.hpp"
#include "lab/bench/common/worker_comparisons.hpp"
#include "lab/bench/import/state.hpp"
#include "lab/bench/import/worker.hpp"
#include "lab/driver/judge_import.hpp"
#include "lab/measure/random.hpp"
#include "lab/report/import_guidance.hpp"

namespace tare::import_bench {
namespace {

/// The state is of other targets.
struct OtherTargets {
  Error error;
};

/// What lanes mean the same by, whether or not they have phases.
const std::set<std::string> compared_metrics{"total", "guest_execution", "startup_overhead", "cpu_total"};

/// How long a worker takes, roughly, in milliseconds: its share of the time that is left.
std::uint64_t weight_of(const driver::Workload& workload, const Options& options) {
  constexpr std::uint64_t start = 300;
  const driver::ImportScenario* scenario = driver::import_scenario(workload.row);
  const std::uint64_t sample = scenario == nullptr ? 1 : scenario->needs ? 400 : 60;
  return start + sample * (options.iterations + options.warmup);
}

/// What a program says of its own process is the best that is known of it.
void note_resources(report::Row& row) {
  const auto mean = [&](const char* name) -> std::optional<double> {
    const auto found = row.metrics.find(name);
    return found == row.metrics.end() ? std::nullopt : found->second.summary.mean;
  };
  row.resources.cpu_user_ms = mean("cpu_user");
  row.resources.cpu_system_ms = mean("cpu_system");
  const auto rss = row.metrics.find("rss");
  if (rss != row.metrics.end() && rss->second.summary.max)
    row.resources.max_rss_bytes = static_cast<std::uint64_t>(*rss->second.summary.max);
  row.resources.methods = {
      row.resources.cpu_user_ms ? "CPU: what the program says of itself (process.cpuUsage), mean"
                                : "CPU n/a: the program did not say it",
      row.resources.max_rss_bytes ? "max RSS: what the program says of its process (process.memoryUsage)"
                                  : "max RSS n/a: the program did not say it"};
}

/// Metrics that a lane does not have at all are no figures that failed.
void drop_absent(report::Row& row) {
  std::erase_if(row.metrics, [](const auto& entry) {
    const auto none = [](const std::optional<double>& value) { return !value; };
    return entry.first != "total" && std::ranges::all_of(entry.second.samples, none) &&
           std::ranges::all_of(entry.second.warmup, none);
  });
}

std::optional<report::Finding> extra_markers(const report::Row& row) {
  const auto extra = row.counters.find("extraMarkers");
  if (extra == row.counters.end() || extra->second == 0) return std::nullopt;
  return report::Finding{
      report::FindingLevel::warn, row.target, row.row,
      fmt::format("{} more marker lines than samples; the last one of each counts", extra->second)};
}

/// Rows that share an engine are there for its pool: which of a lane did without it, and how often.
std::optional<report::Finding> missed_pool(const report::Document& document, const std::string& target) {
  std::vector<std::string> missed;
  for (const report::Row& row : document.rows) {
    const driver::ImportScenario* scenario = driver::import_scenario(row.row);
    const auto pooled = row.counters.find("pooled");
    if (row.target != target || scenario == nullptr || pooled == row.counters.end() ||
        scenario->engine_reuse == driver::fresh_per_sample)
      continue;
    const std::size_t samples = row.metrics.at("total").samples.size();
    if (static_cast<std::size_t>(pooled->second) < samples)
      missed.push_back(fmt::format("{} ({} of {})", row.row, pooled->second, samples));
  }
  if (missed.empty()) return std::nullopt;
  return report::Finding{report::FindingLevel::note,
                         target,
                         {},
                         "not every isolate of these rows came out of the pool: " + text::join(missed, ", ")};
}

class Run {
 public:
  Run(const Request& request, const bench::Surroundings& around)
      : request_(request), options_(request.options), life_(request, around), workspace_(request.sources) {}
  bench::Result execute();

 private:
  using Entry = bench::Life::Entry;

  void prepare();
  void resume();
  void measure();
  void measure_row(const driver::Workload& workload, std::uint64_t number);
  void measure_worker(const driver::Workload& workload, const Entry& entry, std::uint64_t seed,
                      std::uint32_t process);
  bool is_done(const std::string& row);
  void seal();

  const Request& request_;
  const Options& options_;
  bench::Life life_;
  driver::ImportWorkspace workspace_;
  std::uint64_t weight_done_ = 0;
  std::uint64_t weight_ = 0;
};

bench::Result Run::execute() {
  life_.begin(options_.seed, json::parse(json::line(options_), "options"));
  life_.reach("before the first stage");
  try {
    prepare();
    measure();
    life_.complete();
  } catch (const bench::Interrupted&) {
    life_.interrupted();
  }
  seal();
  return life_.result();
}

void Run::prepare() {
  try {
    life_.prepare({options_.bench, options_.targets, options_.node});
  } catch (const Error& error) {
    if (request_.before && error.code() == ErrorCode::input) throw OtherTargets{error};
    throw;
  }
  if (request_.before) resume();
}

void Run::resume() {
  report::Document& document = life_.document();
  // What lacked a package then may have it now.
  std::erase_if(document.rows, [&](const report::Row& row) {
    const driver::ImportScenario* scenario = driver::import_scenario(row.row);
    return row.status == report::RowStatus::unavailable && scenario != nullptr && scenario->needs &&
           row.reason.value_or("").starts_with(*scenario->needs + " is not installed") &&
           !workspace_.why_not(row.row);
  });
  const std::uint64_t stages = stages_of(document);
  request_.say(fmt::format("resumed {} stage{}", stages, stages == 1 ? "" : "s"));
}

bool Run::is_done(const std::string& row) {
  if (!request_.before) return false;
  const auto& rows = life_.document().rows;
  return std::ranges::any_of(rows, [&](const report::Row& one) { return one.row == row; });
}

void Run::measure() {
  const std::vector<driver::Workload> all = workloads(options_);
  for (const driver::Workload& workload : all) weight_ += weight_of(workload, options_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_done(all[i].row)) {
      measure_row(all[i], i);
      life_.save();
    }
    weight_done_ += weight_of(all[i], options_);
    life_.reach(fmt::format("after stage {} of {}, {}", i + 1, all.size(), all[i].row));
    life_.stop_if_told();
  }
}

void Run::measure_row(const driver::Workload& workload, std::uint64_t number) {
  if (const auto why = workspace_.why_not(workload.row)) {
    for (const bench::Lane& lane : life_.lanes()) {
      report::Row& row = life_.row_of(workload, lane);
      row.status = report::RowStatus::unavailable;
      row.reason = *why;
    }
    return;
  }
  const std::vector<Entry> entries = life_.entries_of(workload);
  const std::uint64_t all = options_.processes * entries.size();
  std::uint64_t done = 0;
  for (std::uint64_t k = 0; k < options_.processes; ++k) {
    // Balanced over the whole run, as a row may have one worker a lane.
    for (const std::size_t i :
         measure::lane_order(options_.seed, number * options_.processes + k, entries.size())) {
      const std::uint64_t seed = measure::mix(measure::mix(options_.seed, number), k);
      if (entries[i].row->status != report::RowStatus::failed)
        measure_worker(workload, entries[i], measure::mix(seed, 1 + i), static_cast<std::uint32_t>(k));
      done += 1;
      life_.reach(fmt::format("after worker {} of {} of {}", done, all, workload.row));
      life_.progress().update({workload.row, done, all,
                               weight_done_ * all + weight_of(workload, options_) * done, weight_ * all});
      life_.stop_if_told();
    }
  }
}

void Run::measure_worker(const driver::Workload& workload, const Entry& entry, std::uint64_t seed,
                         std::uint32_t process) {
  const Job job{
      *entry.lane, workload, options_, life_, workspace_.place(workload.row, entry.lane->spec.id, process),
      seed};
  const bench::Taken taken = take_samples(job);
  bench::Recorder recorder(*entry.row, driver::import_metrics(workload),
                           bench::excused_checks(entry.lane->defects, workload.row));
  bench::record(taken, recorder, {process, static_cast<std::uint32_t>(process * options_.iterations)});
  if (workload.work == driver::Work::import_scenario) note_resources(*entry.row);
}

void Run::seal() {
  report::Document& document = life_.document();
  // Of a run that ended early: rows that no worker has come to.
  std::erase_if(document.rows, [](const report::Row& row) {
    return row.status == report::RowStatus::ok && row.metrics.empty();
  });
  // A stage that was measured anew stands behind those after it.
  std::ranges::stable_sort(document.rows, {}, [&](const report::Row& row) {
    return std::ranges::find(options_.rows, row.row) - options_.rows.begin();
  });
  for (report::Row& row : document.rows) {
    drop_absent(row);
    if (auto finding = extra_markers(row)) document.findings.push_back(std::move(*finding));
  }
  for (const report::Target& target : document.targets) {
    if (auto finding = missed_pool(document, target.id)) document.findings.push_back(std::move(*finding));
  }
  document.comparisons = bench::worker_comparisons(document, options_.seed, compared_metrics);
  if (auto note = bench::unpaired_note(document, options_.processes, "runtime"))
    document.findings.push_back(std::move(*note));
  document.guidance = report::import_guidance(document);
  life_.seal();
}

}  // namespace

bench::Result run(const Request& request, bench::Surroundings surroundings) {
  try {
    return Run(request, surroundings).execute();
  } catch (const OtherTargets& other) {
    request.on_other_targets(other.error);
  }
  Request anew = request;
  anew.before.reset();
  return Run(anew, surroundings).execute();
}

}  // namespace tare::import_bench
