#include "engine/kernel/fd_table.hpp"

#include <algorithm>
#include <cerrno>

namespace tare::kernel {

FdTable::FdTable(std::uint32_t limit, std::shared_ptr<Counters> counters)
    : limit_(limit), counters_(std::move(counters)) {}

Result<int> FdTable::add(std::shared_ptr<Description> description, int lowest) {
  if (lowest < 0) return Errno{EINVAL};
  const std::lock_guard lock(mutex_);
  auto fd = static_cast<std::size_t>(lowest);
  if (fd < lowest_free_) fd = lowest_free_;
  while (fd < table_.size() && table_[fd]) ++fd;
  if (fd >= limit_) {
    if (counters_) counters_->refused(Refusal::open_file_limit);
    return Errno{EMFILE};
  }
  if (fd >= table_.size()) table_.resize(fd + 1);
  table_[fd] = std::move(description);
  ++open_;
  // All below `lowest_free_` are taken: a search that began there says so for what it passed.
  if (static_cast<std::size_t>(lowest) <= lowest_free_) lowest_free_ = fd + 1;
  return static_cast<int>(fd);
}

Result<std::shared_ptr<Description>> FdTable::get(int fd) const {
  const std::lock_guard lock(mutex_);
  if (fd < 0 || static_cast<std::size_t>(fd) >= table_.size() || !table_[fd]) return Errno{EBADF};
  return table_[fd];
}

Result<void> FdTable::close(int fd) {
  std::shared_ptr<Description> closed;  // goes after the lock: the last reference wakes others
  const std::lock_guard lock(mutex_);
  if (fd < 0 || static_cast<std::size_t>(fd) >= table_.size() || !table_[fd]) return Errno{EBADF};
  closed.swap(table_[fd]);
  --open_;
  lowest_free_ = std::min(lowest_free_, static_cast<std::size_t>(fd));
  return {};
}

Result<int> FdTable::dup(int fd) {
  auto description = get(fd);
  if (!description.ok()) return Errno{description.error()};
  return add(*std::move(description));
}

Result<int> FdTable::dup2(int from, int to) {
  auto description = get(from);
  if (!description.ok()) return Errno{description.error()};
  if (from == to) return to;
  if (auto done = set(to, *std::move(description)); !done.ok()) return Errno{done.error()};
  return to;
}

Result<void> FdTable::set(int to, std::shared_ptr<Description> description) {
  // What it replaces goes after the lock.
  const std::lock_guard lock(mutex_);
  if (to < 0 || static_cast<std::size_t>(to) >= limit_) return Errno{EBADF};
  if (static_cast<std::size_t>(to) >= table_.size()) table_.resize(static_cast<std::size_t>(to) + 1);
  if (!table_[to]) ++open_;
  table_[to].swap(description);
  return {};
}

void FdTable::close_all() {
  std::vector<std::shared_ptr<Description>> closed;
  const std::lock_guard lock(mutex_);
  closed.swap(table_);
  open_ = 0;
  lowest_free_ = 0;
}

std::size_t FdTable::open_count() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace tare::kernel
