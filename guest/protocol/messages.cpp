#include "protocol/messages.hpp"

#include <csignal>
#include <cstring>

namespace tare::guest {

std::string encode_write_file(const WriteFile& file, std::string_view content) {
  std::string out = json::line(file);
  out.reserve(out.size() + 1 + content.size());
  out += '\n';
  out += content;
  return out;
}

WriteFileParts decode_write_file(std::string_view payload) {
  const std::size_t end = payload.find('\n');
  if (end == std::string_view::npos)
    throw Error(ErrorCode::input, "guest message", "a file without its first line");
  return {parse<WriteFile>(payload.substr(0, end)), payload.substr(end + 1)};
}

std::optional<std::string> signal_name(int number) {
  const char* name = number > 0 ? ::sigabbrev_np(number) : nullptr;
  return name != nullptr ? std::optional("SIG" + std::string(name)) : std::nullopt;
}

std::optional<int> signal_number(std::string_view name) {
  for (int number = 1; number < NSIG; ++number) {
    if (signal_name(number) == name) return number;
  }
  return std::nullopt;
}

}  // namespace tare::guest
