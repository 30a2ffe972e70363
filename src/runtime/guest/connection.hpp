#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "protocol/frame.hpp"
#include "protocol/messages.hpp"
#include "protocol/socket.hpp"
#include "runtime/guest/child.hpp"
#include "runtime/guest/exit.hpp"
#include "runtime/guest/life.hpp"
#include "runtime/guest/profile.hpp"

namespace tare::guest {

/// One engine process, and the frames that go to it and come from it. Thread-safe.
///
/// Whoever waits for something reads the socket for everybody: the first of them reads, the others sleep
/// until theirs has come or the reader's has, who then leaves the reading to one of them. So a single waiter
/// is woken by the engine itself, with no thread in between. While nobody waits, nothing is read; a send that
/// finds the socket full reads meanwhile, so that both sides can never wait for each other.
class Connection {
 public:
  using LogSink = std::function<void(Level, const std::string&)>;

  /// What is known of one execution.
  struct Record {
    std::string command;  ///< for a person
    std::optional<std::int64_t> pid;
    std::optional<Exit> exit;
    std::shared_ptr<Profiles> profiles;  ///< those that were asked for; complete once there is an exit
    std::optional<Life> life;            ///< of an engine that traces
  };

  /// Starts the process; `argv` ends with the engine's configuration. Waits until it is ready. Throws
  /// Error(unavailable or failed).
  Connection(std::vector<std::string> argv, Nanoseconds limit, LogSink log);
  ~Connection();  ///< as stop()
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Ready& ready() const { return ready_; }
  pid_t pid() const { return child_->pid(); }

  /// A number that no virtual machine, execution or request of this engine has.
  std::uint32_t next_id();

  /// Throws Error(failed) when the engine is lost.
  void send(Kind kind, std::uint32_t id, std::string_view payload, int passed = -1);

  /// Sends, and waits for the reply. Throws Error(failed): the engine is lost, or does not answer in time. An
  /// error in the reply is returned.
  Reply request(Kind kind, std::uint32_t id, std::string_view payload);
  /// The two halves of it, for several requests at once: they are answered in the order in which they were
  /// sent.
  struct PendingReply {
    std::optional<Reply> reply;
  };
  std::shared_ptr<PendingReply> ask(Kind kind, std::uint32_t id, std::string_view payload);
  Reply await(PendingReply& pending);

  /// Sends a spawn; its record will change as the engine tells about it.
  std::shared_ptr<Record> spawn(std::uint32_t id, const Spawn& message, int passed);

  /// Waits until `done(record)`, which is asked under a lock. False when the deadline has passed.
  using Done = bool (*)(const Record&);
  /// `who` is the name of the call that waits, for the trace.
  bool wait(const std::shared_ptr<Record>& record, Done done, std::optional<Instant> deadline,
            const char* who);

  /// Its socket, to wait for beside others; readable: take_in().
  int descriptor() const { return socket_.get(); }
  /// Reads what is there. False when another thread does.
  bool take_in();

  /// A copy, as of now.
  Record look(const std::shared_ptr<Record>& record);

  /// Why there is no engine any more: "killed by SIGKILL". Nothing while it is there, or not known to be
  /// gone.
  std::optional<std::string> lost();

  /// Resident memory of the process; nothing when it is gone.
  std::optional<std::uint64_t> resident_bytes() const;

  struct Stopped {
    std::vector<std::string> guests;  ///< commands of those that are not known to have ended
    bool forced = false;              ///< the process did not leave by itself in time
  };
  /// Closes the socket, which ends the engine, and kills it when it does not leave within 2 s.
  Stopped stop();

 private:
  struct Waiter;
  using Lock = std::unique_lock<std::mutex>;

  bool wait_for(Lock& lock, const void* subject, const std::function<bool()>& done,
                std::optional<Instant> deadline);
  bool read_once(Lock& lock, std::optional<Instant> deadline);
  void write(std::string_view frame, int passed);
  void wait_until_sendable();
  void pass_reading_on();
  void dispatch(const Frame& frame);
  void on_reply(const Frame& frame);
  void on_exited(const Frame& frame);
  void on_profile(const Frame& frame);
  void lose(Lock& lock, const std::string& why);
  void wake(const void* subject);
  Error lost_error() const;
  std::string cause_of_loss();

  std::unique_ptr<Child> child_;
  Fd socket_;
  Fd statm_;  ///< of the engine, by the kernel
  LogSink log_;
  Ready ready_;

  std::mutex sending_;

  std::mutex mutex_;  ///< of all below
  Receiver receiver_{-1};
  Decoder decoder_;
  std::uint32_t last_id_ = 0;
  bool reading_ = false;
  bool is_ready_ = false;
  std::optional<std::string> lost_;
  std::list<Waiter*> waiters_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Record>> living_;
  std::unordered_map<std::uint32_t, std::deque<std::shared_ptr<PendingReply>>> replies_;
  std::vector<Log> logs_;  ///< to be told once the lock is free
};

}  // namespace tare::guest
