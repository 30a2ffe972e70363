#include "runtime/guest/execution.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

#include "base/error.hpp"
#include "protocol/socket.hpp"
#include "runtime/guest/execution_state.hpp"

namespace tare::guest {
namespace {

constexpr std::size_t output_buffer_bytes = std::size_t{256} << 10;

bool has_ended(const Connection::Record& record) {
  return record.exit.has_value();
}

bool has_started(const Connection::Record& record) {
  return record.pid || record.exit;
}

/// False when the deadline has passed.
bool wait_for_output(int socket, std::optional<Instant> deadline, Connection* beside) {
  timespec wait{};
  if (deadline) {
    const Nanoseconds left = std::max(Nanoseconds(0), *deadline - SystemClock().now());
    wait = {static_cast<time_t>(left.count() / 1'000'000'000),
            static_cast<long>(left.count() % 1'000'000'000)};
  }
  const int other = beside == nullptr || beside->lost() ? -1 : beside->descriptor();
  std::array<pollfd, 2> entries{{{socket, POLLIN, 0}, {other, POLLIN, 0}}};
  if (::ppoll(entries.data(), entries.size(), deadline ? &wait : nullptr, nullptr) == 0) return false;
  if (entries[1].revents != 0) beside->take_in();
  return true;
}

bool is_readable(int socket) {
  pollfd entry{socket, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

Error stdio_error(int error) {
  return Error(ErrorCode::failed, "the pipe to a guest failed", errno_text(error));
}

}  // namespace

std::optional<OutputReader::Piece> OutputReader::take() {
  if (left_ == 0) {
    if (end_ - begin_ < stdio_header_bytes) return std::nullopt;
    const StdioHeader header = decode_stdio_header(std::string_view(buffer_).substr(begin_));
    begin_ += stdio_header_bytes;
    stream_ = header.stream;
    left_ = header.length;
    if (left_ == 0) return take();
  }
  if (begin_ == end_) return std::nullopt;
  const std::size_t size = std::min(left_, end_ - begin_);
  const std::string_view bytes = std::string_view(buffer_).substr(begin_, size);
  begin_ += size;
  left_ -= size;
  return Piece{stream_, bytes};
}

OutputReader::Read OutputReader::read(int socket, std::optional<Instant> deadline, Connection* beside) {
  if (buffer_.empty()) buffer_.resize(output_buffer_bytes);
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);  // a part of a header at most
  end_ -= std::exchange(begin_, 0);
  const bool waits = deadline || beside != nullptr;
  // When the last read took all there was, the next one would find nothing.
  if (waits && std::exchange(drained_, false) && !eager_.sees([&] { return is_readable(socket); }) &&
      !wait_for_output(socket, deadline, beside))
    return Read::late;
  for (;;) {
    const int flags = waits ? MSG_DONTWAIT : 0;
    const ssize_t n = ::recv(socket, buffer_.data() + end_, buffer_.size() - end_, flags);
    if (n > 0) {
      end_ += static_cast<std::size_t>(n);
      drained_ = end_ < buffer_.size();
      return Read::more;
    }
    if (n == 0 || errno == ECONNRESET) return Read::end;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) throw stdio_error(errno);
    if (!wait_for_output(socket, deadline, beside)) return Read::late;
  }
}

Execution::Execution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Execution::Execution(Execution&&) noexcept = default;

Execution& Execution::operator=(Execution&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Execution::~Execution() {
  if (!state_) return;
  try {
    kill();
  } catch (const std::exception&) {
    // No engine, no guest.
  }
}

std::optional<std::int64_t> Execution::pid() {
  state_->connection->wait(state_->record, has_started, std::nullopt, "pid");
  return state_->connection->look(state_->record).pid;
}

bool Execution::write_stdin(std::string_view bytes) {
  if (!state_->stdio) throw Error(ErrorCode::failed, "this guest has no stdin");
  const std::lock_guard lock(state_->writing);
  return send_all(state_->stdio.get(), bytes);
}

void Execution::close_stdin() {
  if (state_->stdio) ::shutdown(state_->stdio.get(), SHUT_WR);
}

std::optional<Event> Execution::poll_event(std::optional<Instant> deadline) {
  while (state_->output_open) {
    if (const auto piece = state_->output.take()) {
      if (piece->stream == Stream::standard_output) return Stdout{piece->bytes};
      return Stderr{piece->bytes};
    }
    const bool profiled = state_->record->profiles != nullptr;
    const auto read =
        state_->output.read(state_->stdio.get(), deadline, profiled ? state_->connection.get() : nullptr);
    if (read == OutputReader::Read::late) return std::nullopt;
    state_->output_open = read == OutputReader::Read::more;
  }
  if (!state_->connection->wait(state_->record, has_ended, deadline, "poll_event")) return std::nullopt;
  state_->ended = true;
  const Connection::Record record = state_->connection->look(state_->record);
  if (record.life && !state_->returned) state_->returned = SystemClock().now();
  return Ended{*record.exit};
}

std::optional<Exit> Execution::wait(Instant deadline) {
  for (;;) {
    const auto event = poll_event(deadline);
    if (!event) return std::nullopt;
    if (const auto* ended = std::get_if<Ended>(&*event)) return ended->exit;
  }
}

Exit Execution::wait() {
  for (;;) {
    const auto event = poll_event();
    if (const auto* ended = std::get_if<Ended>(&*event)) return ended->exit;
  }
}

Profile Execution::take_profile(ProfileKind kind) {
  const Connection::Record record = state_->connection->look(state_->record);
  Profile profile;
  if (record.exit && record.profiles) {
    // Nothing more comes: nobody else has to do with it.
    if (const auto found = record.profiles->find(kind); found != record.profiles->end())
      profile = std::move(found->second);
  }
  if (!profile.whole && !profile.error) profile.error = "the guest ended without one";
  return profile;
}

std::optional<Life> Execution::life() {
  std::optional<Life> life = state_->connection->look(state_->record).life;
  if (life) life->returned = state_->returned;
  return life;
}

void Execution::kill(std::string_view signal) {
  if (state_->ended || state_->connection->look(state_->record).exit) return;
  if (state_->connection->lost()) return;
  state_->connection->send(Kind::kill, state_->id, json::line(Kill{std::string(signal)}));
}

}  // namespace tare::guest
