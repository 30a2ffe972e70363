#include "runtime/gateway/sqlite_store.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "base/error.hpp"

namespace tare::gateway {
namespace {

namespace asio = boost::asio;
using LoopWork = asio::executor_work_guard<asio::io_context::executor_type>;

/// What is written together, and who waits for it.
struct WriteBatch {
  std::vector<std::vector<Change>> changes;
  std::vector<Store::Done> waiting;  ///< parallel to `changes`
  std::unique_ptr<LoopWork> work;    ///< the loop has something to wait for
};

}  // namespace

class SqliteStore::Writer {
 public:
  Writer(asio::io_context& io, const sqlite::Options& options) : database_(options), io_(io) {}

  ~Writer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  /// Before the thread is there.
  Kept load() { return database_.load(); }
  const std::filesystem::path& path() const { return database_.path(); }
  void start() {
    thread_ = std::thread([this] { work(); });
  }

  /// Returns whether the writer has to be told with `release` that there is something.
  bool push(std::vector<Change> changes, Done done) {
    const std::lock_guard lock(mutex_);
    if (!queue_.work) queue_.work = std::make_unique<LoopWork>(io_.get_executor());
    queue_.changes.push_back(std::move(changes));
    queue_.waiting.push_back(std::move(done));
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

  Facts facts() const {
    const std::lock_guard lock(mutex_);
    return facts_;
  }

 private:
  /// What became of each write; null: it is on disk.
  std::vector<std::exception_ptr> commit(std::span<const std::vector<Change>> writes) {
    std::vector<std::exception_ptr> failures(writes.size());
    try {
      database_.commit(writes);
    } catch (...) {
      failures.front() = std::current_exception();
      // One that can't be written must not take those along that happen to be written with it.
      for (std::size_t i = 0; writes.size() > 1 && i < writes.size(); ++i)
        failures[i] = commit(writes.subspan(i, 1)).front();
    }
    return failures;
  }

  void count(std::span<const std::exception_ptr> failures, std::chrono::duration<double> time) {
    const std::lock_guard lock(mutex_);
    ++facts_.commits;
    facts_.writes += failures.size();
    for (const auto& failure : failures) facts_.failures += failure ? 1 : 0;
    facts_.commit_seconds += time.count();
  }

  void work() {
    for (;;) {
      WriteBatch batch;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return released_ || stopping_; });
        if (queue_.changes.empty() && stopping_) return;
        released_ = false;
        batch = std::exchange(queue_, {});
      }
      if (batch.changes.empty()) continue;
      const auto from = std::chrono::steady_clock::now();
      std::vector<std::exception_ptr> failures = commit(batch.changes);
      count(failures, std::chrono::steady_clock::now() - from);
      // One message back, however many wait.
      asio::post(io_, [waiting = std::move(batch.waiting), failures = std::move(failures)] {
        for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i](failures[i]);
      });
    }
  }

  Database database_;  ///< the loop's until `start`, then the thread's
  asio::io_context& io_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  WriteBatch queue_;
  Facts facts_;
  bool release_asked_ = false;
  bool released_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

SqliteStore::SqliteStore(asio::io_context& io, const sqlite::Options& options)
    : writer_(std::make_shared<Writer>(io, options)) {
  kept_ = writer_->load();
  writer_->start();
  reader_ = std::make_unique<MessageReader>(writer_->path());
  io_ = &io;
}

SqliteStore::~SqliteStore() = default;

std::size_t SqliteStore::pending() const {
  return *pending_;
}

void SqliteStore::write(std::vector<Change> changes, Done done) {
  ++*pending_;
  Done counted = [pending = pending_, done = std::move(done)](const std::exception_ptr& failure) {
    --*pending;
    done(failure);
  };
  if (!writer_->push(std::move(changes), std::move(counted))) return;
  // The writer is told only after all that is ready to run now has run, so that what is asked for together is
  // written together.
  asio::post(*io_, [writer = std::weak_ptr(writer_)] {
    if (const auto alive = writer.lock()) alive->release();
  });
}

std::vector<Message> SqliteStore::messages(SessionId session, std::uint32_t before, Span span) {
  return reader_->messages(session, before, span);
}

Extent SqliteStore::extent(SessionId session) {
  return reader_->extent(session);
}

SqliteStore::Facts SqliteStore::facts() const {
  return writer_->facts();
}

}  // namespace tare::gateway
