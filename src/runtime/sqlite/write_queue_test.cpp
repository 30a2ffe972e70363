#include "runtime/sqlite/write_queue.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace tare::sqlite {
namespace {

using Writes = std::vector<std::vector<std::string>>;

/// What was committed, a line each, by a queue whose commits refuse "bad".
struct World {
  World()
      : queue(io, [this](std::span<const std::vector<std::string>> writes) {
          for (const auto& write : writes) {
            if (write.front() == "bad") throw std::runtime_error("refused");
          }
          committed.emplace_back(writes.begin(), writes.end());
        }) {}

  void push(std::string change) {
    queue.push({change}, [this, change](const std::exception_ptr& failure) {
      (failure ? failed : done).push_back(change);
    });
  }

  boost::asio::io_context io;
  std::vector<Writes> committed;
  std::vector<std::string> done;
  std::vector<std::string> failed;
  WriteQueue<std::string> queue;
};

TEST(WriteQueue, CommitsTogetherWhatOneTurnAsksFor) {
  World world;
  for (const char* change : {"a", "b", "c"}) world.push(change);
  world.io.run();
  EXPECT_EQ(world.committed, (std::vector<Writes>{{{"a"}, {"b"}, {"c"}}}));
  EXPECT_EQ(world.done, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(world.queue.facts().commits, 1U);
  EXPECT_EQ(world.queue.facts().writes, 3U);
}

TEST(WriteQueue, TellsItsThreadOnlyOnceTheTurnIsOver) {
  World world;
  world.push("a");
  world.push("b");
  EXPECT_EQ(world.io.poll_one(), 1U);  // what was ready before it would have run by now
  EXPECT_TRUE(world.done.empty());
  world.io.run();
  EXPECT_EQ(world.done, (std::vector<std::string>{"a", "b"}));
}

TEST(WriteQueue, OneThatCannotBeWrittenTakesNoOtherAlong) {
  World world;
  for (const char* change : {"a", "bad", "c"}) world.push(change);
  world.io.run();
  EXPECT_EQ(world.committed, (std::vector<Writes>{{{"a"}}, {{"c"}}}));
  EXPECT_EQ(world.done, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(world.failed, (std::vector<std::string>{"bad"}));
  EXPECT_EQ(world.queue.facts().failures, 1U);
}

TEST(WriteQueue, WritesWhatIsLeftBeforeItGoes) {
  boost::asio::io_context io;
  std::size_t committed = 0;
  {
    WriteQueue<int> queue(io, [&](std::span<const std::vector<int>> writes) { committed += writes.size(); });
    queue.push({1}, [](const std::exception_ptr&) {});
    queue.push({2}, [](const std::exception_ptr&) {});
  }
  EXPECT_EQ(committed, 2U);
  io.run();  // ends: nothing keeps it
}

}  // namespace
}  // namespace tare::sqlite
