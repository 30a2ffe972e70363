#include "engine/serve/stdio_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tare::engine {
namespace {

using kernel::Description;
using kernel::Errno;
using kernel::Result;
using kernel::Wait;

/// A frame of at most so much goes into a Unix socket whole or not at all: the kernel takes it in one piece.
constexpr std::size_t frame_bytes = std::size_t{32} << 10;
/// As much as fits into a socket that holds nothing, whatever the host's usual size of its buffer is (208
/// KiB, of which the kernel's own book-keeping takes up to a half).
constexpr std::size_t frame_bytes_if_empty = std::size_t{80} << 10;

struct Socket {
  Fd fd;
  std::optional<std::uint64_t> output_left;
  std::function<void()> on_limit;
  std::mutex writing{};
};

bool ready(int fd, short events) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, 0) > 0;
}

/// Sleeps until the socket is ready, or the process is woken.
Result<void> block_on(int fd, short events, const std::shared_ptr<Wait>& wait, Wait::Ticket ticket) {
  const auto event = wait->event_fd();
  if (!event.ok()) return Errno{event.error()};
  if (wait->interrupted()) return Errno{EINTR};
  if (wait->ticket() != ticket) return {};
  std::array<pollfd, 2> fds{pollfd{fd, events, 0}, pollfd{*event, POLLIN, 0}};
  ::poll(fds.data(), fds.size(), -1);
  wait->drain_event_fd();
  return wait->interrupted() ? Result<void>(Errno{EINTR}) : Result<void>();
}

class Input final : public kernel::HostStream {
 public:
  explicit Input(std::shared_ptr<Socket> socket) : HostStream(O_RDONLY), socket_(std::move(socket)) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    for (;;) {
      const ssize_t got = ::recv(socket_->fd.get(), into.data(), into.size(), MSG_DONTWAIT);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == ECONNRESET) return std::size_t{0};
      if (errno != EINTR) return Errno{errno};
    }
  }
  Result<std::size_t> write(std::span<const std::byte>) override { return Errno{EBADF}; }
  void hang_up() override { ::shutdown(socket_->fd.get(), SHUT_RDWR); }
  bool readable() const override { return ready(socket_->fd.get(), POLLIN); }
  std::optional<int> host_fd() const override { return socket_->fd.get(); }
  Result<void> block(const std::shared_ptr<Wait>& wait, Wait::Ticket ticket, Direction) override {
    return block_on(socket_->fd.get(), POLLIN, wait, ticket);
  }

 private:
  std::shared_ptr<Socket> socket_;
};

class Output final : public kernel::HostStream {
 public:
  Output(std::shared_ptr<Socket> socket, guest::Stream stream)
      : HostStream(O_WRONLY), socket_(std::move(socket)), stream_(stream) {}

  Result<std::size_t> read(std::span<std::byte>) override { return Errno{EBADF}; }

  Result<std::size_t> write(std::span<const std::byte> bytes) override {
    if (bytes.empty()) return std::size_t{0};
    const std::lock_guard lock(socket_->writing);
    const std::size_t size = std::min(bytes.size(), largest_frame(bytes.size()));
    if (socket_->output_left && *socket_->output_left < size) {
      socket_->on_limit();
      return Errno{ENOSPC};
    }
    std::string head = guest::encode_stdio_header(stream_, static_cast<std::uint32_t>(size));
    std::array<iovec, 2> parts{iovec{head.data(), head.size()},
                               iovec{const_cast<std::byte*>(bytes.data()), size}};
    if (const auto sent = send(parts); !sent.ok())
      return sent.error() == 0 ? Errno{EIO} : Errno{sent.error()};
    if (socket_->output_left) *socket_->output_left -= size;
    return size;
  }

  void hang_up() override { ::shutdown(socket_->fd.get(), SHUT_RDWR); }
  bool writable() const override { return ready(socket_->fd.get(), POLLOUT); }
  std::optional<int> host_fd() const override { return socket_->fd.get(); }
  Result<void> block(const std::shared_ptr<Wait>& wait, Wait::Ticket ticket, Direction) override {
    return block_on(socket_->fd.get(), POLLOUT, wait, ticket);
  }

 private:
  std::size_t largest_frame(std::size_t wanted) const {
    int unread = 0;
    const bool asks = wanted > frame_bytes && ::ioctl(socket_->fd.get(), SIOCOUTQ, &unread) == 0;
    return asks && unread == 0 ? frame_bytes_if_empty : frame_bytes;
  }

  /// All of it, or EAGAIN with nothing sent. Should the kernel ever take a part, the rest waits for room:
  /// half a frame is of no use to anybody.
  Result<void> send(std::array<iovec, 2> parts) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    bool begun = false;
    for (;;) {
      const ssize_t sent = ::sendmsg(socket_->fd.get(), &message, (begun ? 0 : MSG_DONTWAIT) | MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno == EINTR) continue;
        return Errno{errno};
      }
      auto left = static_cast<std::size_t>(sent);
      for (iovec& part : parts) {
        const std::size_t step = std::min(left, part.iov_len);
        part.iov_base = static_cast<char*>(part.iov_base) + step;
        part.iov_len -= step;
        left -= step;
      }
      if (parts[0].iov_len == 0 && parts[1].iov_len == 0) return {};
      begun = true;
    }
  }

  std::shared_ptr<Socket> socket_;
  guest::Stream stream_;
};

}  // namespace

StdioStreams make_stdio(Fd socket, std::optional<std::uint64_t> output_limit,
                        std::function<void()> on_limit) {
  const auto shared = std::make_shared<Socket>(std::move(socket), output_limit, std::move(on_limit));
  return {std::make_shared<Input>(shared), std::make_shared<Output>(shared, guest::Stream::standard_output),
          std::make_shared<Output>(shared, guest::Stream::standard_error)};
}

}  // namespace tare::engine
