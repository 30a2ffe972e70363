#include "lab/gate/budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::gate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

BudgetSpec one(const std::string& fields) {
  return parse_budgets("[[budget]]\n" + fields, "tare.toml").at(0);
}

std::string refusal(const std::string& text) {
  try {
    parse_budgets(text, "tare.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return error.line();
  }
  return "accepted";
}

TEST(Budget, reads_what_is_written_and_has_the_documented_defaults) {
  const BudgetSpec bare = one("max = \"40 ms\"");
  EXPECT_EQ(bare.kind, BudgetKind::quantile);
  EXPECT_EQ(bare.row + bare.target + bare.metric + bare.quantile, "**totalp50");
  EXPECT_EQ(bare.id, "total p50");
  EXPECT_EQ(bare.unavailable, Unavailable::fail);
  const BudgetSpec full =
      one("id = 'a'\nrow = 'fanout_?'\ntarget = 'node'\nmetric = 'spawn*'\nquantile = 'p99'\nmin = '1 us'\n"
          "max = '2 s'\nunavailable = 'skip'");
  EXPECT_EQ(full.id, "a");
  EXPECT_EQ(full.quantile, "p99");
  EXPECT_EQ(full.min->unit, "us");
  EXPECT_EQ(full.max->value, 2);
  EXPECT_EQ(full.unavailable, Unavailable::skip);
  EXPECT_EQ(limit_text(full), "≥ 1 us, ≤ 2 s");
}

TEST(Budget, knows_every_kind_by_its_key) {
  EXPECT_EQ(one("tax = 'emulation'\nmax = 1.5").kind, BudgetKind::tax);
  EXPECT_EQ(one("counter = 'syncFiles'\nmax = 0").kind, BudgetKind::counter);
  EXPECT_EQ(one("resource = 'pssBytes'\nmax = '200 MB'").kind, BudgetKind::resource);
  EXPECT_EQ(one("outcome = 'not_ok'\nmax = 0").kind, BudgetKind::outcome);
  EXPECT_EQ(one("versus = 'node'\nmax_ratio = 1.05").kind, BudgetKind::relative);
}

TEST(Budget, shares_and_ratios_say_the_same) {
  const BudgetSpec share = one("versus = 'baseline'\nmax_increase = '5 %'\nmax_decrease = '10 %'");
  EXPECT_DOUBLE_EQ(share.max->value, 1.05);
  EXPECT_DOUBLE_EQ(share.min->value, 0.9);
  EXPECT_EQ(limit_text(share), "≥ 0.9×, ≤ 1.05× baseline");
  EXPECT_DOUBLE_EQ(one("versus = 'baseline'\nmax_ratio = 1.05").max->value, 1.05);
}

TEST(Budget, what_cannot_be_meant_is_refused_in_its_line) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "tare.toml: no [[budget]] in it"},
      {"# only a comment\n", "no [[budget]] in it"},
      {"budget = []", "no [[budget]] in it"},
      {"[budget]\nmax = 1", "tare.toml:1:1: 'budget' is not a list of tables"},
      {"budget = [1]", "not a list of tables"},
      {"[[budgets]]\nmax = 1", "tare.toml:1:3: unknown key 'budgets'"},
      {"[[budgets]]\nmax = 1", "did you mean [[budget]]?"},
      {"title = 'x'\n[[budget]]\nmax = 1", "tare.toml:1:1: unknown key 'title'"},
      {"[[budget]]\nmax = ", "tare.toml:2:"},
      {"[[budget]]\nmax = 1\nmax = 2", "tare.toml:3:"},
      {"[[budget]]\nmaximum = 1", "tare.toml:2:1: unknown key 'maximum'"},
      {"[[budget]]\nqantile = 'p50'\nmax = 1", "did you mean 'quantile'?"},
      {"[[budget]]\nrow = 1\nmax = 1", "tare.toml:2:1: row must be a text, got a number"},
      {"[[budget]]\nrow = ['a']\nmax = 1", "row must be a text, got an array"},
      {"[[budget]]\nrow = ''\nmax = 1", "row is empty"},
      {"[[budget]]\nmax = true", "max must be a quantity, got true or false"},
      {"[[budget]]\nmax = nan", "max must be a finite number"},
      {"[[budget]]\nmax = inf", "max must be a finite number"},
      {"[[budget]]\nmax = '40 parsec'", "max is no quantity: '40 parsec'"},
      {"[[budget]]\nmax = '1e308 min'", "max is too large: '1e308 min'"},
      {"[[budget]]\nmax = \"1 \\u0000ms\"", "max is no quantity: '1 \\x00ms'"},
      {"[[budget]]\nmax = '5 %'", "max is a percentage"},
      {"[[budget]]\nmax = '-1 ms'", "max is negative"},
      {"[[budget]]\nrow = 'a'", "tare.toml:1:1: a budget that limits nothing"},
      {"[[budget]]\nmax = '1 ms'\nmin = '2 ms'", "min is above max"},
      {"[[budget]]\nmax = '1 ms'\nmin = '2 us'\nversus = 'baseline'", "max does not go with versus"},
      {"[[budget]]\nmax = '1 s'\nmin = '2 MB'", "min and max measure different things"},
      {"[[budget]]\nmax = 1\nmax_increase = '5 %'", "both max and max_increase"},
      {"[[budget]]\nmax_increase = '5 %'", "max_increase needs versus"},
      {"[[budget]]\nversus = 'baseline'\nmax_ratio = 1.1\nmax_increase = '1 %'",
       "both max_ratio and max_increase"},
      {"[[budget]]\nversus = 'baseline'\nmax_increase = '5 ms'",
       "max_increase must be a percentage, got a quantity in ms"},
      {"[[budget]]\nversus = 'baseline'\nmax_increase = 5",
       "tare.toml:3:1: max_increase must be a percentage, got a plain number; as \"5 %\"; a ratio is "
       "max_ratio"},
      {"[[budget]]\nversus = 'baseline'\nmax_increase = '5'", "max_increase must be a percentage"},
      {"[[budget]]\nversus = 'baseline'\nmax_decrease = 0.05", "a ratio is min_ratio"},
      {"[[budget]]\nversus = 'baseline'\nmax_increase = '-5 %'", "max_increase is negative"},
      {"[[budget]]\nversus = 'baseline'\nmax_decrease = '500 %'", "more than 100 %"},
      {"[[budget]]\nversus = 'baseline'\nmax_ratio = 0", "max_ratio is 0"},
      {"[[budget]]\nversus = 'baseline'\nmax_ratio = 0.9\nmin_ratio = 1.1", "min is above max"},
      {"[[budget]]\nversus = 'no*'\nmax_ratio = 1", "versus takes \"baseline\" or one target"},
      {"[[budget]]\nversus = 'node'\ntarget = 'node'\nmax_ratio = 1", "target 'node' against itself"},
      {"[[budget]]\ntax = 'emulation'\ncounter = 'x'\nmax = 1", "both tax and counter"},
      {"[[budget]]\ntax = 'totl'\nmax = 1", "did you mean 'total'?"},
      {"[[budget]]\ntax = 'total'\nmax = '40 ms'", "max of total must be a plain number"},
      {"[[budget]]\ntax = 'total'\nquantile = 'p99'\nmax = 1", "quantile must be one of p50, p95"},
      {"[[budget]]\nquantile = 'mean'\nmax = 1", "quantile cannot be mean"},
      {"[[budget]]\nquantile = 'p42'\nmax = 1", "quantile must be one of p50, p90, p95, p99, got 'p42'"},
      {"[[budget]]\nresource = 'pssBytes'\nmax = '40 ms'", "max of pssBytes must be a size"},
      {"[[budget]]\nresource = 'cpuMs'\nmax = 40", "max of cpuMs must be a time"},
      {"[[budget]]\nresource = 'pss'\nmax = '1 MB'", "resource must be one of"},
      {"[[budget]]\noutcome = 'ok'\nmax = 1",
       "outcome must be one of failed, timeout, refused, censored, not_ok"},
      {"[[budget]]\ncounter = 'a*'\nmax = 1", "counter takes one name"},
      {"[[budget]]\ncounter = 'a'\nmetric = 'total'\nmax = 1", "metric does not go with a counter"},
      {"[[budget]]\nunavailable = 'ignore'\nmax = 1", "unavailable must be one of fail, skip"},
      {"[[budget]]\nid = 'invariants'\nmax = 1", "no budget can have the id 'invariants'"},
      {"[[budget]]\nid = 'a'\nmax = 1\n[[budget]]\nid = 'a'\nrow = 'b'\nmax = 1",
       "tare.toml:4:1: a second budget with the id 'a' (the first is in line 1)"},
      {"[[budget]]\nmax = 1\n[[budget]]\nmax = 2", "tare.toml:3:1: a second budget for total p50"},
      {"[[budget]]\nid = 'a'\nmax = 1\n[[budget]]\nid = 'b'\nmax = 1", "a second budget for"},
      {"\xff\xfe[\0", "it is UTF-16"},
      {"[[budget]]\nrow = '\xff'", "not TOML"},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    const std::string line = refusal(text);
    EXPECT_THAT(line, HasSubstr(expected));
    EXPECT_THAT(line, StartsWith("tare: tare.toml"));
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(Budget, an_exact_and_a_wildcard_budget_for_one_figure_go_together) {
  const auto budgets =
      parse_budgets("[[budget]]\nmax = '9 s'\n[[budget]]\nrow = 'nested_8'\nmax = '1 s'", "tare.toml");
  EXPECT_EQ(budgets.size(), 2U);
}

TEST(Budget, patterns_know_two_signs) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("fanout_*", "fanout_"));
  EXPECT_TRUE(matches("*_8", "nested_8"));
  EXPECT_TRUE(matches("*a*b", "xaaxb"));
  EXPECT_TRUE(matches("fanout_?", "fanout_8"));
  EXPECT_FALSE(matches("fanout_?", "fanout_32"));
  EXPECT_FALSE(matches("fanout", "fanout_8"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("a.c", "abc"));
}

}  // namespace
}  // namespace tare::gate
