#include "runtime/agents/sqlite_store.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

namespace tare::agents {
namespace {

/// What is written together, and who waits for it.
struct Batch {
  std::vector<std::vector<Change>> changes;
  std::vector<Resumer<std::monostate>> waiting;               ///< parallel to `changes`
  std::unique_ptr<asio::executor_work_guard<Executor>> work;  ///< the loop has something to wait for
};

}  // namespace

/// The thread and its queue. A turn of the loop that means to tell it something holds it weakly.
class SqliteStore::Writer {
 public:
  Writer(Executor executor, const DatabaseOptions& options)
      : database(options), executor_(std::move(executor)), thread_([this] { work(); }) {}

  ~Writer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  /// Returns whether the writer has to be told with `release` that there is something.
  bool push(std::vector<Change> changes, const Resumer<std::monostate>& waiting) {
    const std::lock_guard lock(mutex_);
    if (!queue_.work) queue_.work = std::make_unique<asio::executor_work_guard<Executor>>(executor_);
    queue_.changes.push_back(std::move(changes));
    queue_.waiting.push_back(waiting);
    return !std::exchange(release_asked_, true);
  }

  void release() {
    {
      const std::lock_guard lock(mutex_);
      release_asked_ = false;
      released_ = true;
    }
    wake_.notify_one();
  }

  Database database;  ///< this thread's until the first write, then the writer's
  std::atomic<std::uint64_t> commits{0};

 private:
  /// What became of each write; null: it is on disk.
  std::vector<std::exception_ptr> commit(std::span<const std::vector<Change>> writes) {
    std::vector<std::exception_ptr> failures(writes.size());
    try {
      database.commit(writes);
      commits.fetch_add(1, std::memory_order_relaxed);
    } catch (...) {
      failures.front() = std::current_exception();
      // One that can't be written must not take those along that happen to be written with it.
      for (std::size_t i = 0; writes.size() > 1 && i < writes.size(); ++i)
        failures[i] = commit(writes.subspan(i, 1)).front();
    }
    return failures;
  }

  void work() {
    for (;;) {
      Batch batch;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return released_ || stopping_; });
        if (queue_.changes.empty() && stopping_) return;
        released_ = false;
        batch = std::exchange(queue_, {});
      }
      if (batch.changes.empty()) continue;
      // One message back, however many wait.
      asio::post(executor_, [waiting = std::move(batch.waiting), failures = commit(batch.changes)] {
        for (std::size_t i = 0; i < waiting.size(); ++i)
          failures[i] ? waiting[i].fail(failures[i]) : waiting[i]({});
      });
    }
  }

  Executor executor_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Batch queue_;
  bool release_asked_ = false;
  bool released_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all the others
};

SqliteStore::SqliteStore(Loop& loop, const DatabaseOptions& options)
    : loop_(loop), writer_(std::make_shared<Writer>(loop.executor(), options)) {}

SqliteStore::~SqliteStore() = default;

Task<void> SqliteStore::write(std::vector<Change> changes) {
  co_await suspend<std::monostate>(loop_, [&](const Resumer<std::monostate>& resume) {
    if (!writer_->push(std::move(changes), resume)) return;
    // The writer is told only after all that is ready to run now has run, so that what is asked for together
    // is written together.
    asio::post(loop_.executor(), [writer = std::weak_ptr(writer_)] {
      if (const auto alive = writer.lock()) alive->release();
    });
  });
}

void SqliteStore::load(const std::function<void(const Run&)>& each) {
  writer_->database.load(each);
}

std::size_t SqliteStore::estimate() const {
  return writer_->database.estimate();
}

bool SqliteStore::is_new() const {
  return writer_->database.is_new();
}

void SqliteStore::remove_when_closed() {
  writer_->database.remove_when_closed();
}

void SqliteStore::keep() {
  writer_->database.keep();
}

std::uint64_t SqliteStore::commits() const {
  return writer_->commits.load(std::memory_order_relaxed);
}

}  // namespace tare::agents
