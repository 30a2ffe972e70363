#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

/// The frames of the gateway protocol, version 4: requests, responses, events (docs/gateway-protocol.md).
namespace tare::gateway {

inline constexpr std::int64_t protocol_version = 4;

enum class Code : std::uint8_t {
  invalid_request,
  forbidden,
  not_paired,
  not_linked,
  unavailable,
  agent_timeout,
  approval_not_found,
};
std::string_view name_of(Code code);

enum class Retry : std::uint8_t { never, later };

/// Why a request was not done.
struct Fault {
  Code code = Code::invalid_request;
  std::string message;
  std::string details;  ///< a JSON object, or empty
  Retry retry = Retry::never;
  std::optional<std::chrono::milliseconds> retry_after = {};
};

/// Thrown by what handles a request, and answered.
class Refusal : public std::exception {
 public:
  explicit Refusal(Fault fault) : fault_(std::move(fault)) {}
  Refusal(Code code, std::string message) : fault_{code, std::move(message), {}} {}
  const Fault& fault() const { return fault_; }
  const char* what() const noexcept override { return fault_.message.c_str(); }

 private:
  Fault fault_;
};

/// A frame that is not JSON, or JSON beyond every need (nested deeper than 32): the connection is closed.
class NotJson : public std::exception {
 public:
  const char* what() const noexcept override { return "not JSON"; }
};

struct RequestFrame {
  std::string id;
  std::string method;
  json::Value params;  ///< an object; `{}` when the frame has none
};

/// Throws NotJson; Refusal for JSON that is no request, with the frame's id in `id_of(text)`.
RequestFrame parse_request(std::string_view text);
/// The id of a frame that `parse_request` refused, "invalid" when it has none.
std::string id_of(std::string_view text);

std::string response_text(std::string_view id, std::string_view payload);
std::string response_text(std::string_view id, const Fault& fault);
/// The object `error` of a response.
std::string error_text(const Fault& fault);

/// An event without its end, so that connections can share it: each adds `event_end(seq)`.
std::shared_ptr<const std::string> event_text(std::string_view name, std::string_view payload);
std::string event_end(std::uint64_t seq);

}  // namespace tare::gateway
