#include "base/flag.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare {

std::int64_t whole_number(std::string_view flag, std::string_view text, WholeRange range) {
  const auto value = text::to_int(text);
  if (value && *value >= range.low && *value <= range.high) return *value;
  throw Error(ErrorCode::usage, fmt::format("{} must be {} to {}, got {}", flag, range.low, range.high,
                                            text.empty() ? "nothing" : text));
}

}  // namespace tare
