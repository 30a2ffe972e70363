#include "lab/report/gateway_table.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "lab/report/bench_table.hpp"
#include "lab/report/example_document.hpp"
#include "lab/report/gateway_lines.hpp"
#include "lab/report/markdown.hpp"

namespace tare::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string gateway_report(const Document& document, std::size_t width) {
  RenderOptions options;
  options.width = width;
  return render(document, options);
}

Row& row_in(Document& document, const std::string& row, const std::string& target) {
  return *std::ranges::find_if(document.rows,
                               [&](const Row& one) { return one.row == row && one.target == target; });
}

/// The line of the report that begins with this label after its group.
std::string line_of(const std::string& text, const std::string& label) {
  for (const std::string& line : text::split(text, '\n')) {
    if (line.size() > 12 && line.substr(12).starts_with(label + " ")) return line;
  }
  return "no line " + label;
}

TEST(GatewayTable, fits_every_terminal) {
  for (const Document& document : {example_gateway_run(1, 120), example_gateway_lanes(3, 60)}) {
    for (std::size_t width = 1; width <= 160; width += width < 40 ? 13 : 3) {
      for (const std::string& line : text::split(gateway_report(document, width), '\n')) {
        if (width >= 40) {
          EXPECT_LE(text::width(line), width) << line;
        }
        EXPECT_FALSE(line.ends_with(' ')) << width << ": " << line;
      }
    }
  }
}

TEST(GatewayTable, a_tail_that_n_does_not_carry_says_so_where_there_are_requests) {
  const std::string text = gateway_report(example_gateway_run(3, 60), 100);
  EXPECT_THAT(line_of(text, "completed"), AllOf(HasSubstr("n<100"), Not(HasSubstr("n<20"))));
  EXPECT_THAT(line_of(text, "CPU per turn"), Not(HasSubstr("n<")));
}

TEST(GatewayTable, a_metric_that_only_one_lane_has_is_explained) {
  Document document = example_gateway_lanes(1, 30);
  std::erase_if(document.rows, [](const Row& row) { return row.row == "tasks_list"; });
  const std::string text = gateway_report(document, 120);
  EXPECT_THAT(text, HasSubstr("embedded: not known of this gateway"));
  EXPECT_THAT(text, HasSubstr("openclaw: unknown method: cron.status"));
  EXPECT_THAT(line_of(text, "tasks.list"), HasSubstr("no line"));
}

TEST(GatewayTable, a_row_that_failed_without_figures_has_one_line) {
  Document document = example_gateway_run(1, 30);
  Row& server = row_in(document, "server", "embedded");
  server.metrics.clear();
  server.outcomes.clear();
  server.status = RowStatus::failed;
  server.reason = "the gateway was killed by SIGSEGV";
  const std::string text = gateway_report(document, 80);
  EXPECT_THAT(line_of(text, "CPU per turn"), HasSubstr("failed"));
  EXPECT_THAT(line_of(text, "RSS peak"), HasSubstr("no line"));
  EXPECT_THAT(text, HasSubstr("embedded: failed: the gateway was killed by SIGSEGV"));
}

TEST(GatewayTable, a_gateway_without_any_figure_is_missing) {
  Document document = example_gateway_lanes(1, 30);
  for (Row& row : document.rows) {
    if (row.target != "openclaw") continue;
    row.metrics.clear();
    row.outcomes.clear();
    row.status = RowStatus::unavailable;
    row.reason = "not installed; run: tare targets install openclaw";
  }
  document.comparisons.clear();
  const std::string text = gateway_report(document, 120);
  EXPECT_THAT(text, HasSubstr("missing     openclaw: not installed; run: tare targets install openclaw\n"));
  std::erase_if(document.rows, [](const Row& row) { return row.target != "openclaw"; });
  EXPECT_THAT(gateway_report(document, 80), HasSubstr("nothing was measured"));
  EXPECT_THAT(markdown(document), HasSubstr("**Nothing was measured.**"));
}

TEST(GatewayLines, the_pessimistic_percentile_counts_what_never_ended_well_as_infinite) {
  Document document = example_gateway_lanes(1, 100);
  const Row& history = row_in(document, "chat_history", "openclaw");
  // 98 went well of 100 that were sent and 103 that were due.
  EXPECT_EQ(pessimistic(history, 0.5).starts, 103U);
  const Metric& total = history.metrics.at("total");
  std::vector<double> good;
  for (std::size_t i = 0; i < 98; ++i) good.push_back(*total.samples[i]);
  std::ranges::sort(good);
  EXPECT_EQ(pessimistic(history, 0.5).value, good[51]);
  EXPECT_EQ(pessimistic(history, 0.95).value, good[97]);
  row_in(document, "chat_history", "openclaw").counters["unsent"] = 4;
  EXPECT_EQ(pessimistic(history, 0.95).value, std::nullopt);  // one place further nobody came back
  row_in(document, "chat_history", "openclaw").counters["unsent"] = 3;
  EXPECT_TRUE(pessimistic(history, 0.99).carried);
  EXPECT_EQ(pessimistic(history, 0.99).value, std::nullopt);
  EXPECT_THAT(pessimistic_lines(document),
              ElementsAre(AllOf(
                  HasSubstr("openclaw: chat.history: p50 "),
                  HasSubstr("p99 never; of 103 starts 1 censored (oldest 4.20 s), 1 timeout, 3 unsent"))));
}

TEST(GatewayLines, the_pessimistic_percentile_of_a_histogram_is_of_all_samples) {
  Document document = example_gateway_run(1, 100);
  const Row& list = row_in(document, "sessions_list", "embedded");
  EXPECT_EQ(pessimistic(list, 0.95).starts, 1000U);
  EXPECT_EQ(pessimistic(list, 0.95).value, list.metrics.at("total").summary.p95);
}

TEST(GatewayLines, too_few_starts_carry_no_tail) {
  Document document = example_gateway_lanes(1, 12);
  EXPECT_FALSE(pessimistic(row_in(document, "chat_history", "openclaw"), 0.95).carried);
  EXPECT_THAT(pessimistic_lines(example_gateway_run(1, 12)), IsEmpty());
}

TEST(GatewayLines, the_loop_is_what_the_run_was_paced_by) {
  Document document = example_gateway_run(2, 50);
  EXPECT_EQ(loop_name(document), "open loop");
  EXPECT_THAT(
      loop_lines(document),
      ElementsAre("1,800 starts due · 9 late · 0 unsent · 0 never came back · start error p99 ≤ 180 µs"));
  for (GatewayRun& run : document.gateways->front().runs) run.probe_workload.pace = "closed-loop";
  EXPECT_EQ(loop_name(document), "closed loop");
  EXPECT_EQ(loop_name({}), "probes");
}

TEST(GatewayLines, what_was_left_and_what_is_not_known_is_said) {
  Document document = example_gateway_lanes(2, 5);
  EXPECT_THAT(
      correctness_lines(document),
      ElementsAre(HasSubstr("embedded: 16 model requests, 16 expected · 0 sequence gaps"),
                  HasSubstr("2 degraded samples · 0 unclean exits · left after a load: 2 open files")));
  for (GatewayRun& run : document.gateways->front().runs) run.leaks = {};
  EXPECT_THAT(correctness_lines(document).front(), HasSubstr("unknown what is left after the load"));
}

TEST(GatewayLines, broken_budgets_are_named_with_their_gateway) {
  EXPECT_THAT(violation_lines(example_gateway_run(1, 5)), IsEmpty());
  EXPECT_THAT(violation_lines(example_gateway_lanes(1, 5)),
              ElementsAre(HasSubstr("openclaw: Gateway chat.history probe exceeded 2000ms")));
}

}  // namespace
}  // namespace tare::report
