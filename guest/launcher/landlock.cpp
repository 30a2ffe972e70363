#include <cerrno>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/isolation.hpp"

namespace tare::launcher {
namespace {

// Of newer kernels than the headers here may know.
constexpr __u64 truncate_file = __u64{1} << 14;
constexpr __u64 control_device = __u64{1} << 15;
constexpr int version_with_refer = 2;
constexpr int version_with_truncate = 3;
constexpr int version_with_control = 5;

constexpr __u64 read_file = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr __u64 read_folder = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr __u64 execute = LANDLOCK_ACCESS_FS_EXECUTE;
constexpr __u64 write_file = LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr __u64 change_folder = LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SYM;
/// All that was there from the first version on.
constexpr __u64 first_version = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
/// What a rule about a file may allow.
constexpr __u64 of_files = execute | write_file | read_file | truncate_file | control_device;

class Rules {
 public:
  explicit Rules(int version) : handled_(first_version) {
    if (version >= version_with_refer) handled_ |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= version_with_truncate) handled_ |= truncate_file;
    if (version >= version_with_control) handled_ |= control_device;
    const landlock_ruleset_attr attributes{handled_};
    set_ = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  }
  ~Rules() {
    if (set_ >= 0) ::close(set_);
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  bool made() const { return set_ >= 0; }

  /// What is not there needs no rule.
  void allow(const char* path, __u64 access) {
    const int place = ::open(path, O_PATH | O_CLOEXEC);
    if (place < 0) return;
    struct stat facts{};
    ::fstat(place, &facts);
    if (!S_ISDIR(facts.st_mode)) access &= of_files;
    const landlock_path_beneath_attr rule{access & handled_, place};
    ::syscall(SYS_landlock_add_rule, set_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    ::close(place);
  }

  bool enforce() const { return ::syscall(SYS_landlock_restrict_self, set_, 0) == 0; }

 private:
  __u64 handled_;
  int set_ = -1;
};

}  // namespace

std::string restrict_files(const Request& request) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return failure("landlock");
  Rules rules(static_cast<int>(version));
  if (!rules.made()) return failure("landlock");
  for (const char* folder : system_folders) rules.allow(folder, read_file | read_folder | execute);
  for (const char* file : system_files) rules.allow(file, read_file | read_folder);
  rules.allow("/dev/null", read_file | write_file);
  rules.allow("/proc/self", read_file | read_folder);
  for (const char* file : {"/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/uptime", "/proc/loadavg",
                           "/proc/version", "/proc/sys/vm/overcommit_memory"})
    rules.allow(file, read_file);
  if (request.network == Network::host) {
    for (const char* file : network_files) rules.allow(file, read_file);
  }
  for (const std::string& folder : request.readable)
    rules.allow(folder.c_str(), read_file | read_folder | execute);
  for (const std::string& root : request.roots) {
    rules.allow(root.c_str(), read_file | read_folder | write_file | change_folder | truncate_file |
                                  LANDLOCK_ACCESS_FS_REFER);
  }
  return rules.enforce() ? std::string() : failure("landlock");
}

}  // namespace tare::launcher
