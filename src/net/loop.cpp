#include "net/loop.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <sys/random.h>

#include "base/error.hpp"
#include "net/stream.hpp"

namespace tare::net {
namespace {

constexpr std::size_t spare_buffers = 16;
constexpr std::size_t spare_buffer_bytes = 128 * 1024;

}  // namespace

boost::asio::execution_context::id Loop::id;

Loop::Loop(boost::asio::io_context& io) : service(io), io_(io), timer_(io) {}

Loop& Loop::of(boost::asio::io_context& io) {
  return boost::asio::use_service<Loop>(io);
}

void Loop::shutdown() noexcept {
  shut_ = true;
  unflushed_.clear();
}

void Loop::flush_later(std::shared_ptr<Stream> stream) {
  if (unflushed_.empty()) boost::asio::post(io_, [this] { flush(); });
  unflushed_.push_back(std::move(stream));
}

void Loop::flush() {
  // What is written from here on is for the next flush.
  const std::vector<std::shared_ptr<Stream>> streams = std::exchange(unflushed_, {});
  for (const auto& stream : streams) stream->flush();
}

Loop::Block Loop::take_block() {
  if (blocks_.empty()) return std::make_unique_for_overwrite<char[]>(block_bytes);
  Block block = std::move(blocks_.back());
  blocks_.pop_back();
  return block;
}

void Loop::give_block(Block block) {
  if (block && blocks_.size() < spare_buffers) blocks_.push_back(std::move(block));
}

std::string Loop::take_buffer() {
  if (buffers_.empty()) return {};
  std::string buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void Loop::give_buffer(std::string buffer) {
  if (buffers_.size() >= spare_buffers || buffer.capacity() > spare_buffer_bytes) return;
  buffer.clear();
  buffers_.push_back(std::move(buffer));
}

std::array<unsigned char, 4> Loop::mask() {
  if (random_used_ == random_.size()) {
    for (std::size_t got = 0; got < random_.size();) {
      const ssize_t n = ::getrandom(random_.data() + got, random_.size() - got, 0);
      if (n > 0) got += static_cast<std::size_t>(n);
      if (n < 0 && errno != EINTR)
        throw Error(ErrorCode::failed, "the kernel has no random bytes", errno_text(errno));
    }
    random_used_ = 0;
  }
  std::array<unsigned char, 4> key;
  std::copy_n(random_.begin() + static_cast<std::ptrdiff_t>(random_used_), key.size(), key.begin());
  random_used_ += key.size();
  return key;
}

void Loop::arm() {
  if (shut_) return;
  if (deadlines_.empty()) {
    timer_.cancel();  // io_context::run ends when nothing else is left
    armed_ = Moment::max();
    return;
  }
  const Moment first = deadlines_.begin()->first;
  if (first >= armed_) return;
  armed_ = first;
  timer_.expires_at(first);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) expire();
  });
}

void Loop::expire() {
  armed_ = Moment::max();
  const Moment now = std::chrono::steady_clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Deadline& deadline = *deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    deadline.entry_.reset();
    if (deadline.when_ > now) {
      deadline.entry_ = deadlines_.emplace(deadline.when_, &deadline);
    } else {
      const auto expired = deadline.expired_;  // it may destroy the deadline
      expired();
    }
  }
  arm();
}

void Deadline::after(std::chrono::nanoseconds time) {
  at(std::chrono::steady_clock::now() + time);
}

void Deadline::at(Loop::Moment moment) {
  when_ = moment;
  if (entry_ && (*entry_)->first <= moment) return;
  if (entry_) loop_.deadlines_.erase(*entry_);
  entry_ = loop_.deadlines_.emplace(moment, this);
  loop_.arm();
}

void Deadline::clear() {
  if (!entry_) return;
  loop_.deadlines_.erase(*entry_);
  entry_.reset();
  if (loop_.deadlines_.empty()) loop_.arm();
}

}  // namespace tare::net
