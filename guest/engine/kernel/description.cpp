#include "engine/kernel/description.hpp"

#include <cerrno>

#include <fcntl.h>

namespace tare::kernel {

bool Description::may_read() const {
  return (flags_ & O_ACCMODE) != O_WRONLY;
}
bool Description::may_write() const {
  return (flags_ & O_ACCMODE) != O_RDONLY;
}

Result<std::size_t> Description::read(std::span<std::byte>) {
  return Errno{may_read() ? EINVAL : EBADF};
}
Result<std::size_t> Description::write(std::span<const std::byte>) {
  return Errno{may_write() ? EINVAL : EBADF};
}
Result<std::size_t> Description::pread(std::span<std::byte>, std::int64_t) {
  return Errno{ESPIPE};
}
Result<std::size_t> Description::pwrite(std::span<const std::byte>, std::int64_t) {
  return Errno{ESPIPE};
}
Result<std::int64_t> Description::seek(std::int64_t, Whence) {
  return Errno{ESPIPE};
}
Result<void> Description::truncate(std::int64_t) {
  return Errno{EINVAL};
}
Result<void> Description::sync() {
  return Errno{EINVAL};
}
Result<void> Description::change_mode(std::uint32_t) {
  return {};
}
Result<void> Description::change_owner(Owner) {
  return {};
}
Result<void> Description::change_times(Times) {
  return {};
}
// NOLINTNEXTLINE(performance-unnecessary-value-param): overriders keep it
void Description::watch(std::shared_ptr<Waker>, Direction) {}
void Description::unwatch(const std::shared_ptr<Waker>&, Direction) {}

Result<void> Description::block(const std::shared_ptr<Wait>& wait, Wait::Ticket ticket, Direction direction) {
  watch(wait, direction);
  // What became ready before the watch would not wake.
  const bool ready = direction == Direction::read ? readable() : writable();
  Result<void> slept;
  if (!ready) slept = wait->block(ticket);
  unwatch(wait, direction);
  if (wait->interrupted()) return Errno{EINTR};
  return slept;
}

Result<Stat> HostStream::stat() const {
  Stat stat;
  stat.mode = S_IFSOCK | 0777;
  stat.nlink = 1;
  stat.ino = 1;
  return stat;
}

Result<std::size_t> read_blocking(const std::shared_ptr<Wait>& wait, Description& from,
                                  std::span<std::byte> into) {
  for (;;) {
    const Wait::Ticket ticket = wait->ticket();
    if (wait->interrupted()) return Errno{EINTR};
    auto done = from.read(into);
    if (done.error() != EAGAIN) return done;
    if (auto slept = from.block(wait, ticket, Description::Direction::read); !slept.ok()) {
      return Errno{slept.error()};
    }
  }
}

Result<void> write_blocking(const std::shared_ptr<Wait>& wait, Description& to,
                            std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const Wait::Ticket ticket = wait->ticket();
    if (wait->interrupted()) return Errno{EINTR};
    const auto done = to.write(bytes);
    if (done.ok()) {
      bytes = bytes.subspan(*done);
    } else if (done.error() != EAGAIN) {
      return Errno{done.error()};
    } else if (auto slept = to.block(wait, ticket, Description::Direction::write); !slept.ok()) {
      return slept;
    }
  }
  return {};
}

}  // namespace tare::kernel
