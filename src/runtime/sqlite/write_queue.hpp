#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace tare::sqlite {

/// Writes of a loop, which a thread of its own commits: together what is asked for in one turn of the loop,
/// and what comes while a commit is on its way. `push` belongs to the loop's thread.
template <class Change>
class WriteQueue {
 public:
  /// Commits all of these writes or none, or throws. Called on the queue's thread.
  using Commit = std::function<void(std::span<const std::vector<Change>> writes)>;
  /// Called on the loop: null once the write is on disk, else why it isn't.
  using Done = std::function<void(const std::exception_ptr& failure)>;
  struct Facts {
    std::uint64_t commits = 0;
    std::uint64_t writes = 0;
    std::uint64_t failures = 0;
    double commit_seconds = 0;
  };

  WriteQueue(boost::asio::io_context& loop, Commit commit)
      : state_(std::make_shared<State>(loop, std::move(commit))),
        thread_([state = state_.get()] { state->work(); }) {}
  /// Commits what was pushed, and ends the thread.
  ~WriteQueue() {
    state_->stop();
    thread_.join();
  }
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  void push(std::vector<Change> changes, Done done) {
    if (!state_->push(std::move(changes), std::move(done))) return;
    // The thread is told only after all that is ready to run now has run, so that what is asked for together
    // is written together.
    boost::asio::post(state_->loop, [state = std::weak_ptr(state_)] {
      if (const auto alive = state.lock()) alive->release();
    });
  }

  Facts facts() const { return state_->read_facts(); }

 private:
  using LoopWork = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  /// What is written together, and who waits for it.
  struct Batch {
    std::vector<std::vector<Change>> changes;
    std::vector<Done> waiting;  ///< parallel to `changes`
    /// The loop has something to wait for.
    std::unique_ptr<LoopWork> work;
  };

  struct State {
    State(boost::asio::io_context& its_loop, Commit its_commit)
        : loop(its_loop), commit(std::move(its_commit)) {}

    /// Returns whether `release` has to be called, once, for what is in the queue.
    bool push(std::vector<Change> changes, Done done) {
      const std::lock_guard lock(mutex);
      if (!queue.work) queue.work = std::make_unique<LoopWork>(loop.get_executor());
      queue.changes.push_back(std::move(changes));
      queue.waiting.push_back(std::move(done));
      return !std::exchange(release_asked, true);
    }

    void release() {
      {
        const std::lock_guard lock(mutex);
        release_asked = false;
        released = true;
      }
      wake.notify_one();
    }

    void stop() {
      {
        const std::lock_guard lock(mutex);
        stopping = true;
      }
      wake.notify_one();
    }

    Facts read_facts() const {
      const std::lock_guard lock(mutex);
      return facts;
    }

    /// What became of each write; null: it is on disk.
    std::vector<std::exception_ptr> try_all(std::span<const std::vector<Change>> writes) {
      std::vector<std::exception_ptr> failures(writes.size());
      try {
        commit(writes);
      } catch (...) {
        failures.front() = std::current_exception();
        // One that can't be written must not take those along that happen to be written with it.
        for (std::size_t i = 0; writes.size() > 1 && i < writes.size(); ++i)
          failures[i] = try_all(writes.subspan(i, 1)).front();
      }
      return failures;
    }

    void count(std::span<const std::exception_ptr> failures, std::chrono::duration<double> time) {
      const std::lock_guard lock(mutex);
      ++facts.commits;
      facts.writes += failures.size();
      for (const auto& failure : failures) facts.failures += failure ? 1 : 0;
      facts.commit_seconds += time.count();
    }

    void work() {
      for (;;) {
        Batch batch;
        {
          std::unique_lock lock(mutex);
          wake.wait(lock, [&] { return released || stopping; });
          if (queue.changes.empty() && stopping) return;
          released = false;
          batch = std::exchange(queue, {});
        }
        if (batch.changes.empty()) continue;
        const auto from = std::chrono::steady_clock::now();
        std::vector<std::exception_ptr> failures = try_all(batch.changes);
        count(failures, std::chrono::steady_clock::now() - from);
        // One message back, however many wait.
        boost::asio::post(loop, [waiting = std::move(batch.waiting), failures = std::move(failures)] {
          for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i](failures[i]);
        });
      }
    }

    boost::asio::io_context& loop;
    const Commit commit;
    mutable std::mutex mutex;
    std::condition_variable wake;
    Batch queue;
    Facts facts;
    bool release_asked = false;
    bool released = false;
    bool stopping = false;
  };

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tare::sqlite
