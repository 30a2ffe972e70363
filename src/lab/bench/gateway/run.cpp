#include "lab/bench/gateway/run.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/bench/common/worker_comparisons.hpp"
#include "lab/bench/gateway/attempt.hpp"
#include "lab/bench/gateway/budgets.hpp"
#include "lab/bench/gateway/preflight.hpp"
#include "lab/bench/gateway/rows.hpp"
#include "lab/measure/random.hpp"
#include "lab/report/gateway_summary.hpp"

namespace tare::gateway_bench {
namespace {

using lab_gateway::Target;
using lab_gateway::TargetKind;

/// What gateways are told apart by.
const std::set<std::string> compared_metrics{"total",       "first_token",  "added",
                                             "turns_per_s", "cpu_per_turn", "rss_peak"};

TargetKind kind_of(const std::string& name) {
  if (name == "openclaw") return TargetKind::openclaw;
  return name == "url" ? TargetKind::url : TargetKind::embedded;
}

std::vector<Target> find_targets(const Request& request) {
  std::vector<Target> targets;
  for (const std::string& name : request.options.targets) {
    lab_gateway::TargetWish wish;
    wish.kind = kind_of(name);
    if (request.options.entry) wish.entry = *request.options.entry;
    wish.url = request.options.url;
    wish.token = request.token;
    targets.push_back(lab_gateway::find_target(wish));
  }
  return targets;
}

report::Target facts_of(const Target& target, const std::vector<Target>& all) {
  report::Target facts;
  facts.id = target.id;
  facts.kind =
      target.kind == TargetKind::openclaw && all.size() > 1 ? report::Lane::reference : report::Lane::subject;
  facts.version = target.version;
  if (!target.program.empty()) {
    facts.path = target.program.string();
    std::error_code error;
    const auto size = std::filesystem::file_size(target.program, error);
    if (!error) facts.size_bytes = size;
  }
  return facts;
}

class Run {
 public:
  Run(const Request& request, const bench::Surroundings& around)
      : request_(request),
        options_(request.options),
        around_(around),
        life_(request, around),
        rows_(life_.document(), options_, around.clock.now()) {}
  bench::Result execute();

 private:
  void prepare();
  void measure();
  void measure_once(const Target& target, std::uint64_t index);
  void take(const Target& target, Attempt attempt, std::uint64_t run);
  void seal();
  report::GatewayRecord& record_of(const std::string& target);

  const Request& request_;
  const Options& options_;
  bench::Surroundings around_;
  bench::Life life_;
  Rows rows_;
  std::vector<Target> targets_;
  std::optional<std::string> failure_;
};

bench::Result Run::execute() {
  life_.begin(options_.seed, json::parse(json::line(options_), "options"));
  life_.reach("before the first run");
  prepare();
  try {
    measure();
    if (!failure_) life_.complete();
  } catch (const bench::Interrupted&) {
    life_.interrupted();
  }
  seal();
  return life_.result(failure_);
}

void Run::prepare() {
  check_fits(needs_of(options_), read_machine());
  targets_ = find_targets(request_);
  report::Document& document = life_.document();
  for (const Target& target : targets_) document.targets.push_back(facts_of(target, targets_));
  document.gateways.emplace();
  for (const Target& target : targets_) document.gateways->push_back({target.id, {}, {}});
}

void Run::measure() {
  const std::uint64_t all = options_.warmup + options_.runs;
  for (std::uint64_t index = 0; index < all; ++index) {
    for (const std::size_t lane : measure::lane_order(options_.seed, index, targets_.size())) {
      measure_once(targets_[lane], index);
      if (failure_) return;
    }
  }
}

void Run::measure_once(const Target& target, std::uint64_t index) {
  life_.stop_if_told();
  const bool counts = index >= options_.warmup;
  const std::uint64_t run = counts ? index - options_.warmup : index;
  const std::string name = fmt::format("{} {} of {} on {}", counts ? "run" : "warm-up", run + 1,
                                       counts ? options_.runs : options_.warmup, target.id);
  AttemptRequest request{target,
                         options_,
                         run,
                         measure::mix(options_.seed, 2 * index + 1),
                         around_.interrupt,
                         [&](const Pulse& pulse) {
                           around_.progress.update(fmt::format("{}  {}", name, pulse.label), pulse.done,
                                                   pulse.total);
                         },
                         request_.provider_key};
  Attempt attempt = run_once(request);
  around_.progress.finish();
  life_.reach(fmt::format("in {}, {}", name, attempt.position));
  const bool interrupted = attempt.interrupted;
  if (attempt.failure) {
    failure_ = fmt::format("{} failed: {}", name, *attempt.failure);
    if (!attempt.tails.empty()) request_.say(attempt.tails);
  }
  if (counts && !interrupted) take(target, std::move(attempt), run);
  if (interrupted) throw bench::Interrupted{};
}

void Run::take(const Target& target, Attempt attempt, std::uint64_t run) {
  report::Document& document = life_.document();
  const auto facts = std::ranges::find(document.targets, target.id, &report::Target::id);
  if (!facts->version) facts->version = attempt.version;
  rows_.add(attempt);
  rows_.finish();
  record_of(target.id).runs.push_back(attempt.record);
  request_.say(fmt::format("run {}/{} on {}: turns={} samples={} duration={:.1f}ms\n", run + 1, options_.runs,
                           target.id, attempt.record.turn_count,
                           attempt.probes.empty() ? 0 : attempt.probes.at(Probe::readyz).series.ended(),
                           attempt.record.duration_ms));
  life_.save();
}

report::GatewayRecord& Run::record_of(const std::string& target) {
  return *std::ranges::find(*life_.document().gateways, target, &report::GatewayRecord::target);
}

void Run::seal() {
  report::Document& document = life_.document();
  rows_.finish();
  document.comparisons = bench::worker_comparisons(document, options_.seed, compared_metrics);
  if (auto note = bench::unpaired_note(document, options_.runs, "gateway"))
    document.findings.push_back(std::move(*note));
  document.budgets = judge_budgets(document, options_);
  for (const report::Budget& budget : document.budgets) {
    const std::string target = budget.id.substr(budget.id.find('.') + 1);
    if (budget.verdict == report::Verdict::fail && budget.reason)
      record_of(target).summary.budget_violations.push_back(*budget.reason);
  }
  report::finish_gateway_records(document);
  life_.seal();
}

}  // namespace

bench::Result run(const Request& request, bench::Surroundings surroundings) {
  return Run(request, surroundings).execute();
}

}  // namespace tare::gateway_bench
