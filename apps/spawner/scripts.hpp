#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the processes of the rows run: JavaScript for `node -e`. Those that the guest's driver has, too, are
/// in serve/scripts.hpp.
namespace tare::spawner {

/// The words of a command with `script` in the place of every `{script}`.
std::vector<std::string> with_script(const std::vector<std::string>& words, std::string_view script);
bool has_script_slot(const std::vector<std::string>& words);

/// Ends with an exit code.
std::string exit_script(int code);

/// Kills itself with SIGKILL.
std::string kill_script();

/// Copies stdin to stdout.
std::string echo_script();

/// Writes one file, relative to the working directory.
std::string write_file_script(std::string_view file, std::string_view content);

}  // namespace tare::spawner
