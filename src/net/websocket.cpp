#include "net/websocket.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "net/websocket_impl.hpp"

namespace tare::net {
namespace asio = boost::asio;
namespace {

/// Sets a flag for as long as it lives, a cancelled coroutine included.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  ~Flag() { flag_ = false; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

 private:
  bool& flag_;
};

}  // namespace

Closed::Closed(CloseCode close_code, std::string reason)
    : Error(ErrorCode::failed,
            fmt::format("the connection was closed with {}", static_cast<unsigned>(close_code)), reason),
      close_code_(close_code),
      reason_(std::move(reason)) {}

WebSocket::Impl::Impl(std::shared_ptr<Stream> stream, Role role, WebSocketLimits limits)
    : stream_(std::move(stream)),
      loop_(Loop::of(stream_->io())),
      role_(role),
      limits_(limits),
      reader_(role, limits.message_bytes) {
  stream_->deadline().on_expiry([this] { tick(); });
  if (limits_.ping_every.count() > 0) stream_->deadline().after(limits_.ping_every);
}

std::optional<Message> WebSocket::Impl::next() {
  while (!ended_ && !stream_->input().empty()) {
    FrameReader::Result frame;
    try {
      frame = reader_.read(stream_->input());
    } catch (const Closed& broken) {
      answer_close(broken.close_code(), broken.reason());
      end(broken.close_code(), broken.reason());
    }
    stream_->consume(frame.used);
    if (auto message = take(std::move(frame))) return message;
  }
  if (ended_) throw Closed(*ended_);
  return std::nullopt;
}

std::optional<Message> WebSocket::Impl::take(FrameReader::Result frame) {
  using Kind = FrameReader::Kind;
  switch (frame.kind) {
    case Kind::text:
      return Message{MessageKind::text, std::move(frame.data)};
    case Kind::binary:
      return Message{MessageKind::binary, std::move(frame.data)};
    case Kind::ping:
      write(Opcode::pong, frame.data, {});
      break;
    case Kind::close:
      answer_close(frame.code, {});
      end(frame.code, std::move(frame.data));
    case Kind::pong:
    case Kind::nothing:
      break;
  }
  return std::nullopt;
}

asio::awaitable<Message> WebSocket::Impl::read() {
  const auto keep = shared_from_this();
  for (;;) {
    if (auto message = next()) co_return std::move(*message);
    const Flag flag(reading_);
    if (!co_await stream_->fill() && !ended_) {
      stream_->close();
      end(CloseCode::abnormal, stream_->why().empty() ? "the peer left" : stream_->why());
    }
  }
}

bool WebSocket::Impl::write(Opcode opcode, std::string_view first, std::string_view second) {
  if (ended_ || close_sent_ || !stream_->writable()) return false;
  if (stream_->queued() > limits_.buffered_bytes) stream_->flush();
  // What counts is what was left unread before: one message may be larger than that.
  if (stream_->queued() > limits_.buffered_bytes) {
    too_slow_ = true;
    ended_.emplace(CloseCode::abnormal, "its reader is too slow");
    stream_->close();
    return false;
  }
  std::optional<MaskKey> mask;
  if (role_ == Role::client) mask = loop_.mask();
  append_frame(stream_->output(), opcode, first, second, mask);
  return stream_->writable();
}

bool WebSocket::Impl::send(const Outgoing& message) {
  return write(Opcode::text, message.shared ? std::string_view(*message.shared) : std::string_view(),
               message.own);
}

void WebSocket::Impl::answer_close(CloseCode code, std::string_view reason) {
  write(Opcode::close, close_payload(code, reason), {});
  close_sent_ = true;
  stream_->finish();
}

void WebSocket::Impl::end(CloseCode code, std::string reason) {
  if (!ended_) ended_.emplace(code, std::move(reason));
  if (closing_) closing_->cancel();
  throw Closed(*ended_);
}

asio::awaitable<void> WebSocket::Impl::close(CloseCode code, std::string reason) {
  const auto keep = shared_from_this();
  if (ended_ || close_sent_ || !write(Opcode::close, close_payload(code, reason), {})) co_return;
  close_sent_ = true;
  stream_->deadline().on_expiry([this] { stream_->close(); });
  stream_->deadline().after(limits_.close_time);
  if (reading_) {
    closing_ = std::make_unique<asio::steady_timer>(stream_->io(), limits_.close_time);
    co_await closing_->async_wait(asio::as_tuple(asio::use_awaitable));
  } else {
    try {
      for (;;) co_await read();
    } catch (const Closed&) {
    }
  }
  if (!ended_) stream_->close();
}

void WebSocket::Impl::drop() {
  if (ended_) return;
  stream_->flush();
  stream_->close();
}

void WebSocket::Impl::tick() {
  if (stream_->bytes_in() != std::exchange(seen_bytes_, stream_->bytes_in()) || !reading_) {
    unanswered_ = 0;
  } else if (unanswered_ == 2) {
    if (!ended_) ended_.emplace(CloseCode::abnormal, "no answer to a ping");
    return stream_->close();
  } else {
    ++unanswered_;
    write(Opcode::ping, {}, {});
  }
  stream_->deadline().after(limits_.ping_every);
}

WebSocket::WebSocket(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebSocket::WebSocket(WebSocket&&) noexcept = default;

WebSocket& WebSocket::operator=(WebSocket&& other) noexcept {
  if (this != &other) {
    if (impl_) impl_->drop();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

WebSocket::~WebSocket() {
  if (impl_) impl_->drop();
}

asio::awaitable<Message> WebSocket::read() {
  return impl_->read();
}
std::optional<Message> WebSocket::next() {
  return impl_->next();
}
void WebSocket::limit_messages(std::size_t bytes) {
  impl_->limit_messages(bytes);
}

bool WebSocket::send(const Outgoing& message) {
  return impl_->send(message);
}
std::size_t WebSocket::buffered() const {
  return impl_->stream().queued();
}
bool WebSocket::too_slow() const {
  return impl_->too_slow();
}
asio::awaitable<void> WebSocket::close(CloseCode code, std::string reason) {
  return impl_->close(code, std::move(reason));
}
std::uint64_t WebSocket::bytes_in() const {
  return impl_->stream().bytes_in();
}
std::uint64_t WebSocket::bytes_out() const {
  return impl_->stream().bytes_out();
}

}  // namespace tare::net
