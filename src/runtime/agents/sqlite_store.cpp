#include "runtime/agents/sqlite_store.hpp"

#include "runtime/sqlite/write_queue.hpp"

namespace tare::agents {

/// The database is this thread's until the first write, then the queue's.
struct SqliteStore::Files {
  Files(Loop& loop, const DatabaseOptions& options)
      : database(options), queue(loop.io(), [this](auto writes) { database.commit(writes); }) {}

  Database database;
  sqlite::WriteQueue<Change> queue;
};

SqliteStore::SqliteStore(Loop& loop, const DatabaseOptions& options)
    : loop_(loop), files_(std::make_unique<Files>(loop, options)) {}

SqliteStore::~SqliteStore() = default;

Task<void> SqliteStore::write(std::vector<Change> changes) {
  co_await suspend<std::monostate>(loop_, [&](const Resumer<std::monostate>& resume) {
    files_->queue.push(std::move(changes), [resume](const std::exception_ptr& failure) {
      failure ? resume.fail(failure) : resume({});
    });
  });
}

void SqliteStore::load(const std::function<void(const Run&)>& each) {
  files_->database.load(each);
}

std::size_t SqliteStore::estimate() const {
  return files_->database.estimate();
}

bool SqliteStore::is_new() const {
  return files_->database.is_new();
}

void SqliteStore::remove_when_closed() {
  files_->database.remove_when_closed();
}

void SqliteStore::keep() {
  files_->database.keep();
}

std::uint64_t SqliteStore::commits() const {
  return files_->queue.facts().commits;
}

}  // namespace tare::agents
