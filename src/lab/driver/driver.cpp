#include "lab/driver/driver.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include "base/text.hpp"
#include "lab/process/poll.hpp"
#include "lab/process/tree.hpp"

namespace tare::driver {
namespace {

using Status = process::Lines::Status;

/// A deadline that has passed: take what is there and don't wait.
constexpr Instant no_wait{};

/// How long the pipe of a driver that is gone is read.
constexpr auto drain_limit = std::chrono::milliseconds(100);

bool is_ready(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return fd >= 0 && process::poll_until({&entry, 1}, no_wait) > 0;
}

Instant now() {
  return SystemClock().now();
}

std::string seconds(Nanoseconds duration) {
  return text::significant(std::chrono::duration<double>(duration).count()) + " s";
}

process::SpawnOptions spawn_options(const DriverCommand& command) {
  process::SpawnOptions options;
  options.argv = command.argv;
  options.env = command.env;
  options.env[target_variable] = command.label;
  options.cwd = command.cwd;
  options.in = options.out = options.err = process::Stdio::pipe();
  return options;
}

Violation interrupted() {
  return Violation(FailureKind::interrupted, "was stopped", "interrupted");
}

Violation too_long() {
  return Violation(FailureKind::too_long, "wrote a line that is too long", "more than 16 MiB");
}

}  // namespace

Driver::Driver(DriverCommand command, DriverOptions options)
    : command_(std::move(command)), options_(std::move(options)) {
  try {
    child_.emplace(process::spawn(spawn_options(command_)));
  } catch (const Error& error) {
    std::string_view place = error.what();
    if (constexpr std::string_view same = "cannot start "; place.starts_with(same))
      place.remove_prefix(same.size());
    throw DriverFailure(FailureKind::cannot_start, command_.label, "cannot be started",
                        error.why().empty() ? std::string(place) : fmt::format("{}: {}", place, error.why()),
                        {});
  }
  alive_ = true;
  if (options_.roster) options_.roster->keep(child_->pid());
  watch();
  const std::int64_t id = next_id_++;
  const Reply reply = ask(id, hello_request(id), now() + options_.hello_timeout, "hello");
  try {
    hello_ = parse_hello(reply);
  } catch (const Violation& violation) {
    give_up(violation);
  }
}

void Driver::watch() {
  wake_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  for (const int fd : {child_->pidfd(), options_.interrupt_fd}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (fd >= 0) ::epoll_ctl(wake_.get(), EPOLL_CTL_ADD, fd, &event);
  }
  process::LineOptions line_options;
  line_options.limit = line_limit;
  line_options.interrupt.fd = wake_.get();
  lines_.emplace(*child_, line_options);
}

Driver::~Driver() {
  if (alive_) stop();
}

std::vector<Sample> Driver::sample(const SampleRequest& request) {
  if (!alive_) {
    throw DriverFailure(FailureKind::no_answer, command_.label, "is not running", "it was stopped before",
                        {});
  }
  const std::int64_t id = next_id_++;
  const Instant start = now();
  const Instant deadline =
      start + request.deadline.value_or(request.timeout * request.iterations + options_.grace);
  const Reply reply = ask(id, sample_request(id, request), deadline, request.row);
  const Nanoseconds elapsed = now() - start;
  try {
    if (!reply.ok) throw error_of(reply);
    return parse_samples(reply, request, elapsed);
  } catch (const Violation& violation) {
    // It is still in step: the next request may well succeed.
    throw DriverFailure(violation.kind(), command_.label, violation.what(),
                        fmt::format("{}: {}", request.row, violation.why()), stderr_tail());
  }
}

Stages Driver::stages(Nanoseconds timeout) {
  const std::int64_t id = next_id_++;
  const Reply reply = ask(id, stages_request(id), now() + timeout + options_.grace, "stages");
  try {
    if (!reply.ok) throw error_of(reply);
    return parse_stages(reply);
  } catch (const Violation& violation) {
    throw DriverFailure(violation.kind(), command_.label, violation.what(), "stages: " + violation.why(),
                        stderr_tail());
  }
}

Reply Driver::ask(std::int64_t id, std::string_view line, Instant deadline, std::string_view asked) {
  try {
    refuse_unasked_lines();
    if (lines_->write_line(line, deadline) == Status::timeout) {
      throw Violation(FailureKind::late, "does not read its requests",
                      fmt::format("{} could not be sent", asked));
    }
    // If it has left, it may have answered or said why on stderr before.
    return receive(id, deadline, asked);
  } catch (const Violation& violation) {
    give_up(violation);
  }
}

process::Lines::Read Driver::read(Instant deadline) {
  if (!left_) {
    process::Lines::Read read = lines_->read_line(deadline);
    if (read.status != Status::interrupted || is_ready(options_.interrupt_fd)) return read;
    left_ = true;
    ::epoll_ctl(wake_.get(), EPOLL_CTL_DEL, child_->pidfd(), nullptr);
  }
  // What it wrote before it left is still there, but something that it started may hold the pipe open.
  process::Lines::Read read = lines_->read_line(std::min(deadline, now() + drain_limit));
  if (read.status == Status::timeout) read.status = Status::eof;
  return read;
}

void Driver::refuse_unasked_lines() {
  const process::Lines::Read read = this->read(no_wait);
  if (read.status == Status::too_long) throw too_long();
  if (read.status != Status::ok) return;
  Reply reply;
  try {
    reply = parse_reply(read.text);
  } catch (const Violation&) {
    throw Violation(FailureKind::garbage, "wrote to stdout without being asked",
                    "'" + text::one_line(read.text.substr(0, 60)) + "'");
  }
  if (reply.id && *reply.id < next_id_ - 1) {
    throw Violation(FailureKind::twice, "answered twice",
                    fmt::format("a second answer to request {}", *reply.id));
  }
  throw Violation(FailureKind::wrong_id, "answered what was not asked",
                  reply.id ? fmt::format("id {}", *reply.id) : "no id");
}

Reply Driver::receive(std::int64_t id, Instant deadline, std::string_view asked) {
  const Instant start = now();
  const process::Lines::Read read = this->read(deadline);
  switch (read.status) {
    case Status::ok:
      break;
    case Status::eof:
      gone(asked, read.text);
    case Status::timeout:
      throw Violation(FailureKind::late, "did not answer in time",
                      fmt::format("{}: nothing for {}", asked, seconds(now() - start)));
    case Status::too_long:
      throw too_long();
    case Status::interrupted:
      throw interrupted();
  }
  Reply reply = parse_reply(read.text);
  if (reply.id == id) return reply;
  // A line that was not understood is answered without an id.
  if (!reply.id && !reply.ok) throw error_of(reply);
  if (reply.id && *reply.id >= 0 && *reply.id < id) {
    throw Violation(FailureKind::twice, "answered twice",
                    fmt::format("a second answer to request {}", *reply.id));
  }
  throw Violation(
      FailureKind::wrong_id, "answered what was not asked",
      reply.id ? fmt::format("id {} instead of {}", *reply.id, id) : fmt::format("no id instead of {}", id));
}

void Driver::gone(std::string_view asked, std::string_view rest) {
  // Its stdout is closed; most likely it is about to be gone.
  const bool exited = wait_gone(now() + options_.bye_timeout);
  std::string half;
  if (!rest.empty()) half = fmt::format(" after half a line: '{}'", text::one_line(rest.substr(0, 60)));
  if (!exited) {
    throw Violation(FailureKind::no_answer, "closed its stdout instead of answering",
                    std::string(asked) + half);
  }
  const std::string tail = stderr_tail();
  stop();
  const process::Exit exit = child_->exit().value_or(process::Exit{});
  throw DriverFailure(exit.ok() ? FailureKind::no_answer : FailureKind::died, command_.label,
                      exit.ok() ? "left instead of answering" : "died instead of answering",
                      fmt::format("{}: {}{}", asked, describe(exit), half), tail);
}

bool Driver::wait_gone(Instant deadline) {
  // What it still writes to stderr is read meanwhile: a full pipe would keep it from leaving.
  constexpr auto turn = std::chrono::milliseconds(20);
  while (!child_->wait_exit(std::min(deadline, now() + turn))) {
    if (now() >= deadline) return false;
    stderr_tail();
  }
  return true;
}

void Driver::give_up(const Violation& violation) {
  // First what it said: the pipe is gone with the process.
  std::string tail = stderr_tail();
  stop();
  throw DriverFailure(violation.kind(), command_.label, violation.what(), violation.why(), std::move(tail));
}

void Driver::stop() {
  alive_ = false;
  const Instant deadline = now() + options_.bye_timeout;
  process::kill_tree(child_->pid());
  child_->wait_exit(deadline);
  // The driver is a zombie now and keeps its number, so its group can't be anybody else's.
  if (options_.roster) strays_ = options_.roster->sweep(deadline);
  child_->kill_group();
  child_->wait(deadline);
  if (options_.roster) options_.roster->forget(child_->pid());
}

Farewell Driver::bye() {
  Farewell farewell;
  if (!alive_) {
    farewell.note = "it was stopped before";
    farewell.exit = child_->exit();
    return farewell;
  }
  const Instant deadline = now() + options_.bye_timeout;
  const std::int64_t id = next_id_++;
  try {
    refuse_unasked_lines();
    lines_->write_line(bye_request(id), deadline);
    if (!receive(id, deadline, "bye").ok) farewell.note = "it answered bye with an error";
  } catch (const Violation& violation) {
    farewell.note = fmt::format("it {} ({})", violation.what(), violation.why());
  } catch (const DriverFailure& failure) {
    farewell.note = failure.sentence();
  }
  if (alive_ && !farewell.note) {
    lines_->close_input();
    if (!wait_gone(deadline)) {
      farewell.note = fmt::format("it did not leave within {}", seconds(options_.bye_timeout));
    }
  }
  if (alive_) stop();
  farewell.strays = strays_;
  farewell.exit = child_->exit();
  if (!farewell.note && !(farewell.exit && farewell.exit->ok())) {
    farewell.note = "it left with " + describe(farewell.exit.value_or(process::Exit{}));
  }
  farewell.graceful = !farewell.note;
  return farewell;
}

std::string Driver::stderr_tail() {
  return lines_ ? lines_->stderr_tail() : std::string();
}

}  // namespace tare::driver
