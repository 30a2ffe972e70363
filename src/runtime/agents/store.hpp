#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "runtime/agents/run.hpp"
#include "runtime/agents/task.hpp"

namespace tare::agents {

/// What happens to the rows of a run. A run is two of them: the run itself, and the task that it works at.
struct Insert {
  Run run;
};
struct Settle {
  RunId id;
  Settlement settlement;
  std::optional<WallTime> archive_at;
};
struct Mark {
  RunId id;
  Delivery delivery;
  bool recovered;
};
struct Erase {
  RunId id;
};
using Change = std::variant<Insert, Settle, Mark, Erase>;

/// Where the runs of a registry are kept beyond its memory.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// Whether anything is kept at all. If not, nothing needs to be written.
  virtual bool durable() const = 0;

  /// Returns when the changes are kept for good: all of them, or by an Error(failed) none. Changes become
  /// durable in the order of the calls.
  virtual Task<void> write(std::vector<Change> changes) = 0;

  /// Every run that was kept, in the order of registration. Only before the first write.
  virtual void load(const std::function<void(Run)>& each) = 0;
};

/// Keeps nothing.
class MemoryStore final : public Store {
 public:
  bool durable() const override { return false; }
  Task<void> write(std::vector<Change>) override { co_return; }
  void load(const std::function<void(Run)>&) override {}
};

}  // namespace tare::agents
