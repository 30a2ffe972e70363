#include "launcher/isolation.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sched.h>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tare::launcher {
namespace {

constexpr int last_capability = 63;

bool write_text(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t n = ::write(file, text.data(), text.size());
  const int error = errno;
  ::close(file);
  errno = error;
  return n == static_cast<ssize_t>(text.size());
}

std::string map_user(uid_t user, gid_t group) {
  if (!write_text("/proc/self/setgroups", "deny") && errno != ENOENT) return failure("setgroups");
  const std::string user_text = std::to_string(user);
  const std::string group_text = std::to_string(group);
  if (!write_text("/proc/self/uid_map", user_text + " " + user_text + " 1")) return failure("uid_map");
  if (!write_text("/proc/self/gid_map", group_text + " " + group_text + " 1")) return failure("gid_map");
  return {};
}

/// One call for each, so that one that is not allowed leaves the others.
Part enter(std::string_view name, int flag) {
  if (::unshare(flag) != 0) return {name, false, failure("unshare")};
  return {name, true, {}};
}

/// None is left, and being root in a namespace brings none back.
std::string drop_capabilities() {
  std::string why;
  if (::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0) != 0)
    why = failure("securebits");
  for (int capability = 0; capability <= last_capability; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);  // fails for those that the kernel doesn't have
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return failure("capset");
  return why;
}

Part part(std::string_view name, std::string why) {
  const bool active = why.empty();
  return {name, active, std::move(why)};
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  out += '"';
}

}  // namespace

std::string failure(std::string_view call) {
  return std::string(call) + ": " + std::strerror(errno);
}

std::vector<Part> enter_namespaces(Network network) {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  std::vector<Part> parts;
  Part own = enter("userNamespace", CLONE_NEWUSER);
  if (own.active) own = part("userNamespace", map_user(user, group));
  parts.push_back(std::move(own));
  parts.push_back(enter("mountNamespace", CLONE_NEWNS));
  parts.push_back(network == Network::host ? Part{"networkNamespace", false, {}}
                                           : enter("networkNamespace", CLONE_NEWNET));
  parts.push_back(enter("ipcNamespace", CLONE_NEWIPC));
  return parts;
}

std::vector<Part> isolate(const Request& request) {
  std::vector<Part> parts = enter_namespaces(request.network);
  if (parts[1].active) {
    parts.push_back(part("privateView", make_private_view(request)));
  } else {
    parts.push_back(part("privateView", "there is no mount namespace"));
  }
  parts.push_back(part("capabilities", drop_capabilities()));
  std::string why;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) why = failure("prctl");
  parts.push_back(part("noNewPrivs", std::move(why)));
  parts.push_back(part("landlock", restrict_files(request)));
  return parts;
}

Part probe_seccomp() {
  const __u32 action = SECCOMP_RET_ERRNO;
  const bool there = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  return {"seccomp", there, there ? std::string() : failure("seccomp")};
}

std::string to_json(const std::vector<Part>& parts) {
  std::string out = "{";
  for (const Part& part : parts) {
    if (out.size() > 1) out += ',';
    append_quoted(out, part.name);
    out += ':';
    if (part.active || part.why.empty()) {
      out += part.active ? "true" : "false";
    } else {
      append_quoted(out, part.why);
    }
  }
  return out + "}";
}

}  // namespace tare::launcher
