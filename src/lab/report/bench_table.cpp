#include "lab/report/bench_table.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"
#include "lab/report/provenance.hpp"

namespace tare::report {
namespace {

/// Which rows and lanes go where.
struct Plan {
  std::vector<std::string> rows;    ///< in the table, the headline first
  std::vector<std::string> floors;  ///< in the line below
  std::vector<const Target*> lanes; ///< with a figure or a failed sample in the table
  std::vector<const Target*> absent;
};

bool is_floor_row(const Figures& figures, const std::string& row, const RenderOptions& options) {
  if (std::ranges::find(options.floor_rows, row) == options.floor_rows.end()) return false;
  for (const Target& target : figures.targets()) {
    if (target.kind == Lane::floor) continue;
    const Row* found = figures.row(row, target.id);
    if (found != nullptr && (found->status == RowStatus::failed || figures.measured(row, target.id))) return false;
  }
  return true;
}

Plan make_plan(const Figures& figures, const RenderOptions& options) {
  Plan plan;
  for (const std::string& row : figures.rows()) {
    (is_floor_row(figures, row, options) ? plan.floors : plan.rows).push_back(row);
  }
  if (plan.rows.empty()) plan.rows.swap(plan.floors);
  const auto measured_somewhere = [&](const std::string& row) {
    return std::ranges::any_of(figures.targets(), [&](const Target& t) { return figures.measured(row, t.id); });
  };
  const auto headline = std::ranges::find_if(plan.rows, measured_somewhere);
  if (headline != plan.rows.end()) std::rotate(plan.rows.begin(), headline, headline + 1);
  for (const Target& target : figures.targets()) {
    const auto measured = [&](const std::string& row) { return figures.measured(row, target.id); };
    if (std::ranges::any_of(plan.rows, measured)) {
      plan.lanes.push_back(&target);
    } else if (target.kind != Lane::floor || std::ranges::none_of(plan.floors, measured)) {
      plan.absent.push_back(&target);
    }
  }
  return plan;
}

class Report {
 public:
  Report(const Document& document, const RenderOptions& options)
      : document_(document), options_(options), figures_(document), plan_(make_plan(figures_, options)) {}

  std::string text();

 private:
  void say(std::string_view label, const std::string& text, Tone tone = Tone::plain) {
    out_ += paragraph(label, text, options_.width, options_.colour, tone);
  }
  void say_each(std::string_view label, const std::vector<std::string>& lines, Tone tone = Tone::plain) {
    for (std::size_t i = 0; i < lines.size(); ++i) say(i == 0 ? label : "", lines[i], tone);
  }

  void head();
  void headline();
  void other_rows();
  void floors();
  void absent_lanes();
  void remarks();
  void verdicts();

  Cell cell(const Figure& figure, const std::string& whose, std::string_view unit = {});
  Cell quantile_cell(const std::string& row, const Target& target, std::string_view metric, std::string_view quantile);
  Cell tax_cell(const Comparison* comparison, std::string_view unity_of, const Target& target);
  void add_tax(Table& table, const std::string& row, ComparisonKind kind, std::string_view name);
  Table compact(bool with_cpu, bool with_memory, Footnotes& notes);
  ComparisonKind tax_of(const Target& target) const;
  std::string tax_head(const Target& target) const;
  std::string n_of(const std::string& row) const;
  std::string main_unit() const { return plan_.rows.empty() ? "" : std::string(figures_.unit(plan_.rows.front())); }
  void title(Table& table) const;

  const Document& document_;
  const RenderOptions& options_;
  Figures figures_;
  Plan plan_;
  Footnotes notes_;
  std::string out_;
};

}  // namespace
}  // namespace tare::report
