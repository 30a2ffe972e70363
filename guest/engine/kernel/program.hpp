#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/kernel/file_system.hpp"

namespace tare::kernel {

/// A program and the arguments it gets.
struct ProgramStart {
  Program program;
  std::vector<std::string> argv;
};

/// What `file` names, as execvpe() would find it. "node", "/usr/bin/node", "sh" and "/bin/sh" are those
/// programs, whatever the files say; another name with a slash is a path, one without is looked up in
/// `search_path` (the value of PATH). A file must be executable and lead, over at most four `#!` lines, to
/// one of the two.
///
/// ENOENT, EACCES, ENOTDIR as for a path, ENOEXEC without a `#!` line, ELOOP.
Result<ProgramStart> resolve_program(const FileSystem& files, const Origin& origin, std::string_view file,
                                     std::vector<std::string> argv, std::string_view search_path);

/// Where names are looked up without a PATH.
inline constexpr std::string_view default_search_path = "/usr/local/bin:/usr/bin:/bin";

}  // namespace tare::kernel
