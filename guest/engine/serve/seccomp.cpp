#include "engine/serve/seccomp.hpp"

#include <cerrno>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tare::engine {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "the engine knows the system calls of x86-64 and arm64"
#endif

/// Refused with EPERM.
constexpr int refused[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_socket,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_open_by_handle_at,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_quotactl,
    SYS_fanotify_init,
    SYS_personality,
    SYS_sethostname,
    SYS_setdomainname,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_iopl,
    SYS_ioperm,
    SYS_kexec_file_load,
#endif
};

class Program {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  /// The next instruction is for a value that is `k`; others skip it.
  void only_if_equal(std::uint32_t k) { code_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, k}); }
  void only_unless_equal(std::uint32_t k) { code_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, k}); }
  void only_unless_bits(std::uint32_t bits) { code_.push_back({BPF_JMP | BPF_JSET | BPF_K, 1, 0, bits}); }
  void only_if_at_least(std::uint32_t k) { code_.push_back({BPF_JMP | BPF_JGE | BPF_K, 0, 1, k}); }
  /// For a value that is not `k`, skips `count` instructions.
  void skip_unless_equal(std::uint32_t k, std::uint8_t count) {
    code_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, count, k});
  }

  sock_fprog whole() { return {static_cast<unsigned short>(code_.size()), code_.data()}; }

 private:
  void add(std::uint16_t code, std::uint32_t k) { code_.push_back({code, 0, 0, k}); }
  std::vector<sock_filter> code_;
};

Program filter() {
  constexpr std::uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.only_unless_equal(architecture);
  program.answer(SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  constexpr std::uint32_t x32 = 0x40000000;  // the other numbering of the same processor
  program.only_if_at_least(x32);
  program.answer(refuse);
#endif
  for (const int number : refused) {
    program.only_if_equal(static_cast<std::uint32_t>(number));
    program.answer(refuse);
  }
  // Its flags are in memory, where a filter can't look: the C library then uses clone.
  program.only_if_equal(SYS_clone3);
  program.answer(SECCOMP_RET_ERRNO | ENOSYS);
  program.skip_unless_equal(SYS_clone, 3);
  program.load(offsetof(seccomp_data, args[0]));
  program.only_unless_bits(CLONE_THREAD);
  program.answer(refuse);
  program.answer(SECCOMP_RET_ALLOW);
  return program;
}

}  // namespace

json::Value lock_down() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return json::Value(errno_text(errno));
  Program program = filter();
  sock_fprog whole = program.whole();
  const long failed = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole);
  if (failed == 0) return json::Value(true);
  if (failed > 0) return json::Value(fmt::format("thread {} would not take it", failed));
  return json::Value(errno_text(errno));
}

}  // namespace tare::engine
