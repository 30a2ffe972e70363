#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "lab/load/series.hpp"
#include "net/http.hpp"

/// What the lab knows of gateways: a client of the gateway protocol, version 4, and the processes in which
/// gateways and their model server run.
namespace tare::lab_gateway {

inline constexpr int protocol_version = 4;
inline constexpr std::chrono::milliseconds handshake_limit{8'000};
inline constexpr std::chrono::milliseconds rpc_limit{65'000};

struct Address {
  net::Url url;  ///< ws or wss
  std::optional<std::string> token;
};

/// How a request was answered, or why it was not. The views live as long as the call that gives them.
struct Answer {
  load::Outcome outcome = load::Outcome::ok;
  std::string_view payload;  ///< JSON; of an `ok:true` response
  std::string_view code;     ///< of a refusal: "UNAVAILABLE"
  std::string error;         ///< why it is not ok, in words, at most 500 bytes
  Instant sent;
  Instant at;  ///< when it was read
};

/// An event of the gateway. The views live as long as the call that gives them.
struct Event {
  std::string_view name;     ///< "agent"
  std::string_view payload;  ///< JSON
  Instant at;
};

/// What was wrong with what a connection received, and how much it received.
struct Traffic {
  std::uint64_t responses = 0;
  std::uint64_t events = 0;
  std::uint64_t sequence_gaps = 0;      ///< places where `seq` did not go on
  std::uint64_t missing_events = 0;     ///< numbers that were left out there
  std::uint64_t unasked_responses = 0;  ///< to no request, or one more than it may get
  std::uint64_t late_responses = 0;     ///< to a request that was given up before
  std::uint64_t malformed_frames = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

/// An operator's connection to a gateway. One thread, that of its io_context.
class Client {
 public:
  /// Connects, shakes hands as `gateway-client` in mode `backend` and returns once the gateway said hello.
  /// Throws Error(unavailable) when nobody is there, Error(timeout) after `limit`, and Error(failed) in the
  /// gateway's own words: another protocol version ("the gateway speaks protocol 3, the lab speaks 4"), a
  /// token that is missing or wrong (hint: --token), anything that is no gateway.
  static boost::asio::awaitable<std::shared_ptr<Client>> connect(boost::asio::io_context& io, Address address,
                                                                 std::chrono::milliseconds limit);
  class Impl;
  explicit Client(std::shared_ptr<Impl> impl);
  /// Drops the connection, and what is open without calling anybody; coroutines that wait in `request` throw.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  using Answered = std::function<void(const Answer&)>;
  /// How many responses come to a request: `agent` gets two, unless its first one is a refusal or has another
  /// status than "accepted" (a repeated one: in_flight, or how the run ended).
  enum class Answers : std::uint8_t { one, two };

  /// Sends a request whose parameters are this JSON. `answered` is called for each response; once, with an
  /// outcome that is not ok, when the time is over, the gateway refuses, or the connection ends. A response
  /// that comes after the time was over is counted, not given. A time is over at most 5 ms late.
  void ask(std::string_view method, std::string_view params, std::chrono::milliseconds limit,
           Answered answered, Answers answers = Answers::one);

  /// The payload of the response. Throws Error(failed) "sessions.patch failed: no such session",
  /// Error(timeout).
  boost::asio::awaitable<std::string> request(std::string method, std::string params,
                                              std::chrono::milliseconds limit);

  /// Is called for each event; before that events are counted only.
  void on_event(std::function<void(const Event&)> event);
  /// Is called once when the connection ends in any way but `close`, with why.
  void on_lost(std::function<void(const std::string& why)> lost);

  const Traffic& traffic() const;
  std::size_t open() const;  ///< requests that were not answered to the end
  bool is_open() const;
  /// Of the connection's hello, JSON.
  const std::string& hello() const;

  /// Ends the connection in order, two seconds at most; what was not answered is answered as censored.
  boost::asio::awaitable<void> close();
  /// Ends it at once; what was not answered is answered as censored before this returns.
  void drop();

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::lab_gateway
