#pragma once

/// What the guests of the rows run; the rest is in serve/scripts.hpp.
namespace tare::guest_driver {

inline constexpr const char* exit_script = "process.exit(0)";
inline constexpr const char* exit_7_script = "process.exit(7)";
inline constexpr const char* kill_script = "process.kill(process.pid, 'SIGKILL')";
inline constexpr const char* echo_script = "process.stdin.pipe(process.stdout)";
inline constexpr const char* stay_script = "console.log('up'); setInterval(() => {}, 1000)";

}  // namespace tare::guest_driver
