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
#include "lab/gateway/cpu.hpp"
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
  std::vector<std::string> watch = {};  ///< texts of its output that `has_said` is asked for at the end
};

/// How a server ended.
struct Departure {
  process::Exit exit;
  Instant exited;          ///< when its end was seen
  Nanoseconds took{};      ///< from the request to stop
  bool killed = false;     ///< it did not leave within its time
  std::size_t strays = 0;  ///< other processes of it that had to be killed
  bool clean() const { return !killed && strays == 0 && exit.ok(); }
};

/// A server process of a run, with the ends of its output. Killed, with its whole tree, when this object goes
/// before it was stopped. One thread, that of the io_context, which moves its output along and must outlive
/// this object. When the process has ended, what it left running is killed at once: what is in its group, and
/// what has the environment variable that it is started with.
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
  /// Waits until its output (stdout or stderr) has had this text. Throws Error(failed) when it ends, or
  /// closes its output, before; Error(timeout) at the deadline. Both name it, say what it was to do ("become
  /// ready") and have its last words.
  boost::asio::awaitable<void> wait_for_output(std::string text, std::string purpose, Instant deadline);
  /// The first whole line of stdout, at most 64 KiB of it. Throws as `wait_for_output`.
  boost::asio::awaitable<std::string> first_line(std::string purpose, Instant deadline);
  /// Is called once if it ends without `stop`, when its output is complete; "killed by SIGSEGV", "exit code
  /// 7". Not within this call, if it has ended already.
  void on_exit(std::function<void(const std::string& how)> exited);

  /// The last 64 KiB of both streams as they came, from the start of a character, and the last 20 lines of
  /// stderr.
  std::string output_tail() const;
  std::string stderr_tail() const;
  /// Whether its output ever had this text, if it was waited for or is among Launch::watch; of another,
  /// whether the last 64 KiB of a stream have it.
  bool has_said(std::string_view text) const;

  /// As in cpu.hpp; nothing when it has ended.
  std::optional<CpuTime> tree_cpu() const;
  std::optional<CpuTime> main_thread_cpu() const;
  std::optional<process::TreeUsage> usage(process::TreeFields fields) const;

  /// SIGTERM, then, after `grace`, SIGKILL to its tree; waits for its end and removes what it left running.
  /// A server that ended before is departed already, in no time. Throws Error(failed) when SIGKILL does not
  /// end it in ten seconds.
  boost::asio::awaitable<Departure> stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::lab_gateway
