#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "runtime/gateway/hub.hpp"
#include "runtime/gateway/run.hpp"
#include "runtime/gateway/sessions.hpp"
#include "runtime/gateway/store.hpp"
#include "runtime/gateway/transcripts.hpp"
#include "runtime/provider/provider.hpp"

namespace tare::gateway {

struct RunnerOptions {
  std::string model = "gpt-5.6-luna";
  std::string system;  ///< what the model is told before every conversation
  std::size_t max_concurrent = 8;
  std::size_t queue = 64;  ///< runs of one session that may wait
  std::size_t max_sessions = 100'000;
  std::size_t waits = 4096;                    ///< of one connection
  std::size_t held_bytes = 256 * 1024 * 1024;  ///< of texts that wait for their turn, over all sessions
  std::size_t told_bytes = 4 * 1024 * 1024;    ///< of tasks, or of texts that wait, in one answer
  std::chrono::milliseconds turn_time{600'000};
  Span context{40, 256 * 1024};  ///< of a conversation: what the model is told of it
  /// Of a reply's text. A client hears it several times over: the last deltas, the message, the result. All
  /// of them together must be less than may be unsent to one that reads.
  std::size_t reply_bytes = 4 * 1024 * 1024;
  std::size_t kept_runs = 4096;  ///< that have ended: what a repeated key is answered from
  std::size_t kept_texts = 256;  ///< of those, with their text in memory
};

struct RunRequest {
  std::string session_key;
  std::string agent = "main";
  std::string message;
  std::string key;  ///< one key is one run, however often it is asked for
};

/// How many runs there were and what became of them.
struct RunnerFacts {
  std::uint64_t accepted = 0;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t deltas = 0;
  std::size_t running = 0;
  std::size_t queued = 0;
};

/// Runs: one at a time in a session, `max_concurrent` of them over all. Whoever asks is told in this order:
/// accepted when the message is on disk, the turn's events, the end when the reply is on disk.
class Runner {
 public:
  struct Parts {
    boost::asio::io_context& io;
    const Clock& clock;
    Store& store;
    Sessions& sessions;
    Transcripts& transcripts;
    Hub& hub;
    provider::Provider& provider;
  };
  Runner(Parts parts, RunnerOptions options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// The latest runs, at the start. What had not ended is marked as interrupted: the changes to be written.
  std::vector<Change> restore(std::vector<RunRecord> runs, RunId last);

  /// `agent`. Throws Refusal.
  void start(const Call& call, RunRequest request);
  /// `agent.wait`. Throws Refusal.
  void wait(const Call& call, const std::string& key, std::chrono::milliseconds timeout);
  /// A connection is gone: nobody waits there any more.
  void leave(Client& client);
  /// Stops the run with that key, or all of a session. False when there was none that went on.
  bool abort_run(const std::string& key);
  /// Their keys.
  std::vector<std::string> abort_session(Session& session);

  /// No new runs from now on. `done` is called once none runs.
  void drain(std::function<void()> done);
  /// Ends what still runs, as interrupted, and every wait.
  void halt();
  std::size_t running() const { return running_; }

  /// Texts that wait for their turn in a session, the first first: the object `pendingInputs`.
  std::string pending_inputs(const Session& session) const;
  /// The payload of `tasks.list`: the latest runs, the latest first.
  std::string tasks() const;
  RunnerFacts facts() const;
  /// What became of a run, for logs.
  std::function<void(const Run&)> on_end = [](const Run&) {};

 private:
  using RunPtr = std::shared_ptr<Run>;

  Millis now() const;
  /// Now, in the time of its start: whatever is done to the calendar meanwhile, a run ends after it has
  /// begun.
  Millis end_of(const Run& run) const;
  RunPtr find(const std::string& key) const;
  void repeat(const Call& call, const RunPtr& run);
  std::shared_ptr<Session> session_for(const RunRequest& request);
  void accept(const RunPtr& run);
  void refuse(const RunPtr& run, const std::exception_ptr& failure);
  void pump(Session& session);
  void pump_line();
  void begin(const RunPtr& run);
  void stop(const RunPtr& run, Run::Stop why);
  std::string text_of(const Run& run);

  boost::asio::awaitable<void> turn(RunPtr run);
  boost::asio::awaitable<void> drop(RunPtr run);
  boost::asio::awaitable<bool> take_message(RunPtr run);
  boost::asio::awaitable<void> ask(RunPtr run);
  boost::asio::awaitable<void> end(RunPtr run);
  boost::asio::awaitable<std::exception_ptr> written(std::vector<Change> changes);

  provider::ModelRequest request_of(Session& session);
  void take(Run& run, const provider::Events& events);
  void tell_delta(Run& run);
  void judge(Run& run, const std::exception_ptr& failure);
  void fail(Run& run, Fault fault, const std::string& error);
  void tell_start(const RunPtr& run);
  void tell_end(const RunPtr& run, const Message* reply);
  void retire(const RunPtr& run);
  void set_limit(const RunPtr& run);
  void let_go(Run& run);
  void forget(const std::shared_ptr<Wait>& wait);

  Parts parts_;
  RunnerOptions options_;
  std::unordered_map<std::string, RunPtr> runs_;  ///< by key
  std::deque<RunPtr> ended_;                      ///< the oldest first
  std::unordered_multimap<std::string, std::shared_ptr<Wait>>
      early_waits_;                            ///< for runs that are not known yet
  std::deque<std::shared_ptr<Session>> line_;  ///< sessions with a run that waits for a place
  std::size_t running_ = 0;
  std::size_t held_ = 0;
  RunId last_ = 0;
  RunnerFacts facts_;
  std::function<void()> drained_;
  bool is_draining_ = false;
};

/// The fault that a write's failure is answered with: retryable, as a disk may have room again.
Fault storage_fault(const std::exception_ptr& failure);

}  // namespace tare::gateway
