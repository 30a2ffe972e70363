#include "lab/gate/places.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::gate {
namespace {

using report::Row;
using report::RowStatus;

const Row* find(const report::Document* document, const std::string& row, const std::string& target) {
  return document == nullptr ? nullptr : report::find_row(*document, row, target);
}

bool available(const Row* row) {
  return row != nullptr && row->status != RowStatus::unavailable;
}

std::optional<report::Lane> lane_of(const report::Document& run, const std::string& target) {
  const auto found = std::ranges::find(run.targets, target, &report::Target::id);
  return found == run.targets.end() ? std::nullopt : std::optional(found->kind);
}

/// Lanes that a wildcard does not mean: what a tax or a target is compared with is not held to it itself.
bool stands_apart(const BudgetSpec& budget, const report::Document& run, const std::string& target) {
  if (!is_pattern(budget.target)) return false;
  if (budget.kind == BudgetKind::relative) return target == budget.versus;
  if (budget.kind != BudgetKind::tax) return false;
  const auto lane = lane_of(run, target);
  return lane == report::Lane::floor || (budget.figure == "emulation" && lane == report::Lane::reference);
}

std::string nothing_matched(const BudgetSpec& budget, const report::Document& run) {
  std::set<std::string> rows;
  std::set<std::string> targets;
  for (const Row& row : run.rows) {
    rows.insert(row.row);
    targets.insert(row.target);
  }
  const auto lacks = [](std::string_view what, const std::string& pattern,
                        const std::set<std::string>& known) {
    const std::vector<std::string> names(known.begin(), known.end());
    const auto near = is_pattern(pattern) ? std::nullopt : text::did_you_mean(pattern, names);
    return fmt::format("the run has no {} {}'{}'{}", what, is_pattern(pattern) ? "like " : "", pattern,
                       near ? fmt::format("; did you mean '{}'?", *near) : "");
  };
  const auto fits = [](const std::string& pattern) {
    return [&pattern](const std::string& name) { return matches(pattern, name); };
  };
  if (std::ranges::none_of(rows, fits(budget.row))) return lacks("row", budget.row, rows);
  if (std::ranges::none_of(targets, fits(budget.target))) return lacks("target", budget.target, targets);
  return fmt::format("the run has no row '{}' on a target '{}' that this budget could hold", budget.row,
                     budget.target);
}

}  // namespace

Places places_of(const BudgetSpec& budget, const report::Document& run, const report::Document* baseline) {
  const bool relative = budget.kind == BudgetKind::relative;
  const bool to_baseline = relative && budget.versus == versus_baseline;
  Places places;
  std::set<std::pair<std::string, std::string>> seen;
  const auto add = [&](const Row& row) {
    if (!matches(budget.row, row.row) || !matches(budget.target, row.target)) return;
    if (stands_apart(budget, run, row.target) || !seen.emplace(row.row, row.target).second) return;
    Place place{row.row, row.target, find(&run, row.row, row.target), nullptr};
    if (to_baseline) place.base = find(baseline, row.row, row.target);
    if (relative && !to_baseline) place.base = find(&run, row.row, budget.versus);
    // What the baseline could measure is missed when the run cannot.
    const bool missed = to_baseline && available(place.base);
    const bool unavailable = (place.now != nullptr && !available(place.now) && !missed) ||
                             (relative && !to_baseline && place.base != nullptr && !available(place.base));
    if (unavailable && budget.unavailable == Unavailable::skip) {
      ++places.skipped;
    } else {
      places.found.push_back(place);
    }
  };
  for (const Row& row : run.rows) add(row);
  if (to_baseline && baseline != nullptr) {
    for (const Row& row : baseline->rows) add(row);
  }
  if (!places.found.empty()) return places;
  places.reason =
      places.skipped > 0 ? "every row that it matches is unavailable" : nothing_matched(budget, run);
  return places;
}

std::vector<std::string> metrics_of(const BudgetSpec& budget, const Place& place) {
  if (!is_pattern(budget.metric)) return {budget.metric};
  std::set<std::string> names;
  for (const Row* row : {place.now, place.base}) {
    if (row == nullptr) continue;
    for (const auto& [name, metric] : row->metrics) {
      if (matches(budget.metric, name)) names.insert(name);
    }
  }
  if (names.empty()) return {budget.metric};
  return {names.begin(), names.end()};
}

std::optional<std::string> why_no_row(const Row* row, std::string_view where) {
  if (row == nullptr) return fmt::format("{} has no such row", where);
  if (row->status == RowStatus::ok) return std::nullopt;
  const std::string_view what = row->status == RowStatus::failed ? "failed" : "unavailable";
  const std::string of = where == "the run" ? "" : fmt::format(" in {}", where);
  return fmt::format("{}{}: {}", what, of, row->reason.value_or("no reason given"));
}

}  // namespace tare::gate
