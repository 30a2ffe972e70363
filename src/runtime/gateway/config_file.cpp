#include "runtime/gateway/config_file.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace tare::gateway {

std::vector<FileEntry> read_entries(std::string_view text, std::string_view source) {
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    throw Error(ErrorCode::input, fmt::format("{}:{}: not TOML", source, result.error().source().begin.line),
                std::string(result.error().description()));
  }
  std::vector<FileEntry> entries;
  for (const auto& [key, value] : result.table()) {
    FileEntry entry{std::string(key.str()), {}, static_cast<std::uint32_t>(key.source().begin.line)};
    if (const auto* string = value.as_string()) {
      entry.text = string->get();
    } else if (const auto* number = value.as_integer()) {
      entry.text = std::to_string(number->get());
    } else if (const auto* truth = value.as_boolean()) {
      entry.text = truth->get() ? "true" : "false";
    } else {
      throw Error(ErrorCode::input,
                  fmt::format("{}:{}: {} must be a text or a whole number", source, entry.line, entry.key));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace tare::gateway
