#include "registry_worker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "lab/process/tree.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto worker_answer_limit = std::chrono::seconds(100);
/// A registry of a million rows has memory to give back before it can leave.
constexpr auto worker_leave_limit = std::chrono::seconds(10);

driver::DriverOptions worker_options() {
  driver::DriverOptions options;
  options.bye_timeout = worker_leave_limit;
  return options;
}

double p50(std::vector<double> figures) {
  return measure::summarise(std::move(figures)).p50.value();
}

}  // namespace

Worker::Worker(const driver::DriverCommand& command) : driver_(command, worker_options()) {}

std::vector<driver::Sample> Worker::ask(const driver::Workload& workload, const json::Object& params,
                                        std::int64_t iterations) {
  driver::SampleRequest request;
  request.row = workload.row;
  request.params = params;
  request.iterations = iterations;
  request.timeout = worker_answer_limit;
  request.deadline = worker_answer_limit;
  request.metrics = workload.metrics;
  request.sizes = workload.sizes;
  std::vector<driver::Sample> samples = driver_.sample(request);
  const std::string who = fmt::format("{}, {}", driver_.label(), workload.row);
  for (const driver::Sample& sample : samples) {
    if (sample.outcome != driver::Outcome::ok) throw Broken(who + " failed", sample.error.value_or(""));
    for (const driver::Judgement& judgement : driver::judge(workload, params, sample)) {
      if (!judgement.ok) throw Broken(fmt::format("{}: {}", who, describe(judgement)));
    }
    const auto peak = sample.bytes.find("processMaxRssBytes");
    if (peak == sample.bytes.end() || !peak->second) throw Broken(who + " does not know its memory");
    said_bytes_ = *peak->second;
  }
  return samples;
}

double Worker::leave() {
  const auto seen = process::read_tree(driver_.pid(), process::TreeFields::peak);
  if (!seen || !seen->peak_rss_bytes)
    throw Error(ErrorCode::failed, "cannot read the memory of " + driver_.label());
  if (const driver::Farewell farewell = driver_.bye(); farewell.note)
    throw Broken(driver_.label() + " did not end well", *farewell.note);
  return std::max(said_bytes_, static_cast<double>(*seen->peak_rss_bytes));
}

Registry::Registry(const std::string& target, const std::vector<std::string>& arguments)
    : command_(target_command(target, driver::agents_bench, arguments)) {
  if (!arguments.empty()) command_.label += " " + text::join(arguments, " ");
}

std::uint64_t Registry::nonce() {
  return measure::mix(seed, requests_++);
}

Worked Registry::work(const std::string& row, Shape shape) {
  const driver::Workload workload = workload_of(row);
  const file::TemporaryFolder folder("tare-state");
  Worker worker(command_);
  if (shape.warmup > 0)
    worker.ask(workload, driver::make_params(workload, nonce(), folder.path()), shape.warmup);
  std::vector<double> ns;
  for (const driver::Sample& sample :
       worker.ask(workload, driver::make_params(workload, nonce(), folder.path()), shape.samples))
    ns.push_back(sample.metric("total").value());
  return {p50(std::move(ns)), worker.leave()};
}

driver::Workload workload_of(const std::string& row) {
  auto workload = driver::find_workload(row, driver::agents_bench);
  if (!workload) throw Error(ErrorCode::failed, "there is no row " + row);
  return std::move(*workload);
}

std::vector<std::vector<double>> interleave(const std::vector<Lane>& lanes, const Rounds& rounds) {
  std::vector<std::vector<double>> figures(lanes.size());
  repeat(rounds.fewest, rounds.most, rounds.limit, [&](std::size_t round) {
    for (const std::size_t lane : measure::lane_order(seed, round, lanes.size()))
      figures[lane].push_back(lanes[lane]());
  });
  return figures;
}

Measurement compared(const std::vector<double>& ours, const std::vector<double>& theirs) {
  const measure::Comparison ratio = measure::compare_paired(ours, theirs);
  return {p50(ours),
          p50(theirs),
          ratio.ratio,
          ratio.ratio_interval,
          fmt::format("medians of {} workers a side", ours.size()),
          {}};
}

std::string beside(std::string_view what, const Measurement& compared, std::string_view unit) {
  std::string line = fmt::format("{} ({} {})", what, text::significant(compared.against.value()), unit);
  if (compared.ratio) line += fmt::format(" {:.2f}×", *compared.ratio);
  if (compared.interval)
    line += fmt::format(" ({:.2f}–{:.2f}×)", compared.interval->at(0), compared.interval->at(1));
  return line;
}

Measurement alone(std::vector<double> figures) {
  const std::size_t workers = figures.size();
  const measure::Summary summary = measure::summarise(std::move(figures));
  return {summary.p50, {}, {}, summary.p50_interval, fmt::format("medians of {} workers", workers), {}};
}

Measurement growth_per_row(const std::string& scenario) {
  Registry embedded("embedded");
  // A million rows take seconds to make, and then the clock has enough to see in one sample.
  const auto figures = interleave({[&] { return embedded.median_ns(scenario + "_1000000", {1, 1}) / 1e6; },
                                   [&] { return embedded.median_ns(scenario + "_1000") / 1e3; }},
                                  {.fewest = 6, .most = 10, .limit = std::chrono::seconds(35)});
  return compared(figures[0], figures[1]);
}

}  // namespace tare::benchmarks
