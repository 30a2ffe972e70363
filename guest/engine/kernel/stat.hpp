#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/stat.h>

namespace tare::kernel {

/// What stat(2) says of a file. Times are nanoseconds since 1970, with the clock's resolution of one
/// millisecond.
struct Stat {
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  std::uint32_t mode = 0;  ///< type (S_IFREG ...) and permission bits
  std::uint64_t nlink = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t rdev = 0;
  std::int64_t size = 0;
  std::uint32_t blksize = 4096;
  std::uint64_t blocks = 0;  ///< of 512 bytes, what is stored rather than what the size says
  std::int64_t atime_ns = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::int64_t birthtime_ns = 0;
};

/// The new times of a file in nanoseconds since 1970; what is absent stays.
struct Times {
  std::optional<std::int64_t> atime_ns;
  std::optional<std::int64_t> mtime_ns;
};

/// The new owner of a file; what is absent stays.
struct Owner {
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
};

/// One name of a directory. `type` is S_IFREG, S_IFDIR, S_IFLNK or S_IFCHR.
struct DirectoryEntry {
  std::string name;
  std::uint32_t type;
  std::uint64_t ino;
};

/// What statfs(2) says.
struct FsStat {
  std::uint64_t type = 0x01021994;  ///< as tmpfs
  std::uint64_t bsize = 512;
  std::uint64_t blocks = 0;
  std::uint64_t bfree = 0;
  std::uint64_t files = 0;
  std::uint64_t ffree = 0;
};

}  // namespace tare::kernel
