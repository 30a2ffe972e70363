#include "protocol/socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tare::guest {
namespace {

constexpr std::size_t receive_bytes = std::size_t{64} << 10;
constexpr std::size_t most_descriptors_at_once = 8;

Error socket_error(int error) {
  return Error(ErrorCode::failed, "the socket to a guest engine failed", errno_text(error));
}

}  // namespace

SocketPair make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) throw socket_error(errno);
  return {Fd(fds[0]), Fd(fds[1])};
}

ssize_t send_some(int socket, std::string_view bytes, int passed, int flags) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (passed >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno != EINTR) return -errno;
  }
}

bool send_all(int socket, std::string_view bytes, int passed) {
  while (!bytes.empty()) {
    const ssize_t sent = send_some(socket, bytes, passed, 0);
    if (sent == -EPIPE || sent == -ECONNRESET) return false;
    if (sent < 0) throw socket_error(static_cast<int>(-sent));
    passed = -1;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Receiver::has_more() const {
  pollfd entry{socket_, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

std::string_view Receiver::receive() {
  buffer_.resize(receive_bytes);
  for (;;) {
    iovec piece{buffer_.data(), buffer_.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_descriptors_at_once)];
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t received = ::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == ECONNRESET) return {};
    if (received < 0) throw socket_error(errno);
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
        descriptors_.emplace_back(fd);
      }
    }
    return {buffer_.data(), static_cast<std::size_t>(received)};
  }
}

Fd Receiver::take_descriptor() {
  if (descriptors_.empty()) return {};
  Fd taken = std::move(descriptors_.front());
  descriptors_.pop_front();
  return taken;
}

}  // namespace tare::guest
