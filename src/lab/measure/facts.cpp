#include "lab/measure/facts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace tare::measure::facts {

std::optional<std::string> text(const std::filesystem::path& path) {
  // Opening a pipe or a device could wait for ever; the files of /proc and /sys are regular ones.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  try {
    const std::string content = file::read(path, std::uintmax_t{16} << 20);
    const std::string_view trimmed = tare::text::trim(content);
    if (trimmed.empty()) return std::nullopt;
    return std::string(trimmed);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::uint64_t> number(const std::filesystem::path& path) {
  const auto content = text(path);
  if (!content || content->find_first_of(" \t\n") != std::string::npos) return std::nullopt;
  return leading_number(*content);
}

std::optional<std::string> value_of(std::string_view text, std::string_view key,
                                    std::string_view separators) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const std::size_t value = line.find_first_not_of(separators);
    // The key must end here: "nr_throttled" is not "nr_throttled_usec".
    if (value == 0) continue;
    if (value == std::string_view::npos) return std::nullopt;
    return std::string(tare::text::trim(line.substr(value)));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  const auto value = tare::text::to_int(text.substr(0, text.find_first_of(" \t\n")));
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::uint64_t> cpu_list_size(std::string_view list) {
  std::uint64_t size = 0;
  for (const std::string& part : tare::text::split(list, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = leading_number(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : leading_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1'000'000) return std::nullopt;
    size += *last - *first + 1;
  }
  return size;
}

}  // namespace tare::measure::facts
