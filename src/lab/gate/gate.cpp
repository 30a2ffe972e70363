#include "lab/gate/gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/judge.hpp"
#include "lab/report/figures.hpp"

namespace tare::gate {
namespace {

using report::Verdict;

class Gate {
 public:
  Gate(const std::vector<BudgetSpec>& budgets, const Source& run, const std::optional<Source>& baseline,
       const GateOptions& options)
      : budgets_(budgets),
        run_(*run.document),
        baseline_(baseline ? baseline->document : nullptr),
        options_(options),
        same_machine_(baseline_ == nullptr || same_machine(*baseline_, run_)),
        scene_{run_, baseline_, options_, same_machine_,
               baseline_ == nullptr ? 0 : verdict::noise_floor(*baseline_, run_)} {
    gate_.run = side_of(run);
    if (baseline) gate_.baseline = side_of(*baseline);
  }

  GateDocument evaluate() {
    gate_.budgets.push_back(judge_invariants(run_));
    for (const BudgetSpec& budget : budgets_) apply(budget);
    settle_relative();
    if (!run_.complete) withhold_passes();
    add_notes();
    add_up();
    return std::move(gate_);
  }

 private:
  /// Why a budget relative to another target has nothing to be relative to, once for all its rows.
  std::optional<std::string> no_such_target(const BudgetSpec& budget) const {
    if (budget.kind != BudgetKind::relative || budget.versus == versus_baseline) return std::nullopt;
    std::vector<std::string> known;
    const auto add = [&](const std::string& id) {
      if (std::ranges::find(known, id) == known.end()) known.push_back(id);
    };
    for (const report::Target& target : run_.targets) add(target.id);
    for (const report::Row& row : run_.rows) add(row.target);
    if (std::ranges::find(known, budget.versus) != known.end()) return std::nullopt;
    const auto near = text::did_you_mean(budget.versus, known);
    return fmt::format("no target '{}' in the run ({}){}", budget.versus,
                       known.empty() ? "it has none" : "it has " + text::join(known, ", "),
                       near ? fmt::format("; did you mean '{}'?", *near) : "");
  }

  void apply(const BudgetSpec& budget) {
    if (budget.kind == BudgetKind::relative && budget.versus == versus_baseline && baseline_ == nullptr) {
      gate_.budgets.push_back(
          unmeasured(blank(budget, budget.row, budget.target), "no --baseline was given"));
      return;
    }
    if (const auto why = no_such_target(budget)) {
      gate_.budgets.push_back(unmeasured(blank(budget, budget.row, budget.target), *why));
      return;
    }
    const Places places = places_of(budget, run_, baseline_);
    skipped_ += places.skipped;
    if (places.found.empty())
      gate_.budgets.push_back(unmeasured(blank(budget, budget.row, budget.target), places.reason));
    for (const Place& place : places.found) apply(budget, place);
  }

  void apply(const BudgetSpec& budget, const Place& place) {
    switch (budget.kind) {
      case BudgetKind::quantile:
        for (const std::string& metric : metrics_of(budget, place))
          gate_.budgets.push_back(judge_quantile(budget, place, metric));
        return;
      case BudgetKind::tax:
        for (BudgetResult& result : judge_taxes(budget, place, run_))
          gate_.budgets.push_back(std::move(result));
        return;
      case BudgetKind::counter:
        gate_.budgets.push_back(judge_counter(budget, place));
        return;
      case BudgetKind::resource:
        gate_.budgets.push_back(judge_resource(budget, place));
        return;
      case BudgetKind::outcome:
        gate_.budgets.push_back(judge_outcome(budget, place));
        return;
      case BudgetKind::relative:
        for (Relative& one : measure_relative(budget, place, scene_)) {
          // Judged when all are known; until then it holds the place of the budget in the file.
          relative_at_.push_back(gate_.budgets.size());
          gate_.budgets.push_back(one.result);
          relative_.push_back(std::move(one));
        }
        return;
    }
  }

  void settle_relative() {
    judge_relative(relative_);
    for (std::size_t i = 0; i < relative_.size(); ++i)
      gate_.budgets[relative_at_[i]] = std::move(relative_[i].result);
  }

  void withhold_passes() {
    for (BudgetResult& result : gate_.budgets) {
      if (result.verdict != Verdict::pass) continue;
      result.verdict = Verdict::unmeasured;
      result.reason = joined("the run is incomplete: it could still have failed", result.reason.value_or(""));
    }
  }

  bool uses_baseline() const {
    return std::ranges::any_of(budgets_, [](const BudgetSpec& budget) {
      return budget.kind == BudgetKind::relative && budget.versus == versus_baseline;
    });
  }

  void add_notes() {
    const auto note = [&](const std::string& text) { gate_.notes.push_back(text); };
    if (!run_.complete) note("the run is incomplete: nothing of it can pass");
    if (baseline_ != nullptr && !uses_baseline()) note("no budget is relative to the baseline");
    if (baseline_ != nullptr && uses_baseline()) {
      if (baseline_->started_at == run_.started_at && same_machine_)
        note("run and baseline are one and the same run");
      if (!baseline_->complete) note("the baseline is incomplete");
      if (!report::broken_invariants(*baseline_).empty()) note("invariants of the baseline are broken");
      if (!same_machine_)
        note(
            options_.machines == Machines::may_differ
                ? "run and baseline are of different machines, and compared all the same"
                : "run and baseline are of different machines: --across-machines compares them all the same");
    }
    const bool judged = std::ranges::any_of(
        gate_.budgets, [](const BudgetResult& r) { return r.kind == FigureKind::relative && r.interval; });
    if (judged && options_.calibrations.empty())
      note("not calibrated: `tare calibrate` would tell how small a change this machine can see");
    if (skipped_ > 0)
      note(fmt::format("{} unavailable {} left out (unavailable = \"skip\")", skipped_,
                       skipped_ == 1 ? "row was" : "rows were"));
  }

  void add_up() {
    gate_.verdict = Verdict::pass;
    for (const BudgetResult& result : gate_.budgets) {
      gate_.counts.pass += result.verdict == Verdict::pass;
      gate_.counts.fail += result.verdict == Verdict::fail;
      gate_.counts.inconclusive += result.verdict == Verdict::inconclusive;
      gate_.counts.unmeasured += result.verdict == Verdict::unmeasured;
      if (severity(result.verdict) < severity(gate_.verdict)) gate_.verdict = result.verdict;
    }
  }

  const std::vector<BudgetSpec>& budgets_;
  const report::Document& run_;
  const report::Document* baseline_;
  const GateOptions& options_;
  bool same_machine_;
  RelativeScene scene_;
  std::vector<Relative> relative_;
  std::vector<std::size_t> relative_at_;  // in gate_.budgets
  std::size_t skipped_ = 0;
  GateDocument gate_;
};

}  // namespace

int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::fail:
      return 0;
    case Verdict::unmeasured:
      return 1;
    case Verdict::inconclusive:
      return 2;
    case Verdict::pass:
      return 3;
  }
  return 1;
}

GateDocument evaluate(const std::vector<BudgetSpec>& budgets, const Source& run,
                      const std::optional<Source>& baseline, const GateOptions& options) {
  return Gate(budgets, run, baseline, options).evaluate();
}

}  // namespace tare::gate
