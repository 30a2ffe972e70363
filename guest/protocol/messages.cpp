#include "protocol/messages.hpp"

#include <csignal>
#include <cstring>

namespace tare::guest {

namespace {

std::string with_line(std::string line, std::string_view bytes) {
  line.reserve(line.size() + 1 + bytes.size());
  line += '\n';
  line += bytes;
  return line;
}

/// Where the bytes begin.
std::size_t after_line(std::string_view payload, std::string_view what) {
  const std::size_t end = payload.find('\n');
  if (end == std::string_view::npos)
    throw Error(ErrorCode::input, "guest message", std::string(what) + " without its first line");
  return end + 1;
}

}  // namespace

std::string encode_write_file(const WriteFile& file, std::string_view content) {
  return with_line(json::line(file), content);
}

WriteFileParts decode_write_file(std::string_view payload) {
  const std::size_t bytes = after_line(payload, "a file");
  return {parse<WriteFile>(payload.substr(0, bytes - 1)), payload.substr(bytes)};
}

std::string encode_profile(const ProfilePart& part, std::string_view bytes) {
  return with_line(json::line(part), bytes);
}

ProfileFrame decode_profile(std::string_view payload) {
  const std::size_t bytes = after_line(payload, "a profile");
  return {parse<ProfilePart>(payload.substr(0, bytes - 1)), payload.substr(bytes)};
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
