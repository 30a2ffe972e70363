#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "benchmark.hpp"
#include "lab/process/child.hpp"
#include "net/websocket.hpp"

/// What the benchmarks of the built-in gateway share: `tare serve provider` and `tare serve gateway` as
/// processes on loopback, and clients of theirs in this one.
namespace tare::benchmarks {

/// Holds a signal back, as Interrupt does, until this object goes: then it ends this process after all.
class HeldSignals {
 public:
  HeldSignals() : interrupt_(std::in_place) {}
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  int fd() const { return interrupt_->fd(); }

 private:
  std::optional<Interrupt> interrupt_;
};

/// User and system time of all threads of a process, ended ones included; nothing when it is gone.
std::optional<Nanoseconds> process_cpu(pid_t pid);

/// A `tare serve …` process. It is killed when this object goes before it was stopped.
class Server {
 public:
  /// Returns once it has said that it serves. Its log goes to the file, its environment has the variables.
  Server(std::vector<std::string> arguments, std::map<std::string, std::string> environment,
         std::filesystem::path log, const HeldSignals& signals);

  pid_t pid() const { return child_.pid(); }
  std::uint16_t port() const { return port_; }
  /// User and system time of all its threads, ended ones included.
  Nanoseconds cpu() const;
  double rss_mb() const;
  double peak_rss_mb() const;
  /// SIGTERM. Throws Broken unless it leaves with exit code 0.
  void stop();

 private:
  std::string name_;
  std::filesystem::path log_;
  process::Child child_;
  std::uint16_t port_ = 0;
};

class GatewayClient;

struct GatewaySetup {
  std::size_t max_concurrent = 64;
  std::vector<std::string> provider{};  ///< more arguments of `tare serve provider`
};

/// A mock model server, a gateway with a token that asks it, and the loop of the clients. All of it, and its
/// folder, is gone with this object, also when SIGINT or its like comes: then that takes its course
/// afterwards.
class GatewayWorld {
 public:
  explicit GatewayWorld(GatewaySetup setup = {});
  ~GatewayWorld();
  GatewayWorld(const GatewayWorld&) = delete;
  GatewayWorld& operator=(const GatewayWorld&) = delete;

  boost::asio::io_context& io() { return io_; }
  Server& gateway() { return *gateway_; }
  const Server& provider() const { return *provider_; }

  /// A gateway whose state is in this folder of the world's; there is one at a time.
  void start_gateway(const std::string& state = "state");
  void stop_gateway();

  /// A connection that has shaken hands.
  std::shared_ptr<GatewayClient> connect();
  /// The same, within a coroutine.
  boost::asio::awaitable<std::shared_ptr<GatewayClient>> dial();

  /// Runs the loop until this is so. Throws what a client found to be wrong, Broken when it takes over a
  /// minute, Error(failed) after a signal.
  void run_until(const std::function<bool()>& so);
  /// Runs the loop until this coroutine has ended.
  void run(boost::asio::awaitable<void> work);
  void run_for(Nanoseconds time);
  /// Ends `run_until` with this.
  void fail(const std::exception_ptr& failure);
  void fail(const std::string& what, std::string_view why = {});

  /// Counts a turn, or another request to the model server, that was asked for; gives it a name.
  std::uint64_t next_turn() { return ++turns_; }
  /// Closes all clients and stops both processes. Throws Broken unless the model server was asked exactly
  /// once a turn.
  void finish();

 private:
  friend class GatewayClient;
  void drop_clients();

  HeldSignals held_;  ///< first, so that it goes last
  file::TemporaryFolder folder_;
  GatewaySetup setup_;
  boost::asio::io_context io_{1};
  boost::asio::posix::stream_descriptor signals_;
  bool interrupted_ = false;
  std::exception_ptr failure_;
  std::vector<std::weak_ptr<GatewayClient>> clients_;
  std::size_t readers_ = 0;  ///< coroutines that read a client's frames
  std::uint64_t turns_ = 0;
  std::optional<Server> provider_;
  std::optional<Server> gateway_;
};

/// An operator's connection. What is wrong with an answer, and that events are missing, fails the world.
class GatewayClient : public std::enable_shared_from_this<GatewayClient> {
 public:
  explicit GatewayClient(GatewayWorld& world) : world_(world) {}

  /// Gets a response, and when it was read.
  using Answered = std::function<void(std::string_view frame, Instant at)>;
  /// How many responses come to a request.
  enum class Answers : std::uint8_t { one = 1, two = 2 };
  void ask(std::string_view method, std::string_view params, Answered answered,
           Answers answers = Answers::one);

  /// Is called for each event.
  void on_event(Answered event) { event_ = std::move(event); }

  /// Ends the connection in order, and waits until the gateway has ended it too.
  boost::asio::awaitable<void> close();

 private:
  friend class GatewayWorld;
  struct Asked {
    Answered answered;
    int answers = 1;
  };
  boost::asio::awaitable<void> shake_hands();
  boost::asio::awaitable<void> read_all();
  void take(std::string_view frame);
  void take_event(std::string_view frame, Instant at);
  void take_response(std::string_view frame, Instant at);

  GatewayWorld& world_;
  std::optional<net::WebSocket> socket_;
  std::unordered_map<std::uint64_t, Asked> asked_;
  std::uint64_t last_id_ = 0;
  std::uint64_t seq_ = 0;
  bool closing_ = false;
  Answered event_;
};

/// One of several figures that have a limit each.
struct GatewayPart {
  std::string name;
  Measurement measurement;
  double limit = 0;
};

/// The part that is nearest to its limit, or furthest beyond it, with that limit; the note has all of them.
/// Where there is an interval its upper end counts, so that no part would be judged worse than this one.
Measurement worst_of(const std::vector<GatewayPart>& parts, std::string_view unit);

}  // namespace tare::benchmarks
