#include "lab/process/lines.hpp"

#include <array>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "lab/process/poll.hpp"

namespace tare::process {
namespace {

constexpr std::size_t chunk = std::size_t{64} << 10;

/// Appends what one read brings. False when nothing came; closes the pipe at its end.
bool read_into(std::string& text, Fd& pipe) {
  const std::size_t before = text.size();
  text.resize(before + chunk);
  const ssize_t n = ::read(pipe.get(), text.data() + before, chunk);
  const int error = errno;
  text.resize(before + (n > 0 ? static_cast<std::size_t>(n) : 0));
  if (n == 0 || (n < 0 && error != EINTR && error != EAGAIN)) pipe.reset();
  return n > 0;
}

}  // namespace

Lines::Lines(Child& child, LineOptions options) : child_(child), options_(options) {}

Lines::Status Lines::write_line(std::string_view line, Instant deadline) {
  const SigpipeBlock no_sigpipe;
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!child_.in) return Status::eof;
    if (const Status status = turn(rest, deadline); status != Status::ok) return status;
  }
  return Status::ok;
}

Lines::Read Lines::read_line(Instant deadline) {
  std::string_view nothing;
  for (;;) {
    if (has_line()) {
      std::string line = buffer_.substr(0, searched_);
      buffer_.erase(0, searched_ + 1);
      searched_ = 0;
      if (line.size() > options_.limit) return {Status::too_long, {}};
      if (line.ends_with('\r')) line.pop_back();
      return {Status::ok, std::move(line)};
    }
    if (buffer_.size() > options_.limit) return {Status::too_long, {}};
    if (!child_.out) {
      stderr_tail();
      return {Status::eof, std::exchange(buffer_, {})};
    }
    if (const Status status = turn(nothing, deadline); status != Status::ok) return {status, {}};
  }
}

const std::string& Lines::stderr_tail() {
  // Bounded, for a child that writes faster than this reads.
  for (int i = 0; i < 64 && child_.err && take_err(); ++i) {
  }
  return err_;
}

Lines::Status Lines::turn(std::string_view& out, Instant deadline) {
  // A reader that stops at the limit is what bounds the memory while a long line is being written.
  const bool room = buffer_.size() <= options_.limit;
  std::array<pollfd, 4> fds{{{out.empty() ? -1 : child_.in.get(), POLLOUT, 0},
                             {room ? child_.out.get() : -1, POLLIN, 0},
                             {child_.err.get(), POLLIN, 0},
                             options_.interrupt.entry()}};
  if (poll_until(fds, deadline) == 0) return Status::timeout;
  if (fds[3].revents != 0) return Status::interrupted;
  if (fds[2].revents != 0) take_err();
  if (fds[1].revents != 0) take_out();
  if (fds[0].revents != 0) {
    const ssize_t n = ::write(child_.in.get(), out.data(), out.size());
    if (n > 0) out.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR && errno != EAGAIN) child_.in.reset();
  }
  return Status::ok;
}

bool Lines::has_line() {
  const std::size_t at = buffer_.find('\n', searched_);
  searched_ = at == std::string::npos ? buffer_.size() : at;
  return at != std::string::npos;
}

void Lines::take_out() {
  read_into(buffer_, child_.out);
}

bool Lines::take_err() {
  const bool some = read_into(err_, child_.err);
  if (err_.size() > options_.stderr_tail) err_.erase(0, err_.size() - options_.stderr_tail);
  return some;
}

}  // namespace tare::process
