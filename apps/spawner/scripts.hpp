#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the processes of the rows run: JavaScript for `node -e`.
namespace tare::spawner {

/// The words of a command with `script` in the place of every `{script}`.
std::vector<std::string> with_script(const std::vector<std::string>& words, std::string_view script);
bool has_script_slot(const std::vector<std::string>& words);

/// Ends with an exit code.
std::string exit_script(int code);

/// Kills itself with SIGKILL.
std::string kill_script();

/// Writes `nonce` over and over to stdout until `bytes` bytes are written. Ends by itself: process.exit
/// would cut off what the pipe has not taken yet.
std::string capture_script(std::string_view nonce, std::uint64_t bytes);

/// Copies stdin to stdout.
std::string echo_script();

/// Writes one file, relative to the working directory.
std::string write_file_script(std::string_view file, std::string_view content);

/// Starts `fanout` processes with child_process and prints one line, `__BENCH098__` and JSON, about what it
/// saw of them.
std::string nested_script(unsigned fanout);

}  // namespace tare::spawner
