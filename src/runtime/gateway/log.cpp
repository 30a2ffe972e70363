#include "runtime/gateway/log.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {

void Log::write(LogLevel level, std::string_view message, const Members& members) const {
  if (!takes(level)) return;
  std::string line;
  ObjectText object(line);
  object.text("ts", rfc3339(clock_.wall()))
      .text("level", boost::describe::enum_to_string(level, "?"))
      .text("msg", text::escape_bad_utf8(message));
  for (const auto& [key, value] : members) object.text(key, text::escape_bad_utf8(value));
  object.close();
  line += '\n';
  write_(line);
}

Timeline::Timeline(const Clock& clock, const std::optional<std::filesystem::path>& path, const Log& log)
    : clock_(clock), log_(log) {
  if (!path) return;
  file_ = Fd(::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
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
