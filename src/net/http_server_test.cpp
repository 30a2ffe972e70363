#include "net/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/loopback_for_tests.hpp"

namespace tare::net {
namespace {

using testing::HasSubstr;

asio::awaitable<void> echo(Exchange& exchange) {
  Response response;
  response.body = exchange.request().method + " " + exchange.request().target + " " + exchange.request().body;
  co_await exchange.respond(std::move(response));
}

Url url_of(const HttpServer& server, const std::string& scheme = "http") {
  return {scheme, "127.0.0.1", server.port(), "/"};
}

TEST(HttpServer, answers_a_request_of_the_client) {
  Loopback loop;
  HttpServer server(loop.io, "127.0.0.1", 0, {}, echo);
  HttpClient client(loop.io, url_of(server), {});
  Request request{"POST", "/v1/x?y=1", {{"Content-Type", "text/plain"}}, "hello"};
  const Response response = loop.run(client.request(request));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "POST /v1/x?y=1 hello");
  EXPECT_TRUE(find(response.headers, "date").has_value());
}

}  // namespace
}  // namespace tare::net
