#include "engine/kernel/host_folder.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace tare::kernel {
namespace {

constexpr std::uint64_t look_only = O_PATH | O_NOFOLLOW;
constexpr std::uint32_t permission_bits = 0777;

Result<void> done(int result) {
  if (result < 0) return Errno{errno};
  return {};
}

timespec timespec_of(std::optional<std::int64_t> ns) {
  if (!ns) return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t whole = *ns / second - (*ns % second < 0 ? 1 : 0);
  return {.tv_sec = whole, .tv_nsec = *ns - whole * second};
}

std::array<timespec, 2> timespecs(Times times) {
  return {timespec_of(times.atime_ns), timespec_of(times.mtime_ns)};
}

std::int64_t nanoseconds(const statx_timestamp& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

Result<HostFacts> facts_of(int fd) {
  struct statx host{};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &host) != 0) return Errno{errno};
  HostFacts facts;
  Stat& stat = facts.stat;
  stat.dev = makedev(host.stx_dev_major, host.stx_dev_minor);
  stat.ino = host.stx_ino;
  stat.mode = host.stx_mode;
  stat.nlink = host.stx_nlink;
  stat.uid = host.stx_uid;
  stat.gid = host.stx_gid;
  stat.rdev = makedev(host.stx_rdev_major, host.stx_rdev_minor);
  stat.size = static_cast<std::int64_t>(host.stx_size);
  stat.blksize = host.stx_blksize;
  stat.blocks = host.stx_blocks;
  stat.atime_ns = nanoseconds(host.stx_atime);
  stat.mtime_ns = nanoseconds(host.stx_mtime);
  stat.ctime_ns = nanoseconds(host.stx_ctime);
  // As libuv has it where a file system keeps none.
  stat.birthtime_ns = (host.stx_mask & STATX_BTIME) != 0 ? nanoseconds(host.stx_btime) : 0;
  if (!S_ISLNK(host.stx_mode)) return facts;
  std::array<char, 4096> target{};
  const ssize_t size = ::readlinkat(fd, "", target.data(), target.size());
  if (size < 0) return Errno{errno};
  facts.target.assign(target.data(), static_cast<std::size_t>(size));
  return facts;
}

Result<void> write_whole(int fd, std::span<const std::byte> bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Errno{errno};
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += n;
  }
  return {};
}

Result<HostFacts> fill(int fd, const HostFolder::Contents& contents, std::uint32_t mode, Times times) {
  const auto write = [fd](std::span<const std::byte> bytes, std::int64_t offset) {
    return write_whole(fd, bytes, offset);
  };
  if (const auto written = contents.parts(write); !written.ok()) return written.failure();
  if (::ftruncate(fd, contents.size) != 0) return Errno{errno};
  if (::fchmod(fd, mode & permission_bits) != 0) return Errno{errno};
  if (const auto both = timespecs(times); ::futimens(fd, both.data()) != 0) return Errno{errno};
  return facts_of(fd);
}

/// A file with a name that nobody has.
struct Temporary {
  std::string name;
  Fd file;
};

/// Names that are taken were left by an engine that was killed.
Result<Temporary> make_temporary(int folder) {
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) < 0) return Errno{errno};
    Temporary made{fmt::format(".tare-{:016x}~", random), Fd()};
    made.file =
        Fd(::openat(folder, made.name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (made.file) return made;
    if (errno != EEXIST) return Errno{errno};
  }
  return Errno{EAGAIN};
}

std::uint32_t type_of(unsigned char type) {
  return type == DT_UNKNOWN ? 0 : static_cast<std::uint32_t>(DTTOIF(type));
}

}  // namespace

Result<HostFolder> HostFolder::open(const std::string& path) {
  Fd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return Errno{errno};
  HostFolder folder(std::move(root));
  if (const auto known = folder.open_beneath("", look_only); !known.ok()) return known.failure();
  return folder;
}

Result<Fd> HostFolder::open_beneath(std::string_view path, std::uint64_t flags) const {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string name(path.empty() ? "." : path);
  for (int attempt = 0;; ++attempt) {
    Fd fd(static_cast<int>(::syscall(SYS_openat2, root_.get(), name.c_str(), &how, sizeof how)));
    if (fd) return fd;
    // EAGAIN: something in the way was renamed just then.
    if (errno != EINTR && (errno != EAGAIN || attempt >= 16)) return Errno{errno};
  }
}

Result<HostFolder::Place> HostFolder::place_of(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return Errno{EBUSY};
  const std::string_view above = slash == std::string_view::npos ? "" : path.substr(0, slash);
  auto folder = open_beneath(above, O_PATH | O_DIRECTORY);
  if (!folder.ok()) return folder.failure();
  return Place{*std::move(folder), std::string(name)};
}

Result<HostFacts> HostFolder::look(std::string_view path) const {
  const auto fd = open_beneath(path, look_only);
  if (!fd.ok()) return fd.failure();
  return facts_of(fd->get());
}

/// `host` gets what the file is.
Result<Fd> HostFolder::open_regular(std::string_view path, struct stat& host) const {
  // It may have become a pipe by now: nobody waits for its other end.
  auto fd = open_beneath(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (!fd.ok()) return fd.failure();
  if (::fstat(fd->get(), &host) != 0) return Errno{errno};
  if (!S_ISREG(host.st_mode)) return Errno{EACCES};
  return fd;
}

Result<Fd> HostFolder::open_file(std::string_view path) const {
  struct stat host{};
  return open_regular(path, host);
}

std::optional<std::string> HostFolder::read_same(std::string_view path, const HostFacts& known) const {
  constexpr std::int64_t most = std::int64_t{16} << 20;
  struct stat host{};
  const auto fd = open_regular(path, host);
  const bool same = fd.ok() && host.st_ino == known.stat.ino && host.st_dev == known.stat.dev;
  if (!same || host.st_size > most) return std::nullopt;
  std::string content(static_cast<std::size_t>(host.st_size), '\0');
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t n =
        ::pread(fd->get(), content.data() + size, content.size() - size, static_cast<off_t>(size));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;  // shorter by now
    size += static_cast<std::size_t>(n);
  }
  content.resize(size);
  return content;
}

Result<std::vector<DirectoryEntry>> HostFolder::list(std::string_view path) const {
  const auto fd = open_beneath(path, O_RDONLY | O_DIRECTORY);
  if (!fd.ok()) return fd.failure();
  std::vector<DirectoryEntry> entries;
  alignas(dirent64) std::array<char, 32768> buffer;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, fd->get(), buffer.data(), buffer.size());
    if (size < 0) return Errno{errno};
    if (size == 0) return entries;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      std::uint32_t type = type_of(entry->d_type);
      if (type == 0) {
        struct stat host{};
        if (::fstatat(fd->get(), entry->d_name, &host, AT_SYMLINK_NOFOLLOW) == 0)
          type = host.st_mode & S_IFMT;
      }
      entries.push_back({std::string(name), type, entry->d_ino});
    }
  }
}

Result<void> HostFolder::may_write(std::string_view path) const {
  if (path.empty()) return done(::faccessat(root_.get(), ".", W_OK, 0));
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  return done(::faccessat(place->folder.get(), place->name.c_str(), W_OK, AT_SYMLINK_NOFOLLOW));
}

Result<FsStat> HostFolder::statfs(std::string_view path) const {
  const auto fd = open_beneath(path, look_only);
  if (!fd.ok()) return fd.failure();
  struct statvfs host{};
  if (::fstatvfs(fd->get(), &host) != 0) return Errno{errno};
  FsStat stat;
  stat.bsize = host.f_bsize;
  stat.blocks = host.f_blocks * host.f_frsize / host.f_bsize;
  stat.bfree = host.f_bavail * host.f_frsize / host.f_bsize;
  stat.files = host.f_files;
  stat.ffree = host.f_favail;
  return stat;
}

Result<void> HostFolder::make_directory(std::string_view path, std::uint32_t mode) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  if (::mkdirat(place->folder.get(), place->name.c_str(), 0700) != 0) return Errno{errno};
  // The umask of this process is none of the guest's.
  return done(::fchmodat(place->folder.get(), place->name.c_str(), mode & (permission_bits | S_ISVTX),
                         AT_SYMLINK_NOFOLLOW));
}

Result<void> HostFolder::make_symlink(const std::string& target, std::string_view path) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  return done(::symlinkat(target.c_str(), place->folder.get(), place->name.c_str()));
}

Result<void> HostFolder::link(std::string_view existing, std::string_view path) const {
  const auto from = place_of(existing);
  if (!from.ok()) return from.failure();
  const auto to = place_of(path);
  if (!to.ok()) return to.failure();
  return done(::linkat(from->folder.get(), from->name.c_str(), to->folder.get(), to->name.c_str(), 0));
}

Result<void> HostFolder::remove_file(std::string_view path) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  return done(::unlinkat(place->folder.get(), place->name.c_str(), 0));
}

Result<void> HostFolder::remove_directory(std::string_view path) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  return done(::unlinkat(place->folder.get(), place->name.c_str(), AT_REMOVEDIR));
}

Result<void> HostFolder::rename(std::string_view from, std::string_view to) const {
  const auto source = place_of(from);
  if (!source.ok()) return source.failure();
  const auto target = place_of(to);
  if (!target.ok()) return target.failure();
  return done(
      ::renameat(source->folder.get(), source->name.c_str(), target->folder.get(), target->name.c_str()));
}

Result<void> HostFolder::set_mode(std::string_view path, std::uint32_t mode) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  return done(
      ::fchmodat(place->folder.get(), place->name.c_str(), mode & permission_bits, AT_SYMLINK_NOFOLLOW));
}

Result<void> HostFolder::set_times(std::string_view path, Times times) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  const auto both = timespecs(times);
  return done(::utimensat(place->folder.get(), place->name.c_str(), both.data(), AT_SYMLINK_NOFOLLOW));
}

Result<HostFacts> HostFolder::put(std::string_view path, const Contents& contents, std::uint32_t mode,
                                  Times times, Existing existing) const {
  const auto place = place_of(path);
  if (!place.ok()) return place.failure();
  const int folder = place->folder.get();
  const auto temporary = make_temporary(folder);
  if (!temporary.ok()) return temporary.failure();
  auto facts = fill(temporary->file.get(), contents, mode, times);
  if (facts.ok()) {
    const unsigned flags = existing == Existing::refuse ? RENAME_NOREPLACE : 0;
    if (::renameat2(folder, temporary->name.c_str(), folder, place->name.c_str(), flags) == 0) return facts;
    facts = Errno{errno};
  }
  ::unlinkat(folder, temporary->name.c_str(), 0);
  return facts;
}

}  // namespace tare::kernel
