#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/provider/request.hpp"

namespace tare::provider {

enum class Delivery : std::uint8_t { stream, whole };

/// What the mock server needs to know of a request.
struct MockRequest {
  Dialect dialect = Dialect::responses;
  std::string model = {};
  Delivery delivery = Delivery::whole;
  /// The last text of the user. What OpenClaw adds behind it in the user's name is skipped.
  std::string user_text = {};
  bool after_tools = false;  ///< results of calls come behind that text: the reply is the one after them
  std::vector<std::string> tools = {};
  std::optional<std::uint64_t> max_output_tokens = {};
  std::size_t bytes = 0;  ///< of the body
};

/// Throws Error(input) for a body that is not of this dialect: "the body: not JSON", "input is missing".
MockRequest read_mock_request(Dialect dialect, std::string_view body);

}  // namespace tare::provider
