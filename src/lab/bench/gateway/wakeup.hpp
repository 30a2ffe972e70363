#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/clock.hpp"

namespace tare::gateway_bench {

/// Lets a coroutine wait for what callbacks bring about: it looks again whenever somebody says that something
/// has changed. One waiter at a time.
class Wakeup {
 public:
  explicit Wakeup(boost::asio::io_context& io) : timer_(io) {}

  /// Something has changed.
  void notify() {
    changed_ = true;
    timer_.cancel();
  }

  /// Waits until this is so, or the deadline has passed: then it is false.
  template <class So>
  boost::asio::awaitable<bool> until(So so, Instant deadline) {
    while (!so()) {
      if (std::chrono::steady_clock::now() >= deadline) co_return false;
      changed_ = false;
      timer_.expires_at(deadline);
      boost::system::error_code error;
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
      // A change cancels the wait as well as who cancels this coroutine does.
      if (error && !changed_) throw boost::system::system_error(error);
    }
    co_return true;
  }

 private:
  boost::asio::steady_timer timer_;
  bool changed_ = false;
};

}  // namespace tare::gateway_bench
