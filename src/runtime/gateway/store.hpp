#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "runtime/gateway/record.hpp"

namespace tare::gateway {

/// Where sessions, messages and runs are kept. Belongs to the thread of the loop.
class Store {
 public:
  /// Called on the loop: null once all is on disk, else the Error(failed) that says why nothing of it is. In
  /// the order of the writes.
  using Done = std::function<void(const std::exception_ptr&)>;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual void write(std::vector<Change> changes, Done done) = 0;
  /// Writes that are not done.
  virtual std::size_t pending() const = 0;

  /// The last messages of a session before `before`, the oldest first: those that are on disk. Throws
  /// Error(input) when they cannot be read.
  virtual std::vector<Message> messages(SessionId session, std::uint32_t before, Span span) = 0;
  virtual Extent extent(SessionId session) = 0;
};

}  // namespace tare::gateway
