#include "runtime/agents/sqlite_store.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tare::agents {
namespace {

using Handler = asio::any_completion_handler<void(std::exception_ptr)>;

/// What is written together, and who waits for it. The two arrays are parallel.
struct Batch {
  std::vector<std::vector<Change>> changes;
  std::vector<Handler> handlers;
};

}  // namespace

/// The thread and its queue. Alive as long as the store or a posted completion needs it.
class SqliteStore::Writer {
 public:
  Writer(asio::any_io_executor executor, const DatabaseOptions& options)
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
  bool push(std::vector<Change> changes, Handler handler) {
    const std::lock_guard lock(mutex_);
    queue_.changes.push_back(std::move(changes));
    queue_.handlers.push_back(std::move(handler));
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
  void work() {
    for (;;) {
      Batch batch;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return released_ || stopping_; });
        if (queue_.changes.empty() && stopping_) return;
        released_ = false;
        std::swap(batch, queue_);
      }
      if (batch.changes.empty()) continue;
      std::exception_ptr failure;
      try {
        database.commit(batch.changes);
        commits.fetch_add(1, std::memory_order_relaxed);
      } catch (...) {
        failure = std::current_exception();
      }
      // One message back, however many waited.
      asio::post(executor_, [handlers = std::move(batch.handlers), failure]() mutable {
        for (Handler& handler : handlers) std::move(handler)(failure);
      });
    }
  }

  asio::any_io_executor executor_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Batch queue_;
  bool release_asked_ = false;
  bool released_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all the others
};

SqliteStore::SqliteStore(asio::any_io_executor executor, const DatabaseOptions& options)
    : executor_(executor), writer_(std::make_shared<Writer>(std::move(executor), options)) {}

SqliteStore::~SqliteStore() = default;

asio::awaitable<void> SqliteStore::write(std::vector<Change> changes) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
      [](auto handler, SqliteStore* store, std::vector<Change> changes) {
        // The writer is told only after all that is ready to run now has run, so that what is asked for
        // together is written together.
        if (store->writer_->push(std::move(changes), Handler(std::move(handler)))) {
          asio::post(store->executor_, [writer = std::weak_ptr(store->writer_)] {
            if (const auto alive = writer.lock()) alive->release();
          });
        }
      },
      asio::use_awaitable, this, std::move(changes));
}

void SqliteStore::load(const std::function<void(Run)>& each) {
  writer_->database.load(each);
}

std::uint64_t SqliteStore::commits() const {
  return writer_->commits.load(std::memory_order_relaxed);
}

}  // namespace tare::agents
