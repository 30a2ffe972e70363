#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tare::engine {

/// What module resolution wants to know of a package.json.
struct PackageConfig {
  enum class Type : std::uint8_t { none, commonjs, module };
  std::optional<std::string> name;
  std::optional<std::string> main;
  Type type = Type::none;
  /// JSON when it starts with `{` or `[`, and then only its brackets are known to be right; otherwise the
  /// text of a string.
  std::optional<std::string> exports;
  std::optional<std::string> imports;
};

/// Nothing when it is no JSON object, or `name` or `type` is no text. Like Node it looks closely only at what
/// it needs: a mistake within another member goes unnoticed.
std::optional<PackageConfig> parse_package_config(std::string_view json);

/// The path that a file URL, as URL.href has it, stands for; nothing for another URL, one with a host, or a
/// path with an escaped slash.
std::optional<std::string> file_url_path(std::string_view url);

}  // namespace tare::engine
