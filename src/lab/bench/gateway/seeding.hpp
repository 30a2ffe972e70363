#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "lab/bench/gateway/options.hpp"
#include "lab/bench/gateway/wakeup.hpp"
#include "lab/gateway/client.hpp"

namespace tare::gateway_bench {

/// Makes the sessions of a run and their synthetic history, 16 sessions at a time. It starts at once; all
/// must outlive it.
class Seeding {
 public:
  /// `root`: where the workspaces of the sessions are made, if they have some.
  Seeding(lab_gateway::Client& client, const Options& options, std::filesystem::path root, Wakeup& wakeup);

  bool done() const { return failure_ || seeded_ == options_.sessions(); }
  std::uint64_t seeded() const { return seeded_; }
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  void next();
  void create(std::uint64_t session);
  void inject(std::uint64_t session, std::uint64_t message);
  void ask(std::string_view method, const std::string& params, std::function<void()> then);

  lab_gateway::Client& client_;
  const Options& options_;
  std::filesystem::path root_;
  Wakeup& wakeup_;
  std::uint64_t next_ = 0;
  std::uint64_t seeded_ = 0;
  std::optional<std::string> failure_;
};

/// A synthetic message of the history of a session; both are counted from 0.
std::string synthetic_message(std::uint64_t session, std::uint64_t message, std::uint64_t chars);

}  // namespace tare::gateway_bench
