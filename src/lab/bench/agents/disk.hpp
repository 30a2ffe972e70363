#pragma once

#include <filesystem>

#include "lab/driver/workload.hpp"

namespace tare::agents_bench {

/// Whether a folder is kept in memory, where a commit waits for no disk. A folder that can't be asked is not.
bool is_in_memory(const std::filesystem::path& folder);

/// Whether the rows of this kind wait for the disk.
bool is_durable(driver::Work work);

}  // namespace tare::agents_bench
