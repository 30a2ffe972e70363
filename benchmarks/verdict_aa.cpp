#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "benchmark.hpp"
#include "lab/driver/registry.hpp"
#include "lab/gate/gate.hpp"
#include "lab/measure/random.hpp"
#include "lab/verdict/samples.hpp"
#include "peer.hpp"
#include "simulation.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t simulated_gates = 400;
constexpr std::size_t simulated_limit = 31;
constexpr std::size_t real_gates = 60;
constexpr std::size_t real_limit = 7;
constexpr std::uint32_t aa_processes = 10;
constexpr std::uint32_t aa_samples = 20;
constexpr std::size_t real_rounds = 6;  // the fewest that can be judged
constexpr auto real_time = std::chrono::seconds(120);
const char* const row = "node_exit_1";

report::Row made(const std::string& target, measure::Random& random) {
  return verdict::made_row(row, target, verdict::made_metric({}, aa_processes, aa_samples, random));
}

/// The budget "no slower than the baseline", to the last digit.
std::vector<gate::BudgetSpec> no_slower() {
  return gate::parse_budgets("[[budget]]\nversus = 'baseline'\nmax_ratio = 1.0\n", "no slower");
}

/// A run and its baseline out of one distribution: neither may the gate fail nor the comparison see a change.
bool alarms_unpaired(std::size_t run) {
  measure::Random random(measure::mix(seed, run));
  const report::Document base = verdict::made_document({made("node", random)});
  const report::Document now = verdict::made_document({made("node", random)});
  const gate::GateDocument gate =
      gate::evaluate(no_slower(), {"new", {}, &now}, verdict::Source{"base", {}, &base}, {});
  const bool failed = std::ranges::any_of(
      gate.budgets, [](const gate::BudgetResult& result) { return result.verdict == report::Verdict::fail; });
  return failed || sees_a_change(compare_documents(base, now));
}

/// The same as two lanes of one run.
bool alarms_paired(std::size_t run) {
  measure::Random random(measure::mix(seed + 1, run));
  report::Row first = made("first", random);
  report::Row second = made("second", random);
  const report::Document document = verdict::made_document({std::move(first), std::move(second)});
  return sees_a_change(compare_lanes(document, "first", "second"));
}

/// One gate on this machine: Node against itself, two drivers of its own and rounds in turns.
bool alarms_really(std::size_t gate) {
  driver::Driver drivers[] = {start_target("node"), start_target("node")};
  report::Metric metrics[2];
  for (report::Metric& metric : metrics) metric.unit = "ms";
  for (std::size_t i = 0; i < real_rounds; ++i) {
    for (const std::size_t lane : measure::lane_order(seed, gate * real_rounds + i, 2)) {
      const double ms = take(drivers[lane], row, 1).front().metric("total").value() / 1e6;
      verdict::add_sample(metrics[lane], ms, static_cast<std::uint32_t>(i), 0);
    }
  }
  for (driver::Driver& driver : drivers) driver.bye();
  const report::Document document =
      verdict::made_document({verdict::made_row(row, "first", std::move(metrics[0])),
                              verdict::made_row(row, "second", std::move(metrics[1]))});
  return sees_a_change(compare_lanes(document, "first", "second"));
}

struct Real {
  std::size_t gates = 0;
  std::size_t alarms = 0;
};

Real measure_real() {
  Real real;
  real.gates =
      repeat(1, real_gates, real_time, [&](std::size_t gate) { real.alarms += alarms_really(gate) ? 1 : 0; });
  return real;
}

/// What is judged is the larger share of its limit. Gates that there was no time for may all have been alarms
/// or none: then the figure is an interval.
Measurement measure_aa() {
  const driver::TargetSpec node = driver::parse_target("node", {});
  if (node.unavailable) throw node.unavailable_error();
  const std::size_t unpaired = count_runs(simulated_gates, alarms_unpaired);
  const std::size_t paired = count_runs(simulated_gates, alarms_paired);
  const Real real = measure_real();
  const auto percent = [](std::size_t alarms, std::size_t limit) {
    return 100.0 * static_cast<double>(alarms) / static_cast<double>(limit);
  };
  const double simulated = percent(std::max(unpaired, paired), simulated_limit);
  const double figure = std::max(simulated, percent(real.alarms, real_limit));
  const double most = std::max(simulated, percent(real.alarms + real_gates - real.gates, real_limit));
  return {
      figure,
      {},
      {},
      real.gates < real_gates ? std::optional(measure::Interval{figure, most}) : std::nullopt,
      fmt::format(
          "simulated {} of {} against a baseline, {} of {} between lanes (≤ {}); real {} of {} (≤ {}{})",
          unpaired, simulated_gates, paired, simulated_gates, simulated_limit, real.alarms, real.gates,
          real_limit, real.gates < real_gates ? fmt::format(" of {}: the time was over", real_gates) : ""),
      {}};
}

}  // namespace

Benchmark verdict_aa() {
  return {
      {"verdict.aa",
       "false alarms of gates on equal lanes, as a share of those allowed: 31 of 400 simulated, 7 of 60 real",
       "%",
       Judged::size,
       {{}, 100.0}},
      measure_aa};
}

}  // namespace tare::benchmarks
