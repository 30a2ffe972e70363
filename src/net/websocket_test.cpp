#include "net/websocket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/loopback_for_tests.hpp"

namespace tare::net {
namespace {

asio::awaitable<void> echo_messages(Exchange& exchange) {
  WebSocket socket = co_await exchange.upgrade({});
  for (;;) {
    Message message = co_await socket.read();
    socket.send({nullptr, std::move(message.data)});
  }
}

TEST(WebSocket, carries_messages_both_ways) {
  Loopback loop;
  HttpServer server(loop.io, "127.0.0.1", 0, {}, echo_messages);
  loop.run([](Loopback& world, std::uint16_t port) -> asio::awaitable<void> {
    WebSocket socket = co_await connect_websocket(world.io, {"ws", "127.0.0.1", port, "/"}, {}, {}, 5s);
    for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 3'000'000U}) {
      const std::string text(size, 'x');
      EXPECT_TRUE(socket.send({std::make_shared<const std::string>(text), "!"}));
      const Message message = co_await socket.read();
      EXPECT_EQ(message.kind, MessageKind::text);
      EXPECT_EQ(message.data.size(), size + 1);
      EXPECT_TRUE(message.data == text + "!");
    }
    co_await socket.close(CloseCode::normal, "bye");
  }(loop, server.port()));
}

}  // namespace
}  // namespace tare::net
