#pragma once

#include <cstdint>
#include <string_view>

namespace tare {

/// Both ends belong to it.
struct WholeRange {
  std::int64_t low;
  std::int64_t high;
};

/// The value of a flag or variable that takes a whole number. Throws Error(usage): "--iterations must be
/// 1 to 100000, got 0".
std::int64_t whole_number(std::string_view flag, std::string_view text, WholeRange range);

}  // namespace tare
