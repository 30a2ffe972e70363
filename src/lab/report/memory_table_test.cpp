#include "lab/report/memory_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/lane_tables.hpp"
#include "lab/report/markdown.hpp"

namespace tare::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Row sized_row(const std::string& name, const std::map<std::string, double>& sizes) {
  Row row;
  row.row = name;
  row.target = "guest";
  row.bench = "spawn";
  const auto add = [&](const std::string& metric, double value, const char* unit) {
    row.metrics[metric].unit = unit;
    row.metrics[metric].samples = {value};
    row.metrics[metric].outcome = {Outcome::ok};
    row.metrics[metric].summary = measure::summarise({value});
  };
  add("total", 1000, "ms");
  for (const auto& [metric, value] : sizes) add(metric, value, "bytes");
  row.outcomes["ok"] = 1;
  return row;
}

Document weighed() {
  constexpr double mib = 1 << 20;
  Document document;
  Row plain = sized_row("node_exit_1", {});
  Row refused = sized_row("memory_64", {});
  refused.metrics.clear();
  refused.status = RowStatus::unavailable;
  refused.reason = "too many";
  document.rows = {plain, sized_row("memory_4", {{"idle", mib}, {"vm", 2 * mib}, {"per_guest", 3 * mib}}),
                   refused, sized_row("growth_1000", {{"before", 5 * mib}, {"growth", -2 * mib}})};
  return document;
}

TEST(MemoryTable, has_the_rows_with_sizes_and_their_siblings) {
  const Document document = weighed();
  EXPECT_THAT(memory_rows(Figures(document)), ElementsAre("memory_4", "memory_64", "growth_1000"));
}

TEST(MemoryTable, is_one_for_each_kind_and_says_why_a_size_is_missing) {
  const Document document = weighed();
  const Figures figures(document);
  Footnotes notes;
  const std::vector<Table> tables = memory_tables(figures, memory_rows(figures), notes);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].lanes.front().columns.size(), 3U);
  EXPECT_EQ(tables[0].lines[0].cells[2].text, "3.0 MB");
  EXPECT_EQ(tables[0].lines[1].cells[0].text, "n/a");
  EXPECT_THAT(notes.lines(), ElementsAre(HasSubstr("guest: too many")));
  EXPECT_EQ(tables[1].lines[0].cells[1].text, "-2.0 MB");
}

TEST(MemoryTable, keeps_its_rows_out_of_the_table_of_times) {
  const Document document = weighed();
  const Figures figures(document);
  const LanePlan plan = plan_lanes(figures, usual_floor_rows());
  EXPECT_THAT(plan.rows, ElementsAre("node_exit_1"));
  EXPECT_THAT(markdown(document), HasSubstr("## Memory"));
}

TEST(MemoryTable, of_a_run_with_nothing_else_is_all_there_is) {
  Document document = weighed();
  document.rows.erase(document.rows.begin());
  const Figures figures(document);
  const LanePlan plan = plan_lanes(figures, usual_floor_rows());
  EXPECT_TRUE(plan.lanes.empty());
  EXPECT_TRUE(plan.missing.empty());
  EXPECT_THAT(markdown(document), Not(HasSubstr("Nothing was measured")));
}

}  // namespace
}  // namespace tare::report
