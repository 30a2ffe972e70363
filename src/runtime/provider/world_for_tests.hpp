#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "runtime/provider/client.hpp"
#include "runtime/provider/mock_server.hpp"

namespace tare::provider {

/// Runs the loop until `work` has its result.
template <class T>
T run(boost::asio::io_context& io, boost::asio::awaitable<T> work) {
  std::optional<T> result;
  std::exception_ptr failure;
  bool ended = false;
  boost::asio::co_spawn(io, std::move(work), [&](const std::exception_ptr& error, T value) {
    failure = error;
    result = std::move(value);
    ended = true;
  });
  io.restart();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!ended && std::chrono::steady_clock::now() < limit) io.run_one_for(std::chrono::seconds(1));
  if (!ended) throw std::runtime_error("the test took too long");
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

/// What came of one request.
struct Received {
  std::string text;
  Events events;
  std::optional<Failure> failure;
};

inline boost::asio::awaitable<Received> receive(Provider& provider, ModelRequest request) {
  Received received;
  try {
    const std::unique_ptr<ReplyStream> stream = co_await provider.open(request);
    for (Events events = co_await stream->next(); !events.empty(); events = co_await stream->next()) {
      for (Event& event : events) {
        if (const auto* delta = std::get_if<TextDelta>(&event)) received.text += delta->text;
        received.events.push_back(std::move(event));
      }
    }
  } catch (const Failure& failure) {
    received.failure = failure;
  }
  co_return received;
}

/// A mock server and a client of it in one loop.
class World {
 public:
  explicit World(Dialect dialect, MockOptions mock = {}, ClientOptions client = {}) {
    mock.log = folder_.path() / "requests.jsonl";
    server.emplace(io, mock, clock);
    client.url = "http://127.0.0.1:" + std::to_string(server->port()) + "/v1";
    client.dialect = dialect;
    client.retry.base = std::chrono::milliseconds(1);
    this->client.emplace(io, std::move(client), clock, [] { return 0.0; });
  }

  Received ask(std::string text) {
    return ask(ModelRequest{.model = "m", .items = {UserMessage{std::move(text)}}});
  }
  Received ask(ModelRequest request) { return run(io, receive(*client, std::move(request))); }

  std::string log() const { return file::read(folder_.path() / "requests.jsonl"); }

 private:
  file::TemporaryFolder folder_;

 public:
  SystemClock clock;
  boost::asio::io_context io;
  std::optional<MockServer> server;
  std::optional<Client> client;
};

}  // namespace tare::provider
