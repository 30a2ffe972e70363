#include "runtime/guest/exit.hpp"

#include <fmt/format.h>

namespace tare::guest {

int Exit::shell_code() const {
  if (code) return *code;
  if (signal) return 128 + *signal;
  return is(reason::refused) ? 126 : 125;
}

std::string describe(const Exit& exit) {
  std::string text;
  if (exit.code) {
    text = fmt::format("exited with code {}", *exit.code);
  } else if (exit.signal) {
    text = "killed by " + signal_name(*exit.signal).value_or(fmt::format("signal {}", *exit.signal));
  }
  if (!exit.reason) return text.empty() ? "ended without a status" : text;
  const std::string why = exit.detail.value_or("");
  if (text.empty()) return why.empty() ? *exit.reason : fmt::format("{} ({})", *exit.reason, why);
  return fmt::format("{} ({}{}{})", text, *exit.reason, why.empty() ? "" : ": ", why);
}

Exit exit_of(const Exited& message) {
  Exit exit;
  exit.code = message.code;
  if (message.signal) exit.signal = signal_number(*message.signal);
  exit.reason = message.reason;
  exit.detail = message.detail;
  boost::json::error_code not_a_number;
  const auto files = message.sync.is_number() ? message.sync.to_number<std::uint64_t>(not_a_number) : 0;
  if (message.sync.is_number() && !not_a_number) exit.files_synced = files;
  exit.files_lost = message.files_lost;
  exit.sync_problems = message.sync_problems;
  if (message.cpu_ns) exit.cpu = Nanoseconds(*message.cpu_ns);
  exit.code_cache = message.code_cache;
  exit.pooled = message.pooled.value_or(false);
  return exit;
}

}  // namespace tare::guest
