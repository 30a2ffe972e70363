#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tare::engine {

enum class Reading : std::uint8_t {
  parts,  ///< the system reads what is looked at
  whole,  ///< at once: a page fault for each page costs more
};

/// A file of an installation, in memory for as long as the process lives, and never empty. Such a file is
/// replaced as a whole, never changed. Throws Error(input) that names `what` and the file.
std::string_view map_file(const std::filesystem::path& path, std::string_view what, Reading reading);

}  // namespace tare::engine
