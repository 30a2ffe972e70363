#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/fd.hpp"

/// Bytes and descriptors over the Unix socket between client and engine.
namespace tare::guest {

struct SocketPair {
  Fd ours;
  Fd theirs;
};
/// A SOCK_STREAM pair, closed on exec. Throws Error(failed).
SocketPair make_socket_pair();

/// One sendmsg of at most all of `bytes`, with `passed` (a descriptor, or -1) on the first of them. How many
/// were taken, or minus the errno. Raises no SIGPIPE; `flags` are those of send(2).
ssize_t send_some(int socket, std::string_view bytes, int passed, int flags);

/// Writes all of `bytes`, blocking, with `passed` (a descriptor, or -1) on the first of them. False when the
/// other side is gone. Throws Error(failed) otherwise. Raises no SIGPIPE. The caller sees to it that no other
/// thread writes at the same time.
bool send_all(int socket, std::string_view bytes, int passed = -1);

/// What came over a socket: bytes, and the descriptors that rode along, in their order. The kernel never
/// gives the bytes after those that carry a descriptor before that descriptor: so when a whole frame that
/// needs one is there, the oldest unclaimed one is its own. Not thread-safe.
class Receiver {
 public:
  explicit Receiver(int socket) : socket_(socket) {}

  /// Whether receive() would not have to wait.
  bool has_more() const;

  /// Waits for bytes; the view is valid until the next call. Empty at the end. Throws Error(failed).
  std::string_view receive();

  /// The oldest descriptor that nobody took yet. Empty when the sender forgot it, or when this process
  /// has no room for one more.
  Fd take_descriptor();

 private:
  int socket_;
  std::string buffer_;
  std::deque<Fd> descriptors_;
};

}  // namespace tare::guest
