#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What the guests of the rows run.
namespace tare::guest_driver {

inline constexpr const char* exit_script = "process.exit(0)";
inline constexpr const char* exit_7_script = "process.exit(7)";
inline constexpr const char* kill_script = "process.kill(process.pid, 'SIGKILL')";
inline constexpr const char* echo_script = "process.stdin.pipe(process.stdout)";
inline constexpr const char* stay_script = "console.log('up'); setInterval(() => {}, 1000)";

/// Writes the nonce over and over until it is `bytes` long.
std::string capture_script(std::string_view nonce, std::uint64_t bytes);

/// Starts children with child_process, waits for them and says in one line what it saw of them.
std::string nested_script(std::uint32_t fanout);

}  // namespace tare::guest_driver
