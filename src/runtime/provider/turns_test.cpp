#include "runtime/provider/turns.hpp"

#include <list>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

namespace tare::provider {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

/// Takes turns, and keeps them until it is told to give them back.
class Queue {
 public:
  explicit Queue(std::size_t most) : turns_(most) {}

  /// Returns what cancels the asking.
  asio::cancellation_signal& ask(int who) {
    asio::cancellation_signal& cancel = cancels_.emplace_back();
    asio::co_spawn(io_, take(who), asio::bind_cancellation_slot(cancel.slot(), asio::detached));
    io_.poll();
    io_.restart();
    return cancel;
  }
  void give_back() {
    held_.erase(held_.begin());
    io_.poll();
    io_.restart();
  }
  asio::io_context& io() { return io_; }
  const std::vector<int>& served() const { return served_; }

 private:
  asio::awaitable<void> take(int who) {
    auto turn = co_await turns_.take();
    served_.push_back(who);
    held_.push_back(std::move(turn));
  }

  std::list<asio::cancellation_signal> cancels_;
  asio::io_context io_;
  Turns turns_;
  std::vector<std::unique_ptr<Turns::Turn>> held_;
  std::vector<int> served_;
};

TEST(Turns, are_given_in_the_order_of_asking) {
  Queue queue(2);
  for (int who = 1; who <= 4; ++who) queue.ask(who);
  EXPECT_THAT(queue.served(), ElementsAre(1, 2));
  queue.give_back();
  EXPECT_THAT(queue.served(), ElementsAre(1, 2, 3));
  queue.give_back();
  EXPECT_THAT(queue.served(), ElementsAre(1, 2, 3, 4));
}

TEST(Turns, who_gives_up_does_not_hold_the_next_one_up) {
  Queue queue(1);
  queue.ask(1);
  auto& cancel = queue.ask(2);
  queue.ask(3);
  cancel.emit(asio::cancellation_type::terminal);
  queue.give_back();
  EXPECT_THAT(queue.served(), ElementsAre(1, 3));
}

TEST(Turns, a_turn_that_was_granted_to_one_who_gives_up_goes_to_the_next) {
  Queue queue(1);
  queue.ask(1);
  auto& cancel = queue.ask(2);
  queue.ask(3);
  // Both happen in one turn of the loop: the second is granted its turn, and is gone.
  asio::post(queue.io(), [&] { cancel.emit(asio::cancellation_type::terminal); });
  queue.give_back();
  EXPECT_THAT(queue.served(), ElementsAre(1, 3));
}

TEST(Turns, there_is_always_one) {
  Queue queue(0);
  queue.ask(1);
  EXPECT_THAT(queue.served(), ElementsAre(1));
}

}  // namespace
}  // namespace tare::provider
