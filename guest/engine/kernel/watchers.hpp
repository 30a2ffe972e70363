#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/kernel/waker.hpp"

namespace tare::kernel {

/// Who is to be woken. Guarded by its owner's lock; the wakers are called after that lock was let go:
///
///     Watchers::List woken;
///     { const std::lock_guard lock(mutex_); ...; woken = watchers_.list(); }
///     Watchers::wake(woken);
class Watchers {
 public:
  using List = std::vector<std::shared_ptr<Waker>>;

  void add(std::shared_ptr<Waker> waker) { list_.push_back(std::move(waker)); }
  void remove(const std::shared_ptr<Waker>& waker) {
    const auto found = std::find(list_.begin(), list_.end(), waker);
    if (found != list_.end()) list_.erase(found);
  }
  const List& list() const { return list_; }

  static void wake(const List& list) {
    for (const auto& waker : list) waker->wake();
  }

 private:
  List list_;
};

}  // namespace tare::kernel
