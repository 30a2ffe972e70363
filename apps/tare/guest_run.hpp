#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flag.hpp"
#include "cli.hpp"

namespace tare::cli {

/// --pool, here and of the driver.
inline constexpr WholeRange pool_range{0, 256};

/// The flags of `tare guest run` as typed.
struct GuestRunFlags {
  std::optional<std::string> allow;
  std::optional<std::string> deny;
  std::optional<std::string> memory;
  std::optional<std::string> files;
  std::optional<std::string> timeout;
  std::optional<std::string> pool;
  std::optional<std::string> library;
  std::vector<std::string> mounts;
  std::optional<std::string> cwd;
  std::optional<std::string> code;  ///< of -e
  std::optional<std::string> cpu_profile;
  std::optional<std::string> heap_profile;
  std::optional<std::string> trace;  ///< of --trace[=FILE]; "true" without a file
  std::vector<std::string> words;    ///< the file, unless there is code, and the guest's own arguments
};

/// Runs one guest with this process's stdin, stdout and stderr; its exit code, as a shell reports it. Throws
/// Error(usage) for flags that make no sense, Error(input) for a file that cannot be read, and what the
/// engine throws.
int guest_run(const GuestRunFlags& flags, Context& context);

}  // namespace tare::cli
