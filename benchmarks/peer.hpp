#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "lab/driver/driver.hpp"
#include "lab/process/child.hpp"
#include "lab/process/lines.hpp"

namespace tare::benchmarks {

/// A helper program that answers a line with a line. Ends with this object: its input ends, and it is killed
/// when it has not left soon after.
class Peer {
 public:
  explicit Peer(std::vector<std::string> argv);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  /// The answer. Throws Error(failed) when there is none.
  std::string ask(std::string_view line);

 private:
  std::string name_;
  process::Child child_;
  process::Lines lines_;
};

/// The helper programs of this folder, and the programs that are measured.
inline std::filesystem::path helper(const char* name) {
  return file::lib_folder() / "bench" / name;
}
std::string spawner_path();
std::string tare_path();

/// tare-spawner with these arguments, driven as a run drives it.
driver::DriverCommand spawner(std::vector<std::string> arguments);

/// How a driver of a built-in target of a bench is started, with these arguments after its own. Throws
/// Error(unavailable) when it is not installed.
driver::DriverCommand target_command(const std::string& name, std::string_view bench,
                                     const std::vector<std::string>& arguments = {});

/// A driver of a built-in target of the spawn bench, started as a run starts it. Throws Error(unavailable)
/// when it is not installed.
driver::Driver start_target(const std::string& name);

/// Takes samples of a row and throws Error(failed) unless each ended with exit code 0.
std::vector<driver::Sample> take(driver::Driver& driver, const std::string& row, std::int64_t iterations);

/// Calls `round(i)` for i = 0, 1, … until there were `most` or, from `fewest` on, the time is over. How many
/// there are never depends on what they found.
template <class Round>
std::size_t repeat(std::size_t fewest, std::size_t most, Nanoseconds limit, Round round) {
  const SystemClock clock;
  const Instant deadline = clock.now() + limit;
  std::size_t i = 0;
  while (i < most && (i < fewest || clock.now() < deadline)) round(i++);
  return i;
}

}  // namespace tare::benchmarks
