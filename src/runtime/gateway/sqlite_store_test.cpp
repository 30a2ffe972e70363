#include "runtime/gateway/sqlite_store.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::gateway {
namespace {

class StoreTest : public testing::Test {
 protected:
  file::TemporaryFolder folder;
  boost::asio::io_context io{1};
  sqlite::Options options{folder.path() / "gateway.sqlite"};

  void run() {
    io.restart();
    io.run();
  }
  static AddMessage say(SessionId session, std::uint32_t seq, std::string text) {
    return {session, {seq, Role::user, 1, std::move(text), Outcome::ok}, 1};
  }
};

TEST_F(StoreTest, what_is_asked_for_together_is_one_transaction) {
  SqliteStore store(io, options);
  std::vector<int> order;
  for (std::uint32_t i = 1; i <= 50; ++i) {
    store.write({say(1, i, "x")}, [&order, i](const std::exception_ptr& failure) {
      EXPECT_FALSE(failure);
      order.push_back(static_cast<int>(i));
    });
  }
  EXPECT_EQ(store.pending(), 50u);
  run();
  EXPECT_EQ(store.pending(), 0u);
  EXPECT_EQ(store.facts().commits, 1u);
  EXPECT_EQ(store.facts().writes, 50u);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(store.extent(1).count, 50u);
}

TEST_F(StoreTest, a_write_that_fails_takes_no_other_along) {
  options.most_pages = 20;
  SqliteStore store(io, options);
  std::vector<bool> written;
  const auto note = [&](const std::exception_ptr& failure) { written.push_back(!failure); };
  store.write({say(1, 1, "before")}, note);
  store.write({say(1, 2, std::string(200'000, 'x'))}, note);
  store.write({say(1, 3, "after")}, note);
  run();
  EXPECT_THAT(written, testing::ElementsAre(true, false, true));
  EXPECT_EQ(store.messages(1, 100, {10}).size(), 2u);
  EXPECT_EQ(store.facts().failures, 1u);
}

TEST_F(StoreTest, all_that_was_asked_for_is_written_before_it_ends) {
  {
    SqliteStore store(io, options);
    SessionRecord session;
    session.id = 1;
    session.key = "s";
    store.write({AddSession{session}}, [](const std::exception_ptr&) {});
  }
  SqliteStore store(io, options);
  EXPECT_EQ(store.take_kept().sessions.size(), 1u);
}

}  // namespace
}  // namespace tare::gateway
