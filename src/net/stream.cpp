#include "net/stream.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "base/error.hpp"
#include "net/tls.hpp"

namespace tare::net {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds linger_time{2};
constexpr std::size_t write_now = 64 * 1024;  ///< so much is not held back until the turn ends

void prepare(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
}

}  // namespace

Stream::Stream(asio::io_context& io)
    : io_(io), loop_(Loop::of(io)), socket_(io), deadline_(loop_, [this] { expire(); }) {}

Stream::Stream(asio::io_context& io, tcp::socket socket)
    : io_(io), loop_(Loop::of(io)), socket_(std::move(socket)), deadline_(loop_, [this] { expire(); }) {
  prepare(socket_);
}

Stream::~Stream() {
  close();
}

asio::awaitable<void> Stream::connect(tcp::endpoint endpoint) {
  const auto keep = shared_from_this();
  auto [error] = co_await socket_.async_connect(endpoint, tuple);
  const auto place = [&] { return fmt::format("{}:{}", endpoint.address().to_string(), endpoint.port()); };
  if (timed_out_) throw Error(ErrorCode::timeout, "no connection to " + place() + " within the time limit");
  if (closed_) throw Error(ErrorCode::unavailable, "the connection to " + place() + " was closed");
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error) throw Error(ErrorCode::unavailable, "cannot connect to " + place(), errno_text(error.value()));
  prepare(socket_);
}

asio::awaitable<void> Stream::secure(std::string host) {
  const auto keep = shared_from_this();
  tls_ = std::make_unique<Tls>(socket_.native_handle(), host);
  for (;;) {
    const Transfer::Next next = tls_->handshake().next;
    if (next == Transfer::Next::go_on) co_return;
    if (next == Transfer::Next::end || next == Transfer::Next::failed) {
      throw Error(ErrorCode::unavailable, "no secure connection to " + host, tls_->why());
    }
    const auto what = next == Transfer::Next::wait_write ? tcp::socket::wait_write : tcp::socket::wait_read;
    if (!co_await ready(what)) {
      if (timed_out_)
        throw Error(ErrorCode::timeout, "no secure connection to " + host + " within the time limit");
      throw Error(ErrorCode::unavailable, "no secure connection to " + host, why_);
    }
  }
}

Transfer Stream::take(std::span<char> room) {
  if (tls_) return tls_->read(room);
  for (;;) {
    const ssize_t n = ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
    if (n > 0) return {static_cast<std::size_t>(n), Transfer::Next::go_on};
    if (n == 0) return {0, Transfer::Next::end};
    if (errno == EAGAIN) return {0, Transfer::Next::wait_read};
    if (errno != EINTR) return {0, Transfer::Next::failed};
  }
}

Transfer Stream::give(std::string_view bytes) {
  if (tls_) return tls_->write(bytes);
  for (;;) {
    const ssize_t n =
        ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) return {static_cast<std::size_t>(n), Transfer::Next::go_on};
    if (errno == EAGAIN) return {0, Transfer::Next::wait_write};
    if (errno != EINTR) return {0, Transfer::Next::failed};
  }
}

void Stream::consume(std::size_t bytes) {
  begin_ += bytes;
  if (begin_ < end_) return;
  begin_ = end_ = 0;
  loop_.give_block(std::move(block_));
}

void Stream::make_room() {
  if (!block_) {
    block_ = loop_.take_block();
    begin_ = 0;
    end_ = stashed_.size();
    std::memcpy(block_.get(), stashed_.data(), end_);
    stashed_ = {};
  } else if (begin_ > 0) {
    std::memmove(block_.get(), block_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
}

void Stream::stash() {
  if (!block_) return;
  stashed_.assign(block_.get() + begin_, end_ - begin_);
  begin_ = end_ = 0;
  loop_.give_block(std::move(block_));
}

asio::awaitable<bool> Stream::fill() {
  const auto keep = shared_from_this();
  const std::size_t had = input().size();
  if (had == Loop::block_bytes) throw Error(ErrorCode::failed, "a peer sent more than the buffer takes");
  auto wait = tcp::socket::wait_read;
  bool wait_first = !may_have_more_;
  // Others have their turn first: timers too, that would be late by all that many connections have to read.
  if (may_have_more_) co_await asio::post(io_, asio::use_awaitable);
  for (;;) {
    if (closed_ || ended_) co_return false;
    if (wait_first) {
      stash();
      // A cancelled wait leaves the rest in its place, for the next one.
      const bool is_ready = co_await ready(wait);
      if (!is_ready) co_return false;
    }
    make_room();
    const std::span<char> room(block_.get() + end_, Loop::block_bytes - end_);
    const Transfer got = take(room);
    if (got.bytes > 0) {
      end_ += got.bytes;
      bytes_in_ += got.bytes;
      may_have_more_ = tls_ || got.bytes == room.size();
      co_return true;
    }
    may_have_more_ = false;
    wait_first = true;
    if (got.next == Transfer::Next::end) {
      ended_ = true;
    } else if (got.next == Transfer::Next::failed) {
      fail(tls_ ? tls_->why() : errno_text(errno));
    } else {
      wait = got.next == Transfer::Next::wait_write ? tcp::socket::wait_write : tcp::socket::wait_read;
    }
  }
}

asio::awaitable<bool> Stream::ready(tcp::socket::wait_type what) {
  if (closed_) co_return false;
  auto [error] = co_await socket_.async_wait(what, tuple);
  if (closed_) co_return false;
  if (error) throw boost::system::system_error(error);  // cancelled
  co_return true;
}

std::string& Stream::output() {
  if (queued() > write_now) flush();
  if (!writable()) {
    out_.clear();
    return out_;
  }
  if (out_.empty()) out_ = loop_.take_buffer();
  if (!flush_due_ && !waits_to_write_) {
    flush_due_ = true;
    loop_.flush_later(shared_from_this());
  }
  return out_;
}

void Stream::flush() {
  flush_due_ = false;
  if (!writable() || waits_to_write_) return;
  while (queued() > 0) {
    const Transfer gave = give(std::string_view(out_).substr(sent_));
    sent_ += gave.bytes;
    bytes_out_ += gave.bytes;
    if (gave.next == Transfer::Next::failed || gave.next == Transfer::Next::end) {
      return break_output(tls_ ? tls_->why() : errno_text(errno));
    }
    if (gave.bytes > 0) continue;
    if (sent_ > out_.size() / 2)
      out_.erase(0, std::exchange(sent_, 0));  // not each time: it may be megabytes
    waits_to_write_ = true;
    const auto what =
        gave.next == Transfer::Next::wait_read ? tcp::socket::wait_read : tcp::socket::wait_write;
    socket_.async_wait(what, [self = shared_from_this()](const boost::system::error_code&) {
      self->waits_to_write_ = false;
      self->flush();
    });
    return;
  }
  sent_ = 0;
  loop_.give_buffer(std::exchange(out_, {}));
}

void Stream::break_output(std::string why) {
  why_ = std::move(why);
  output_broken_ = true;
  out_ = {};
  sent_ = 0;
}

asio::awaitable<bool> Stream::drain(std::size_t most, std::chrono::milliseconds stall) {
  const auto keep = shared_from_this();
  if (queued() > most) flush();
  while (writable() && queued() > most) {
    deadline_.after(stall);
    co_await ready(tcp::socket::wait_write);
    deadline_.clear();
    flush();
  }
  co_return writable();
}

void Stream::finish() {
  if (closed_ || std::exchange(finishing_, true)) return;
  deadline_.on_expiry([this] { close(); });
  deadline_.after(linger_time);
  asio::co_spawn(io_, [self = shared_from_this()] { return self->linger(); }, asio::detached);
}

asio::awaitable<void> Stream::linger() {
  flush();
  while (!closed_ && queued() > 0) {
    co_await ready(tcp::socket::wait_write);
    flush();
  }
  boost::system::error_code ignored;
  if (!closed_) socket_.shutdown(tcp::socket::shutdown_send, ignored);
  consume(input().size());
  while (co_await fill()) consume(input().size());
  close();
}

bool Stream::readable() {
  char byte;
  return closed_ || ended_ || !input().empty() ||
         ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

void Stream::fail(std::string why) {
  if (!closed_) why_ = std::move(why);
  close();
}

void Stream::expire() {
  timed_out_ = true;
  fail("it took too long");
}

void Stream::close() {
  if (std::exchange(closed_, true)) return;
  deadline_.clear();
  boost::system::error_code ignored;
  socket_.close(ignored);
  loop_.give_block(std::move(block_));
  begin_ = end_ = sent_ = 0;
  stashed_ = {};
  out_ = {};
  if (const auto closed = std::exchange(on_close_, {})) closed();
}

std::string Stream::peer() const {
  boost::system::error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  return error ? std::string() : endpoint.address().to_string();
}

}  // namespace tare::net
