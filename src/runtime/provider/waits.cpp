#include "runtime/provider/waits.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tare::provider {

/// A timer that `stop` knows while it lives.
class Waits::Registered {
 public:
  Registered(Waits& waits, boost::asio::steady_timer& timer) : waits_(waits), timer_(timer) {
    waits_.timers_.insert(&timer_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { waits_.timers_.erase(&timer_); }

 private:
  Waits& waits_;
  boost::asio::steady_timer& timer_;
};

boost::asio::awaitable<void> Waits::until(Instant moment) {
  if (stopped_) throw Stopped();
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, moment);
  const Registered registered(*this, timer);
  boost::system::error_code cancelled;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
  if (stopped_) throw Stopped();
}

void Waits::stop() {
  stopped_ = true;
  for (boost::asio::steady_timer* timer : timers_) timer->cancel();
}

}  // namespace tare::provider
