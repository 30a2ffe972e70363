#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "engine/kernel/counters.hpp"
#include "engine/kernel/description.hpp"

namespace tare::kernel {

/// The descriptors of one process. Thread-safe.
class FdTable {
 public:
  /// Holds descriptors 0 to `limit` - 1. `counters` may be null.
  FdTable(std::uint32_t limit, std::shared_ptr<Counters> counters);

  /// The lowest free descriptor at or above `lowest` now stands for `description`. EMFILE at the limit.
  Result<int> add(std::shared_ptr<Description> description, int lowest = 0);
  /// EBADF unless open.
  Result<std::shared_ptr<Description>> get(int fd) const;
  Result<void> close(int fd);
  Result<int> dup(int fd);
  /// `to` stands for what `from` stands for; what it stood for before is closed.
  Result<int> dup2(int from, int to);
  /// The same for a description that has no descriptor yet. EBADF when `to` is out of range.
  Result<void> set(int to, std::shared_ptr<Description> description);

  void close_all();
  std::size_t open_count() const;

 private:
  const std::uint32_t limit_;
  const std::shared_ptr<Counters> counters_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Description>> table_;
  std::size_t open_ = 0;
  std::size_t lowest_free_ = 0;  ///< every descriptor below it is open
};

}  // namespace tare::kernel
