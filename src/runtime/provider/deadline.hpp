#pragma once

#include <exception>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/clock.hpp"

namespace tare::provider {

/// Throws what asio throws when this coroutine has been cancelled.
inline boost::asio::awaitable<void> check_cancelled() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  if (state.cancelled() != boost::asio::cancellation_type::none)
    throw boost::system::system_error(boost::asio::error::operation_aborted);
}

/// The result of `work`, which is cancelled when it is not there at `deadline`: then throws `late`. Unlike
/// asio's `work || timer`, what `work` throws does not wait for the timer.
template <class T, class Late>
boost::asio::awaitable<T> within(boost::asio::awaitable<T> work, Instant deadline, Late late) {
  namespace asio = boost::asio;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, deadline);
  auto [order, error, result, timer_error] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, std::move(work), asio::deferred), timer.async_wait(asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  co_await check_cancelled();
  if (order.front() == 1) throw late();
  if (error) std::rethrow_exception(error);
  co_return std::move(result);
}

}  // namespace tare::provider
