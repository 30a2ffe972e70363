#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// A TOML file as the few kinds of value that budgets are written in, each with its place. Keeps the TOML
/// library, which takes long to compile, out of every header.
namespace tare::gate {

struct TomlPlace {
  std::uint32_t line = 0;  ///< from 1
  std::uint32_t column = 0;
};

/// What is none of the kinds that a budget may have, by its name: "an array".
struct TomlOther {
  std::string kind;
};

using TomlValue = std::variant<std::string, double, bool, TomlOther>;

struct TomlEntry {
  std::string key;
  TomlPlace place;
  TomlValue value;
};

struct TomlTable {
  TomlPlace place;
  std::vector<TomlEntry> entries;  ///< in the order of the file
};

/// The tables under `[[name]]`, in the order of the file; the file may hold nothing else. `source` names it
/// in errors. Throws Error(input): "tare.toml:3:7: …" for what is no TOML, for other keys and for no table.
std::vector<TomlTable> read_tables(std::string_view text, std::string_view source, std::string_view name);

/// "tare.toml:3:7"
std::string at(std::string_view source, TomlPlace place);

/// "a text", "a number", "true or false", "an array"
std::string kind_of(const TomlValue& value);

}  // namespace tare::gate
