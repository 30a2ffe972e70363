#include <cerrno>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/isolation.hpp"

namespace tare::launcher {
namespace {

/// Where the new root is put together: a folder that is there on every machine. What was there stays below.
constexpr const char* stage = "/tmp";

enum class Write { no, yes };

bool make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return false;
    if (at == std::string::npos) return true;
  }
}

/// A place of the same kind below the new root, for a mount to cover.
bool make_place(const std::string& place, bool is_folder) {
  if (is_folder) return make_folders(place);
  const std::string parent = place.substr(0, place.rfind('/'));
  if (!make_folders(parent)) return false;
  const int file = ::open(place.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return false;
  ::close(file);
  return true;
}

/// A file or folder of the old root, held open, as the stage may cover it.
struct Source {
  std::string path;
  Write write = Write::no;
  int place = -1;
};

/// What is not there is left out.
void add(std::vector<Source>& sources, const std::string& path, Write write) {
  const int place = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (place >= 0) sources.push_back({path, write, place});
}

std::vector<Source> collect(const Request& request) {
  std::vector<Source> sources;
  for (const char* folder : system_folders) add(sources, folder, Write::no);
  for (const char* file : system_files) add(sources, file, Write::no);
  if (request.network == Network::host) {
    for (const char* file : network_files) add(sources, file, Write::no);
  }
  for (const std::string& folder : request.readable) add(sources, folder, Write::no);
  for (const std::string& root : request.roots) add(sources, root, Write::yes);
  add(sources, "/proc", Write::yes);  // a fresh one would need a process namespace
  return sources;
}

/// As /lib is one to usr/lib.
std::string show_link(const Source& source, const std::string& at) {
  char target[4096];
  const ssize_t n = ::readlinkat(source.place, "", target, sizeof target - 1);
  if (n < 0) return failure(source.path);
  target[n] = '\0';
  make_folders(at.substr(0, at.rfind('/')));
  if (::symlink(target, at.c_str()) != 0 && errno != EEXIST) return failure(source.path);
  return {};
}

/// Shows it at its own path of the new root.
std::string show(const Source& source) {
  struct stat facts{};
  if (::fstat(source.place, &facts) != 0) return failure(source.path);
  const std::string at = stage + source.path;
  if (S_ISLNK(facts.st_mode)) return show_link(source, at);
  if (!make_place(at, S_ISDIR(facts.st_mode))) return failure(source.path);
  const std::string from = "/proc/self/fd/" + std::to_string(source.place);
  if (::mount(from.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return failure(source.path);
  // What the machine forbids there (nosuid, noexec …) can't be allowed in here, so it is asked for again.
  struct statvfs mounted{};
  ::statvfs(at.c_str(), &mounted);
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID;
  if (source.write == Write::no) flags |= MS_RDONLY;
  if ((mounted.f_flag & ST_RDONLY) != 0) flags |= MS_RDONLY;
  if ((mounted.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((mounted.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((mounted.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((mounted.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((mounted.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  if (::mount(nullptr, at.c_str(), nullptr, flags, nullptr) != 0) return failure(source.path);
  return {};
}

}  // namespace

std::string make_private_view(const Request& request) {
  // What is mounted here from now on is not seen outside.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failure("mount /");
  const std::vector<Source> sources = collect(request);
  if (::mount("none", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0)
    return failure("tmpfs");
  std::string why;
  for (const Source& source : sources) {
    if (why.empty()) why = show(source);
    ::close(source.place);
  }
  if (!why.empty()) {
    ::umount2(stage, MNT_DETACH);
    return why;
  }
  if (::chdir(stage) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0) {
    why = failure("pivot_root");
    ::umount2(stage, MNT_DETACH);
    return why;
  }
  // The old root is stacked on the new one at the same place.
  if (::umount2(".", MNT_DETACH) != 0) return failure("umount");
  if (::chdir("/") != 0) return failure("chdir");
  ::mkdir("/tmp", 0755);
  if (::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_BIND, nullptr) != 0)
    return failure("remount");
  return {};
}

}  // namespace tare::launcher
