#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tare::file {

/// The whole of a regular file. Throws Error(input) that names the path and the reason; a file larger than
/// `limit` bytes is refused before it is read.
std::string read(const std::filesystem::path& path, std::uintmax_t limit = std::uintmax_t{4} << 30);

/// Writes a file so that a reader sees the old content or the new one, never a part: a temporary file
/// beside it, fsync, rename. Parent folders are made. A path that exists and is not a regular file
/// (/dev/stdout, a pipe) is written in place. Throws Error(failed) with the path and the reason, and
/// leaves the old file untouched and no temporary file behind.
void write_atomically(const std::filesystem::path& path, std::string_view content);

/// Throws the Error that write_atomically would throw now, as far as that can be known without writing:
/// so that a long run does not end with a path that could never be written.
void check_writable(const std::filesystem::path& path);

/// A fresh folder under $TMPDIR (or /tmp), removed with all that is in it at the end of its scope.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix = "tare");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Where files that can be made again live: $XDG_CACHE_HOME/tare, else $HOME/.cache/tare.
std::filesystem::path cache_folder();

/// Where this installation's resources are: `lib/tare` and `share/tare` beside the program's `bin`.
std::filesystem::path lib_folder();
std::filesystem::path share_folder();

/// The first executable regular file of that name on $PATH, or an empty path.
std::filesystem::path find_program(std::string_view name);

}  // namespace tare::file
