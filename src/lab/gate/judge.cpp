#include "lab/gate/judge.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::gate {

using report::Verdict;

Verdict judge_point(const Bounds& bounds, double value) {
  const bool inside = (!bounds.max || value <= *bounds.max) && (!bounds.min || value >= *bounds.min);
  return inside ? Verdict::pass : Verdict::fail;
}

Verdict judge_interval(const Bounds& bounds, const report::Interval& interval) {
  const auto [low, high] = interval;
  if ((bounds.max && low > *bounds.max) || (bounds.min && high < *bounds.min)) return Verdict::fail;
  const bool inside = (!bounds.max || high <= *bounds.max) && (!bounds.min || low >= *bounds.min);
  return inside ? Verdict::pass : Verdict::inconclusive;
}

std::string figure_text(double value, std::string_view unit) {
  if (unit == "B" && value >= 0) return text::bytes(static_cast<std::uint64_t>(value));
  if (unit == "×") return text::significant(value) + "×";
  if (unit.empty() && value >= 0 && value == std::floor(value) && value < 1e15)
    return text::count(static_cast<std::uint64_t>(value));
  return text::significant(value) + (unit.empty() ? "" : " " + std::string(unit));
}

std::string figure_interval_text(const report::Interval& interval, std::string_view unit) {
  if (unit == "B") return figure_text(interval[0], unit) + "–" + figure_text(interval[1], unit);
  return text::significant(interval[0]) + "–" + figure_text(interval[1], unit.empty() ? " " : unit);
}

std::string joined(const std::string& a, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : "; ") + b;
}

BudgetResult blank(const BudgetSpec& budget, const std::string& row, const std::string& target) {
  BudgetResult result;
  result.id = budget.id;
  result.kind = static_cast<FigureKind>(budget.kind);
  result.row = row;
  result.target = target;
  result.metric = budget.has_metric() ? budget.metric : budget.figure;
  if (budget.has_metric()) result.quantile = budget.quantile;
  if (budget.kind == BudgetKind::relative) result.versus = budget.versus;
  if (budget.kind == BudgetKind::tax && budget.figure == "total") result.versus = "native";
  result.limit = limit_text(budget);
  return result;
}

BudgetResult unmeasured(BudgetResult result, const std::string& reason) {
  result.verdict = Verdict::unmeasured;
  result.reason = reason;
  return result;
}

bool set_limits(BudgetResult& result, const BudgetSpec& budget, std::string_view unit) {
  // A plain number is meant in the unit of the figure, where that is none of those that can be written.
  const bool own_unit = !unit_factor(unit, "ns") && !unit_factor(unit, "B");
  const auto in_unit = [&](const std::optional<Quantity>& limit) -> std::optional<double> {
    if (!limit) return std::nullopt;
    if (limit->unit.empty() && own_unit) return limit->value;
    const auto factor = unit_factor(limit->unit, unit);
    if (factor) return limit->value * *factor;
    const auto named = [](std::string_view name) {
      return name.empty() ? "a plain number" : std::string(name);
    };
    result.reason = fmt::format("the limit is in {}, the figure in {}", named(limit->unit), named(unit));
    return std::nullopt;
  };
  result.unit = std::string(unit);
  result.max = in_unit(budget.max);
  result.min = in_unit(budget.min);
  return result.max.has_value() == budget.max.has_value() && result.min.has_value() == budget.min.has_value();
}

}  // namespace tare::gate
