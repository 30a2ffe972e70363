#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A TOML file of plain values. Keeps the TOML library, which takes long to compile, out of every header.
namespace tare::gateway {

struct FileEntry {
  std::string key;
  std::string text;  ///< of a text; of a number or truth value, as it is written in TOML
  std::uint32_t line = 0;
};

/// `source` names the file in errors. Throws Error(input): "gateway.toml:3: …" for what is no TOML, and for a
/// value that is neither text, whole number nor truth value.
std::vector<FileEntry> read_entries(std::string_view text, std::string_view source);

}  // namespace tare::gateway
