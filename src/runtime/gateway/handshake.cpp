#include "runtime/gateway/handshake.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/gateway/device.hpp"
#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/schema.hpp"

namespace tare::gateway {
namespace {

constexpr std::array connect_fields{Field{"minProtocol", Kind::whole, Need::required},
                                    Field{"maxProtocol", Kind::whole, Need::required},
                                    Field{"client", Kind::object, Need::required},
                                    Field{"caps", Kind::texts},
                                    Field{"commands", Kind::texts},
                                    Field{"permissions", Kind::object},
                                    Field{"pathEnv", Kind::text},
                                    Field{"role", Kind::name},
                                    Field{"scopes", Kind::texts},
                                    Field{"device", Kind::object},
                                    Field{"auth", Kind::object},
                                    Field{"locale", Kind::text},
                                    Field{"userAgent", Kind::text}};
constexpr std::array client_fields{Field{"id", Kind::name, Need::required},
                                   Field{"displayName", Kind::text},
                                   Field{"version", Kind::name, Need::required},
                                   Field{"platform", Kind::name, Need::required},
                                   Field{"deviceFamily", Kind::text},
                                   Field{"modelIdentifier", Kind::text},
                                   Field{"mode", Kind::name, Need::required},
                                   Field{"instanceId", Kind::text}};
constexpr std::array auth_fields{Field{"token", Kind::text}, Field{"password", Kind::text},
                                 Field{"deviceToken", Kind::text}};
constexpr std::array device_fields{
    Field{"id", Kind::name, Need::required}, Field{"publicKey", Kind::name, Need::required},
    Field{"signature", Kind::name, Need::required}, Field{"signedAt", Kind::whole, Need::required},
    Field{"nonce", Kind::name, Need::required}};

constexpr std::array<std::string_view, 17> client_ids{"webchat-ui",
                                                      "openclaw-control-ui",
                                                      "openclaw-tui",
                                                      "webchat",
                                                      "cli",
                                                      "gateway-client",
                                                      "openclaw-macos",
                                                      "openclaw-linux",
                                                      "openclaw-ios",
                                                      "openclaw-watchos",
                                                      "openclaw-android",
                                                      "node-host",
                                                      "openclaw-worker",
                                                      "test",
                                                      "fingerprint",
                                                      "openclaw-probe",
                                                      "openclaw-browser-copilot"};
constexpr std::array<std::string_view, 8> client_modes{"webchat", "cli",    "ui",    "backend",
                                                       "node",    "worker", "probe", "test"};

/// A signature is of this moment, give or take the clocks of two machines.
constexpr std::chrono::minutes signature_age{10};

std::string coded(std::string_view code) {
  std::string details;
  ObjectText(details).text("code", code).close();
  return details;
}

HandshakeRefused refuse(Code code, std::string message, std::string details = {}) {
  return {net::CloseCode::policy, Fault{code, std::move(message), std::move(details)}};
}

void check_shape(const json::Value& params) {
  constexpr std::string_view what = "invalid connect params";
  check(what, "root", params, connect_fields);
  const json::Value& client = params.at("client");
  check(what, "/client", client, client_fields);
  if (const json::Value* auth = member_of(params, "auth")) check(what, "/auth", *auth, auth_fields);
  if (const json::Value* device = member_of(params, "device")) check(what, "/device", *device, device_fields);
  const auto known = [&](std::string_view key, const auto& names) {
    if (std::ranges::find(names, *text_of(client, key)) == names.end())
      throw Refusal(Code::invalid_request,
                    fmt::format("{}: at /client/{}: must be equal to one of the allowed values", what, key));
  };
  known("id", client_ids);
  known("mode", client_modes);
}

void check_protocol(const json::Value& params) {
  const auto low = whole_of(params, "minProtocol");
  const auto high = whole_of(params, "maxProtocol");
  if (low && high && *low <= protocol_version && *high >= protocol_version) return;
  std::string details;
  ObjectText(details).text("code", "PROTOCOL_MISMATCH").number("expectedProtocol", protocol_version).close();
  throw HandshakeRefused(net::CloseCode::protocol_error,
                         Fault{Code::invalid_request, "protocol mismatch", std::move(details)});
}

void check_token(const json::Value& params, const HandshakePolicy& policy) {
  if (!policy.token) return;
  const json::Value* auth = member_of(params, "auth");
  const auto token = auth == nullptr ? std::nullopt : text_of(*auth, "token");
  if (!token) {
    throw refuse(Code::invalid_request, "unauthorized: gateway token missing (connect with auth.token)",
                 coded("AUTH_TOKEN_MISSING"));
  }
  if (!equal_secrets(*token, *policy.token))
    throw refuse(Code::invalid_request, "unauthorized: gateway token mismatch", coded("AUTH_TOKEN_MISMATCH"));
}

/// Who knows the token needs no device; without one, a program on this machine is trusted by its place, and
/// what a person sits at has an identity.
void check_device(const json::Value& params, const HandshakePolicy& policy) {
  const json::Value& client = params.at("client");
  const json::Value* device = member_of(params, "device");
  if (device == nullptr) {
    if (policy.token) return;  // it was checked
    if (text_of(client, "id") == "gateway-client" && text_of(client, "mode") == "backend") return;
    throw refuse(Code::not_paired, "device identity required", coded("DEVICE_IDENTITY_REQUIRED"));
  }
  DeviceClaim claim;
  claim.id = *text_of(*device, "id");
  claim.public_key = *text_of(*device, "publicKey");
  claim.signature = *text_of(*device, "signature");
  claim.signed_at_ms = *whole_of(*device, "signedAt");
  claim.nonce = *text_of(*device, "nonce");
  claim.client_id = *text_of(client, "id");
  claim.client_mode = *text_of(client, "mode");
  claim.role = text_of(params, "role").value_or("operator");
  if (const json::Value* scopes = member_of(params, "scopes")) {
    for (const json::Value& scope : scopes->get_array()) {
      if (!claim.scopes.empty()) claim.scopes += ',';
      claim.scopes += std::string_view(scope.get_string());
    }
  }
  if (const json::Value* auth = member_of(params, "auth"))
    claim.token = text_of(*auth, "token").value_or(text_of(*auth, "deviceToken").value_or(""));
  claim.platform = *text_of(client, "platform");
  claim.device_family = text_of(client, "deviceFamily").value_or("");
  const auto fail = [](std::string_view code, std::string message) {
    return refuse(Code::invalid_request, std::move(message), coded(code));
  };
  if (claim.nonce != policy.nonce)
    throw fail("DEVICE_AUTH_NONCE_MISMATCH", "the device signed another connection's nonce");
  const auto age = policy.now - WallTime(std::chrono::milliseconds(claim.signed_at_ms));
  if (age > signature_age || age < -signature_age)
    throw fail("DEVICE_AUTH_SIGNATURE_EXPIRED", "the device's signature is of another time");
  if (!is_genuine(claim)) throw fail("DEVICE_AUTH_SIGNATURE_INVALID", "the device's signature is not valid");
}

Hello hello_of(const json::Value& params) {
  const json::Value& client = params.at("client");
  Hello hello;
  hello.client_id = *text_of(client, "id");
  hello.client_mode = *text_of(client, "mode");
  hello.display_name = text_of(client, "displayName").value_or("");
  hello.client_version = *text_of(client, "version");
  if (const json::Value* scopes = member_of(params, "scopes")) {
    for (const json::Value& asked : scopes->get_array()) {
      for (const Scope scope : {Scope::read, Scope::write, Scope::admin}) {
        if (std::string_view(asked.get_string()) != name_of(scope)) continue;
        hello.scopes.add(scope);
        hello.scope_names.emplace_back(name_of(scope));
      }
    }
  }
  return hello;
}

}  // namespace

Hello shake_hands(const RequestFrame& frame, const HandshakePolicy& policy) {
  if (frame.method != "connect")
    throw refuse(Code::invalid_request, "invalid handshake: first request must be connect");
  try {
    // A client of another version is told so, whatever else its frame has that this version does not know.
    if (whole_of(frame.params, "minProtocol") && whole_of(frame.params, "maxProtocol"))
      check_protocol(frame.params);
    check_shape(frame.params);
  } catch (const HandshakeRefused&) {
    throw;
  } catch (const Refusal& refusal) {
    throw HandshakeRefused(net::CloseCode::policy, refusal.fault());
  }
  if (policy.phase == HandshakePolicy::Phase::starting) {
    Fault fault{Code::unavailable, "gateway starting; retry shortly", R"({"reason":"startup-sidecars"})",
                Retry::later, std::chrono::milliseconds(250)};
    throw HandshakeRefused(net::CloseCode::policy, std::move(fault));
  }
  if (text_of(frame.params, "role").value_or("operator") != "operator")
    throw refuse(Code::invalid_request, "invalid role: this gateway has operators only");
  check_token(frame.params, policy);
  check_device(frame.params, policy);
  return hello_of(frame.params);
}

std::string hello_ok(const Server& server, std::string_view connection, const Hello& hello,
                     std::string_view snapshot) {
  std::string facts;
  ObjectText(facts)
      .text("version", server.version)
      .text("buildId", server.build_id)
      .text("bootId", server.boot_id)
      .text("connId", connection)
      .close();
  std::string auth;
  ObjectText grant(auth);
  grant.text("method", server.auth).text("role", "operator");
  std::string& scopes = grant.value("scopes");
  scopes += '[';
  for (const std::string& scope : hello.scope_names) {
    if (scopes.back() != '[') scopes += ',';
    append_string(scopes, scope);
  }
  scopes += ']';
  grant.close();
  std::string policy;
  ObjectText(policy)
      .number("maxPayload", static_cast<std::int64_t>(server.max_payload))
      .number("maxBufferedBytes", static_cast<std::int64_t>(server.max_buffered))
      .number("tickIntervalMs", server.tick.count())
      .close();
  std::string out;
  ObjectText(out)
      .text("type", "hello-ok")
      .number("protocol", protocol_version)
      .json("server", facts)
      .json("features", server.features)
      .json("snapshot", snapshot)
      .json("auth", auth)
      .json("policy", policy)
      .close();
  return out;
}

std::string challenge(std::string_view nonce, WallTime now) {
  std::string out;
  ObjectText(out)
      .text("nonce", nonce)
      .number("ts", now.time_since_epoch().count())
      .json("capabilities", "[]")
      .close();
  return out;
}

}  // namespace tare::gateway
