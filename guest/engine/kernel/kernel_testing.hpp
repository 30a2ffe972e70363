#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "engine/kernel/shell.hpp"
#include "engine/kernel/vm.hpp"

/// What the tests of this folder share.
namespace tare::kernel::testing {

/// A deadline that only a broken test reaches.
inline Instant soon() {
  return SystemClock().now() + std::chrono::seconds(30);
}

inline std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// What one read() gives, as text.
inline std::string read_some(Description& from, std::size_t most = 65536) {
  std::string text(most, '\0');
  const auto count = from.read(std::as_writable_bytes(std::span(text)));
  text.resize(count.ok() ? *count : 0);
  return text;
}

/// Everything up to the end, waiting for it.
inline std::string read_all(Description& from) {
  const auto wait = std::make_shared<Wait>();
  std::string all;
  std::string part(8192, '\0');
  for (;;) {
    const auto count = read_blocking(wait, from, std::as_writable_bytes(std::span(part)));
    if (!count.ok() || *count == 0) return all;
    all.append(part, 0, *count);
  }
}

/// Counts how often it is woken.
class Count final : public Waker {
 public:
  void wake() override { ++times; }
  std::atomic<int> times{0};
};

/// Runs each process on a thread of its own: the shell as such, "node" by what a test says node's first
/// argument does. Joins its threads at the end.
class Threads final : public Runner {
 public:
  using Body = std::function<Exit(const std::shared_ptr<Process>&)>;

  /// `node NAME ...` runs `body`.
  void add(const std::string& name, Body body) { bodies_[name] = std::move(body); }

  Result<void> start(std::shared_ptr<Process> process) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, process] { process->post_exit(run(process)); });
    return {};
  }

  void join() {
    for (;;) {
      std::vector<std::thread> threads;
      {
        const std::lock_guard lock(mutex_);
        threads.swap(threads_);
      }
      if (threads.empty()) return;
      for (auto& thread : threads) thread.join();
    }
  }

 private:
  Exit run(const std::shared_ptr<Process>& process) {
    if (process->kill_requested()) return {};
    if (process->program() == Program::shell) return run_shell(process);
    const auto& argv = process->argv();
    const auto body = bodies_.find(argv.size() > 1 ? argv[1] : "");
    return body == bodies_.end() ? Exit::with_code(0) : body->second(process);
  }

  std::map<std::string, Body> bodies_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

/// Runs nothing: the test plays the threads of the processes.
class Idle final : public Runner {
 public:
  Result<void> start(std::shared_ptr<Process>) override { return answer; }
  Result<void> answer;
};

inline SpawnRequest command(std::vector<std::string> argv) {
  SpawnRequest request;
  request.argv = std::move(argv);
  return request;
}

inline StdioEntry stream(std::shared_ptr<Description> description) {
  return {StdioEntry::Kind::description, -1, std::move(description)};
}

}  // namespace tare::kernel::testing
