#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "runtime/guest/connection.hpp"
#include "runtime/guest/vm.hpp"

namespace tare::guest {

struct Vm::State {
  std::shared_ptr<Connection> connection;
  std::uint32_t id = 0;
  std::vector<std::filesystem::path> cache_roots;
  std::atomic<bool> disposed = false;
};

struct Context::State {
  std::shared_ptr<Vm::State> vm;
  std::uint32_t id = 0;
};

/// What has been asked of the engine, and what it is for once that is granted.
template <class Thing>
struct Asked {
  std::shared_ptr<typename Thing::State> state;
  std::shared_ptr<Connection::PendingReply> reply;

  /// Waits for the answer. Throws Error(failed) saying `what` with the engine's words.
  void check(const char* what, Connection& connection) const {
    const Reply said = connection.await(*reply);
    if (said.error) throw Error(ErrorCode::failed, what, *said.error);
  }
};

inline constexpr const char* no_context = "cannot make a context";
/// Throws Error(input) as Vm::create_context.
Asked<Context> ask_for_context(const std::shared_ptr<Vm::State>& vm, const ContextOptions& options);

}  // namespace tare::guest
