#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include <boost/asio/awaitable.hpp>

namespace tare::provider {

/// So many at a time, in the order in which they ask. On one thread.
class Turns {
 public:
  explicit Turns(std::size_t most);

  /// Frees its place when destroyed. May outlive the Turns.
  class Turn;
  boost::asio::awaitable<std::unique_ptr<Turn>> take();

 private:
  class Waiting;
  struct State {
    std::size_t free = 0;
    std::list<Waiting*> waiting;
    void give_back();
  };
  std::shared_ptr<State> state_;
};

class Turns::Turn {
 public:
  explicit Turn(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { state_->give_back(); }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tare::provider
