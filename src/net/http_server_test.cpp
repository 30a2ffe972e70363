#include "net/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/loopback_for_tests.hpp"

namespace tare::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

asio::awaitable<void> echo(Exchange& exchange) {
  Response response;
  response.body = exchange.request().method + " " + exchange.request().target + " " + exchange.request().body;
  EXPECT_EQ(exchange.peer(), "127.0.0.1");
  co_await exchange.respond(std::move(response));
}

asio::awaitable<void> three_chunks(Exchange& exchange) {
  co_await exchange.begin(200, {});
  for (const char* piece : {"one ", "two ", "three"}) co_await exchange.chunk(piece);
  co_await exchange.end();
}

/// A server and what a raw client says to it.
struct World : Loopback {
  explicit World(Handler handler, ServerLimits limits = {})
      : server(io, "127.0.0.1", 0, limits, std::move(handler)) {}

  /// Everything that the server answers to these bytes until it closes.
  std::string converse(std::string bytes) {
    RawClient client(io, server.port());
    return run([](RawClient& peer, std::string said) -> asio::awaitable<std::string> {
      co_await peer.write(std::move(said));
      co_return co_await peer.read_all();
    }(client, std::move(bytes)));
  }

  HttpServer server;
};

TEST(HttpServer, answers_a_request) {
  World world(echo);
  const std::string answer = world.converse(
      "POST /v1/x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 20\r\nConnection: close\r\n\r\nPOST /v1/x?y=1 hello"));
  EXPECT_THAT(answer, HasSubstr(" GMT\r\n"));
}

TEST(HttpServer, takes_chunked_bodies_and_leaves_out_their_trailers) {
  World world(echo);
  EXPECT_THAT(
      world.converse("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                     "3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n"),
      HasSubstr("\r\n\r\nPUT / hello"));
}

TEST(HttpServer, answers_pipelined_requests_in_their_order) {
  World world(echo);
  const std::string answer = world.converse(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
      "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /4 HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::size_t first = answer.find("GET /1 ");
  const std::size_t second = answer.find("POST /2 x");
  const std::size_t third = answer.find("GET /3 ");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  EXPECT_THAT(answer, Not(HasSubstr("GET /4")));
}

TEST(HttpServer, every_split_of_a_request_gives_the_same_answer) {
  World world(echo);
  const std::string request =
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: "
      "close\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
  for (std::size_t i = 1; i < request.size(); ++i) {
    RawClient client(world.io, world.server.port());
    const std::string answer =
        world.run([](RawClient& peer, std::string all, std::size_t cut) -> asio::awaitable<std::string> {
          co_await peer.write(all.substr(0, cut));
          for (int turn = 0; turn < 3; ++turn)
            co_await asio::post(peer.socket().get_executor(), asio::use_awaitable);
          co_await peer.write(all.substr(cut));
          co_return co_await peer.read_all();
        }(client, request, i));
    ASSERT_THAT(answer, HasSubstr("\r\n\r\nPOST /a hi")) << i;
  }
}

TEST(HttpServer, what_is_no_request_is_answered_with_its_status) {
  World world(echo, {.header_bytes = 1000, .body_bytes = 10});
  EXPECT_THAT(world.converse("hello\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(world.converse("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(world.converse("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(world.converse("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(world.converse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), StartsWith("HTTP/1.1 505 "));
  EXPECT_THAT(world.converse("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(world.converse("GET /" + std::string(2000, 'x')), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(world.converse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(
      world.converse(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n6\r\n123456\r\n"),
      StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(world.converse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(
      world.converse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
      StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(world.converse("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
              StartsWith("HTTP/1.1 400 "));
  world.run_until([&] { return world.server.connections() == 0; });
}

TEST(HttpServer, a_refusal_reaches_a_client_that_goes_on_sending) {
  World world(echo, {.body_bytes = 10});
  const std::string answer = world.converse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" +
                                            std::string(3'000'000, 'x'));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, invites_a_body_that_waits_for_it) {
  World world(echo);
  RawClient client(world.io, world.server.port());
  world.run([](RawClient& peer) -> asio::awaitable<void> {
    co_await peer.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(co_await peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    co_await peer.write("ok");
    EXPECT_THAT(co_await peer.read_until("POST / ok"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }(client));
}

TEST(HttpServer, a_head_request_gets_no_body) {
  World world(echo);
  const std::string answer = world.converse("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST(HttpServer, an_old_client_gets_an_answer_it_understands) {
  World plain(echo);
  EXPECT_THAT(plain.converse("GET /x HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close\r\n\r\nGET /x "));
  World chunks(three_chunks);
  const std::string answer = chunks.converse("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_TRUE(answer.ends_with("\r\n\r\none two three"));
}

TEST(HttpServer, sends_chunks) {
  World world(three_chunks);
  const std::string answer = world.converse("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n"));
}

TEST(HttpServer, a_handler_that_returns_in_the_middle_cuts_its_answer) {
  World world([](Exchange& exchange) -> asio::awaitable<void> {
    co_await exchange.begin(200, {});
    co_await exchange.chunk("half");
  });
  const std::string answer = world.converse("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("4\r\nhalf\r\n"));
}

TEST(HttpServer, a_handler_can_close_without_an_answer) {
  World world([](Exchange& exchange) -> asio::awaitable<void> {
    exchange.cut();
    co_return;
  });
  EXPECT_EQ(world.converse("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), "");
}

TEST(HttpServer, what_a_handler_throws_is_answered_500_and_reported) {
  std::vector<std::string> reports;
  World world([](Exchange& exchange) -> asio::awaitable<void> {
    if (exchange.request().target == "/nothing") co_return;
    if (exchange.request().target == "/twice") {
      co_await exchange.respond({});
      co_await exchange.respond({});
    }
    throw Error(ErrorCode::failed, "it broke", "on purpose");
  });
  world.server.on_error([&](const std::string& line) { reports.push_back(line); });
  const std::string answer = world.converse("GET /throw HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(world.converse("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(world.converse("GET /twice HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(reports, ElementsAre("tare: it broke (on purpose)", "tare: a request got no answer",
                                   "tare: a request was answered twice, or in the wrong order"));
}

TEST(HttpServer, a_header_with_a_line_end_is_not_sent) {
  World world([](Exchange& exchange) -> asio::awaitable<void> {
    Response response;
    response.headers.emplace_back("X-Name", "a\r\nSet-Cookie: b");
    co_await exchange.respond(std::move(response));
  });
  const std::string answer = world.converse("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, Not(HasSubstr("Cookie")));
}

TEST(HttpServer, closes_a_client_that_is_slow_with_its_headers_or_its_body) {
  World world(echo, {.header_time = 20ms});
  EXPECT_EQ(world.converse("GET / HTTP/1.1\r\nHos"), "");
  EXPECT_EQ(world.converse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1"), "");
}

TEST(HttpServer, closes_a_client_whose_body_drips) {
  World world(echo, {.header_time = 20ms});
  RawClient client(world.io, world.server.port());
  const auto drip = [](RawClient& peer) -> asio::awaitable<void> {
    co_await peer.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
    for (asio::steady_timer pace(co_await asio::this_coro::executor);;) {
      pace.expires_after(2ms);
      co_await pace.async_wait(asio::use_awaitable);
      co_await peer.write("x");
    }
  };
  EXPECT_THROW(world.run(drip(client)), boost::system::system_error);
}

TEST(HttpServer, closes_a_client_that_asks_for_nothing_more) {
  World at_once(echo, {.idle_time = 20ms});
  EXPECT_EQ(at_once.converse(""), "");
  World afterwards(echo, {.idle_time = 300ms});
  EXPECT_THAT(afterwards.converse("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), HasSubstr("GET /x"));
}

TEST(HttpServer, a_client_that_takes_nothing_of_its_answer_is_closed) {
  std::string failure;
  World world(
      [&](Exchange& exchange) -> asio::awaitable<void> {
        co_await exchange.begin(200, {});
        const std::string much(1'000'000, 'x');
        try {
          for (;;) co_await exchange.chunk(much);
        } catch (const Error& error) {
          failure = error.line();
        }
      },
      {.idle_time = 50ms});
  RawClient client(world.io, world.server.port());
  world.run(client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  world.run_until([&] { return !failure.empty(); });
  EXPECT_EQ(failure, "tare: the client is gone (it took too long)");
  world.run_until([&] { return world.server.connections() == 0; });
}

TEST(HttpServer, refuses_more_connections_than_its_limit_and_counts_them) {
  World world(echo, {.connections = 1});
  RawClient first(world.io, world.server.port());
  world.run_until([&] { return world.server.connections() == 1; });
  EXPECT_EQ(world.converse(""), "");
  EXPECT_EQ(world.server.refused(), 1U);
  first.close();
  world.run_until([&] { return world.server.connections() == 0; });
  EXPECT_THAT(world.converse("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), HasSubstr("GET /x"));
}

TEST(HttpServer, says_that_its_address_is_taken) {
  World world(echo);
  try {
    HttpServer second(world.io, "127.0.0.1", world.server.port(), {}, echo);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_EQ(error.line(), "tare: cannot listen on 127.0.0.1:" + std::to_string(world.server.port()) +
                                " (Address already in use)");
  }
  EXPECT_THROW(HttpServer(world.io, "no address", 0, {}, echo), Error);
}

/// A handler that waits until the test lets it go on.
struct Gate {
  explicit Gate(asio::io_context& io) : timer(io, std::chrono::steady_clock::time_point::max()) {}
  asio::awaitable<void> pass() {
    reached = true;
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  asio::steady_timer timer;
  bool reached = false;
};

TEST(HttpServer, stops_between_requests_and_lets_handlers_end) {
  Loopback loop;
  Gate gate(loop.io);
  HttpServer server(loop.io, "127.0.0.1", 0, {}, [&](Exchange& exchange) -> asio::awaitable<void> {
    co_await gate.pass();
    co_await echo(exchange);
  });
  RawClient busy(loop.io, server.port());
  RawClient idle(loop.io, server.port());
  loop.run(busy.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"));
  loop.run_until([&] { return gate.reached && server.connections() == 2; });
  server.stop();
  EXPECT_EQ(loop.run(idle.read_all()), "");
  gate.timer.cancel();
  EXPECT_THAT(loop.run(busy.read_all()), HasSubstr("GET /x"));
  EXPECT_THROW(RawClient(loop.io, server.port()), boost::system::system_error);
}

TEST(HttpServer, a_handler_may_outlive_its_server) {
  Loopback loop;
  Gate gate(loop.io);
  std::string failure;
  auto server = std::make_unique<HttpServer>(loop.io, "127.0.0.1", 0, ServerLimits{},
                                             [&](Exchange& exchange) -> asio::awaitable<void> {
                                               co_await gate.pass();
                                               try {
                                                 co_await exchange.respond({});
                                               } catch (const Error& error) {
                                                 failure = error.what();
                                               }
                                             });
  RawClient client(loop.io, server->port());
  loop.run(client.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"));
  loop.run_until([&] { return gate.reached; });
  server.reset();
  EXPECT_EQ(loop.run(client.read_all()), "");
  gate.timer.cancel();
  loop.run_until([&] { return !failure.empty(); });
  EXPECT_EQ(failure, "the client is gone");
}

TEST(HttpServer, a_loop_may_end_with_everything_open) {
  Loopback loop;
  Gate gate(loop.io);
  HttpServer server(loop.io, "127.0.0.1", 0, {}, [&](Exchange& exchange) -> asio::awaitable<void> {
    co_await exchange.begin(200, {});
    co_await gate.pass();
  });
  RawClient busy(loop.io, server.port());
  RawClient idle(loop.io, server.port());
  loop.run(busy.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"));
  loop.run_until([&] { return gate.reached && server.connections() == 2; });
}

}  // namespace
}  // namespace tare::net
