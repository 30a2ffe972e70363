#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What the launcher shuts out before the engine starts. Every part may fail on some machine: then the part
/// says why, and the rest is done all the same.
namespace tare::launcher {

enum class Network { none, host };

struct Request {
  Network network = Network::none;
  std::vector<std::string> readable;  ///< folders that the engine reads and runs files from
  std::vector<std::string> roots;     ///< folders below which it reads and writes
};

/// One part: active, or why it is not. An empty `why` of one that is not active: it was not asked for.
struct Part {
  std::string_view name;
  bool active = false;
  std::string why;
};

/// Applies all of it to this process, for good. No other thread may run.
std::vector<Part> isolate(const Request& request);

/// Whether the kernel has what the engine's own filter of system calls needs.
Part probe_seccomp();

/// {"userNamespace":true,"landlock":"why not",…}
std::string to_json(const std::vector<Part>& parts);

// The parts, each of which returns why it failed, or "".

/// New user, mount, IPC and, unless the host's is asked for, network namespaces. This user is the same one in
/// them.
std::vector<Part> enter_namespaces(Network network);

/// A root folder that holds what the request names and what programs need, and nothing else. Needs a mount
/// namespace of this process's own.
std::string make_private_view(const Request& request);

/// Landlock rules to the same effect, which hold without any namespace.
std::string restrict_files(const Request& request);

/// "unshare: Operation not permitted", of errno.
std::string failure(std::string_view call);

/// What every program reads, if it is there.
inline constexpr const char* system_folders[] = {"/usr", "/lib", "/lib64", "/bin"};
inline constexpr const char* system_files[] = {"/etc/localtime",
                                               "/etc/ld.so.cache",
                                               "/etc/ssl",
                                               "/dev/null",
                                               "/dev/zero",
                                               "/dev/urandom",
                                               "/dev/random",
                                               "/sys/devices/system/cpu",
                                               "/sys/kernel/mm/transparent_hugepage",
                                               "/sys/fs/cgroup"};
/// With the host's network: how names are looked up.
inline constexpr const char* network_files[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
                                                "/etc/gai.conf", "/etc/services"};

}  // namespace tare::launcher
