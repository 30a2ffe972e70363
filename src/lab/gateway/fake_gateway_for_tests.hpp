#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lab/gateway/client.hpp"
#include "lab/gateway/frame.hpp"
#include "net/loopback_for_tests.hpp"

namespace tare::lab_gateway {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A gateway that says what its script tells it to, in the loop of its clients.
struct FakeGateway : net::Loopback {
  using Script = std::function<asio::awaitable<void>(net::WebSocket&)>;

  explicit FakeGateway(Script script)
      : server(io, "127.0.0.1", 0, {}, [this, script](net::Exchange& exchange) -> asio::awaitable<void> {
          const net::WebSocketLimits limits;
          net::WebSocket socket = co_await exchange.upgrade(limits);
          ++connections;
          try {
            co_await script(socket);
            for (;;) heard.push_back((co_await socket.read()).data);
          } catch (const net::Closed& closed) {
            closes.push_back(closed.close_code());
          }
        }) {}

  Address address(std::optional<std::string> token = {}) const {
    return {net::Url("ws", "127.0.0.1", server.port(), "/"), std::move(token)};
  }
  std::shared_ptr<Client> connect(std::chrono::milliseconds limit = 5s) {
    return run(Client::connect(io, address(), limit));
  }
  /// What connecting comes to: the code and the line of its Error, or "connected".
  std::string connect_failure(std::chrono::milliseconds limit = 5s, std::optional<std::string> token = {}) {
    try {
      run(Client::connect(io, address(std::move(token)), limit));
      return "connected";
    } catch (const Error& error) {
      return (error.code() == ErrorCode::timeout ? "timeout: " : "failed: ") + error.line();
    }
  }

  int connections = 0;
  std::vector<std::string> heard;  ///< after the script
  std::vector<net::CloseCode> closes;
  net::HttpServer server;
};

inline void say(net::WebSocket& socket, std::string text) {
  socket.send({nullptr, std::move(text)});
}
/// Says an `ok` response to what was heard.
inline void respond(net::WebSocket& socket, std::string_view heard, std::string_view payload) {
  say(socket,
      fmt::format(R"({{"type":"res","id":{},"ok":true,"payload":{}}})", member(heard, "id"), payload));
}
inline void refuse(net::WebSocket& socket, std::string_view heard, std::string_view error) {
  say(socket, fmt::format(R"({{"type":"res","id":{},"ok":false,"error":{}}})", member(heard, "id"), error));
}
inline void tell(net::WebSocket& socket, std::string_view name, int seq) {
  say(socket,
      fmt::format(R"({{"type":"event","event":"{}","payload":{{"n":{}}},"seq":{}}})", name, seq, seq));
}
inline asio::awaitable<std::string> hear(net::WebSocket& socket) {
  net::Message message = co_await socket.read();
  co_return std::move(message.data);
}
/// Challenges, hears `connect` and says hello.
inline asio::awaitable<void> greet(net::WebSocket& socket) {
  say(socket, R"({"type":"event","event":"connect.challenge","payload":{"nonce":"n"}})");
  const std::string heard = co_await hear(socket);
  respond(socket, heard, R"({"type":"hello-ok","protocol":4,"server":{"version":"1.2.3"}})");
}

}  // namespace tare::lab_gateway
