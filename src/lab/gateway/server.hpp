#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "lab/process/child.hpp"
#include "lab/process/tree.hpp"

namespace tare::lab_gateway {

/// How a server is started.
struct Launch {
  std::string name;  ///< for errors: "the gateway", "the model server"
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  process::EnvBase env_base = process::EnvBase::inherit;
  std::optional<std::string> cwd = {};
};

/// How a server ended.
struct Departure {
  process::Exit exit;
  Instant exited;          ///< when its end was seen
  Nanoseconds took{};      ///< from the request to stop
  bool killed = false;     ///< it did not leave within its time
  std::size_t strays = 0;  ///< processes of it that had to be killed
  bool clean() const { return !killed && strays == 0 && exit.ok(); }
};

/// CPU time, in microseconds since some start of its own.
struct CpuTime {
  Nanoseconds user{};
  Nanoseconds system{};
  Nanoseconds total() const { return user + system; }
};

/// A server process of a run, with the ends of its output. Killed, with its whole tree, when this object goes
/// before it was stopped. One thread, that of the io_context, which moves its output along.
class Server {
 public:
  /// Throws process::SpawnError.
  Server(boost::asio::io_context& io, const Launch& launch);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& name() const;
  pid_t pid() const;
  bool running() const;
  /// Waits until its output (stdout or stderr) has had this text. Throws Error(failed) when it ends before,
  /// Error(timeout) at the deadline: both name it, and say what it was to do ("become ready").
  boost::asio::awaitable<void> wait_for_output(std::string text, std::string purpose, Instant deadline);
  /// The first whole line of stdout. Throws as `wait_for_output`.
  boost::asio::awaitable<std::string> first_line(std::string purpose, Instant deadline);
  /// Is called once if it ends by itself; "killed by SIGSEGV", "exit code 7".
  void on_exit(std::function<void(const std::string& how)> exited);

  /// The last 64 KiB of both streams as they came, and the last 20 lines of stderr.
  std::string output_tail() const;
  std::string stderr_tail() const;
  /// Whether its output ever had this text.
  bool has_said(std::string_view text) const;

  /// Of its whole tree, children that it waited for included; nothing when it is gone. Steps of 10 ms, but
  /// for the process itself, whose own time is exact.
  std::optional<CpuTime> tree_cpu() const;
  /// Of its first thread.
  std::optional<CpuTime> main_thread_cpu() const;
  std::optional<process::TreeUsage> usage(process::TreeFields fields) const;

  /// SIGTERM, then, after `grace`, SIGKILL to its tree; waits for its end and removes what it left running.
  /// A server that ended before is departed already.
  boost::asio::awaitable<Departure> stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::lab_gateway
