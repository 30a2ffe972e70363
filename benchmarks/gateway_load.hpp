#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway_lanes.hpp"

/// Load of the built-in gateway: sessions with turns one after the other, and requests that are due at fixed
/// moments.
namespace tare::benchmarks {

/// "agent:main:s-00042"
std::string session_key(std::size_t session);

/// Creates sessions `first` to `end` − 1, each with so many messages, many requests in flight.
void seed_sessions(GatewayWorld& world, GatewayClient& client, std::size_t first, std::size_t end,
                   std::size_t messages);

/// The text of a seeded message.
std::string seeded_message(std::size_t session, std::size_t message);

struct TurnsShape {
  std::size_t first = 0;     ///< session
  std::size_t sessions = 8;  ///< each with one turn at a time
  unsigned chunks = 8;       ///< as the model server was told
  Nanoseconds delay{};       ///< between chunks, as it was told
};

/// Turns without end: a session's next begins when its last one has ended. Every reply is compared.
class Turns {
 public:
  Turns(GatewayWorld& world, GatewayClient& client, TurnsShape shape)
      : world_(world), client_(client), shape_(shape) {}

  /// The sessions begin evenly over the time of one chunk, and run until this has been read by all of them.
  void begin();
  /// No turn begins any more; waits for those that have.
  void end();

  std::uint64_t ended() const { return ended_; }
  /// Accepted, and not ended.
  std::size_t running() const { return running_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  boost::asio::awaitable<void> begin_later(std::size_t session);
  void next(std::size_t session);
  void check(std::string_view frame, std::string_view marker);

  GatewayWorld& world_;
  GatewayClient& client_;
  TurnsShape shape_;
  bool ending_ = false;
  std::size_t running_ = 0;
  std::size_t pending_ = 0;  ///< asked for, or about to be
  std::uint64_t accepted_ = 0;
  std::uint64_t ended_ = 0;
};

/// Takes what `--stamp text` puts into a text out of it.
std::string without_stamps(std::string_view text);

/// Asks so often, `every` after `every`, whatever has been answered by then. What it takes from a request
/// until its response was read, in milliseconds.
struct OpenLoop {
  std::size_t count = 2000;
  Nanoseconds every = std::chrono::milliseconds(5);
};
using Request = std::function<std::string(std::size_t i)>;
using Check = std::function<bool(std::string_view frame, std::size_t i)>;
std::vector<double> open_loop(GatewayWorld& world, GatewayClient& client, const OpenLoop& schedule,
                              std::string_view method, const Request& params, const Check& check);

}  // namespace tare::benchmarks
