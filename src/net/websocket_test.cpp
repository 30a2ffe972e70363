#include "net/websocket.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/frame.hpp"
#include "net/loopback_for_tests.hpp"

namespace tare::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr MaskKey mask{1, 2, 3, 4};

std::string frame(Opcode opcode, std::string_view payload) {
  std::string out;
  append_frame(out, opcode, payload, {}, mask);
  return out;
}

std::string plain_frame(Opcode opcode, std::string_view payload) {
  std::string out;
  append_frame(out, opcode, payload, {}, std::nullopt);
  return out;
}

/// A server whose handler is given each WebSocket, and how that one ended.
struct WsWorld : Loopback {
  using Talk = std::function<asio::awaitable<void>(WebSocket&)>;
  explicit WsWorld(Talk talk, WebSocketLimits limits = {})
      : server(io, "127.0.0.1", 0, {},
               [this, talk = std::move(talk), limits](Exchange& exchange) -> asio::awaitable<void> {
                 WebSocket socket = co_await exchange.upgrade(limits);
                 try {
                   co_await talk(socket);
                 } catch (const Closed& closed) {
                   ends.push_back(std::to_string(static_cast<unsigned>(closed.close_code())) + " " +
                                  closed.reason());
                 }
               }) {
    server.on_error([this](const std::string& line) { errors.push_back(line); });
  }
  asio::awaitable<WebSocket> connect(WebSocketLimits limits = {}) {
    co_return co_await connect_websocket(io, Url("ws", "127.0.0.1", server.port(), "/"), {}, limits, 5s);
  }
  std::vector<std::string> ends;
  std::vector<std::string> errors;
  HttpServer server;
};

asio::awaitable<void> echo_messages(WebSocket& socket) {
  for (;;) {
    Message message = co_await socket.read();
    socket.send({nullptr, std::move(message.data)});
  }
}

/// A client whose upgrade is done and which then says what it likes.
struct RawPeer : RawClient {
  explicit RawPeer(WsWorld& world) : RawClient(world.io, world.server.port()) {
    world.run([](RawPeer& self) -> asio::awaitable<void> {
      co_await self.write(
          "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, "
          "Upgrade\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      const std::string answer = co_await self.read_until("\r\n\r\n");
      self.early = answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4));
      EXPECT_THAT(answer, HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    }(*this));
  }
  std::string early;  ///< what came with the answer to the upgrade
  /// What comes until the server ends, to these bytes.
  std::string converse(WsWorld& world, std::string bytes) {
    return world.run([](RawPeer& self, std::string said) -> asio::awaitable<std::string> {
      co_await self.write(std::move(said));
      co_return self.early + co_await self.read_all();
    }(*this, std::move(bytes)));
  }
};

TEST(WebSocket, carries_messages_both_ways) {
  WsWorld world(echo_messages);
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect();
    for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 3'000'000U}) {
      const std::string text(size, 'x');
      EXPECT_TRUE(socket.send({std::make_shared<const std::string>(text), "!"}));
      const Message message = co_await socket.read();
      EXPECT_EQ(message.kind, MessageKind::text);
      EXPECT_TRUE(message.data == text + "!") << size;
    }
    co_await socket.close(CloseCode::normal, "bye");
    EXPECT_FALSE(socket.send({nullptr, "after"}));
  }(world));
  world.run_until([&] { return world.server.connections() == 0; });
  EXPECT_THAT(world.ends, ElementsAre("1000 bye"));
  EXPECT_THAT(world.errors, ElementsAre());
}

TEST(WebSocket, hands_out_what_is_here_without_waiting) {
  WsWorld world([](WebSocket& socket) -> asio::awaitable<void> {
    for (int i = 0; i < 100; ++i) socket.send({nullptr, std::to_string(i)});
    co_await socket.read();
  });
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect();
    EXPECT_EQ((co_await socket.read()).data, "0");
    for (int i = 1; i < 100; ++i) {
      const auto message = socket.next();  // one flush sent them all
      EXPECT_TRUE(message && message->data == std::to_string(i));
    }
    EXPECT_FALSE(socket.next().has_value());
  }(world));
}

TEST(WebSocket, answers_pings_and_the_closing_of_a_peer) {
  WsWorld world(echo_messages);
  RawPeer peer(world);
  const std::string close = frame(Opcode::close, close_payload(static_cast<CloseCode>(4001), "done"));
  EXPECT_EQ(peer.converse(world, frame(Opcode::ping, "there?") + frame(Opcode::pong, "") +
                                     frame(Opcode::text, "hi") + close),
            plain_frame(Opcode::pong, "there?") + plain_frame(Opcode::text, "hi") +
                plain_frame(Opcode::close, "\x0F\xA1"));
  world.run_until([&] { return !world.ends.empty(); });
  EXPECT_THAT(world.ends, ElementsAre("4001 done"));
}

TEST(WebSocket, frames_may_come_with_the_request_and_one_byte_at_a_time) {
  WsWorld world(echo_messages);
  RawClient peer(world.io, world.server.port());
  const std::string all =
      "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "
      "13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
      frame(Opcode::text, "one") + frame(Opcode::text, "two");
  const std::string answer =
      world.run([](RawClient& self, std::string bytes) -> asio::awaitable<std::string> {
        co_await self.write(bytes.substr(0, bytes.size() - 9));
        for (const char byte : bytes.substr(bytes.size() - 9)) {
          co_await self.write(std::string(1, byte));
          co_await asio::post(self.socket().get_executor(), asio::use_awaitable);
        }
        co_return co_await self.read_until("two");
      }(peer, all));
  EXPECT_TRUE(answer.ends_with(plain_frame(Opcode::text, "one") + plain_frame(Opcode::text, "two")));
}

TEST(WebSocket, tells_a_peer_why_it_is_closed_even_if_it_goes_on_sending) {
  const auto closing = [](std::string bytes) {
    WsWorld world(echo_messages, {.message_bytes = 1000});
    RawPeer peer(world);
    const std::string answer = peer.converse(world, std::move(bytes));
    peer.close();
    world.run_until([&] { return world.server.connections() == 0; });
    EXPECT_EQ(world.ends.size(), 1U);
    EXPECT_THAT(world.errors, ElementsAre());
    return answer;
  };
  const auto saying = [](CloseCode code, std::string_view why) {
    return plain_frame(Opcode::close, close_payload(code, why));
  };
  EXPECT_EQ(closing(plain_frame(Opcode::text, "hi")),
            saying(CloseCode::protocol_error, "a client's frame is not masked"));
  EXPECT_EQ(closing(frame(Opcode::text, "\xFF")), saying(CloseCode::bad_payload, "the text is not UTF-8"));
  EXPECT_EQ(closing(frame(Opcode::text, std::string(2'000'000, 'x'))),
            saying(CloseCode::too_big, "the message is too big"));
  EXPECT_EQ(closing(frame(Opcode::close, "")), saying(CloseCode::none, ""));
  EXPECT_EQ(closing(frame(Opcode::close, "x")),
            saying(CloseCode::protocol_error, "a close frame with half a code"));
}

TEST(WebSocket, a_peer_that_leaves_without_a_word_is_1006) {
  WsWorld world(echo_messages);
  RawPeer peer(world);
  world.run(peer.write(frame(Opcode::text, "half a frame").substr(0, 7)));
  peer.close();
  world.run_until([&] { return !world.ends.empty(); });
  EXPECT_THAT(world.ends, ElementsAre("1006 the peer left"));
}

TEST(WebSocket, a_reader_that_is_too_slow_is_dropped) {
  bool dropped = false;
  WsWorld world(
      [&](WebSocket& socket) -> asio::awaitable<void> {
        const auto shared = std::make_shared<const std::string>(100'000, 'x');
        while (socket.send({shared, "."})) {
          EXPECT_LE(socket.buffered(), 1'000'000U + shared->size() + 100);
          co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
        }
        EXPECT_TRUE(socket.too_slow());
        EXPECT_FALSE(socket.send({shared, "."}));
        dropped = true;
        co_await socket.read();
      },
      {.buffered_bytes = 1'000'000});
  RawPeer peer(world);
  world.run_until([&] { return dropped && world.server.connections() == 0; });
  EXPECT_THAT(world.ends, ElementsAre("1006 its reader is too slow"));
}

TEST(WebSocket, a_burst_that_its_reader_takes_is_not_too_slow) {
  WsWorld world(
      [](WebSocket& socket) -> asio::awaitable<void> {
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(socket.send({nullptr, std::string(900, 'x')}));
        co_await socket.read();
      },
      {.buffered_bytes = 1000});
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect();
    for (int i = 0; i < 100; ++i) co_await socket.read();
  }(world));
}

TEST(WebSocket, a_message_larger_than_what_may_be_unsent_reaches_one_that_reads) {
  WsWorld world(
      [](WebSocket& socket) -> asio::awaitable<void> {
        EXPECT_TRUE(socket.send({nullptr, std::string(20'000'000, 'x')}));
        co_await socket.read();
      },
      {.buffered_bytes = 1000});
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect();
    const Message message = co_await socket.read();
    EXPECT_EQ(message.data.size(), 20'000'000U);
  }(world));
}

TEST(WebSocket, a_peer_that_answers_no_ping_is_closed) {
  WsWorld world(echo_messages, {.ping_every = 10ms});
  RawPeer peer(world);
  EXPECT_EQ(peer.converse(world, ""), plain_frame(Opcode::ping, "") + plain_frame(Opcode::ping, ""));
  EXPECT_THAT(world.ends, ElementsAre("1006 no answer to a ping"));
}

TEST(WebSocket, a_peer_that_answers_its_pings_stays) {
  WsWorld world(echo_messages, {.ping_every = 5ms});
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect({.ping_every = 0ms});
    asio::steady_timer later(w.io, 100ms);
    bool is_later = false;
    later.async_wait([&](const auto&) {
      is_later = true;
      socket.send({nullptr, "still here"});
    });
    EXPECT_EQ((co_await socket.read()).data, "still here");
    EXPECT_TRUE(is_later);
  }(world));
}

TEST(WebSocket, closes_while_another_coroutine_reads) {
  WsWorld world(echo_messages);
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect();
    std::string end;
    asio::co_spawn(
        w.io,
        [&]() -> asio::awaitable<void> {
          try {
            co_await socket.read();
          } catch (const Closed& closed) {
            end = std::to_string(static_cast<unsigned>(closed.close_code()));
          }
        },
        asio::detached);
    co_await asio::post(w.io, asio::use_awaitable);
    co_await socket.close(CloseCode::going_away, "restart");
    EXPECT_EQ(end, "1001");
  }(world));
  EXPECT_THAT(world.ends, ElementsAre("1001 restart"));
}

TEST(WebSocket, closing_does_not_wait_for_ever) {
  WsWorld world(
      [](WebSocket& socket) -> asio::awaitable<void> {
        socket.send({nullptr, "last"});
        co_await socket.close(CloseCode::normal, "");
      },
      {.close_time = 20ms});
  RawPeer peer(world);
  EXPECT_EQ(peer.converse(world, ""),
            plain_frame(Opcode::text, "last") + plain_frame(Opcode::close, "\x03\xE8"));
  EXPECT_EQ(world.server.connections(), 0U);
}

TEST(WebSocket, a_cancelled_read_loses_nothing) {
  using namespace asio::experimental::awaitable_operators;
  WsWorld world(echo_messages);
  world.run([](WsWorld& w) -> asio::awaitable<void> {
    WebSocket socket = co_await w.connect();
    asio::steady_timer soon(w.io, 1ms);
    const auto first = co_await (socket.read() || soon.async_wait(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
    socket.send({nullptr, "one"});
    EXPECT_EQ((co_await socket.read()).data, "one");
  }(world));
}

TEST(WebSocket, destroying_it_closes_the_connection_without_a_word) {
  WsWorld world([](WebSocket&) -> asio::awaitable<void> { co_return; });
  RawPeer peer(world);
  EXPECT_EQ(peer.converse(world, ""), "");
  EXPECT_EQ(world.server.connections(), 0U);
}

TEST(WebSocket, may_outlive_its_handler_and_server) {
  Loopback loop;
  std::optional<WebSocket> kept;
  auto server = std::make_unique<HttpServer>(
      loop.io, "127.0.0.1", 0, ServerLimits{},
      [&](Exchange& exchange) -> asio::awaitable<void> { kept = co_await exchange.upgrade({}); });
  const Url url("ws", "127.0.0.1", server->port(), "/");
  WebSocket client = loop.run(connect_websocket(loop.io, url, {}, {}, 5s));
  loop.run_until([&] { return kept.has_value(); });
  EXPECT_EQ(server->connections(), 1U);
  kept->send({nullptr, "still here"});
  EXPECT_EQ(loop.run(client.read()).data, "still here");
  server.reset();
  EXPECT_FALSE(kept->send({nullptr, "gone"}));
  EXPECT_THROW(loop.run(client.read()), Closed);
  EXPECT_THROW(loop.run(kept->read()), Closed);
}

TEST(WebSocket, a_request_that_is_not_for_one_is_refused) {
  const auto answer_to = [](const std::string& request) {
    WsWorld world(echo_messages);
    RawClient client(world.io, world.server.port());
    return world.run([](RawClient& peer, std::string said) -> asio::awaitable<std::string> {
      co_await peer.write(std::move(said));
      co_return co_await peer.read_until("\r\n\r\n");
    }(client, request));
  };
  const std::string good = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  EXPECT_THAT(answer_to("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(good + key + "\r\n"),
              HasSubstr("426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\n"));
  EXPECT_THAT(answer_to(good + key + "Sec-WebSocket-Version: 8\r\n\r\n"), StartsWith("HTTP/1.1 426 "));
  EXPECT_THAT(answer_to(good + "Sec-WebSocket-Version: 13\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(good + "Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST(WebSocketClient, says_why_there_is_none) {
  Loopback loop;
  HttpServer server(loop.io, "127.0.0.1", 0, {}, [](Exchange& exchange) -> asio::awaitable<void> {
    if (exchange.request().target == "/cut") {
      exchange.cut();
    } else if (exchange.request().target == "/slow") {
      co_await asio::steady_timer(co_await asio::this_coro::executor, 1h).async_wait(asio::use_awaitable);
    } else {
      co_await exchange.respond({401});
    }
  });
  const auto why = [&](const std::string& path, std::chrono::milliseconds limit) {
    try {
      loop.run(connect_websocket(loop.io, Url("ws", "127.0.0.1", server.port(), path), {}, {}, limit));
    } catch (const Error& error) {
      return std::string(error.what()) + " / " + error.why();
    }
    return std::string("connected");
  };
  const std::string place = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(why("/", 5s), "no WebSocket at " + place + " / HTTP 401 Unauthorized");
  EXPECT_EQ(why("/cut", 5s), "no WebSocket at " + place + " / the connection was closed");
  EXPECT_EQ(why("/slow", 300ms), place + " did not answer within the time limit / ");
}

}  // namespace
}  // namespace tare::net
