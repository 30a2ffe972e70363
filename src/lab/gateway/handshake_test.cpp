#include "lab/gateway/handshake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "lab/gateway/fake_gateway_for_tests.hpp"

namespace tare::lab_gateway {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// What connecting comes to where the gateway answers `connect` like this.
std::string refused(std::string error, std::optional<std::string> token = {}) {
  FakeGateway gateway([&error](net::WebSocket& socket) -> asio::awaitable<void> {
    const std::string heard = co_await hear(socket);
    refuse(socket, heard, error);
    co_await socket.close(net::CloseCode::policy, "no");
  });
  return gateway.connect_failure(5s, std::move(token));
}

TEST(Handshake, SaysWhoItIs) {
  std::string connect;
  FakeGateway gateway([&](net::WebSocket& socket) -> asio::awaitable<void> {
    connect = co_await hear(socket);
    respond(socket, connect, R"({"protocol":4})");
  });
  EXPECT_EQ(gateway.connect_failure(5s, "a \"secret\""), "connected");
  const json::Value frame = json::parse(connect, "connect");
  EXPECT_EQ(frame.at("method"), "connect");
  const json::Value& params = frame.at("params");
  EXPECT_EQ(params.at("minProtocol"), 4);
  EXPECT_EQ(params.at("maxProtocol"), 4);
  EXPECT_EQ(params.at("client").at("id"), "gateway-client");
  EXPECT_EQ(params.at("client").at("mode"), "backend");
  EXPECT_EQ(params.at("scopes").as_array().size(), 3U);
  EXPECT_EQ(params.at("auth").at("token"), "a \"secret\"");
  EXPECT_FALSE(
      json::parse(connect_params({net::Url("ws", "a", 1, "/"), {}}), "").as_object().contains("auth"));
}

TEST(Handshake, TakesAnyOrderOfChallengeAndConnect) {
  for (const bool challenged_first : {true, false}) {
    FakeGateway gateway([challenged_first](net::WebSocket& socket) -> asio::awaitable<void> {
      if (challenged_first) co_return co_await greet(socket);
      const std::string heard = co_await hear(socket);
      say(socket, R"({"type":"event","event":"connect.challenge","payload":{"nonce":"n"}})");
      say(socket, R"({"type":"res","id":"stranger","ok":true})");
      respond(socket, heard, R"({"server":{"version":"1.2.3"},"protocol":4})");
      tell(socket, "tick", 1);
    });
    const auto client = gateway.connect();
    EXPECT_TRUE(client->is_open());
    EXPECT_EQ(member(client->hello(), "server.version"), R"("1.2.3")");
    EXPECT_EQ(client->traffic().unasked_responses, challenged_first ? 0U : 1U);
  }
}

TEST(Handshake, NamesAnotherProtocol) {
  const std::string line = "the gateway speaks protocol 3, the lab speaks 4";
  EXPECT_THAT(refused(R"({"code":"INVALID_REQUEST","message":"protocol mismatch",)"
                      R"("details":{"code":"PROTOCOL_MISMATCH","expectedProtocol":3}})"),
              StartsWith("failed: tare: " + line));
  FakeGateway gateway([](net::WebSocket& socket) -> asio::awaitable<void> {
    const std::string heard = co_await hear(socket);
    respond(socket, heard, R"({"type":"hello-ok","protocol":3})");
  });
  EXPECT_THAT(gateway.connect_failure(), StartsWith("failed: tare: " + line));
}

TEST(Handshake, NamesTheFlagThatIsMissing) {
  EXPECT_THAT(refused(R"({"code":"INVALID_REQUEST","message":"unauthorized: gateway token missing",)"
                      R"("details":{"code":"AUTH_TOKEN_MISSING"}})"),
              AllOf(HasSubstr("refused the connection (unauthorized: gateway token missing); --token")));
  EXPECT_THAT(refused(R"({"code":"NOT_PAIRED","message":"m","details":{"code":"DEVICE_IDENTITY_REQUIRED"}})"),
              HasSubstr("--token"));
  EXPECT_THAT(
      refused(R"({"code":"NOT_PAIRED","message":"m","details":{"code":"DEVICE_IDENTITY_REQUIRED"}})", "t"),
      Not(HasSubstr("--token")));
  EXPECT_THAT(refused(R"({"code":"INVALID_REQUEST","message":"invalid\nthing"})"),
              AllOf(HasSubstr(R"((invalid\nthing))"), Not(HasSubstr("--token"))));
}

TEST(Handshake, WaitsWhileTheGatewayStarts) {
  int asked = 0;
  FakeGateway gateway([&](net::WebSocket& socket) -> asio::awaitable<void> {
    if (++asked == 2) co_return co_await greet(socket);
    const std::string heard = co_await hear(socket);
    refuse(socket, heard,
           R"({"code":"UNAVAILABLE","message":"gateway starting; retry shortly",)"
           R"("details":{"reason":"startup-sidecars"},"retryable":true,"retryAfterMs":250})");
  });
  EXPECT_EQ(gateway.connect_failure(), "connected");
  EXPECT_EQ(asked, 2);
  asked = -1'000'000;
  EXPECT_THAT(gateway.connect_failure(20ms), AllOf(StartsWith("timeout: "), HasSubstr("gateway starting")));
}

TEST(Handshake, EndsWithItsLimit) {
  FakeGateway gateway([](net::WebSocket&) -> asio::awaitable<void> { co_return; });
  EXPECT_THAT(gateway.connect_failure(5ms),
              AllOf(StartsWith("timeout: "), HasSubstr("did not say hello within the time limit")));
  gateway.run_until([&] { return gateway.closes.size() == 1; });
}

TEST(Handshake, NamesWhatIsNoGateway) {
  FakeGateway babbler([](net::WebSocket& socket) -> asio::awaitable<void> {
    say(socket, "hello");
    co_return;
  });
  EXPECT_THAT(babbler.connect_failure(), HasSubstr("is no gateway (it says hello)"));
  FakeGateway stranger([](net::WebSocket& socket) -> asio::awaitable<void> {
    const std::string heard = co_await hear(socket);
    respond(socket, heard, R"({"welcome":1})");
  });
  EXPECT_THAT(stranger.connect_failure(), HasSubstr("is no gateway (its hello names no protocol"));
  FakeGateway closer([](net::WebSocket& socket) -> asio::awaitable<void> {
    co_await socket.close(net::CloseCode::policy, "not you");
  });
  EXPECT_THAT(closer.connect_failure(), HasSubstr("ended the handshake (closed with 1008: not you)"));
}

TEST(Handshake, NamesWhoIsNotThere) {
  std::uint16_t port = 0;
  {
    FakeGateway gone([](net::WebSocket&) -> asio::awaitable<void> { co_return; });
    port = gone.server.port();
  }
  net::Loopback loop;
  try {
    loop.run(Client::connect(loop.io, {net::Url("ws", "127.0.0.1", port, "/"), {}}, 5s));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

}  // namespace
}  // namespace tare::lab_gateway
