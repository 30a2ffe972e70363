#pragma once

#include <vector>

#include "lab/bench/gateway/options.hpp"
#include "lab/report/document.hpp"

namespace tare::gateway_bench {

/// The verdicts on --max-control-ms and --max-handshake-ms, by the rule of the seed: a probe that failed, or
/// took longer, is a violation. A kind of probe that the run does not have has no budget; one without any
/// sample is unmeasured.
std::vector<report::Budget> judge_budgets(const report::Document& document, const Options& options);

}  // namespace tare::gateway_bench
