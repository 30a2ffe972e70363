#include "runtime/gateway/handshake.hpp"

#include <gmock/gmock.h>

namespace tare::gateway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HandshakeTest : public testing::Test {
 protected:
  HandshakeTest() { policy.now = WallTime(std::chrono::milliseconds(1'700'000'000'000)); }

  static json::Object client(std::string_view id, std::string_view mode) {
    return {{"id", id}, {"version", "1.0.0"}, {"platform", "linux"}, {"mode", mode}};
  }
  json::Object params{{"minProtocol", 4},
                      {"maxProtocol", 4},
                      {"client", client("gateway-client", "backend")},
                      {"role", "operator"},
                      {"scopes", json::Array{"operator.read", "operator.write"}},
                      {"caps", json::Array{}}};
  HandshakePolicy policy;

  Hello shake(std::string method = "connect") {
    return shake_hands(RequestFrame{"1", std::move(method), params}, policy);
  }
  struct Refused {
    Fault fault;
    net::CloseCode close_code{};
  };
  Refused refused(std::string method = "connect") {
    try {
      shake(std::move(method));
    } catch (const HandshakeRefused& refusal) {
      return {refusal.fault(), refusal.close_code()};
    }
    ADD_FAILURE() << "it was taken";
    return {};
  }
};

TEST_F(HandshakeTest, a_backend_on_this_machine_is_taken_with_the_scopes_that_it_asks_for) {
  const Hello hello = shake();
  EXPECT_EQ(hello.client_id, "gateway-client");
  EXPECT_THAT(hello.scope_names, ElementsAre("operator.read", "operator.write"));
  EXPECT_TRUE(hello.scopes.cover(Scope::write));
  EXPECT_FALSE(hello.scopes.cover(Scope::admin));
}

TEST_F(HandshakeTest, another_protocol_is_told_which_is_expected) {
  params["minProtocol"] = params["maxProtocol"] = 3;
  const Refused refusal = refused();
  EXPECT_EQ(refusal.fault.code, Code::invalid_request);
  EXPECT_EQ(refusal.fault.details, R"({"code":"PROTOCOL_MISMATCH","expectedProtocol":4})");
  EXPECT_EQ(refusal.close_code, net::CloseCode::protocol_error);
}

TEST_F(HandshakeTest, a_range_that_has_the_protocol_is_taken) {
  params["minProtocol"] = 3;
  params["maxProtocol"] = 5;
  EXPECT_NO_THROW(shake());
}

TEST_F(HandshakeTest, the_first_request_must_be_connect) {
  const Refused refusal = refused("health");
  EXPECT_EQ(refusal.fault.code, Code::invalid_request);
  EXPECT_EQ(refusal.close_code, net::CloseCode::policy);
}

TEST_F(HandshakeTest, unknown_clients_and_members_are_refused) {
  params["client"] = client("netscape", "backend");
  EXPECT_THAT(refused().fault.message, HasSubstr("at /client/id"));
  params["client"] = client("gateway-client", "fast");
  EXPECT_THAT(refused().fault.message, HasSubstr("at /client/mode"));
  params["client"] = client("gateway-client", "backend");
  params["bogus"] = 1;
  EXPECT_THAT(refused().fault.message, HasSubstr("at root: unexpected property 'bogus'"));
}

TEST_F(HandshakeTest, a_person_needs_a_device) {
  params["client"] = client("cli", "cli");
  const Refused refusal = refused();
  EXPECT_EQ(refusal.fault.code, Code::not_paired);
  EXPECT_EQ(refusal.fault.details, R"({"code":"DEVICE_IDENTITY_REQUIRED"})");
  EXPECT_EQ(refusal.close_code, net::CloseCode::policy);
}

TEST_F(HandshakeTest, too_early_is_to_be_tried_again) {
  policy.phase = HandshakePolicy::Phase::starting;
  const Refused refusal = refused();
  EXPECT_EQ(refusal.fault.code, Code::unavailable);
  EXPECT_EQ(refusal.fault.details, R"({"reason":"startup-sidecars"})");
  EXPECT_EQ(refusal.fault.retry, Retry::later);
}

TEST_F(HandshakeTest, a_token_must_be_the_gateways) {
  policy.token = "sesame";
  EXPECT_EQ(refused().fault.details, R"({"code":"AUTH_TOKEN_MISSING"})");
  params["auth"] = json::Object{{"token", "sesam"}};
  EXPECT_EQ(refused().fault.details, R"({"code":"AUTH_TOKEN_MISMATCH"})");
  params["auth"] = json::Object{{"token", "sesame"}};
  EXPECT_NO_THROW(shake());
}

TEST_F(HandshakeTest, who_knows_the_token_needs_no_device) {
  params["client"] = client("cli", "cli");
  params["auth"] = json::Object{{"token", "sesame"}};
  EXPECT_EQ(refused().fault.code, Code::not_paired);  // a token that nobody asked for proves nothing
  policy.token = "sesame";
  EXPECT_NO_THROW(shake());
}

TEST_F(HandshakeTest, only_operators_are_taken) {
  params["role"] = "node";
  EXPECT_THAT(refused().fault.message, HasSubstr("operators only"));
}

TEST_F(HandshakeTest, a_device_must_have_signed_this_connections_nonce_now) {
  params["client"] = client("cli", "cli");
  params["device"] = json::Object{{"id", std::string(64, '0')},
                                  {"publicKey", std::string(43, 'A')},
                                  {"signature", std::string(86, 'A')},
                                  {"signedAt", policy.now.time_since_epoch().count()},
                                  {"nonce", "n"}};
  policy.nonce = "other";
  EXPECT_EQ(refused().fault.details, R"({"code":"DEVICE_AUTH_NONCE_MISMATCH"})");
  policy.nonce = "n";
  EXPECT_EQ(refused().fault.details, R"({"code":"DEVICE_AUTH_SIGNATURE_INVALID"})");
  policy.now += std::chrono::hours(1);
  EXPECT_EQ(refused().fault.details, R"({"code":"DEVICE_AUTH_SIGNATURE_EXPIRED"})");
}

TEST(HelloOk, says_what_the_server_is_and_what_was_granted) {
  Hello hello;
  hello.scope_names = {"operator.read"};
  Server server{"1", "b", "boot", 100, 200, std::chrono::milliseconds(30'000), R"({"methods":[]})", "token"};
  const json::Value value = json::parse(hello_ok(server, "c1", hello, "{}"), "hello");
  EXPECT_EQ(value.at("type").as_string(), "hello-ok");
  EXPECT_EQ(value.at("server").at("connId").as_string(), "c1");
  EXPECT_EQ(value.at("policy").at("maxPayload").as_int64(), 100);
  EXPECT_EQ(value.at("auth").at("scopes").as_array().size(), 1u);
}

}  // namespace
}  // namespace tare::gateway
