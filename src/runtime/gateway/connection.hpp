#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "net/websocket.hpp"
#include "runtime/gateway/handshake.hpp"
#include "runtime/gateway/hub.hpp"
#include "runtime/gateway/log.hpp"
#include "runtime/gateway/methods.hpp"

namespace tare::gateway {

/// What became of connections.
struct ConnectionFacts {
  std::uint64_t opened = 0;
  std::uint64_t handshakes = 0;
  std::uint64_t refused = 0;       ///< handshakes
  std::uint64_t dropped_slow = 0;  ///< whose reader was too slow
};

/// What all connections share.
struct ConnectionContext {
  boost::asio::io_context& io;
  const Clock& clock;
  const Log& log;
  Hub& hub;
  Methods& methods;
  ConnectionFacts& facts;
  Server server;
  std::optional<std::string> token;
  std::size_t max_payload;
  std::chrono::milliseconds handshake_time;
  HandshakePolicy::Phase phase = HandshakePolicy::Phase::starting;
};

/// A client that has not said who it is may send so much at once.
inline constexpr std::size_t unknown_client_bytes = 64 * 1024;

/// One client from its challenge to its end.
class Connection final : public Outlet, public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionContext& context, net::WebSocket socket, std::string peer);

  /// Ends when the connection has.
  boost::asio::awaitable<void> run();
  void send(std::shared_ptr<const std::string> shared, std::string own) override;
  /// Says goodbye, for instance as the gateway ends.
  boost::asio::awaitable<void> close(net::CloseCode code, std::string reason);

 private:
  boost::asio::awaitable<bool> greet();
  boost::asio::awaitable<void> serve();
  void take(const net::Message& message);

  ConnectionContext& context_;
  net::WebSocket socket_;
  std::string peer_;
  std::string id_;
  std::shared_ptr<Client> client_;
  bool is_dropped_ = false;
};

}  // namespace tare::gateway
