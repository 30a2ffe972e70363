#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace tare::net {

class Stream;
class Deadline;

/// What all connections of one io_context share, so that an idle one needs no buffer and no timer of its own:
/// buffers while there is something in them, one timer for all deadlines, and one flush at the end of a turn.
class Loop final : public boost::asio::execution_context::service {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  using key_type = Loop;
  static boost::asio::execution_context::id id;

  explicit Loop(boost::asio::io_context& io);
  static Loop& of(boost::asio::io_context& io);

  /// Flushes the stream after the handlers that are ready now.
  void flush_later(std::shared_ptr<Stream> stream);

  static constexpr std::size_t block_bytes = 64 * 1024;
  using Block = std::unique_ptr<char[]>;  ///< of block_bytes
  Block take_block();
  void give_block(Block block);
  /// An empty string which has room already.
  std::string take_buffer();
  void give_buffer(std::string buffer);

  /// Four bytes from the kernel's generator, for the mask of a frame (RFC 6455, 5.3).
  std::array<unsigned char, 4> mask();

 private:
  friend class Deadline;
  void shutdown() noexcept override;
  void flush();
  void arm();
  void expire();

  boost::asio::io_context& io_;
  std::vector<std::shared_ptr<Stream>> unflushed_;
  std::vector<Block> blocks_;
  std::vector<std::string> buffers_;
  std::multimap<Moment, Deadline*> deadlines_;
  boost::asio::steady_timer timer_;
  Moment armed_ = Moment::max();
  bool shut_ = false;
  std::array<unsigned char, 4096> random_;
  std::size_t random_used_ = sizeof(random_);
};

/// A moment at which something is called, unless it was moved or cleared. Moving it further away costs
/// nothing.
class Deadline {
 public:
  Deadline(Loop& loop, std::function<void()> expired) : loop_(loop), expired_(std::move(expired)) {}
  ~Deadline() { clear(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void after(std::chrono::nanoseconds time);
  void at(Loop::Moment moment);
  void clear();
  /// Calls that from now on.
  void on_expiry(std::function<void()> expired) { expired_ = std::move(expired); }

 private:
  friend class Loop;
  Loop& loop_;
  std::function<void()> expired_;
  Loop::Moment when_{};
  std::optional<std::multimap<Loop::Moment, Deadline*>::iterator> entry_;
};

}  // namespace tare::net
