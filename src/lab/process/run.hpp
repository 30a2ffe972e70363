#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "lab/process/child.hpp"
#include "lab/process/poll.hpp"

namespace tare::process {

enum class Stderr { capture, discard };

struct RunOptions {
  /// The whole exchange, from before the start to the reaped child.
  Instant deadline = Instant::max();
  /// Bytes kept of each of stdout and stderr. What is beyond is read, counted and thrown away.
  std::size_t output_limit = std::size_t{64} << 20;
  /// How long after the exit a pipe that somebody else still holds open is read.
  Nanoseconds drain_limit = std::chrono::milliseconds(250);
  Stderr err = Stderr::capture;
  /// Ends the run early, as the deadline does.
  Interrupt interrupt{};
  /// Gets stdout piece by piece instead of RunResult::out, for outputs of any size.
  std::function<void(std::string_view)> on_out{};
};

struct RunResult {
  /// Always an answer; one with neither code nor signal when the status was lost or the process could not
  /// be killed.
  Exit exit;
  std::string out;
  std::string err;
  std::uint64_t out_bytes = 0;  ///< all that was read, kept or not
  std::uint64_t err_bytes = 0;
  std::uint64_t in_bytes = 0;  ///< how much of the input the child's pipe took
  bool timed_out = false;      ///< the deadline passed and the whole process tree was killed
  bool interrupted = false;    ///< RunOptions::interrupt came, and the whole process tree was killed
  /// The child was gone and something that it started still held stdout or stderr: the output may lack
  /// what came after `drain_limit`.
  bool pipe_held_open = false;
  Nanoseconds elapsed{};  ///< from before the start until the last byte was read and the child reaped

  bool truncated() const { return out.size() < out_bytes || err.size() < err_bytes; }
};

/// Runs a command to its end: feeds `input` to stdin, takes stdout and stderr at the same time, reaps.
/// Nothing of its process group lives on afterwards. `options.in/out/err` of the command are ignored: stdin
/// is a pipe when there is input and /dev/null otherwise, stdout and stderr are pipes (discard: /dev/null).
/// Throws SpawnError when it cannot be started. Safe to call from several threads.
RunResult run(SpawnOptions command, std::string_view input = {}, const RunOptions& options = {});

}  // namespace tare::process
