#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

/// The answering side of the driver protocol: lines of JSON on stdin, one answer each on stdout.
/// docs/driver-protocol.md is the contract.
namespace tare::serve {

inline constexpr std::string_view protocol = "tare.driver.v1";
inline constexpr std::size_t line_limit = std::size_t{16} << 20;

/// A request that gets an error instead of an answer. Codes: unsupported, failed, timeout, invalid.
struct Refusal {
  std::string code;
  std::string message;
};

/// Answers one op: a request to the JSON text of an object, whose members stand in the answer beside id and
/// ok. Throws Refusal, or an Error, which is answered with `invalid` for bad input and `failed` otherwise, as
/// is any other exception.
using Handler = std::function<std::string(const json::Value& request)>;

/// By op. `bye` is answered without one.
using Handlers = std::map<std::string, Handler, std::less<>>;

/// Throws Refusal(unsupported) for a hello in another protocol.
void check_protocol(const json::Value& hello);

/// The answer to one request line, without a newline, and whether it was the last.
struct Answer {
  std::string line;
  bool leave = false;
};
Answer answer(const Handlers& handlers, std::string_view request);

/// Answers the lines of stdin on stdout until `bye`, the end of stdin, or a lab that is gone.
void serve(const Handlers& handlers);

}  // namespace tare::serve
