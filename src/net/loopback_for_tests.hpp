#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "net/http_client.hpp"
#include "net/http_server.hpp"
#include "net/websocket.hpp"

namespace tare::net {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A loop with servers and clients on this machine. What a test does in it is bounded by ten seconds.
class Loopback {
 public:
  asio::io_context io{1};

  /// Runs the loop until this coroutine is done; returns its result, throws what it throws.
  template <class T>
  T run(asio::awaitable<T> work) {
    std::optional<T> result;  // co_spawn itself takes only what has a default
    run([](asio::awaitable<T> inner, std::optional<T>& out) -> asio::awaitable<void> {
      out.emplace(co_await std::move(inner));
    }(std::move(work), result));
    return std::move(*result);
  }
  void run(asio::awaitable<void> work) {
    bool done = false;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr thrown) {
      failure = std::move(thrown);
      done = true;
    });
    run_until([&] { return done; });
    if (failure) std::rethrow_exception(failure);
  }

  /// Runs the loop until this is so.
  void run_until(const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    io.restart();
    while (!so()) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the test takes too long");
      if (io.run_one_for(100ms) == 0) io.restart();
    }
  }
};

/// A plain socket that says to a server what it likes.
class RawClient {
 public:
  RawClient(asio::io_context& io, std::uint16_t port) : socket_(io) {
    socket_.connect({asio::ip::address_v4::loopback(), port});
    socket_.set_option(asio::ip::tcp::no_delay(true));
  }
  asio::awaitable<void> write(std::string bytes) {
    while (!bytes.empty()) {
      const std::size_t n = co_await socket_.async_write_some(asio::buffer(bytes), asio::use_awaitable);
      bytes.erase(0, n);
    }
  }
  /// What comes until this text is in it, or the server ends.
  asio::awaitable<std::string> read_until(std::string text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
      const std::string more = co_await read_some();
      if (more.empty()) break;
      all += more;
    }
    co_return all;
  }
  asio::awaitable<std::string> read_all() {
    std::string all;
    for (std::string more = co_await read_some(); !more.empty(); more = co_await read_some()) all += more;
    co_return all;
  }
  asio::awaitable<std::string> read_some() {
    std::string room(65536, '\0');
    boost::system::error_code error;
    const std::size_t n = co_await socket_.async_read_some(asio::buffer(room),
                                                           asio::redirect_error(asio::use_awaitable, error));
    room.resize(n);
    co_return room;
  }
  void close() { socket_.close(); }
  asio::ip::tcp::socket& socket() { return socket_; }

 private:
  asio::ip::tcp::socket socket_;
};

}  // namespace tare::net
