#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.hpp"
#include "runtime/guest/engine.hpp"

namespace tare::cli {

/// What --mount HOST:GUEST[:ro|:rw] says; HOST becomes its real path. Throws Error(usage) for another form,
/// Error(input) for what is no folder.
guest::Mount mount_of(const std::string& text);

/// Gives the engine the folders of the mounts as its roots.
void add_roots(guest::EngineOptions& options, const std::vector<guest::Mount>& mounts);

/// Where a guest sees a file of the host that lies in one of the mounts.
std::optional<std::string> path_in(const std::vector<guest::Mount>& mounts,
                                   const std::filesystem::path& file);

}  // namespace tare::cli
