#include "runtime/gateway/gateway.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "net/websocket.hpp"

namespace tare::gateway {
namespace {

namespace asio = boost::asio;

/// A whole gateway and its client on one loop.
class WholeGatewayTest : public testing::Test {
 protected:
  WholeGatewayTest() {
    config.port = 0;
    config.state = folder.path() / "state";
    config.drain_time = std::chrono::milliseconds(0);
  }

  /// Runs the client to its end, and then the gateway.
  void run(const std::function<asio::awaitable<void>(net::Url)>& client) {
    Gateway gateway(io, clock, config, [](std::string_view) {});
    std::exception_ptr failure;
    gateway.on_ready = [&] {
      net::Url url{"ws", "127.0.0.1", gateway.port(), "/"};
      asio::co_spawn(io, client(url), [&](const std::exception_ptr& error) {
        failure = error;
        gateway.stop("the test is over");
      });
    };
    io.run();
    if (failure) std::rethrow_exception(failure);
  }
  asio::awaitable<net::WebSocket> connect(net::Url url) {
    return net::connect_websocket(io, std::move(url), {}, {}, std::chrono::seconds(20));
  }

  file::TemporaryFolder folder;
  SystemClock clock;
  asio::io_context io{1};
  Config config;
};

TEST_F(WholeGatewayTest, a_client_that_does_not_say_who_it_is_is_closed) {
  config.handshake_time = std::chrono::milliseconds(20);
  net::CloseCode code{};
  run([&](net::Url url) -> asio::awaitable<void> {
    net::WebSocket socket = co_await connect(std::move(url));
    try {
      for (;;) co_await socket.read();
    } catch (const net::Closed& closed) {
      code = closed.close_code();
    }
  });
  EXPECT_EQ(code, net::CloseCode::policy);
}

TEST_F(WholeGatewayTest, ends_though_a_client_waits_for_a_day) {
  std::vector<std::string> seen;
  run([&](net::Url url) -> asio::awaitable<void> {
    net::WebSocket socket = co_await connect(std::move(url));
    co_await socket.read();
    socket.send({nullptr,
                 R"({"type":"req","id":"1","method":"connect","params":{"minProtocol":4,"maxProtocol":4,)"
                 R"("client":{"id":"gateway-client","version":"1","platform":"linux","mode":"backend"},)"
                 R"("scopes":["operator.read"]}})"});
    seen.push_back((co_await socket.read()).data);
    socket.send(
        {nullptr,
         R"({"type":"req","id":"2","method":"agent.wait","params":{"runId":"x","timeoutMs":86400000}})"});
    socket.send({nullptr, R"({"type":"req","id":"3","method":"health"})"});
    seen.push_back((co_await socket.read()).data);
  });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_THAT(seen[0], testing::HasSubstr("hello-ok"));
  EXPECT_THAT(seen[1], testing::HasSubstr(R"("id":"3","ok":true)"));
}

TEST_F(WholeGatewayTest, is_refused_off_this_machine_without_a_token) {
  config.bind = "0.0.0.0";
  EXPECT_THROW(Gateway(io, clock, config, [](std::string_view) {}), Error);
  EXPECT_FALSE(std::filesystem::exists(config.state));
}

}  // namespace
}  // namespace tare::gateway
