#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Units of metrics and budgets: times (ns, us, ms, s, min), sizes (B, KB, MB, GB, 1 KB = 1024 B) and plain
/// numbers (the empty unit).
namespace tare::verdict {

/// What a figure in `from` is multiplied by to be in `to`; nothing when one is unknown or they measure
/// different things.
std::optional<double> unit_factor(std::string_view from, std::string_view to);

struct Quantity {
  double value = 0;
  std::string unit;  ///< "" for a plain number
};

/// "40 ms", "161MB", "1.5", "5 %"; a percentage has the unit "%". Nothing when it is none of these.
std::optional<Quantity> parse_quantity(std::string_view text);

}  // namespace tare::verdict
