#pragma once

#include <cstdint>
#include <optional>

#include "lab/report/document.hpp"

namespace tare::agents_bench {

/// What this process holds now (VmRSS); nothing when it cannot be read.
std::optional<std::uint64_t> own_rss_bytes();

/// The largest peak that any worker of the run reported; nothing when none did.
std::optional<std::uint64_t> largest_worker(const report::Document& document);

/// The row's memory is that of its workers.
void note_memory(report::Row& row);

}  // namespace tare::agents_bench
