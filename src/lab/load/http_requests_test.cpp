#include "lab/load/http_requests.hpp"

#include <deque>
#include <vector>

#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.hpp"
#include "net/scripted_server_for_tests.hpp"

namespace tare::load {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::ScriptedServer;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string answer_ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

struct Talk : net::Loopback {
  explicit Talk(std::deque<std::string> script, HttpLimits limits = {})
      : server(io, std::move(script)), http(io, server.url(), limits) {}

  /// "200 ok", or why there is no answer.
  std::string get(const std::string& accept = "") {
    std::string said;
    EXPECT_TRUE(http.get("/", accept, [&](const HttpAnswer& answer) {
      EXPECT_LE(answer.sent, answer.ended);
      EXPECT_EQ(answer.outcome == Outcome::ok, answer.error.empty());
      last = answer.outcome;
      said = answer.outcome == Outcome::ok ? std::to_string(answer.status) + " " + std::string(answer.body)
                                           : std::string(answer.error);
    }));
    EXPECT_EQ(said, "") << "it was answered within the call";
    run_until([&] { return !said.empty(); });
    return said;
  }

  ScriptedServer server;
  HttpRequests http;
  Outcome last = Outcome::censored;
};

TEST(HttpRequests, says_what_a_request_needs_and_no_more) {
  Talk talk({answer_ok, answer_ok});
  EXPECT_EQ(talk.get("text/html"), "200 ok");
  EXPECT_EQ(talk.get(), "200 ok");
  const std::string host = net::authority(talk.server.url());
  EXPECT_THAT(talk.server.requests,
              ElementsAre("GET / HTTP/1.1\r\nHost: " + host + "\r\nAccept: text/html\r\n\r\n",
                          "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
}

TEST(HttpRequests, keeps_its_connection_for_the_next_request) {
  Talk talk({answer_ok, "HTTP/1.1 204 No Content\r\n\r\n",
             "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", answer_ok});
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.get(), "204 ");
  EXPECT_EQ(talk.get(), "404 ab");
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.server.accepted, 1);
  EXPECT_EQ(talk.http.connections(), 1U);
  EXPECT_EQ(talk.http.open(), 0U);
}

TEST(HttpRequests, does_not_keep_one_that_its_server_ends) {
  Talk talk({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na\x01",
             "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nb\x01", "HTTP/1.1 200 OK\r\n\r\nuntil the end\x01",
             answer_ok});
  EXPECT_EQ(talk.get(), "200 a");
  EXPECT_EQ(talk.http.connections(), 0U);
  EXPECT_EQ(talk.get(), "200 b");
  EXPECT_EQ(talk.get(), "200 until the end");
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.server.accepted, 4);
}

TEST(HttpRequests, does_not_keep_one_that_says_more_than_it_was_asked) {
  Talk talk({answer_ok + "HTTP/1.1 200 OK\r\n", answer_ok});
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpRequests, takes_an_answer_that_came_before_the_request_and_forgets_a_connection_that_ends_later) {
  net::Loopback loop;
  asio::ip::tcp::acceptor acceptor(loop.io, {asio::ip::address_v4::loopback(), 0});
  HttpRequests http(loop.io, {"http", "127.0.0.1", acceptor.local_endpoint().port(), "/"});
  bool answered = false;
  http.get("/", "", [&](const HttpAnswer& answer) { answered = answer.outcome == Outcome::ok; });
  auto socket = acceptor.accept();
  asio::write(socket, asio::buffer(answer_ok));
  loop.run_until([&] { return answered; });
  EXPECT_EQ(http.connections(), 1U);
  socket.close();
  loop.run_until([&] { return http.connections() == 0; });
}

/// Ends its connection as soon as a second request comes, so that no event can have told the client before.
class EndsAtTheSecond {
 public:
  EndsAtTheSecond(asio::io_context& io, int times)
      : acceptor(io, {asio::ip::address_v4::loopback(), 0}), times_(times) {
    asio::co_spawn(io, accept(), asio::detached);
  }
  net::Url url() const { return {"http", "127.0.0.1", acceptor.local_endpoint().port(), "/"}; }
  asio::ip::tcp::acceptor acceptor;
  int accepted = 0;

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto socket = co_await acceptor.async_accept(asio::use_awaitable);
      ++accepted;
      char room[4096];
      if (accepted > 1 && accepted <= times_) {
        co_await socket.async_read_some(asio::buffer(room), asio::use_awaitable);
        continue;  // it is closed without a byte
      }
      co_await socket.async_read_some(asio::buffer(room), asio::use_awaitable);
      co_await asio::async_write(socket, asio::buffer(answer_ok), asio::use_awaitable);
      co_await socket.async_read_some(asio::buffer(room), asio::use_awaitable);
    }
  }
  int times_;
};

struct RetryTalk : net::Loopback {
  explicit RetryTalk(int times) : server(io, times), http(io, server.url()) {}
  std::string get() {
    std::string said;
    http.get("/", "", [&](const HttpAnswer& answer) {
      said = answer.outcome == Outcome::ok ? std::string(answer.body) : std::string(answer.error);
    });
    run_until([&] { return !said.empty(); });
    return said;
  }
  EndsAtTheSecond server;
  HttpRequests http;
};

TEST(HttpRequests, replaces_a_kept_connection_that_was_closed_before_an_answer) {
  RetryTalk talk(1);
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpRequests, replaces_it_once_only) {
  RetryTalk talk(2);
  EXPECT_EQ(talk.get(), "ok");
  EXPECT_EQ(talk.get(), "the connection ended without an answer");
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpRequests, a_fresh_connection_that_is_closed_at_once_is_a_failure) {
  Talk talk({std::string(1, ScriptedServer::close), answer_ok});
  EXPECT_EQ(talk.get(), "the connection ended without an answer");
  EXPECT_EQ(talk.last, Outcome::failed);
  EXPECT_EQ(talk.server.accepted, 1);
  EXPECT_EQ(talk.get(), "200 ok");
}

TEST(HttpRequests, an_answer_that_is_cut_is_a_failure_and_not_asked_for_again) {
  Talk talk({answer_ok, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf\x01", answer_ok});
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.get(), "the connection ended in the middle of the answer");
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.server.requests.size(), 3U);
}

TEST(HttpRequests, garbage_and_a_body_beyond_the_limit_are_failures) {
  Talk talk({"hello", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", answer_ok}, {.body_bytes = 10});
  EXPECT_EQ(talk.get(), "the answer is not HTTP/1.x");
  EXPECT_EQ(talk.get(), "the body is too long");
  EXPECT_EQ(talk.get(), "200 ok");
  EXPECT_EQ(talk.server.accepted, 3);
}

TEST(HttpRequests, takes_a_body_that_fills_its_buffer_many_times) {
  const std::string body(1024 * 1024, 'x');
  Talk talk(
      {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body, answer_ok});
  EXPECT_EQ(talk.get(), "200 " + body);
  EXPECT_EQ(talk.get(), "200 ok");
}

TEST(HttpRequests, sends_a_request_that_the_kernel_does_not_take_at_once) {
  net::Loopback loop;
  asio::ip::tcp::acceptor acceptor(loop.io, {asio::ip::address_v4::loopback(), 0});
  HttpRequests http(loop.io, {"http", "127.0.0.1", acceptor.local_endpoint().port(), "/"});
  const std::string path = "/" + std::string(16 * 1024 * 1024, 'x');
  std::string said;
  http.get(path, "", [&](const HttpAnswer& answer) { said = answer.body; });
  auto socket = acceptor.accept();
  std::size_t got = 0;
  asio::co_spawn(
      loop.io,
      [&]() -> asio::awaitable<void> {
        std::vector<char> room(65536);
        const std::size_t whole =
            path.size() + std::string("GET  HTTP/1.1\r\nHost: \r\n\r\n").size() +
            net::authority({"http", "127.0.0.1", acceptor.local_endpoint().port(), "/"}).size();
        while (got < whole) got += co_await socket.async_read_some(asio::buffer(room), asio::use_awaitable);
        co_await asio::async_write(socket, asio::buffer(answer_ok), asio::use_awaitable);
      },
      asio::detached);
  loop.run_until([&] { return !said.empty(); });
  EXPECT_EQ(said, "ok");
}

TEST(HttpRequests, what_takes_too_long_is_given_up) {
  Talk talk({answer_ok, "HTTP/1.1 200 OK\r\nContent-Le", answer_ok}, {.time = 50ms});
  EXPECT_EQ(talk.get(), "200 ok");
  const Instant begin = SystemClock().now();
  EXPECT_EQ(talk.get(), "no whole answer within 50 ms");
  EXPECT_EQ(talk.last, Outcome::timeout);
  EXPECT_GE(SystemClock().now() - begin, 50ms);
  EXPECT_EQ(talk.http.connections(), 0U);
  EXPECT_EQ(talk.get(), "200 ok");
}

TEST(HttpRequests, nobody_there_is_a_failure) {
  net::Loopback loop;
  asio::ip::tcp::acceptor acceptor(loop.io, {asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = acceptor.local_endpoint().port();
  acceptor.close();
  HttpRequests http(loop.io, {"http", "127.0.0.1", port, "/"});
  std::string error;
  int status = -1;
  http.get("/", "", [&](const HttpAnswer& answer) {
    error = answer.error;
    status = answer.status;
  });
  loop.run_until([&] { return !error.empty(); });
  EXPECT_EQ(error, "Connection refused");
  EXPECT_EQ(status, 0);
}

TEST(HttpRequests, a_process_without_descriptors_is_a_failure_that_is_told_later) {
  Talk talk({answer_ok});
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  rlimit none = old;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::string error;
  talk.http.get("/", "", [&](const HttpAnswer& answer) { error = answer.error; });
  ::setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_EQ(error, "");
  talk.run_until([&] { return !error.empty(); });
  EXPECT_EQ(error, "Too many open files");
  EXPECT_EQ(talk.get(), "200 ok");
}

TEST(HttpRequests, asks_no_more_than_its_connections_allow) {
  Talk talk({answer_ok, answer_ok, answer_ok}, {.connections = 2});
  int answers = 0;
  const auto count = [&](const HttpAnswer&) { ++answers; };
  EXPECT_TRUE(talk.http.get("/", "", count));
  EXPECT_TRUE(talk.http.get("/", "", count));
  EXPECT_FALSE(talk.http.get("/", "", count));
  EXPECT_EQ(talk.http.open(), 2U);
  talk.run_until([&] { return answers == 2; });
  EXPECT_TRUE(talk.http.get("/", "", count));
  talk.run_until([&] { return answers == 3; });
  EXPECT_EQ(talk.server.accepted, 2);
}

TEST(HttpRequests, closing_gives_up_what_is_open_and_it_may_be_used_again) {
  Talk talk({"", answer_ok, answer_ok});
  std::vector<Outcome> outcomes;
  std::string again;
  talk.http.get("/", "", [&](const HttpAnswer& answer) {
    outcomes.push_back(answer.outcome);
    EXPECT_EQ(answer.status, 0);
    talk.http.get("/", "", [&](const HttpAnswer& second) { again = second.body; });
  });
  talk.run_until([&] { return talk.server.requests.size() == 1; });
  talk.http.close(Outcome::censored);
  EXPECT_THAT(outcomes, ElementsAre(Outcome::censored));
  talk.run_until([&] { return !again.empty(); });
  EXPECT_EQ(again, "ok");
}

TEST(HttpRequests, may_be_closed_or_destroyed_by_an_answer_whose_body_lives_on) {
  for (const bool destroys : {false, true}) {
    Talk talk({answer_ok, answer_ok});
    auto http = std::make_unique<HttpRequests>(talk.io, talk.server.url());
    int answers = 0;
    std::string body;
    for (int i = 0; i < 2; ++i) {
      http->get("/", "", [&](const HttpAnswer& answer) {
        if (++answers > 1) return;
        if (destroys) {
          http.reset();
        } else {
          http->close(Outcome::censored);
        }
        body = answer.body;
      });
    }
    talk.run_until([&] { return !body.empty(); });
    EXPECT_EQ(body, "ok");
    EXPECT_EQ(answers, destroys ? 1 : 2);
  }
}

TEST(HttpRequests, its_loop_runs_out_of_work_once_it_is_closed) {
  net::Loopback loop;
  asio::ip::tcp::acceptor acceptor(loop.io, {asio::ip::address_v4::loopback(), 0});
  HttpRequests http(loop.io, {"http", "127.0.0.1", acceptor.local_endpoint().port(), "/"});
  int answers = 0;
  http.get("/", "", [&](const HttpAnswer&) { ++answers; });
  http.close(Outcome::censored);
  EXPECT_EQ(answers, 1);
  loop.io.run();
}

TEST(HttpRequests, closed_loop_over_many_connections) {
  net::Loopback loop;
  net::HttpServer server(loop.io, "127.0.0.1", 0, {}, [](net::Exchange& exchange) -> asio::awaitable<void> {
    net::Response response(200, {}, exchange.request().target);
    co_await exchange.respond(std::move(response));
  });
  HttpRequests http(loop.io, {"http", "127.0.0.1", server.port(), "/"}, {.connections = 16});
  constexpr int requests = 2000;
  int asked = 0;
  int answers = 0;
  std::function<void()> ask = [&] {
    if (asked == requests) return;
    const std::string path = "/" + std::to_string(asked++);
    EXPECT_TRUE(http.get(path, "*/*", [&, path](const HttpAnswer& answer) {
      EXPECT_EQ(answer.body, path);
      ++answers;
      ask();
    }));
  };
  for (int i = 0; i < 16; ++i) ask();
  loop.run_until([&] { return answers == requests; });
  EXPECT_EQ(server.connections(), 16U);
  EXPECT_EQ(http.connections(), 16U);
}

TEST(HttpRequests, tries_every_address_of_a_name) {
  net::Loopback loop;
  net::HttpServer server(loop.io, "127.0.0.1", 0, {}, [](net::Exchange& exchange) -> asio::awaitable<void> {
    net::Response response(200, {}, "found");
    co_await exchange.respond(std::move(response));
  });
  HttpRequests http(loop.io, {"http", "localhost", server.port(), "/"});
  std::string said;
  http.get("/", "", [&](const HttpAnswer& answer) {
    said = answer.outcome == Outcome::ok ? answer.body : answer.error;
  });
  loop.run_until([&] { return !said.empty(); });
  EXPECT_EQ(said, "found");
}

TEST(HttpRequests, refuses_what_it_cannot_ask) {
  asio::io_context io;
  const auto code = [&](const net::Url& url) {
    try {
      HttpRequests(io, url);
    } catch (const Error& error) {
      return std::optional(error.code());
    }
    return std::optional<ErrorCode>();
  };
  EXPECT_EQ(code({"https", "127.0.0.1", 1, "/"}), ErrorCode::input);
  EXPECT_EQ(code({"http", "no such host", 1, "/"}), ErrorCode::unavailable);
}

}  // namespace
}  // namespace tare::load
