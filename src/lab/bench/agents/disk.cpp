#include "lab/bench/agents/disk.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

namespace tare::agents_bench {

bool is_in_memory(const std::filesystem::path& folder) {
  struct statfs facts{};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

bool is_durable(driver::Work work) {
  switch (work) {
    case driver::Work::spawn_pipeline_durable:
    case driver::Work::spawn_settle:
    case driver::Work::mixed_load:
    case driver::Work::durable_crash:
    case driver::Work::restart_scale:
      return true;
    default:
      return false;
  }
}

}  // namespace tare::agents_bench
