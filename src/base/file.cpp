#include "base/file.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"

namespace tare::file {
namespace {

namespace fs = std::filesystem;

Error write_error(const fs::path& path, int error) {
  return Error(ErrorCode::failed, "cannot write " + path.string(), errno_text(error));
}

void write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw write_error(path, errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Opens something that is not a regular file. A pipe that nobody reads is refused instead of waited for.
Fd open_in_place(const fs::path& path) {
  Fd out(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!out) throw write_error(path, errno);
  ::fcntl(out.get(), F_SETFL, ::fcntl(out.get(), F_GETFL) & ~O_NONBLOCK);
  return out;
}

void write_in_place(const fs::path& path, std::string_view content) {
  write_all(open_in_place(path).get(), content, path);
}

}  // namespace

std::string read(const fs::path& path, std::uintmax_t limit) {
  const auto fail = [&](const std::string& why) -> Error {
    return Error(ErrorCode::input, "cannot read " + path.string(), why);
  };
  Fd in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (in.get() < 0) throw fail(errno_text(errno));
  struct stat facts{};
  if (::fstat(in.get(), &facts) != 0) throw fail(errno_text(errno));
  if (S_ISDIR(facts.st_mode)) throw fail("it is a folder");
  if (!S_ISREG(facts.st_mode)) throw fail("it is not a regular file");
  if (static_cast<std::uintmax_t>(facts.st_size) > limit) {
    throw fail("it has " + std::to_string(facts.st_size) + " bytes, the limit is " + std::to_string(limit));
  }
  std::string content;
  content.reserve(static_cast<std::size_t>(facts.st_size));
  char block[1 << 16];
  for (;;) {
    const ssize_t n = ::read(in.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw fail(errno_text(errno));
    if (n == 0) return content;
    content.append(block, static_cast<std::size_t>(n));
    if (content.size() > limit) throw fail("it is larger than " + std::to_string(limit) + " bytes");
  }
}

namespace {

/// Where a write to `path` really goes: the target of a link, in a folder that exists.
struct Destination {
  fs::path path;
  bool in_place = false;
};

Destination destination_of(const fs::path& path) {
  if (!path.has_filename()) throw write_error(path.empty() ? "''" : path, path.empty() ? EINVAL : EISDIR);
  std::error_code status;
  if (fs::is_directory(path, status)) throw write_error(path, EISDIR);
  if (fs::exists(path, status) && !fs::is_regular_file(path, status)) return {path, true};
  if (!fs::is_symlink(path, status)) return {path};
  const fs::path target = fs::weakly_canonical(path, status);
  if (status) throw write_error(path, status.value());
  return {target};
}

/// Makes the folders above `path`; returns the first that was not there, or an empty path.
fs::path make_parents(const fs::path& path) {
  fs::path missing;
  std::error_code status;
  for (fs::path folder = path.parent_path(); !folder.empty() && !fs::exists(folder, status);
       folder = folder.parent_path()) {
    missing = folder;
  }
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), status);
  if (status) throw write_error(path, status.value());
  return missing;
}

/// A new file beside `target`, and its descriptor. It is removed unless it is renamed.
struct Temporary {
  explicit Temporary(const fs::path& target)
      : name(target.string() + ".XXXXXX"), out(::mkostemp(name.data(), O_CLOEXEC)) {}
  ~Temporary() {
    if (out.get() >= 0) ::unlink(name.c_str());
  }
  std::string name;
  Fd out;
};

}  // namespace

void write_atomically(const fs::path& path, std::string_view content) {
  const Destination to = destination_of(path);
  if (to.in_place) return write_in_place(to.path, content);
  make_parents(to.path);
  Temporary temporary(to.path);
  const int out = temporary.out.get();
  if (out < 0) throw write_error(path, errno);
  write_all(out, content, path);
  // mkostemp makes a private file; the result should look like any other file of this user.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(out, 0666 & ~mask) != 0 || ::fsync(out) != 0 ||
      ::rename(temporary.name.c_str(), to.path.c_str()) != 0) {
    throw write_error(path, errno);
  }
}

void check_writable(const fs::path& path) {
  const Destination to = destination_of(path);
  if (to.in_place) {
    open_in_place(to.path);
    return;
  }
  const fs::path made = make_parents(to.path);
  const int error = Temporary(to.path).out.get() < 0 ? errno : 0;
  std::error_code ignored;
  if (!made.empty()) fs::remove_all(made, ignored);
  if (error != 0) throw write_error(path, error);
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string name =
      (fs::path(base != nullptr && *base != '\0' ? base : "/tmp") / prefix).string() + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorCode::failed, "cannot make a temporary folder", name + ": " + errno_text(errno));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return fs::path(xdg) / "tare";
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home != '\0' ? home : "/root") / ".cache" / "tare";
}

namespace {
fs::path prefix() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path();
}
}  // namespace

fs::path lib_folder() {
  return prefix() / "lib" / "tare";
}
fs::path share_folder() {
  return prefix() / "share" / "tare";
}

fs::path find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : text::split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace tare::file
