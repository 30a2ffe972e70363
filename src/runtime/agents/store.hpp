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
struct Deliver {
  RunId id;
  Delivery delivery;
};
struct Recover {
  RunId id;
};
struct Erase {
  RunId id;
};
using Change = std::variant<Insert, Settle, Deliver, Recover, Erase>;

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
  /// durable in the order of the calls. To settle or mark a run that is not kept is an error.
  virtual Task<void> write(std::vector<Change> changes) = 0;

  /// Every run that was kept, in the order of registration. Only before the first write.
  virtual void load(const std::function<void(const Run&)>& each) = 0;

  /// About how many runs there are to load.
  virtual std::size_t estimate() const { return 0; }
};

/// Keeps nothing.
class MemoryStore final : public Store {
 public:
  bool durable() const override { return false; }
  Task<void> write(std::vector<Change>) override { co_return; }
  void load(const std::function<void(const Run&)>&) override {}
};

}  // namespace tare::agents
