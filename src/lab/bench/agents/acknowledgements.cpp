#include "lab/bench/agents/acknowledgements.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/process/pidfd.hpp"
#include "lab/process/poll.hpp"

namespace tare::agents_bench {

Acknowledgements::Acknowledgements(const std::filesystem::path& folder) : path_(folder / "acks") {
  // Open for both, so that it never ends and neither side waits for the other to open it.
  if (::mkfifo(path_.c_str(), 0600) == 0) fifo_ = Fd(::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fifo_) throw Error(ErrorCode::failed, "cannot make the FIFO " + path_.string(), errno_text(errno));
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) throw Error(ErrorCode::failed, "cannot make an eventfd", errno_text(errno));
}

Acknowledgements::~Acknowledgements() {
  stop();
}

void Acknowledgements::kill_after(std::uint64_t lines, pid_t worker) {
  worker_ = process::open_pidfd(worker);
  thread_ = std::thread([this, lines, worker] { read_on(lines, worker); });
}

void Acknowledgements::read_on(std::uint64_t lines, pid_t worker) {
  std::array<pollfd, 2> fds{{{fifo_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (true) {
    process::poll_until(fds, Instant::max());
    take();
    if (lines_ >= lines && !killed_ && process::signal_pidfd(worker_, 0))
      killed_ = ::kill(-worker, SIGKILL) == 0;
    if ((fds[1].revents & POLLIN) != 0) return;
  }
}

/// Reads what is there; false when nothing was.
bool Acknowledgements::take() {
  std::array<char, 16 << 10> buffer;
  const ssize_t n = ::read(fifo_.get(), buffer.data(), buffer.size());
  if (n <= 0) return n < 0 && errno == EINTR;
  text_.append(buffer.data(), static_cast<std::size_t>(n));
  lines_ += static_cast<std::uint64_t>(std::count(buffer.begin(), buffer.begin() + n, '\n'));
  return true;
}

void Acknowledgements::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  while (::write(stop_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
}

std::vector<std::string> Acknowledgements::finish() {
  stop();
  while (take()) {
  }
  std::vector<std::string> lines = text::split(text_, '\n');
  lines.pop_back();  // what follows the last newline is no whole line
  return lines;
}

}  // namespace tare::agents_bench
