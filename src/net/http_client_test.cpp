#include "net/http_client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/scripted_server_for_tests.hpp"

namespace tare::net {
namespace {

using testing::HasSubstr;

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Body of the answer to GET /, or the line of the error.
std::string get(Loopback& loop, HttpClient& client) {
  try {
    return loop.run(client.request({"GET", "/"})).body;
  } catch (const Error& error) {
    return error.line();
  }
}

struct Talk : Loopback {
  explicit Talk(std::deque<std::string> script, ClientLimits limits = {})
      : server(io, std::move(script)), client(io, server.url(), limits) {}
  std::string get() { return net::get(*this, client); }
  ScriptedServer server;
  HttpClient client;
};

TEST(HttpClient, sends_what_a_request_needs) {
  Talk talk({ok, ok});
  talk.run(talk.client.request({"POST", "/v1/x", {{"X-Run", "7"}}, "{}"}));
  const std::string host = authority(talk.server.url());
  EXPECT_EQ(talk.server.requests[0],
            "POST /v1/x HTTP/1.1\r\nHost: " + host + "\r\nX-Run: 7\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.requests[1], "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
}

TEST(HttpClient, keeps_its_connection_for_the_next_request) {
  Talk talk({ok, "HTTP/1.1 204 No Content\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", ok});
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.get(), "");
  EXPECT_EQ(talk.get(), "ab");
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.accepted, 1);
  EXPECT_EQ(talk.client.connections(), 1U);
}

TEST(HttpClient, does_not_keep_one_that_its_server_ends) {
  Talk talk({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na\x01",
             "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nb\x01", "HTTP/1.1 200 OK\r\n\r\nuntil the end\x01",
             ok});
  EXPECT_EQ(talk.get(), "a");
  EXPECT_EQ(talk.get(), "b");
  EXPECT_EQ(talk.get(), "until the end");
  EXPECT_EQ(talk.client.connections(), 0U);
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.accepted, 4);
}

TEST(HttpClient, does_not_keep_one_that_says_more_than_it_was_asked) {
  Talk talk({ok + "HTTP/1.1 200 OK\r\n", ok});
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpClient, asks_again_where_a_kept_connection_turns_out_to_be_closed) {
  Talk talk({ok, "\x01", ok});  // the second request is read, and its connection closed
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.requests.size(), 3U);
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpClient, does_not_ask_again_where_a_fresh_connection_is_closed_or_an_answer_has_begun) {
  Talk fresh({"\x01", ok});
  EXPECT_THAT(fresh.get(), HasSubstr("closed the connection without an answer"));
  Talk begun({ok, "HTTP/1.1 200\x01", ok});
  EXPECT_EQ(begun.get(), "ok");
  EXPECT_THAT(begun.get(), HasSubstr("broke (it ended in the middle of an answer)"));
}

TEST(HttpClient, says_that_a_body_was_cut) {
  Talk length({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf\x01"});
  EXPECT_THAT(length.get(), HasSubstr("broke (it ended in the middle of an answer)"));
  Talk chunks({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n\x01"});
  EXPECT_THAT(chunks.get(), HasSubstr("broke (it ended in the middle of an answer)"));
}

TEST(HttpClient, says_that_an_answer_is_no_http) {
  Talk talk({"220 ready for mail\r\n"});
  EXPECT_THAT(talk.get(), HasSubstr("sent what is no HTTP"));
  Talk endless({"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')});
  EXPECT_THAT(endless.get(), HasSubstr("sent what is no HTTP (the headers are too long)"));
}

TEST(HttpClient, waits_behind_what_only_announces_an_answer) {
  Talk talk({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok});
  const Response response = talk.run(talk.client.request({"GET", "/"}));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.body, "ok");
}

TEST(HttpClient, does_not_follow_a_redirect_and_knows_that_a_head_has_no_body) {
  Talk talk({"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"});
  EXPECT_EQ(talk.run(talk.client.request({"GET", "/"})).status, 302);
  EXPECT_EQ(talk.run(talk.client.request({"HEAD", "/"})).body, "");
  EXPECT_EQ(talk.server.accepted, 1);
}

TEST(HttpClient, refuses_an_answer_beyond_the_limit) {
  Talk talk({ok}, {.body_bytes = 1});
  EXPECT_THAT(talk.get(), HasSubstr("is larger than 1 bytes"));
}

TEST(HttpClient, does_not_wait_for_ever) {
  Talk silent({""}, {.silence = 20ms});
  EXPECT_THAT(silent.get(), HasSubstr("was silent for 20 ms"));
  Talk stalled({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}, {.silence = 20ms});
  EXPECT_THAT(stalled.get(), HasSubstr("was silent for 20 ms"));
  EXPECT_EQ(stalled.client.connections(), 0U);
}

TEST(HttpClient, waits_for_a_part_no_longer_than_it_is_told) {
  Talk talk({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"});
  const auto body = talk.run(talk.client.stream({"GET", "/"}));
  EXPECT_EQ(talk.run(body->read()), "half");
  try {
    talk.run(body->read_by(std::chrono::steady_clock::now() + 20ms));
    FAIL() << "it waited for ever";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::timeout);
    EXPECT_THAT(error.what(), HasSubstr("took too long"));
  }
}

TEST(HttpClient, looks_up_a_name_and_tries_each_address_of_it) {
  Loopback loop;
  ScriptedServer server(loop.io, {ok});
  HttpClient client(loop.io, {"http", "localhost", server.url().port, "/"}, {});  // which may be ::1 first
  EXPECT_EQ(get(loop, client), "ok");
}

TEST(HttpClient, says_that_there_is_no_server) {
  Loopback loop;
  std::uint16_t port = 0;
  {
    const asio::ip::tcp::acceptor taken(loop.io, {asio::ip::address_v4::loopback(), 0});
    port = taken.local_endpoint().port();
  }
  HttpClient client(loop.io, {"http", "127.0.0.1", port, "/"}, {});
  EXPECT_EQ(get(loop, client),
            "tare: cannot connect to 127.0.0.1:" + std::to_string(port) + " (Connection refused)");
  HttpClient nameless(loop.io, {"http", "no-such-host.invalid", 80, "/"}, {.connect_time = 5s});
  EXPECT_THAT(get(loop, nameless), HasSubstr("no address for no-such-host.invalid"));
}

TEST(HttpClient, refuses_what_would_break_out_of_the_request) {
  Talk talk({ok});
  EXPECT_THROW(talk.run(talk.client.request({"GET", "/ HTTP/1.1\r\nX: y"})), Error);
  EXPECT_THROW(talk.run(talk.client.request({"GET", "/", {{"X", "a\nb"}}})), Error);
}

TEST(HttpClient, reads_the_answer_of_a_server_that_does_not_want_the_whole_request) {
  Talk talk({"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 4\r\n\r\nbig\n\x01", ok});
  const Response response = talk.run(talk.client.request({"POST", "/", {}, std::string(20'000'000, 'x')}));
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body, "big\n");
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpClient, streams_a_body_as_it_comes) {
  Loopback loop;
  HttpServer server(loop.io, "127.0.0.1", 0, {}, [](Exchange& exchange) -> asio::awaitable<void> {
    co_await exchange.begin(200, {});
    for (int i = 0; i < 100; ++i) {
      co_await exchange.chunk("data: " + std::to_string(i) + "\n\n");
      if (i % 7 == 0) co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    }
    co_await exchange.end();
  });
  HttpClient client(loop.io, {"http", "127.0.0.1", server.port(), "/"}, {});
  const std::string all = loop.run([](HttpClient& asking) -> asio::awaitable<std::string> {
    const auto body = co_await asking.stream({"POST", "/"});
    EXPECT_EQ(body->status(), 200);
    std::string text;
    for (auto piece = co_await body->read(); !piece.empty(); piece = co_await body->read()) text += piece;
    EXPECT_EQ(asking.connections(), 1U);  // and free again
    co_return text;
  }(client));
  EXPECT_THAT(all, HasSubstr("data: 0\n\ndata: 1\n\n"));
  EXPECT_TRUE(all.ends_with("data: 99\n\n"));
}

TEST(HttpClient, a_stream_that_is_given_up_closes_its_connection) {
  Talk talk({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", ok});
  talk.run([](HttpClient& asking) -> asio::awaitable<void> {
    const auto body = co_await asking.stream({"GET", "/"});
    EXPECT_EQ(co_await body->read(), "half");
  }(talk.client));
  EXPECT_EQ(talk.client.connections(), 0U);
  EXPECT_EQ(talk.get(), "ok");
}

TEST(HttpClient, a_request_beyond_the_limit_waits_its_turn) {
  Talk talk({ok, ok, ok, ok, ok}, {.connections = 2});
  int done = 0;
  for (int i = 0; i < 5; ++i) {
    asio::co_spawn(talk.io, talk.client.request({"GET", "/"}),
                   [&](const std::exception_ptr& failure, const Response& response) {
                     EXPECT_FALSE(failure);
                     EXPECT_EQ(response.body, "ok");
                     EXPECT_LE(talk.client.connections(), 2U);
                     ++done;
                   });
  }
  talk.run_until([&] { return done == 5; });
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpClient, a_cancelled_request_closes_its_connection_and_lets_the_next_one_on) {
  Talk talk({"HTTP/1.1 200 OK\r\nContent-Le", ok}, {.connections = 1});
  asio::cancellation_signal give_up[2];
  int given_up = 0;
  for (int i = 0; i < 2; ++i) {
    asio::co_spawn(talk.io, talk.client.request({"GET", "/" + std::to_string(i)}),
                   asio::bind_cancellation_slot(give_up[i].slot(),
                                                [&](const std::exception_ptr& failure, const Response&) {
                                                  EXPECT_TRUE(failure);
                                                  ++given_up;
                                                }));
  }
  std::string third;
  asio::co_spawn(talk.io, talk.client.request({"GET", "/third"}),
                 [&](const std::exception_ptr&, const Response& response) { third = response.body; });
  talk.run_until([&] { return talk.server.requests.size() == 1; });
  give_up[1].emit(asio::cancellation_type::terminal);  // it waits its turn
  give_up[0].emit(asio::cancellation_type::terminal);  // it waits for its answer
  talk.run_until([&] { return given_up == 2 && !third.empty(); });
  EXPECT_EQ(third, "ok");
  EXPECT_EQ(talk.server.requests.size(), 2U);
  EXPECT_EQ(talk.client.connections(), 1U);
}

TEST(HttpClient, may_be_destroyed_while_it_is_asked) {
  Loopback loop;
  ScriptedServer server(loop.io, {"", ok});
  auto client = std::make_unique<HttpClient>(loop.io, server.url(), ClientLimits{.silence = 300ms});
  std::exception_ptr failure;
  asio::co_spawn(loop.io, client->request({"GET", "/"}),
                 [&](const std::exception_ptr& thrown, const Response&) { failure = thrown; });
  loop.run_until([&] { return server.requests.size() == 1; });
  client.reset();
  loop.run_until([&] { return failure != nullptr; });
  EXPECT_THROW(std::rethrow_exception(failure), Error);
}

}  // namespace
}  // namespace tare::net
