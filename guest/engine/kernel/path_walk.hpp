#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernel/inode.hpp"
#include "engine/kernel/result.hpp"

namespace tare::kernel {

/// Longer paths are refused with ENAMETOOLONG.
inline constexpr std::size_t max_path = 4095;

enum class Follow {
  yes,     ///< also a link that the path ends in
  no,      ///< not that one, unless a slash follows
  parent,  ///< for making and removing names: nothing is asked of what the path ends in
};

/// The place that a path leads to.
struct Found {
  enum class Last { name, dot, dot_dot, root };

  std::vector<Inode*> above;  ///< the directories from the root to the one that holds the name
  std::string name;           ///< set for Last::name
  Inode* node = nullptr;      ///< null when there is no such name
  Last last = Last::name;
  bool trailing_slash = false;
  std::string path;  ///< absolute, without links, "." and ".."

  Inode& parent() const { return *above.back(); }
};

/// Walks `path` from `cwd` below `root` as Linux does. ENOENT for a missing directory on the way (not for the
/// last name), ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL for a NUL. Under the lock of the file system; the
/// pointers are good as long as that is held.
Result<Found> walk(Inode& root, std::string_view cwd, std::string_view path, Follow follow);

}  // namespace tare::kernel
