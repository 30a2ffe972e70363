#pragma once

#include <exception>
#include <unordered_set>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/clock.hpp"

namespace tare::provider {

/// Thrown out of a wait when the server stops.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "the server was stopped"; }
};

/// Waits that all end when the server stops.
class Waits {
 public:
  Waits() = default;
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  /// Throws Stopped.
  boost::asio::awaitable<void> until(Instant moment);
  void stop();

 private:
  class Registered;
  std::unordered_set<boost::asio::steady_timer*> timers_;
  bool stopped_ = false;
};

}  // namespace tare::provider
