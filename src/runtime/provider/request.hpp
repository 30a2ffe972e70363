#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/describe.hpp>

#include "runtime/provider/conversation.hpp"

namespace tare::provider {

enum class Dialect : std::uint8_t {
  responses,  ///< POST /v1/responses
  chat,       ///< POST /v1/chat/completions
};
BOOST_DESCRIBE_ENUM(Dialect, responses, chat)

/// Behind the path of the server's URL, which ends with its version: "/responses", "/chat/completions".
std::string_view path_of(Dialect dialect);

/// The body of a request for a streamed reply. Bad UTF-8 in a text is escaped, as JSON has none.
/// Throws Error(input) when the parameters of a tool are not JSON.
std::string request_body(Dialect dialect, const ModelRequest& request);

}  // namespace tare::provider
