#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What the processes of the spawn rows run, in the lanes of more than one driver: JavaScript for `node -e`.
namespace tare::serve {

/// The text as JavaScript writes it.
std::string quoted(std::string_view text);

/// Writes `nonce` over and over to stdout until `bytes` bytes are written. Ends by itself: process.exit
/// would cut off what the pipe has not taken yet.
std::string capture_script(std::string_view nonce, std::uint64_t bytes);

/// Writes a file, as it is named, in its working directory.
std::string write_script(std::string_view file, std::string_view content);

/// Starts `fanout` processes with child_process and prints one line, `__BENCH098__` and JSON, about what it
/// saw of them.
std::string nested_script(std::uint32_t fanout);

}  // namespace tare::serve
