#include "import_lanes.hpp"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "guest_lanes.hpp"
#include "lab/driver/import.hpp"
#include "lab/driver/judge_import.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t import_warmup = 5;

driver::Workload import_row(const std::string& row) {
  auto workload = driver::import_workload(row);
  if (!workload) throw Error(ErrorCode::failed, "there is no row " + row);
  return std::move(*workload);
}

bool is_primed(const std::string& row) {
  const driver::ImportScenario* scenario = driver::import_scenario(row);
  return scenario != nullptr && scenario->compile_cache == driver::cache_primed;
}

/// As in a run, without the second life in a fresh process that some rows have: it has no part in any figure
/// here, and would be beside the other side's samples.
json::Object params_of(const driver::ImportWorkspace& workspace, const driver::Workload& workload,
                       const std::string& target) {
  if (const auto why = workspace.why_not(workload.row)) throw Error(ErrorCode::unavailable, *why);
  json::Object params = driver::import_params(workload, seed, workspace.place(workload.row, target, 0));
  params.erase("freshProcess");
  return params;
}

}  // namespace

ImportRow::ImportRow(const driver::ImportWorkspace& workspace, const std::string& target,
                     const std::string& row)
    : ImportRow(workspace, target_command(target, driver::import_bench), row) {}

ImportRow::ImportRow(const driver::ImportWorkspace& workspace, const driver::DriverCommand& command,
                     const std::string& row)
    : workload_(import_row(row)),
      params_(params_of(workspace, workload_, command.label)),
      driver_(command),
      cache_is_empty_(is_primed(row)) {}

driver::Sample ImportRow::sample() {
  driver::SampleRequest request;
  request.row = workload_.row;
  request.params = params_;
  request.metrics = workload_.metrics;
  request.sizes = workload_.sizes;
  const driver::Sample sample = driver_.sample(request).front();
  const std::string who = fmt::format("{}, {}", driver_.label(), workload_.row);
  if (sample.outcome != driver::Outcome::ok) throw Broken(who + " failed", sample.error.value_or(""));
  for (const driver::Judgement& judgement : driver::judge(workload_, params_, sample)) {
    if (cache_is_empty_ && judgement.id == "cache_used") continue;
    if (!judgement.ok) throw Broken(fmt::format("{}: {}", who, describe(judgement)));
  }
  cache_is_empty_ = false;
  return driver::derive_import(workload_, sample);
}

double ImportRow::ms(std::string_view metric, Nanoseconds idle) {
  std::this_thread::sleep_for(idle);
  const auto ns = sample().metric(metric);
  if (!ns) throw Broken(fmt::format("{}, {} has no {}", driver_.label(), workload_.row, metric));
  return *ns / 1e6;
}

Measurement measure_pair(const ImportPair& pair) {
  const driver::ImportWorkspace workspace;
  ImportRow ours(workspace, pair.ours.target, pair.ours.row);
  ImportRow theirs(workspace, pair.theirs.target, pair.theirs.row);
  return measure_lanes({[&] { return ours.ms(pair.metric, import_idle); },
                        [&] { return theirs.ms(pair.metric, import_idle); }},
                       pair.rounds, "one program each");
}

Measurement measure_lanes(const std::vector<Lane>& ours_and_theirs, const Rounds& rounds,
                          std::string_view what) {
  for (std::size_t i = 0; i < import_warmup; ++i) {
    for (const Lane& lane : ours_and_theirs) lane();
  }
  const auto figures = interleave(ours_and_theirs, rounds);
  return p50_against(figures.at(0), figures.at(1), what);
}

Measurement worse_of(Measurement one, std::string_view name, Measurement other, std::string_view other_name) {
  if (!one.ratio || !other.ratio) throw Broken("one of two comparisons has no ratio");
  if (*other.ratio > *one.ratio) {
    std::swap(one, other);
    std::swap(name, other_name);
  }
  one.note = fmt::format("{}: {}; {} {:.2f}×", name, one.note, other_name, *other.ratio);
  if (other.interval)
    one.note += fmt::format(" ({:.2f}–{:.2f}×)", other.interval->at(0), other.interval->at(1));
  return one;
}

}  // namespace tare::benchmarks
