#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "lab/gateway/client.hpp"
#include "lab/gateway/server.hpp"

namespace tare::lab_gateway {

enum class TargetKind : std::uint8_t {
  embedded,  ///< `tare serve gateway`
  openclaw,  ///< the real one, from npm
  url,       ///< one that runs already: nothing is started or stopped
};

/// A gateway to measure, found but not started.
struct Target {
  TargetKind kind = TargetKind::embedded;
  std::string id;                      ///< "embedded", "openclaw" or "url"
  std::filesystem::path program;       ///< tare, or OpenClaw's entry file; empty for url
  std::filesystem::path node;          ///< that runs the entry; empty otherwise
  std::optional<std::string> version;  ///< "2026.9.6"; of url: what its hello says, once connected
  std::optional<Address> address;      ///< of url
};

struct TargetWish {
  TargetKind kind = TargetKind::embedded;
  std::optional<std::filesystem::path> entry = {};  ///< of openclaw; else the installed package's
  std::optional<std::string> url = {};
  std::optional<std::string> token = {};  ///< of url
};
/// Throws Error(usage) for an entry that is not there, or a URL that is missing or not one of a WebSocket;
/// Error(unavailable) with `tare targets install openclaw` when the package, or the Node that it needs, is
/// not there.
Target find_target(const TargetWish& wish);

/// What a gateway is started with.
struct GatewaySetup {
  std::filesystem::path root;  ///< a fresh folder for its state and files
  std::string provider_url;    ///< "http://127.0.0.1:8081/v1"
  std::optional<std::string> provider_key = {};
  std::string model = "gpt-5.6-luna";
  std::size_t max_concurrent = 8;  ///< turns at once
  std::size_t provider_connections = 64;
  std::size_t max_sessions = 10'000;
  std::optional<std::filesystem::path> timeline = {};  ///< diagnostics spans go there
  bool utility_model = false;                          ///< openclaw: recaps by the model
  bool tools = false;                                  ///< openclaw: turns call tools
  std::size_t plugins = 0;                             ///< openclaw: synthetic plugins
};

/// A gateway of a run. Stopped and killed, if it was started here, when this object goes.
class Gateway {
 public:
  virtual ~Gateway() = default;
  /// Starts it and waits until /readyz answers 200 and the gateway dispatches turns (OpenClaw says
  /// "startup trace: sidecars.ready " then); one that runs already has to answer /readyz. Throws Error:
  /// failed when it ends, unavailable when a url is not reachable or a program is not there, timeout when it
  /// is not ready at the deadline.
  virtual boost::asio::awaitable<void> start(Instant deadline) = 0;
  /// Once started.
  virtual const Address& address() const = 0;
  /// Its HTTP side, once started: "http://127.0.0.1:18789/".
  virtual const net::Url& http() const = 0;
  /// From the moment `start` has made a process, also when it failed after that; null before, and for one
  /// that was not started here.
  virtual Server* server() = 0;
};
std::unique_ptr<Gateway> make_gateway(boost::asio::io_context& io, const Target& target, GatewaySetup setup);

/// The mock model server.
struct ProviderSetup {
  std::filesystem::path log;  ///< a line for each request
  std::size_t chunks = 8;
  double chunk_delay_ms = 1000;
};
struct Provider {
  std::unique_ptr<Server> server;
  std::string url;  ///< "http://127.0.0.1:8081/v1"
};
boost::asio::awaitable<Provider> start_provider(boost::asio::io_context& io, ProviderSetup setup,
                                                Instant deadline);

}  // namespace tare::lab_gateway
