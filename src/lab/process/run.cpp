#include "lab/process/run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "lab/process/poll.hpp"
#include "lab/process/tree.hpp"

namespace tare::process {
namespace {

/// A process that SIGKILL does not end within this long is reported without an exit status.
constexpr auto kill_limit = std::chrono::seconds(10);
constexpr std::size_t output_chunk = std::size_t{64} << 10;

Instant now() {
  return std::chrono::steady_clock::now();
}

/// One run: the state that the poll loop moves forward until the child has exited and the pipes are empty.
class Exchange {
 public:
  Exchange(Child& child, std::string_view input, const RunOptions& options)
      : child_(child), input_(input), options_(options), limit_(options.deadline), buffer_(output_chunk) {}

  RunResult finish() {
    if (input_.empty()) child_.in.reset();
    while (step()) {
    }
    return std::move(result_);
  }

 private:
  /// One poll and what it brings. False when the exchange is over.
  bool step() {
    if (exited_ && !child_.out && !child_.err) return false;
    std::array<pollfd, 5> fds{{{child_.in.get(), POLLOUT, 0},
                               {child_.out.get(), POLLIN, 0},
                               {child_.err.get(), POLLIN, 0},
                               {exited_ ? -1 : child_.pidfd(), POLLIN, 0},
                               result_.interrupted ? pollfd{-1, 0, 0} : options_.interrupt.entry()}};
    if (poll_until(fds, limit_) == 0) return at_limit();
    if (fds[4].revents != 0) {
      result_.interrupted = true;
      stop();
    }
    if (fds[0].revents != 0) feed();
    if (fds[1].revents != 0) take_out();
    if (fds[2].revents != 0) take_err();
    if (fds[3].revents != 0) {
      exited_ = true;
      child_.in.reset();
      limit_ = std::min(limit_, now() + options_.drain_limit);
    }
    return true;
  }

  /// The limit stands for three things, one after the other: the deadline, the wait for a killed process
  /// to go, and the drain of what others hold open.
  bool at_limit() {
    if (exited_) {
      result_.pipe_held_open = true;
      return false;
    }
    if (result_.timed_out || result_.interrupted) return false;
    result_.timed_out = true;
    stop();
    return true;
  }

  void stop() {
    kill_tree(child_.pid());
    child_.kill_group();
    limit_ = now() + kill_limit;
  }

  void feed() {
    const ssize_t n = ::write(child_.in.get(), input_.data(), std::min(input_.size(), std::size_t{1} << 20));
    if (n >= 0) {
      result_.in_bytes += static_cast<std::uint64_t>(n);
      input_.remove_prefix(static_cast<std::size_t>(n));
      if (input_.empty()) child_.in.reset();
    } else if (errno != EINTR && errno != EAGAIN) {
      child_.in.reset();  // EPIPE: the child wants no more, which is its right
    }
  }

  /// Reads once. Empty when there was nothing; closes the pipe at its end.
  std::string_view take(Fd& pipe) {
    const ssize_t n = ::read(pipe.get(), buffer_.data(), buffer_.size());
    if (n > 0) return {buffer_.data(), static_cast<std::size_t>(n)};
    if (n == 0 || (errno != EINTR && errno != EAGAIN)) pipe.reset();
    return {};
  }

  void keep(std::string& kept, std::string_view text) const {
    kept += text.substr(0, options_.output_limit - std::min(options_.output_limit, kept.size()));
  }

  void take_out() {
    const std::string_view text = take(child_.out);
    result_.out_bytes += text.size();
    if (options_.on_out) {
      if (!text.empty()) options_.on_out(text);
    } else {
      keep(result_.out, text);
    }
  }

  void take_err() {
    const std::string_view text = take(child_.err);
    result_.err_bytes += text.size();
    keep(result_.err, text);
  }

  Child& child_;
  std::string_view input_;
  const RunOptions& options_;
  Instant limit_;
  bool exited_ = false;
  std::vector<char> buffer_;
  RunResult result_;
};

}  // namespace

RunResult run(SpawnOptions command, std::string_view input, const RunOptions& options) {
  command.in = input.empty() ? Stdio::null() : Stdio::pipe();
  command.out = Stdio::pipe();
  command.err = options.err == Stderr::capture ? Stdio::pipe() : Stdio::null();
  const Command prepared(command);
  const SigpipeBlock no_sigpipe;
  const Instant start = now();
  Child child = prepared.start();
  RunResult result = Exchange(child, input, options).finish();
  // Before the reaping, while the group's number is still its own.
  child.kill_group();
  result.exit = child.wait(now() + kill_limit).value_or(Exit{});
  result.elapsed = now() - start;
  return result;
}

}  // namespace tare::process
