#include "runtime/agents/sqlite_store.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "runtime/agents/world_for_tests.hpp"

namespace tare::agents {
namespace {

class SqliteStoreTest : public AgentsTest {
 protected:
  file::TemporaryFolder folder;
  DatabaseOptions options{folder.path() / "registry.sqlite"};
};

TEST_F(SqliteStoreTest, what_is_asked_for_together_is_one_transaction) {
  SqliteStore store(loop, options);
  Registry registry(loop, store, clock);
  registry.restore();
  int added = 0;
  for (int i = 0; i < 64; ++i) {
    loop.start(registry.add(child("c" + std::to_string(i))),
               [&](const std::exception_ptr& failure, RunId) { added += failure ? 0 : 1; });
  }
  run();
  EXPECT_EQ(added, 64);
  EXPECT_EQ(store.commits(), 1u);
}

TEST_F(SqliteStoreTest, a_restart_brings_every_run_back) {
  RunId ended = 0;
  {
    SqliteStore store(loop, options);
    Registry registry(loop, store, clock);
    registry.restore();
    finish(registry.add(child("open")));
    ended = finish(registry.add(child("ended", Cleanup::remove)));
    finish(registry.settle(ended, Outcome::ok, R"({"n":1})"));
    finish(registry.mark(ended, Delivery::delivered));
    finish(registry.erase({finish(registry.add(child("erased")))}));
  }
  SqliteStore store(loop, options);
  Registry registry(loop, store, clock);
  EXPECT_EQ(registry.restore(), 2u);
  EXPECT_EQ(registry.runs(By::child, "open").front().status, Status::interrupted);
  const RunView run = registry.find(ended).value();
  EXPECT_EQ(run.status, Status::terminal);
  EXPECT_EQ(run.delivery, Delivery::delivered);
  EXPECT_EQ(run.result, R"({"n":1})");
  EXPECT_EQ(registry.count(By::child, "erased"), 0u);
  // Ids go on rising though the last one is gone.
  EXPECT_GT(finish(registry.add(child("new"))), ended);
}

TEST_F(SqliteStoreTest, a_disk_that_is_full_fails_those_in_flight_and_nothing_else) {
  options.most_pages = 12;
  SqliteStore store(loop, options);
  Registry registry(loop, store, clock);
  registry.restore();
  finish(registry.add(child("small")));
  NewRun large = child("large");
  large.task = std::string(200'000, 'x');
  EXPECT_THROW(finish(registry.add(large)), Error);
  EXPECT_EQ(registry.size(), 1u);
  // Not even with those that it is written with.
  std::vector<bool> added;
  const auto note = [&](const std::exception_ptr& failure, RunId) { added.push_back(!failure); };
  large.task = std::string(200'000, 'x');
  loop.start(registry.add(child("before")), note);
  loop.start(registry.add(large), note);
  loop.start(registry.add(child("after")), note);
  run();
  EXPECT_THAT(added, testing::ElementsAre(true, false, true));
  EXPECT_EQ(registry.size(), 3u);
}

TEST_F(SqliteStoreTest, writes_all_that_was_asked_for_before_it_ends) {
  {
    SqliteStore store(loop, options);
    Registry registry(loop, store, clock);
    registry.restore();
    for (int i = 0; i < 10; ++i)
      loop.start(registry.add(child("c" + std::to_string(i))), [](const std::exception_ptr&, RunId) {});
    loop.abandon();  // nobody waits for them any more
  }
  SqliteStore store(loop, options);
  Registry registry(loop, store, clock);
  EXPECT_EQ(registry.restore(), 10u);
}

}  // namespace
}  // namespace tare::agents
