#include "lab/driver/raw_session.hpp"

#include "lab/process/tree.hpp"

namespace tare::driver {
namespace {

using Status = process::Lines::Status;

Instant now() {
  return SystemClock().now();
}

}  // namespace

RawSession::RawSession(const DriverCommand& command, const DriverOptions& options) : options_(options) {
  process::SpawnOptions spawn;
  spawn.argv = command.argv;
  spawn.env = command.env;
  spawn.cwd = command.cwd;
  spawn.in = spawn.out = spawn.err = process::Stdio::pipe();
  child_.emplace(process::spawn(spawn));
  options_.roster->keep(child_->pid());
  process::LineOptions lines;
  lines.limit = line_limit;
  lines.interrupt.fd = options_.interrupt_fd;
  lines_.emplace(*child_, lines);
}

RawSession::~RawSession() {
  if (!finished_) finish();
}

std::optional<std::string> RawSession::read(Nanoseconds wait) {
  process::Lines::Read read = lines_->read_line(now() + wait);
  if (read.status == Status::interrupted)
    throw Violation(FailureKind::interrupted, "was stopped", "interrupted");
  if (read.status == Status::too_long)
    throw Violation(FailureKind::too_long, "wrote a line that is too long");
  if (read.status == Status::ok) return std::move(read.text);
  return std::nullopt;
}

std::optional<Reply> RawSession::ask(std::string_view line, Nanoseconds wait) {
  lines_->write_line(line, now() + wait);
  const auto text = read(wait);
  if (!text) return std::nullopt;
  return parse_reply(*text);
}

std::optional<std::string> RawSession::extra_line(Nanoseconds wait) {
  return read(wait);
}

bool RawSession::gone(Nanoseconds wait) {
  const Instant deadline = now() + wait;
  constexpr auto turn = std::chrono::milliseconds(20);
  while (!child_->wait_exit(std::min(deadline, now() + turn))) {
    if (now() >= deadline) return false;
    lines_->stderr_tail();  // a full pipe would keep it from leaving
  }
  return true;
}

std::size_t RawSession::finish() {
  finished_ = true;
  const Instant deadline = now() + options_.bye_timeout;
  process::kill_tree(child_->pid());
  child_->wait_exit(deadline);
  const process::Strays strays = options_.roster->sweep(deadline);
  child_->kill_group();
  child_->wait(deadline);
  options_.roster->forget(child_->pid());
  return strays.killed;
}

}  // namespace tare::driver
