#include "lab/gateway/handshake.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/gateway/frame.hpp"

namespace tare::lab_gateway {
namespace {

Error other_protocol(std::string_view theirs, const Address& address) {
  return Error(ErrorCode::failed,
               fmt::format("the gateway speaks protocol {}, the lab speaks {}", theirs, protocol_version),
               net::authority(address.url));
}

/// What a token would help with.
bool wants_token(std::string_view code, const Address& address) {
  return code.starts_with("AUTH_") || (code == "DEVICE_IDENTITY_REQUIRED" && !address.token);
}

}  // namespace

std::string connect_params(const Address& address) {
  std::string auth;
  if (address.token) {
    auth = R"(,"auth":{"token":)";
    json::Writer(auth, json::Writer::Style::compact).string(*address.token);
    auth += '}';
  }
  return fmt::format(
      R"({{"minProtocol":{0},"maxProtocol":{0},"client":{{"id":"gateway-client","displayName":"tare gateway",)"
      R"("version":"1.0.0","platform":"linux","mode":"backend"}},"role":"operator",)"
      R"("scopes":["operator.read","operator.write","operator.admin"],"caps":[]{1}}})",
      protocol_version, auth);
}

Refusal refusal_of(std::string_view error, const Address& address) {
  const std::string code = text_of(member(error, "details.code")).value_or("");
  const std::string_view expected = member(error, "details.expectedProtocol");
  if (code == "PROTOCOL_MISMATCH" && !expected.empty()) return {other_protocol(expected, address)};
  const std::string message = text_of(member(error, "message")).value_or(std::string(error));
  const bool starting = text_of(member(error, "code")) == "UNAVAILABLE" &&
                        member(error, "retryable") == "true" &&
                        text_of(member(error, "details.reason")) == "startup-sidecars";
  return {
      Error(ErrorCode::failed,
            fmt::format("the gateway at {} refused the connection", net::authority(address.url)),
            text::one_line(text::cut(message, 500)),
            wants_token(code, address) ? "--token, or TARE_GATEWAY_TOKEN, is what it has to be told" : ""),
      starting ? Refusal::Remedy::patience : Refusal::Remedy::none};
}

void check_hello(std::string_view payload, const Address& address) {
  const std::string_view protocol = member(payload, "protocol");
  if (protocol.empty()) {
    throw Error(ErrorCode::failed, net::authority(address.url) + " is no gateway",
                "its hello names no protocol: " + text::one_line(text::cut(payload, 200)));
  }
  if (protocol != std::to_string(protocol_version)) throw other_protocol(protocol, address);
}

}  // namespace tare::lab_gateway
