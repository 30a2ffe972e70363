#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/gate/gate.hpp"
#include "lab/gate/places.hpp"
#include "lab/verdict/effect.hpp"

/// The parts of a gate: how each kind of figure is found and judged. Only gate.cpp uses this.
namespace tare::gate {

struct Bounds {
  std::optional<double> max;
  std::optional<double> min;
};

/// Limits hold themselves: a value at the limit passes.
report::Verdict judge_point(const Bounds& bounds, double value);

/// Fail when the whole interval is past a limit, pass when it is wholly within both.
report::Verdict judge_interval(const Bounds& bounds, const report::Interval& interval);

/// "40.2 ms", "1.08×", "161 MB", "12"
std::string figure_text(double value, std::string_view unit);

/// "39.8–40.6 ms"
std::string figure_interval_text(const report::Interval& interval, std::string_view unit);

/// Two clauses in one reason; either may be empty.
std::string joined(const std::string& a, const std::string& b);

/// What is known of a result before any figure: names and limit, and that it is unmeasured.
BudgetResult blank(const BudgetSpec& budget, const std::string& row, const std::string& target);

BudgetResult unmeasured(BudgetResult result, const std::string& reason);

/// The limits in another unit, put into the result. False when they measure different things, which is then
/// the result's reason.
bool set_limits(BudgetResult& result, const BudgetSpec& budget, std::string_view unit);

BudgetResult judge_quantile(const BudgetSpec& budget, const Place& place, const std::string& metric);
std::vector<BudgetResult> judge_taxes(const BudgetSpec& budget, const Place& place,
                                      const report::Document& run);
BudgetResult judge_counter(const BudgetSpec& budget, const Place& place);
BudgetResult judge_resource(const BudgetSpec& budget, const Place& place);
BudgetResult judge_outcome(const BudgetSpec& budget, const Place& place);
BudgetResult judge_invariants(const report::Document& run);

/// A relative budget before its p values are adjusted.
struct Relative {
  BudgetResult result;
  std::optional<double> p;  ///< of a change past the limit; nothing when it is judged already
  verdict::Pairing pairing = verdict::Pairing::unpaired;
  std::uint64_t pairs = 0;      ///< what the interval rests on: rounds or processes
  std::uint64_t processes = 0;  ///< of the side that has fewer
  double noise_floor = 0;       ///< see verdict::noise_floor; part of the minimum detectable change
  std::string_view repeat_flag = "--processes";  ///< what measures more processes
};

struct RelativeScene {
  const report::Document& run;
  const report::Document* baseline = nullptr;
  const GateOptions& options;
  bool same_machine = true;  ///< of run and baseline
  double noise_floor = 0;    ///< of run and baseline, a share
};

std::vector<Relative> measure_relative(const BudgetSpec& budget, const Place& place,
                                       const RelativeScene& scene);

/// Judges those that have a p, all of one gate together.
void judge_relative(std::vector<Relative>& all);

}  // namespace tare::gate
