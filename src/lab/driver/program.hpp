#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tare::driver {

/// Which file was measured, so that two runs can be told to be of the same program.
struct ProgramFacts {
  std::string path;  ///< without symbolic links
  std::string sha256;
  std::uint64_t size_bytes = 0;
  std::string modified_at;  ///< RFC 3339, UTC
};

/// Throws Error(input) that names the file and the reason. Reads the file in pieces: 0.1 s for Node.
ProgramFacts program_facts(const std::filesystem::path& path);

}  // namespace tare::driver
