#pragma once

#include <memory>

#include "runtime/agents/database.hpp"
#include "runtime/agents/store.hpp"

namespace tare::agents {

/// Keeps runs in a Database that a thread of its own writes: whatever was asked for while it wrote goes into
/// its next transaction, so that any number of registrations in flight share one fsync. Completions come back
/// on the loop.
///
/// The destructor waits until all that was asked for is written.
class SqliteStore final : public Store {
 public:
  /// Throws as Database does.
  SqliteStore(Loop& loop, const DatabaseOptions& options);
  ~SqliteStore() override;

  bool durable() const override { return true; }
  Task<void> write(std::vector<Change> changes) override;
  void load(const std::function<void(const Run&)>& each) override;
  std::size_t estimate() const override;

  /// Whether the database had no tables yet.
  bool is_new() const;

  /// The database's files go with this store, or stay, which is the default.
  void remove_when_closed();
  void keep();

  /// How many transactions there were.
  std::uint64_t commits() const;

 private:
  struct Files;
  Loop& loop_;
  std::unique_ptr<Files> files_;
};

}  // namespace tare::agents
