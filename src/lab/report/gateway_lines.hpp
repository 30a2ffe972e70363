#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/report/document.hpp"

/// What a report says of a bench `gateway` beside its table, in words. With several gateways each line begins
/// with its gateway's name.
namespace tare::report {

/// The percentile of the row's latency over all starts that were due, where what failed, was not sent or
/// never came back counts as infinite.
struct Pessimistic {
  std::uint64_t starts = 0;
  bool carried = false;         ///< by so many starts
  std::optional<double> value;  ///< in the unit of `total`; null is infinite, once it is carried
};
Pessimistic pessimistic(const Row& row, double q);

/// "open loop" or "closed loop": who said when a probe starts.
std::string loop_name(const Document& document);

/// "2,400 starts due · 3 late · 0 unsent · 1 never came back · start error p99 ≤ 180 µs"
std::vector<std::string> loop_lines(const Document& document);

/// Of every row with a request that did not end well: "chat.history: p50 44.1 ms · p95 never; of 183
/// starts 1 timeout, 3 unsent".
std::vector<std::string> pessimistic_lines(const Document& document);

/// Requests to the model, gaps in sequences, unclean exits, and what was left after the load.
std::vector<std::string> correctness_lines(const Document& document);

/// The budgets of the bench that were broken, in words.
std::vector<std::string> violation_lines(const Document& document);

}  // namespace tare::report
