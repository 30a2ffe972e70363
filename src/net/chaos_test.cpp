#include <random>

#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/frame.hpp"
#include "net/loopback_for_tests.hpp"

namespace tare::net {
namespace {

std::string upgrade_request() {
  return "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "
         "13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
}

std::string masked_frame(unsigned first, const std::string& payload) {
  std::string out;
  append_frame(out, Opcode::text, payload, {}, MaskKey{9, 8, 7, 6});
  out[0] = static_cast<char>(first);
  return out;
}

/// Something that a client may say, with bytes changed and its end cut off in half of the cases.
std::string something(std::mt19937& random) {
  const std::string requests[] = {
      "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
      "HEAD /d HTTP/1.0\r\n\r\n",
  };
  std::string said;
  for (unsigned i = random() % 3; i-- > 0;) said += requests[random() % std::size(requests)];
  if (random() % 2 == 0) {
    said += upgrade_request();
    for (unsigned i = random() % 6; i-- > 0;) {
      static constexpr unsigned firsts[] = {0x81, 0x82, 0x01, 0x80, 0x89, 0x8A, 0x88, 0x00};
      said += masked_frame(firsts[random() % std::size(firsts)], std::string(random() % 200, 'x'));
    }
  }
  if (random() % 2 == 0) said.resize(said.size() - random() % (said.size() + 1));
  if (random() % 2 == 0 && !said.empty()) said[random() % said.size()] = static_cast<char>(random());
  return said;
}

asio::awaitable<void> answer_anything(Exchange& exchange) {
  if (!exchange.asks_for_websocket()) {
    co_await exchange.begin(200, {});
    for (int i = 0; i < 3; ++i) {
      co_await exchange.chunk(exchange.request().body + "!");
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    }
    co_return co_await exchange.end();
  }
  WebSocket socket = co_await exchange.upgrade({.message_bytes = 300, .close_time = 10ms});
  for (int i = 0; i < 3; ++i) {
    Message message = co_await socket.read();
    socket.send({nullptr, std::move(message.data)});
  }
  co_await socket.close(CloseCode::normal, "enough");
}

/// Says it in pieces, reads or doesn't, and leaves.
asio::awaitable<void> visit(std::shared_ptr<RawClient> peer, std::string said, std::uint32_t seed,
                            std::shared_ptr<int> here) {
  std::mt19937 random(seed);
  try {
    while (!said.empty()) {
      const std::size_t size = 1 + random() % said.size();
      co_await peer->write(said.substr(0, size));
      said.erase(0, size);
      for (unsigned turns = random() % 4; turns-- > 0;) {
        co_await asio::post(peer->socket().get_executor(), asio::use_awaitable);
      }
    }
    if (random() % 2 == 0) peer->socket().shutdown(asio::ip::tcp::socket::shutdown_send);
    if (random() % 2 == 0) co_await peer->read_some();
  } catch (const boost::system::system_error&) {  // the server closed first
  }
  peer->close();
  --*here;
}

TEST(Chaos, a_server_survives_peers_that_say_anything_and_leave_at_any_moment) {
  Loopback loop;
  HttpServer server(loop.io, "127.0.0.1", 0, {.header_time = 200ms, .idle_time = 200ms}, answer_anything);
  std::mt19937 random(2026);
  const auto here = std::make_shared<int>(0);
  for (int peers = 0; peers < 1500; ++peers) {
    ++*here;
    asio::co_spawn(
        loop.io,
        visit(std::make_shared<RawClient>(loop.io, server.port()), something(random), random(), here),
        asio::detached);
    if (peers % 50 == 49) loop.run_until([&] { return *here < 10; });
  }
  loop.run_until([&] { return *here == 0 && server.connections() == 0; });
  HttpClient client(loop.io, {"http", "127.0.0.1", server.port(), "/"}, {});
  EXPECT_EQ(loop.run(client.request({"POST", "/", {}, "still here"})).body,
            "still here!still here!still here!");
}

TEST(Chaos, a_server_closes_with_peers_in_every_state) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    Loopback loop;
    auto server = std::make_unique<HttpServer>(loop.io, "127.0.0.1", 0, ServerLimits{}, answer_anything);
    const auto here = std::make_shared<int>(0);
    for (int peers = 0; peers < 10; ++peers) {
      ++*here;
      asio::co_spawn(
          loop.io,
          visit(std::make_shared<RawClient>(loop.io, server->port()), something(random), random(), here),
          asio::detached);
    }
    for (unsigned handlers = random() % 200; handlers-- > 0;) loop.io.poll_one();
    server.reset();
    if (round % 2 == 0) loop.run_until([&] { return *here == 0; });
  }
}

}  // namespace
}  // namespace tare::net
