#include "lab/report/trace_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::report {
namespace {

using testing::ElementsAre;

Document traced_document() {
  Row row;
  row.row = "node_exit_1";
  row.target = "agentos";
  row.trace.emplace();
  row.trace->stages = {{"kernel_spawn_process", {20, 2000, 100, 400}},
                       {"execute_total", {20, 9000, 450, 900}}};
  row.trace->absent = {{"process_exit_cleanup", "only its parts are recorded"}};
  Row other = row;
  other.target = "guest";
  other.trace->stages = {{"execute_total", {20, 100, 5, 9}}};
  other.trace->absent.clear();
  Row untraced;
  untraced.row = "nested_8";
  untraced.target = "agentos";
  Document document;
  document.rows = {row, other, untraced};
  return document;
}

TEST(TraceTable, shows_the_heaviest_stages_first) {
  const Table table = trace_table(traced_document(), "node_exit_1", 10);
  ASSERT_EQ(table.lanes.size(), 2U);
  ASSERT_EQ(table.lines.size(), 2U);
  EXPECT_EQ(table.lines[0].labels.front(), "execute_total");
  EXPECT_EQ(table.lines[0].cells[1].text, "450");
  EXPECT_EQ(table.lines[1].cells[3].text, "–");
  EXPECT_EQ(trace_table(traced_document(), "node_exit_1", 1).lines.size(), 1U);
}

TEST(TraceTable, names_what_a_runtime_does_not_count) {
  EXPECT_THAT(traced_rows(traced_document()), ElementsAre("node_exit_1"));
  EXPECT_THAT(absent_stages(traced_document()),
              ElementsAre("agentos has no process_exit_cleanup: only its parts are recorded"));
}

TEST(TraceTable, shows_the_sub_phases_that_have_figures) {
  Document document = traced_document();
  EXPECT_TRUE(lifecycle_table(document, "node_exit_1").lanes.empty());
  Lifecycle& lives = document.rows[1].trace->lifecycle.emplace();
  lives.processes = 3;
  lives.resolution_routes = {{"already_known", 1}, {"own_read", 2}};
  lives.first_waiters = {{"poll_event", 3}};
  lives.sub_phases = {{"ts_mount_wait", std::nullopt}, {"ts_wait_total", SubPhase{3, 1.5, 2, 2.5}}};
  const Table table = lifecycle_table(document, "node_exit_1");
  ASSERT_EQ(table.lanes.size(), 1U);
  ASSERT_EQ(table.lines.size(), 1U);
  EXPECT_EQ(table.lines[0].labels.front(), "ts_wait_total");
  EXPECT_EQ(table.lines[0].cells[0].text, "1.50");
  EXPECT_THAT(
      lifecycle_lines(document),
      ElementsAre("guest, node_exit_1: ends known by already_known 1, own_read 2; first waited for by "
                  "poll_event 3"));
}

}  // namespace
}  // namespace tare::report
