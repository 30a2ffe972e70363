#pragma once

#include <functional>
#include <string_view>

namespace tare::agents {

/// For maps from text. boost::hash takes a byte at a time, and the names of sessions are long.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace tare::agents
