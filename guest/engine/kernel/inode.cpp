#include "engine/kernel/inode.hpp"

#include <sys/sysmacros.h>
#include <unistd.h>

namespace tare::kernel {

Inode::Inode(Usage& usage, std::uint64_t number, std::uint32_t mode, std::int64_t now_ns)
    : number(number),
      mode(mode),
      atime_ns(now_ns),
      mtime_ns(now_ns),
      ctime_ns(now_ns),
      birthtime_ns(now_ns),
      usage_(usage) {
  if (is_regular()) body.emplace<FileContent>(usage);
  if (is_directory()) body.emplace<Entries>();
  usage_.inodes.fetch_add(1);
}

Inode::~Inode() {
  if (const auto* target = std::get_if<std::string>(&body)) usage_.bytes.fetch_sub(target->size());
  usage_.inodes.fetch_sub(1);
}

void Inode::set_target(std::string target) {
  usage_.bytes.fetch_add(target.size());
  body = std::move(target);
}

Stat Inode::stat() const {
  Stat stat;
  stat.dev = 1;
  stat.ino = number;
  stat.mode = mode;
  stat.nlink = nlink;
  stat.uid = uid;
  stat.gid = gid;
  stat.atime_ns = atime_ns;
  stat.mtime_ns = mtime_ns;
  stat.ctime_ns = ctime_ns;
  stat.birthtime_ns = birthtime_ns;
  if (const auto* content = std::get_if<FileContent>(&body)) {
    stat.size = content->size();
    stat.blocks = content->stored() / 512;
  } else if (is_directory()) {
    stat.size = 4096;
    if (nlink > 0) stat.nlink = 2 + subdirectories;
  } else if (is_symlink()) {
    stat.size = static_cast<std::int64_t>(target().size());
  } else if (const auto* device = std::get_if<Device>(&body)) {
    const unsigned minor_number = *device == Device::null ? 3 : *device == Device::zero ? 5 : 9;
    stat.rdev = makedev(1, minor_number);
  }
  if (host) add_host_facts(stat);
  return stat;
}

void Inode::add_host_facts(Stat& stat) const {
  stat.dev = host->device;
  if (!host->facts) return;
  const Stat& there = host->facts->stat;
  stat.ino = there.ino;
  stat.blksize = there.blksize;
  stat.rdev = there.rdev;
  stat.birthtime_ns = there.birthtime_ns;
  if (is_directory()) stat.nlink = there.nlink;
  if (host->in_shadow) return;
  stat.size = there.size;
  stat.blocks = there.blocks;
}

std::int64_t Inode::size() const {
  return on_host() ? host->facts->stat.size : std::get<FileContent>(body).size();
}

void Inode::refresh(const HostFacts& facts) {
  const Stat& there = facts.stat;
  mode = there.mode;
  nlink = static_cast<std::uint32_t>(there.nlink);
  // A guest is root, and its files are those of who runs it.
  uid = there.uid == ::geteuid() ? 0 : there.uid;
  gid = there.gid == ::getegid() ? 0 : there.gid;
  atime_ns = there.atime_ns;
  mtime_ns = there.mtime_ns;
  ctime_ns = there.ctime_ns;
  host->facts = facts;
}

}  // namespace tare::kernel
