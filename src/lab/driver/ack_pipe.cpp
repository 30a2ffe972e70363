#include "lab/driver/ack_pipe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/process/pidfd.hpp"
#include "lab/process/poll.hpp"

namespace tare::driver {

AckPipe::AckPipe(std::filesystem::path path) : path_(std::move(path)) {
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) throw Error(ErrorCode::failed, "cannot make an eventfd", errno_text(errno));
  // Open for both, so that it never ends and neither side waits for the other to open it.
  if (::mkfifo(path_.c_str(), 0600) == 0) fifo_ = Fd(::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fifo_) throw Error(ErrorCode::failed, "cannot make the FIFO " + path_.string(), errno_text(errno));
  thread_ = std::thread([this] { read_on(); });
}

AckPipe::~AckPipe() {
  stop();
  ::unlink(path_.c_str());
}

void AckPipe::kill_after(std::uint64_t lines, pid_t leader) {
  {
    const std::lock_guard lock(mutex_);
    victim_.emplace(Victim{process::open_pidfd(leader), leader, lines});
  }
  wake();  // they may all be there
}

void AckPipe::read_on() {
  std::array<pollfd, 2> fds{{{fifo_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  while (!stopping_) {
    process::poll_until(fds, Instant::max());
    std::uint64_t woken = 0;
    if (::read(wake_.get(), &woken, sizeof woken) < 0 && errno != EAGAIN && errno != EINTR) return;
    take();
    kill_when_due();
  }
}

void AckPipe::kill_when_due() {
  const std::lock_guard lock(mutex_);
  if (!victim_ || killed_ || lines_ < victim_->lines) return;
  if (process::signal_pidfd(victim_->pidfd, 0)) killed_ = ::kill(-victim_->leader, SIGKILL) == 0;
}

/// Reads what is there; false when nothing was.
bool AckPipe::take() {
  std::array<char, 16 << 10> buffer;
  const ssize_t n = ::read(fifo_.get(), buffer.data(), buffer.size());
  if (n <= 0) return n < 0 && errno == EINTR;
  text_.append(buffer.data(), static_cast<std::size_t>(n));
  lines_ += static_cast<std::uint64_t>(std::count(buffer.begin(), buffer.begin() + n, '\n'));
  return true;
}

void AckPipe::wake() {
  const std::uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void AckPipe::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  wake();
  thread_.join();
}

std::vector<std::string> AckPipe::finish() {
  stop();
  while (take()) {
  }
  std::vector<std::string> lines = text::split(text_, '\n');
  lines.pop_back();  // what follows the last newline is no whole line
  return lines;
}

}  // namespace tare::driver
