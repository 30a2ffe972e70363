#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/loop.hpp"

namespace tare::net {

class Tls;

/// What a try to read or write without waiting came to.
struct Transfer {
  enum class Next { go_on, wait_read, wait_write, end, failed };
  std::size_t bytes = 0;
  Next next = Next::go_on;
};

/// A TCP connection, and TLS over it when it was secured. It reads and writes without waiting, and waits for
/// readiness only: so an idle one has no buffer, and all that is written in one turn of the loop goes out at
/// once.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(boost::asio::io_context& io);
  /// Of an accepted socket.
  Stream(boost::asio::io_context& io, boost::asio::ip::tcp::socket socket);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Throws Error(unavailable) when there is no connection, Error(timeout) when the deadline passes.
  boost::asio::awaitable<void> connect(boost::asio::ip::tcp::endpoint endpoint);
  /// The client's handshake. Throws Error(unavailable) when it fails or the certificate isn't of this host.
  boost::asio::awaitable<void> secure(std::string host);

  /// What came and was not consumed. `consume` and `fill` invalidate it.
  std::span<char> input() { return {block_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes);
  /// Waits until there is more input. False when there never will be: the peer ended, it broke, it was
  /// closed. Not while another fill waits. Cancelling it loses nothing. With `block_bytes` of unconsumed
  /// input it throws Error(failed).
  boost::asio::awaitable<bool> fill();

  /// The end of what goes out, to append to; it is flushed at the end of the loop's turn.
  std::string& output();
  void write(std::string_view bytes) { output().append(bytes); }
  std::size_t queued() const { return out_.size() - sent_; }
  /// Hands the kernel what it takes now, and the rest when it takes more.
  void flush();
  /// Waits until no more than this many bytes are queued; closes when the kernel takes nothing for that long.
  /// False when it can't be written to any more.
  boost::asio::awaitable<bool> drain(std::size_t most, std::chrono::milliseconds stall);

  /// Sends what is queued, ends this side, and discards what comes until the peer ends its own: a connection
  /// that is closed at once can take back what the peer did not read yet. Takes two seconds at most, on its
  /// own.
  void finish();
  /// Closes at once. What waits for it goes on.
  void close();
  bool closed() const { return closed_; }
  /// False once the peer takes nothing any more; what it said before can still be read.
  bool writable() const { return !closed_ && !output_broken_; }
  /// True when there is something to read, or the peer has ended: an idle connection is of no use then.
  bool readable();
  /// Why it broke, "Connection reset by peer"; empty when the peer just ended.
  const std::string& why() const { return why_; }
  bool timed_out() const { return timed_out_; }

  /// Closes the stream when it passes, and makes `timed_out` true, unless its on_expiry is set.
  Deadline& deadline() { return deadline_; }
  /// Is called once, when it is closed.
  void on_close(std::function<void()> closed) { on_close_ = std::move(closed); }
  boost::asio::io_context& io() { return io_; }
  std::string peer() const;

  std::uint64_t bytes_in() const { return bytes_in_; }
  std::uint64_t bytes_out() const { return bytes_out_; }

 private:
  Transfer take(std::span<char> room);
  Transfer give(std::string_view bytes);
  boost::asio::awaitable<bool> ready(boost::asio::ip::tcp::socket::wait_type what);
  void make_room();
  void stash();
  void fail(std::string why);
  void break_output(std::string why);
  void expire();
  boost::asio::awaitable<void> linger();

  boost::asio::io_context& io_;
  Loop& loop_;
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<Tls> tls_;

  Loop::Block block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string stashed_;         ///< what of a block is left while it waits, so that the block serves others
  bool may_have_more_ = false;  ///< the last read took as much as it could

  std::string out_;
  std::size_t sent_ = 0;
  bool flush_due_ = false;
  bool output_broken_ = false;
  bool waits_to_write_ = false;

  Deadline deadline_;
  std::function<void()> on_close_;
  std::string why_;
  bool closed_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  bool timed_out_ = false;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

/// Connects, and secures it for https and wss, before the time is over. Throws Error(unavailable) or
/// Error(timeout).
boost::asio::awaitable<std::shared_ptr<Stream>> dial(boost::asio::io_context& io, std::string scheme,
                                                     std::string host, std::uint16_t port,
                                                     std::chrono::milliseconds limit);

}  // namespace tare::net
