#include "runtime/provider/turns.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runtime/provider/deadline.hpp"

namespace tare::provider {

/// A place in the queue. What was granted to one that is cancelled goes to the next.
class Turns::Waiting {
 public:
  Waiting(State& state, const boost::asio::any_io_executor& executor)
      : state_(state), granted_(executor, boost::asio::steady_timer::time_point::max()) {
    place_ = state_.waiting.insert(state_.waiting.end(), this);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (!is_granted_) {
      state_.waiting.erase(place_);
    } else if (!is_taken_) {
      state_.give_back();
    }
  }

  /// Is already out of the queue.
  void grant() {
    is_granted_ = true;
    granted_.cancel();
  }

  boost::asio::awaitable<void> wait() {
    boost::system::error_code ended;
    co_await granted_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
    co_await check_cancelled();
    if (!is_granted_) throw boost::system::system_error(ended);
    is_taken_ = true;
  }

 private:
  State& state_;
  boost::asio::steady_timer granted_;
  std::list<Waiting*>::iterator place_;
  bool is_granted_ = false;
  bool is_taken_ = false;
};

void Turns::State::give_back() {
  if (waiting.empty()) {
    ++free;
    return;
  }
  Waiting* next = waiting.front();
  waiting.pop_front();
  next->grant();
}

Turns::Turns(std::size_t most) : state_(std::make_shared<State>()) {
  state_->free = std::max<std::size_t>(most, 1);
}

boost::asio::awaitable<std::unique_ptr<Turns::Turn>> Turns::take() {
  const std::shared_ptr<State> state = state_;
  if (state->free > 0) {
    --state->free;
  } else {
    Waiting waiting(*state, co_await boost::asio::this_coro::executor);
    co_await waiting.wait();
  }
  co_return std::make_unique<Turn>(state);
}

}  // namespace tare::provider
