#include "engine/kernel/pipe.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <fcntl.h>

#include "engine/kernel/watchers.hpp"

namespace tare::kernel {
namespace {

/// The ring between the two ends. Wakers are called after the lock is gone.
class Pipe {
 public:
  explicit Pipe(std::shared_ptr<Counters> counters)
      : counters_(std::move(counters)),
        capacity_(counters_ && counters_->pipes_open.fetch_add(1) >= full_pipes ? pipe_atomic
                                                                                : pipe_capacity) {}
  ~Pipe() {
    if (counters_) counters_->pipes_open.fetch_sub(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  Result<std::size_t> read(std::span<std::byte> into) {
    Watchers::List woken;
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      if (into.empty()) return std::size_t{0};
      if (size_ == 0) {
        if (writer_open_) return Errno{EAGAIN};
        return std::size_t{0};
      }
      const bool was_full = room() < pipe_atomic;
      count = std::min(into.size(), size_);
      copy_out(into.first(count));
      if (was_full && room() >= pipe_atomic) woken = writers_.list();
    }
    if (counters_) counters_->pipe_bytes_read.fetch_add(count, std::memory_order_relaxed);
    Watchers::wake(woken);
    return count;
  }

  Result<std::size_t> write(std::span<const std::byte> bytes) {
    Watchers::List woken;
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      if (bytes.empty()) return std::size_t{0};
      if (!reader_open_) return Errno{EPIPE};
      count = std::min(bytes.size(), room());
      if (count == 0 || (count < bytes.size() && bytes.size() <= pipe_atomic)) return Errno{EAGAIN};
      const bool was_empty = size_ == 0;
      copy_in(bytes.first(count));
      if (was_empty) woken = readers_.list();
    }
    if (counters_) counters_->pipe_bytes_written.fetch_add(count, std::memory_order_relaxed);
    Watchers::wake(woken);
    return count;
  }

  bool readable() const {
    const std::lock_guard lock(mutex_);
    return size_ > 0 || !writer_open_;
  }
  bool writable() const {
    const std::lock_guard lock(mutex_);
    return room() >= pipe_atomic || !reader_open_;
  }

  void watch(std::shared_ptr<Waker> waker, Description::Direction direction) {
    const std::lock_guard lock(mutex_);
    watchers(direction).add(std::move(waker));
  }
  void unwatch(const std::shared_ptr<Waker>& waker, Description::Direction direction) {
    const std::lock_guard lock(mutex_);
    watchers(direction).remove(waker);
  }

  void close_reader() {
    Watchers::List woken;
    {
      const std::lock_guard lock(mutex_);
      reader_open_ = false;
      size_ = 0;
      ring_.reset();
      woken = writers_.list();
    }
    Watchers::wake(woken);
  }
  void close_writer() {
    Watchers::List woken;
    {
      const std::lock_guard lock(mutex_);
      writer_open_ = false;
      woken = readers_.list();
    }
    Watchers::wake(woken);
  }

 private:
  std::size_t room() const { return capacity_ - size_; }
  Watchers& watchers(Description::Direction direction) {
    return direction == Description::Direction::read ? readers_ : writers_;
  }

  void copy_in(std::span<const std::byte> bytes) {
    if (!ring_) {
      ring_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
      head_ = 0;
    }
    const std::size_t at = (head_ + size_) % capacity_;
    const std::size_t first = std::min(bytes.size(), capacity_ - at);
    std::memcpy(ring_.get() + at, bytes.data(), first);
    std::memcpy(ring_.get(), bytes.data() + first, bytes.size() - first);
    size_ += bytes.size();
  }
  void copy_out(std::span<std::byte> into) {
    const std::size_t first = std::min(into.size(), capacity_ - head_);
    std::memcpy(into.data(), ring_.get() + head_, first);
    std::memcpy(into.data() + first, ring_.get(), into.size() - first);
    head_ = (head_ + into.size()) % capacity_;
    size_ -= into.size();
    if (size_ == 0) ring_.reset();
  }

  const std::shared_ptr<Counters> counters_;
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::unique_ptr<std::byte[]> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  bool reader_open_ = true;
  bool writer_open_ = true;
  Watchers readers_;
  Watchers writers_;
};

Stat pipe_stat(std::uint32_t type) {
  Stat stat;
  stat.mode = type | 0600;
  stat.nlink = 1;
  stat.ino = 1;
  return stat;
}

class PipeReader final : public Description {
 public:
  explicit PipeReader(std::shared_ptr<Pipe> pipe) : Description(O_RDONLY), pipe_(std::move(pipe)) {}
  ~PipeReader() override { pipe_->close_reader(); }

  Kind kind() const override { return Kind::pipe_reader; }
  Result<std::size_t> read(std::span<std::byte> into) override { return pipe_->read(into); }
  Result<Stat> stat() const override { return pipe_stat(S_IFIFO); }
  bool readable() const override { return pipe_->readable(); }
  bool writable() const override { return false; }
  void watch(std::shared_ptr<Waker> waker, Direction direction) override {
    if (direction == Direction::read) pipe_->watch(std::move(waker), direction);
  }
  void unwatch(const std::shared_ptr<Waker>& waker, Direction direction) override {
    if (direction == Direction::read) pipe_->unwatch(waker, direction);
  }

 private:
  const std::shared_ptr<Pipe> pipe_;
};

class PipeWriter final : public Description {
 public:
  explicit PipeWriter(std::shared_ptr<Pipe> pipe) : Description(O_WRONLY), pipe_(std::move(pipe)) {}
  ~PipeWriter() override { pipe_->close_writer(); }

  Kind kind() const override { return Kind::pipe_writer; }
  Result<std::size_t> write(std::span<const std::byte> bytes) override { return pipe_->write(bytes); }
  Result<Stat> stat() const override { return pipe_stat(S_IFIFO); }
  bool readable() const override { return false; }
  bool writable() const override { return pipe_->writable(); }
  void watch(std::shared_ptr<Waker> waker, Direction direction) override {
    if (direction == Direction::write) pipe_->watch(std::move(waker), direction);
  }
  void unwatch(const std::shared_ptr<Waker>& waker, Direction direction) override {
    if (direction == Direction::write) pipe_->unwatch(waker, direction);
  }

 private:
  const std::shared_ptr<Pipe> pipe_;
};

class Duplex final : public Description {
 public:
  Duplex(std::shared_ptr<Description> in, std::shared_ptr<Description> out)
      : Description(O_RDWR), in_(std::move(in)), out_(std::move(out)) {}

  Kind kind() const override { return Kind::duplex; }
  Result<std::size_t> read(std::span<std::byte> into) override { return in_->read(into); }
  Result<std::size_t> write(std::span<const std::byte> bytes) override {
    const auto out = writer();
    if (!out) return Errno{EPIPE};
    return out->write(bytes);
  }
  Result<Stat> stat() const override { return pipe_stat(S_IFSOCK); }
  bool readable() const override { return in_->readable(); }
  bool writable() const override {
    const auto out = writer();
    return !out || out->writable();
  }
  void watch(std::shared_ptr<Waker> waker, Direction direction) override {
    const auto out = writer();
    if (direction == Direction::read) {
      in_->watch(std::move(waker), direction);
    } else if (out) {
      out->watch(std::move(waker), direction);
    }
  }
  void unwatch(const std::shared_ptr<Waker>& waker, Direction direction) override {
    const auto out = writer();
    if (direction == Direction::read) {
      in_->unwatch(waker, direction);
    } else if (out) {
      out->unwatch(waker, direction);
    }
  }

  void shutdown_write() {
    std::shared_ptr<Description> gone;  // closed after the lock is
    const std::lock_guard lock(mutex_);
    gone.swap(out_);
  }

 private:
  std::shared_ptr<Description> writer() const {
    const std::lock_guard lock(mutex_);
    return out_;
  }

  const std::shared_ptr<Description> in_;
  mutable std::mutex mutex_;
  std::shared_ptr<Description> out_;
};

}  // namespace

PipeEnds make_pipe(std::shared_ptr<Counters> counters) {
  const auto pipe = std::make_shared<Pipe>(std::move(counters));
  return {std::make_shared<PipeReader>(pipe), std::make_shared<PipeWriter>(pipe)};
}

DuplexEnds make_duplex(std::shared_ptr<Counters> counters) {
  PipeEnds there = make_pipe(counters);
  PipeEnds back = make_pipe(std::move(counters));
  return {std::make_shared<Duplex>(std::move(back.reader), std::move(there.writer)),
          std::make_shared<Duplex>(std::move(there.reader), std::move(back.writer))};
}

Result<void> shutdown_write(Description& end) {
  if (end.kind() != Description::Kind::duplex) return Errno{ENOTSOCK};
  static_cast<Duplex&>(end).shutdown_write();
  return {};
}

}  // namespace tare::kernel
