// rpc_server: what the client of gateways is tried on. It shakes hands as the gateway protocol says, and
// answers each request at once with an empty payload.
//
// A line on stdin is answered with its port. It leaves when stdin ends.

#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <unistd.h>

#include "net/http_server.hpp"
#include "net/websocket.hpp"

namespace {

namespace asio = boost::asio;
namespace net = tare::net;

/// Of a request, whose first members are always its type and its id.
std::string_view id_of(std::string_view request) {
  constexpr std::string_view begin = R"({"type":"req","id":")";
  if (!request.starts_with(begin)) return {};
  request.remove_prefix(begin.size());
  return request.substr(0, request.find('"'));
}

void respond(net::WebSocket& socket, std::string_view request, std::string_view payload) {
  net::Outgoing response;
  response.own.append(R"({"type":"res","id":")").append(id_of(request));
  response.own.append(R"(","ok":true,"payload":)").append(payload).append("}");
  socket.send(response);
}

asio::awaitable<void> serve(net::Exchange& exchange) {
  const net::WebSocketLimits limits;
  net::WebSocket socket = co_await exchange.upgrade(limits);
  socket.send({nullptr, R"({"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":0}})"});
  try {
    const net::Message connect = co_await socket.read();
    respond(socket, connect.data, R"({"type":"hello-ok","protocol":4,"server":{"version":"1.0.0"}})");
    for (;;) {
      std::optional<net::Message> message = co_await socket.read();
      while (message) {
        respond(socket, message->data, "{}");
        message = socket.next();
      }
    }
  } catch (const net::Closed&) {
    co_return;  // the client has gone
  }
}

asio::awaitable<void> tell_port(asio::io_context& io, std::uint16_t port) {
  asio::posix::stream_descriptor in(io, ::dup(STDIN_FILENO));
  std::array<char, 256> line;
  boost::system::error_code ended;
  while (!ended) {
    const auto room = asio::buffer(line);
    co_await in.async_read_some(room, asio::redirect_error(asio::use_awaitable, ended));
    if (!ended) std::cout << port << std::endl;
  }
  io.stop();
}

}  // namespace

int main() {
  try {
    asio::io_context io{1};
    net::HttpServer server(io, "127.0.0.1", 0, {}, serve);
    asio::co_spawn(io, tell_port(io, server.port()), asio::detached);
    io.run();
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "rpc_server: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
