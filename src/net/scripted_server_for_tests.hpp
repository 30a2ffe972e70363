#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>

#include "net/loopback_for_tests.hpp"

namespace tare::net {

/// Says to its connections, one after the other, what is written in its script; each entry answers one
/// request and closes if it ends with this mark.
class ScriptedServer {
 public:
  static constexpr char close = '\x01';
  ScriptedServer(asio::io_context& io, std::deque<std::string> script)
      : acceptor_(io, {asio::ip::address_v4::loopback(), 0}), script_(std::move(script)) {
    asio::co_spawn(io, accept(), asio::detached);
  }
  Url url() const { return {"http", "127.0.0.1", acceptor_.local_endpoint().port(), "/"}; }

  int accepted = 0;
  std::vector<std::string> requests;

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      ++accepted;
      asio::co_spawn(acceptor_.get_executor(), serve(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> serve(asio::ip::tcp::socket socket) {
    std::string request;
    while (!script_.empty()) {
      char room[4096];
      const std::size_t n = co_await socket.async_read_some(asio::buffer(room), asio::use_awaitable);
      request.append(room, n);
      if (request.find("\r\n\r\n") == std::string::npos) continue;
      requests.push_back(std::exchange(request, {}));
      std::string answer = script_.front();
      script_.pop_front();
      const bool ends = answer.ends_with(close);
      if (ends) answer.pop_back();
      co_await asio::async_write(socket, asio::buffer(answer), asio::use_awaitable);
      if (ends) co_return;
    }
    co_await asio::steady_timer(socket.get_executor(), 1h).async_wait(asio::use_awaitable);
  }

  asio::ip::tcp::acceptor acceptor_;
  std::deque<std::string> script_;
};

}  // namespace tare::net
