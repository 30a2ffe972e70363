#include "runtime/agents/task.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace tare::agents {
namespace {

Task<int> two(Loop& loop) {
  co_await loop.turn();
  co_return 2;
}

Task<int> four(Loop& loop) {
  co_return co_await two(loop) + co_await two(loop);
}

Task<void> fail() {
  throw std::runtime_error("no");
  co_return;
}

TEST(Task, returns_what_the_tasks_that_it_awaits_return) {
  asio::io_context io;
  Loop loop(io);
  int result = 0;
  loop.start(four(loop), [&](const std::exception_ptr&, int value) { result = value; });
  io.run();
  EXPECT_EQ(result, 4);
}

TEST(Task, throws_out_of_the_await) {
  asio::io_context io;
  Loop loop(io);
  std::string seen;
  const auto task = [&]() -> Task<void> {
    try {
      co_await fail();
    } catch (const std::runtime_error& error) {
      seen = error.what();
    }
  };
  loop.start(task(), [](const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
  io.run();
  EXPECT_EQ(seen, "no");
}

TEST(Loop, gives_every_ready_task_a_turn_before_the_next) {
  asio::io_context io;
  Loop loop(io);
  std::string order;
  const auto task = [&](char name) -> Task<void> {
    order += name;
    co_await loop.turn();
    order += name;
  };
  for (const char name : {'a', 'b', 'c'}) loop.start(task(name), [](const std::exception_ptr&) {});
  io.run();
  EXPECT_EQ(order, "abcabc");
}

TEST(Loop, an_exception_of_one_end_leaves_the_others_to_run) {
  asio::io_context io;
  Loop loop(io);
  int done = 0;
  loop.start(two(loop), [](const std::exception_ptr&, int) { throw std::runtime_error("end"); });
  loop.start(two(loop), [&](const std::exception_ptr&, int) { ++done; });
  EXPECT_THROW(io.run(), std::runtime_error);
  io.restart();
  io.run();
  EXPECT_EQ(done, 1);
}

TEST(Loop, destroys_what_has_not_ended) {
  asio::io_context io;
  const auto alive = std::make_shared<int>(1);
  {
    Loop loop(io);
    const auto task = [](Loop& loop, std::shared_ptr<int>) -> Task<void> {
      co_await suspend<int>(loop, [](const auto&) {});  // nobody resumes it
    };
    loop.start(task(loop, alive), [](const std::exception_ptr&) { FAIL(); });
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Suspend, resumes_with_the_value_or_the_exception) {
  asio::io_context io;
  Loop loop(io);
  std::optional<Resumer<int>> first;
  std::optional<Resumer<int>> second;
  const auto wait = [&](std::optional<Resumer<int>>& resumer) -> Task<int> {
    co_return co_await suspend<int>(loop, [&](const auto& resume) { resumer.emplace(resume); });
  };
  int value = 0;
  bool failed = false;
  loop.start(wait(first), [&](const std::exception_ptr&, int result) { value = result; });
  loop.start(wait(second), [&](const std::exception_ptr& failure, int) { failed = failure != nullptr; });
  (*first)(7);
  second->fail(std::make_exception_ptr(std::runtime_error("no")));
  io.run();
  EXPECT_EQ(value, 7);
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace tare::agents
