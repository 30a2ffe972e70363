#include "runtime/gateway/log.hpp"

#include <cerrno>

#include <climits>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {

void Log::write(LogLevel level, std::string_view message, const Members& members) const {
  if (!takes(level)) return;
  // One record is less than a pipe takes at once, whatever a client or a server made it quote.
  std::string line;
  for (const std::size_t most : {500, 100}) {
    line.clear();
    ObjectText object(line);
    object.text("ts", rfc3339(clock_.wall()))
        .text("level", boost::describe::enum_to_string(level, "?"))
        .text("msg", beginning_of(text::escape_bad_utf8(message), most));
    for (const auto& [key, value] : members)
      object.text(key, beginning_of(text::escape_bad_utf8(value), most));
    object.close();
    line += '\n';
    if (line.size() <= PIPE_BUF) break;
  }
  write_(line);
}

void LogOutlet::write(std::string_view line) {
  if (lost_ > 0) {
    std::string note;
    ObjectText(note)
        .text("ts", rfc3339(clock_.wall()))
        .text("level", "warn")
        .text("msg", "lines were lost, as nobody read")
        .number("lines", static_cast<std::int64_t>(lost_))
        .close();
    if (give(note += '\n')) lost_ = 0;
  }
  if (lost_ > 0 || !give(line)) ++lost_;
}

/// A pipe that has room at all has it for PIPE_BUF bytes.
bool LogOutlet::give(std::string_view line) const {
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
  return ::write(fd_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

Timeline::Timeline(const Clock& clock, const std::optional<std::filesystem::path>& path, const Log& log)
    : clock_(clock), log_(log) {
  if (!path) return;
  // A pipe that nobody reads is not waited for.
  file_ = Fd(::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file_)
    throw Error(ErrorCode::input, fmt::format("cannot write {}", path->string()), errno_text(errno));
}

void Timeline::span(std::string_view name, Nanoseconds duration) {
  if (!file_) return;
  std::string line;
  ObjectText object(line);
  object.text("schemaVersion", "openclaw.diagnostics.v1")
      .text("type", "span.end")
      .text("timestamp", rfc3339(clock_.wall()))
      .text("name", name)
      .decimal("durationMs", to_ms(duration))
      .number("pid", ::getpid());
  object.close();
  line += '\n';
  if (::write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  log_.write(LogLevel::error, "[diagnostics] failed to write timeline event", {{"why", errno_text(errno)}});
  file_.reset();
}

}  // namespace tare::gateway
