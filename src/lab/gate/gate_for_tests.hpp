#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/gate/gate.hpp"

namespace tare::gate {

inline GateDocument gate(const std::string& budgets, const report::Document& now,
                         const report::Document* base = nullptr, const GateOptions& options = {}) {
  std::optional<Source> baseline;
  if (base != nullptr) baseline = Source{"base.json", {}, base};
  return evaluate(parse_budgets(budgets, "tare.toml"), {"run.json", {}, &now}, baseline, options);
}

inline std::string why(const BudgetResult& result) {
  return result.reason.value_or("(no reason)");
}

inline void expect(report::Verdict verdict, const std::string& reason, const BudgetResult& result) {
  EXPECT_EQ(result.verdict, verdict) << why(result);
  EXPECT_TRUE(verdict == report::Verdict::pass || result.reason);
  EXPECT_THAT(result.reason.value_or(""), testing::HasSubstr(reason));
}

}  // namespace tare::gate
