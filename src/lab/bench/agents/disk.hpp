#pragma once

#include <filesystem>

namespace tare::agents_bench {

/// Whether a folder is kept in memory, where a commit waits for no disk. A folder that can't be asked is not.
bool is_in_memory(const std::filesystem::path& folder);

}  // namespace tare::agents_bench
