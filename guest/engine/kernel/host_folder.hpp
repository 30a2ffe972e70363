#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "base/fd.hpp"
#include "engine/kernel/result.hpp"
#include "engine/kernel/stat.hpp"

namespace tare::kernel {

/// What the host says of a file: `stat` with the host's own device and owner, and for a symbolic link where
/// it leads.
struct HostFacts {
  Stat stat;
  std::string target;

  /// Whether both are of one file with one content. Its mode may have changed.
  bool same_content(const HostFacts& other) const {
    return stat.dev == other.stat.dev && stat.ino == other.stat.ino && stat.size == other.stat.size &&
           stat.mtime_ns == other.stat.mtime_ns;
  }
};

/// A folder of the host, and what lies beneath it. Nothing else of the host can be reached through it: every
/// path is opened with openat2(2), which follows no link and no "..", whatever other processes do to the
/// folder meanwhile. Errnos are the host's.
///
/// A path is relative, without "." and ".."; the empty one is the folder itself, which can't be changed.
/// Thread-safe.
class HostFolder {
 public:
  /// ENOENT, ENOTDIR, EACCES; ENOSYS before Linux 5.6.
  static Result<HostFolder> open(const std::string& path);

  /// lstat(2).
  Result<HostFacts> look(std::string_view path) const;
  /// For reading what look() has just found to be a regular file. EACCES when it has become something else,
  /// whose opening may do something.
  Result<Fd> open_file(std::string_view path) const;
  /// The content of that file; nothing when another one has its place, or it is large, or can't be read.
  std::optional<std::string> read_same(std::string_view path, const HostFacts& known) const;
  /// Without "." and "..", in no order.
  Result<std::vector<DirectoryEntry>> list(std::string_view path) const;
  /// Whether this process may write to it: EACCES, EROFS.
  Result<void> may_write(std::string_view path) const;
  Result<FsStat> statfs(std::string_view path) const;

  Result<void> make_directory(std::string_view path, std::uint32_t mode) const;
  Result<void> make_symlink(const std::string& target, std::string_view path) const;
  Result<void> link(std::string_view existing, std::string_view path) const;
  Result<void> remove_file(std::string_view path) const;
  Result<void> remove_directory(std::string_view path) const;
  Result<void> rename(std::string_view from, std::string_view to) const;
  /// Permission bits alone: a guest makes nothing that runs as somebody else.
  Result<void> set_mode(std::string_view path, std::uint32_t mode) const;
  Result<void> set_times(std::string_view path, Times times) const;

  /// A file that is to be put somewhere. `parts` calls back with each stored piece and where it belongs; what
  /// lies between them is a hole.
  struct Contents {
    using Write = std::function<Result<void>(std::span<const std::byte> bytes, std::int64_t offset)>;
    std::int64_t size = 0;
    std::function<Result<void>(const Write& write)> parts;
  };
  enum class Existing { replace, refuse };
  /// Puts a whole file there at once, by a rename: nobody sees half of it, and of a file with other names
  /// those keep the old content. EEXIST with Existing::refuse. After an error nothing has changed.
  Result<HostFacts> put(std::string_view path, const Contents& contents, std::uint32_t mode, Times times,
                        Existing existing) const;

 private:
  explicit HostFolder(Fd root) : root_(std::move(root)) {}
  Result<Fd> open_beneath(std::string_view path, std::uint64_t flags) const;
  Result<Fd> open_regular(std::string_view path, struct stat& host) const;

  /// The folder that holds the last name of a path.
  struct Place {
    Fd folder;
    std::string name;
  };
  Result<Place> place_of(std::string_view path) const;

  Fd root_;
};

}  // namespace tare::kernel
