#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/kernel/result.hpp"
#include "engine/kernel/stat.hpp"
#include "engine/kernel/waker.hpp"

namespace tare::kernel {

/// An open file description: what several descriptors of several processes may share (dup, inheritance). It
/// is closed when the last shared_ptr to it goes. Thread-safe. Every operation has the errnos of Linux and
/// none blocks: what would block is EAGAIN. Operations that a kind does not have give what Linux gives:
/// ESPIPE, EINVAL, EISDIR, EBADF.
class Description {
 public:
  enum class Kind { file, directory, null, zero, random, pipe_reader, pipe_writer, duplex, host };
  enum class Whence { set, current, end };
  enum class Direction { read, write };

  virtual ~Description() = default;
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  virtual Kind kind() const = 0;
  /// The flags of open(2) that stay: access mode, O_APPEND.
  int flags() const { return flags_; }
  bool may_read() const;
  bool may_write() const;

  /// How many bytes were read; 0 is the end.
  virtual Result<std::size_t> read(std::span<std::byte> into);
  /// How many bytes were written: possibly fewer than given, never 0 unless none were given.
  virtual Result<std::size_t> write(std::span<const std::byte> bytes);
  virtual Result<std::size_t> pread(std::span<std::byte> into, std::int64_t offset);
  virtual Result<std::size_t> pwrite(std::span<const std::byte> bytes, std::int64_t offset);
  virtual Result<std::int64_t> seek(std::int64_t offset, Whence whence);
  virtual Result<Stat> stat() const = 0;
  virtual Result<void> truncate(std::int64_t size);
  virtual Result<void> sync();
  virtual Result<void> change_mode(std::uint32_t mode);
  virtual Result<void> change_owner(Owner owner);
  virtual Result<void> change_times(Times times);

  /// Whether read() would not be EAGAIN now: there are bytes, or the end, or an error.
  virtual bool readable() const { return true; }
  /// Whether write() would not be EAGAIN now (for a pipe: up to 4,096 bytes).
  virtual bool writable() const { return true; }

  /// From now on `waker` is woken whenever the description becomes readable or writable (an edge: bytes come
  /// into an empty pipe, the last writer or reader goes, a full pipe has room again). What is ready already
  /// does not wake: look at readable() and writable() after watch(). A waker is watched as often as it was
  /// added.
  virtual void watch(std::shared_ptr<Waker> waker, Direction direction);
  virtual void unwatch(const std::shared_ptr<Waker>& waker, Direction direction);

  /// A host descriptor whose readiness (poll) is this description's, for the kinds that are an outer socket.
  virtual std::optional<int> host_fd() const { return std::nullopt; }

  /// Ends it for its other side while descriptors of it are still open. For an outer socket; others stay.
  virtual void hang_up() {}

  /// Sleeps in `wait` until this may have become ready after `ticket` was taken. EINTR once interrupted.
  /// Kinds that are an outer socket replace it with a poll() of the socket and of wait.event_fd().
  virtual Result<void> block(const std::shared_ptr<Wait>& wait, Wait::Ticket ticket, Direction direction);

 protected:
  explicit Description(int flags) : flags_(flags) {}

 private:
  const int flags_;
};

/// An outer socket that stands as a standard stream of a process. The part of the engine that owns the socket
/// implements read, write, readable, writable, host_fd and block; the rest is here. read() and write() must
/// not block (MSG_DONTWAIT) nor raise SIGPIPE.
class HostStream : public Description {
 public:
  explicit HostStream(int flags) : Description(flags) {}
  Kind kind() const override { return Kind::host; }
  Result<Stat> stat() const override;
};

/// read() that waits for bytes or the end. EINTR when `wait` is interrupted, that is when the process is
/// killed.
Result<std::size_t> read_blocking(const std::shared_ptr<Wait>& wait, Description& from,
                                  std::span<std::byte> into);
/// write() that waits until all of `bytes` are written. What was written before an error is lost to the
/// caller, as write(2) after a partial write would say it only at the next call; EINTR as above.
Result<void> write_blocking(const std::shared_ptr<Wait>& wait, Description& to,
                            std::span<const std::byte> bytes);

}  // namespace tare::kernel
