#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runtime/provider/provider.hpp"

namespace tare::provider {

/// A step that never comes: the reply hangs until it is cancelled.
struct Hang {};
using Step = std::variant<Events, Failure, Hang>;
using Script = std::vector<Step>;

/// A provider for tests: gives the replies that it was told to, and remembers what it was asked. A reply's
/// script that begins with a Failure fails in `open`. Every call suspends once, as a real one may.
class ScriptedProvider final : public Provider {
 public:
  /// Of the next request that has none yet. Without one, a request is answered "ok".
  void reply(Script script) { scripts_.push_back(std::move(script)); }

  const std::vector<ModelRequest>& requests() const { return requests_; }

  boost::asio::awaitable<std::unique_ptr<ReplyStream>> open(const ModelRequest& request) override {
    requests_.push_back(request);
    Script script{Events{TextDelta{"ok"}, Done{}}};
    if (!scripts_.empty()) {
      script = std::move(scripts_.front());
      scripts_.pop_front();
    }
    co_await suspend(std::chrono::nanoseconds(0));
    if (!script.empty() && std::holds_alternative<Failure>(script.front()))
      throw std::get<Failure>(script.front());
    co_return std::make_unique<Reply>(std::move(script));
  }

 private:
  class Reply final : public ReplyStream {
   public:
    explicit Reply(Script script) : script_(std::move(script)) {}

    boost::asio::awaitable<Events> next() override {
      if (at_ == script_.size()) co_return Events{};
      Step& step = script_[at_++];
      const bool hangs = std::holds_alternative<Hang>(step);
      co_await suspend(hangs ? std::chrono::hours(1) : std::chrono::nanoseconds(0));
      if (auto* failure = std::get_if<Failure>(&step)) throw *failure;
      co_return std::move(std::get<Events>(step));
    }

   private:
    Script script_;
    std::size_t at_ = 0;
  };

  static boost::asio::awaitable<void> suspend(std::chrono::nanoseconds time) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }

  std::deque<Script> scripts_;
  std::vector<ModelRequest> requests_;
};

}  // namespace tare::provider
