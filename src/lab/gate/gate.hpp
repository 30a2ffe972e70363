#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/gate/budget.hpp"
#include "lab/report/document.hpp"
#include "lab/verdict/compare.hpp"

/// `tare gate`: a run against its budgets. A gate never passes because something is missing.
namespace tare::gate {

using verdict::alpha;
using verdict::Machines;
using verdict::same_machine;
using verdict::Side;
using verdict::side_of;
using verdict::Source;

inline constexpr std::string_view gate_schema = "tare.gate.v1";

/// What a budget's figure is, with the one that every gate has: no broken invariant.
BOOST_DEFINE_ENUM_CLASS(FigureKind, quantile, tax, counter, resource, outcome, relative, invariants)

/// A budget on one row of one target.
struct BudgetResult {
  std::string id;
  FigureKind kind = FigureKind::quantile;
  std::string row;                      ///< the pattern when nothing matched it
  std::string target;                   ///< the same
  std::string metric;                   ///< of a counter, resource, outcome or tax: what it limits
  std::optional<std::string> quantile;  ///< null when the figure has none
  std::optional<std::string> versus;    ///< "baseline" or a target, of a relative budget or a tax
  std::string limit;                    ///< in words: "≤ 40 ms"
  std::string unit;                     ///< of the figures below; "×" is a ratio, "" a count
  std::optional<double> max;            ///< in `unit`
  std::optional<double> min;
  std::optional<double> measured;
  std::optional<report::Interval> interval;  ///< 95 %; null when there is none, or the figure is exact
  std::optional<double> base;                ///< relative: what was compared, in `base_unit`
  std::optional<double> now;
  std::string base_unit;
  std::optional<double> p_adjusted;  ///< relative: of a change past the limit, Holm over all of these
  std::optional<double> minimum_detectable;
  report::Verdict verdict = report::Verdict::unmeasured;
  std::optional<std::string> reason;  ///< null only when it passed and there is nothing to add
};
BOOST_DESCRIBE_STRUCT(BudgetResult, (),
                      (id, kind, row, target, metric, quantile, versus, limit, unit, max, min, measured,
                       interval, base, now, base_unit, p_adjusted, minimum_detectable, verdict, reason))

struct VerdictCounts {
  std::uint64_t pass = 0;
  std::uint64_t fail = 0;
  std::uint64_t inconclusive = 0;
  std::uint64_t unmeasured = 0;
};
BOOST_DESCRIBE_STRUCT(VerdictCounts, (), (pass, fail, inconclusive, unmeasured))

struct GateDocument {
  std::string schema = std::string(gate_schema);
  /// The worst of all: fail, unmeasured, inconclusive, pass.
  report::Verdict verdict = report::Verdict::unmeasured;
  VerdictCounts counts;
  Side run;
  std::optional<Side> baseline;
  std::vector<std::string> notes;  ///< about the gate as a whole
  std::vector<BudgetResult> budgets;
};
BOOST_DESCRIBE_STRUCT(GateDocument, (), (schema, verdict, counts, run, baseline, notes, budgets))

struct GateOptions {
  Machines machines = Machines::must_match;
  std::vector<report::Calibration> calibrations;
  std::uint64_t seed = 42;
};

/// Judges every budget on every row that it matches, and that no invariant of the run is broken. Budgets
/// judge by the interval: a fail is wholly past the limit, a pass wholly within. `baseline` may lack.
/// Neither document is changed. Thread-safe.
GateDocument evaluate(const std::vector<BudgetSpec>& budgets, const Source& run,
                      const std::optional<Source>& baseline, const GateOptions& options);

/// The worst verdict first.
int severity(report::Verdict verdict);

}  // namespace tare::gate
