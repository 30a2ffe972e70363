#include "table.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::benchmarks {
namespace {

using testing::HasSubstr;
using testing::Not;

const report::TerminalFacts terminal{false, report::Colour::off, 120};

Result ratio_result() {
  const Bar bar{"a.ratio", "one against another", "ms", Judged::ratio, {{}, 1.05}};
  return judge(bar, {0.612, 0.6, 1.02, measure::Interval{1.01, 1.04}, "9 rounds", {}}, {});
}

Result missing_result() {
  const Bar bar{"a.missing", "one against a peer", "ms", Judged::ratio, {0.93, 1.03}};
  Measurement nothing;
  nothing.note = "the peer | is not installed";
  return judge(bar, nothing, {});
}

Result size_result() {
  return judge({"a.size", "how large", "MB", Judged::size, {{}, 25.0}}, {26, {}, {}, {}, "", {}}, {});
}

TEST(BenchTable, limits_are_in_the_unit_of_what_is_judged) {
  EXPECT_EQ(limit_text(ratio_result()), "≤ 1.05×");
  EXPECT_EQ(limit_text(missing_result()), "0.93–1.03×");
  EXPECT_EQ(limit_text(size_result()), "≤ 25.0 MB");
  const Bar eighth{"an.eighth", "one against another", "ms", Judged::ratio, {{}, 0.125}};
  EXPECT_EQ(limit_text(judge(eighth, {}, {})), "≤ 0.125×");
}

TEST(BenchTable, what_did_not_pass_says_why_and_what_passed_does_not) {
  const std::vector<Result> results{ratio_result(), missing_result(), size_result()};
  const std::string text = table(results, terminal);
  EXPECT_THAT(text, HasSubstr("1.020×"));
  EXPECT_THAT(text, HasSubstr("1.010–1.040×"));
  EXPECT_THAT(text, HasSubstr("unmeasured"));
  EXPECT_THAT(text, HasSubstr("is not installed"));
  EXPECT_THAT(text, HasSubstr("a.size: the limit is passed\n"));
  EXPECT_THAT(text, Not(HasSubstr("9 rounds")));
}

TEST(BenchTable, markdown_has_a_line_each_and_escapes_foreign_text) {
  const std::vector<Result> results{ratio_result(), missing_result()};
  const std::string text = markdown(results, "2 × CPU");
  EXPECT_THAT(text,
              HasSubstr("| `a.ratio` | 0.612 ms | 0.600 ms | 1.020× | 1.010–1.040× | ≤ 1.05× | pass |\n"));
  EXPECT_THAT(text, HasSubstr("| `a.missing` | – | – | – | – | 0.93–1.03× | unmeasured |\n"));
  EXPECT_THAT(text, HasSubstr("the peer \\| is not installed"));
}

TEST(Registry, ids_are_unique) {
  std::vector<std::string> ids;
  for (const Benchmark& benchmark : all_benchmarks()) ids.push_back(benchmark.bar.id);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

}  // namespace
}  // namespace tare::benchmarks
