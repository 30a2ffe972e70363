#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "lab/gateway/client.hpp"
#include "lab/gateway/frame.hpp"
#include "lab/gateway/open_requests.hpp"
#include "net/loop.hpp"
#include "net/websocket.hpp"

namespace tare::lab_gateway {

/// Lives on, without its Client, only while a coroutine of it does.
class Client::Impl : public std::enable_shared_from_this<Impl> {
 public:
  explicit Impl(boost::asio::io_context& io);
  static boost::asio::awaitable<std::shared_ptr<Impl>> dial(boost::asio::io_context& io, Address address,
                                                            std::chrono::milliseconds limit);
  /// Runs for as long as there is a connection.
  boost::asio::awaitable<void> read_all();

  void ask(std::string_view method, std::string_view params, std::chrono::milliseconds limit,
           Answered answered, Answers answers);
  void on_event(std::function<void(const Event&)> event) { event_ = std::move(event); }
  void on_lost(std::function<void(const std::string&)> lost) { lost_ = std::move(lost); }
  const Traffic& traffic();
  std::size_t open() const { return requests_.waiting(); }
  bool is_open() const { return state_ == State::open; }
  const std::string& hello() const { return hello_; }
  boost::asio::io_context& io() { return io_; }

  boost::asio::awaitable<void> close();
  void drop();
  /// Ends the connection and calls nobody.
  void abandon();

 private:
  enum class State : std::uint8_t { open, closing, ended };
  /// Nothing once the gateway said hello, or what it said while it is still starting.
  boost::asio::awaitable<std::optional<Error>> connect(Address address, Instant until);
  boost::asio::awaitable<std::optional<Error>> shake_hands(Address address);
  void send(std::uint64_t id, std::string_view method, std::string_view params);
  void take(const net::Message& message);
  void take_response(const Frame& frame);
  void take_event(const Frame& frame);
  bool is_last(const OpenRequest& request, const Frame& frame) const;
  void answer(OpenRequest& request, const Frame& frame);
  void give_up(OpenRequest& request, load::Outcome outcome, const std::string& error);
  void give_up_all(load::Outcome outcome, const std::string& error);
  void sweep();
  void sweep_by(Instant moment);
  void hang_up();

  boost::asio::io_context& io_;
  std::optional<net::WebSocket> socket_;
  State state_ = State::open;
  OpenRequests requests_;
  net::Deadline sweeping_;
  Instant next_sweep_ = Instant::max();
  Instant read_;  ///< when what is being taken was read
  net::Outgoing out_;
  std::function<void(const Event&)> event_;
  std::function<void(const std::string&)> lost_;
  Traffic traffic_;
  std::optional<std::uint64_t> last_seq_;
  std::string hello_;
};

}  // namespace tare::lab_gateway
