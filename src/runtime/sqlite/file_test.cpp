#include "runtime/sqlite/file.hpp"

#include <array>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::sqlite {
namespace {

constexpr std::array first{"CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"};
constexpr std::array second{first[0], "ALTER TABLE a ADD COLUMN n INTEGER NOT NULL DEFAULT 7"};
constexpr std::array broken{first[0], "INSERT INTO a VALUES (2, 'x'); INSERT INTO nowhere VALUES (1)"};

class FileTest : public testing::Test {
 protected:
  file::TemporaryFolder folder;
  Options options{folder.path() / "x.sqlite", std::chrono::milliseconds(0)};

  void make() {
    File file(options, {1, first});
    file.start();
    file.transaction([&] { file.execute("INSERT INTO a VALUES (1, 'old')"); });
  }
};

TEST_F(FileTest, a_new_file_is_of_the_latest_version) {
  File file(options, {1, second});
  EXPECT_TRUE(file.is_new());
  EXPECT_FALSE(file.is_current());
  file.start();
  EXPECT_TRUE(file.is_current());
  EXPECT_EQ(file.number("PRAGMA user_version"), 2);
}

TEST_F(FileTest, an_older_file_is_migrated_with_what_is_in_it) {
  make();
  File file(options, {1, second});
  EXPECT_FALSE(file.is_new());
  EXPECT_FALSE(file.is_current());
  file.start();
  EXPECT_EQ(file.number("SELECT n FROM a WHERE text='old'"), 7);
}

TEST_F(FileTest, a_migration_that_fails_changes_nothing) {
  make();
  {
    File file(options, {1, broken});
    EXPECT_THROW(file.start(), Error);
  }
  File file(options, {1, first});
  EXPECT_TRUE(file.is_current());
  file.start();
  EXPECT_EQ(file.number("SELECT count(*) FROM a"), 1);
}

TEST_F(FileTest, a_newer_file_is_refused) {
  {
    File file(options, {1, second});
    file.start();
  }
  EXPECT_THROW(File(options, {1, first}), Error);
}

TEST_F(FileTest, one_that_cannot_be_made_leaves_nothing_behind) {
  {
    File file(options, {1, broken});
    EXPECT_THROW(file.start(), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(FileTest, a_reader_sees_what_is_committed) {
  make();
  File file(options, {1, first});
  file.start();
  Reader reader(options.path);
  const Statement count = reader.prepare("SELECT count(*) FROM a");
  const auto seen = [&] {
    const Rewind rewind(count.get());
    reader.next(count.get());
    return whole_at(count.get(), 0);
  };
  EXPECT_EQ(seen(), 1);
  file.transaction([&] {
    file.execute("INSERT INTO a VALUES (2, 'new')");
    EXPECT_EQ(seen(), 1);
  });
  EXPECT_EQ(seen(), 2);
}

TEST_F(FileTest, a_transaction_that_fails_is_rolled_back_and_the_next_one_works) {
  make();
  File file(options, {1, first});
  file.start();
  try {
    file.transaction([&] {
      file.execute("INSERT INTO a VALUES (2, 'x')");
      file.execute("INSERT INTO a VALUES (2, 'twice')");
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot write"));
  }
  file.transaction([&] { file.execute("INSERT INTO a VALUES (2, 'y')"); });
  EXPECT_EQ(file.number("SELECT count(*) FROM a"), 2);
}

TEST_F(FileTest, one_that_was_cut_short_is_refused_untouched) {
  make();
  const auto size = std::filesystem::file_size(options.path);
  std::filesystem::resize_file(options.path, size - 1);
  try {
    File file(options, {1, first});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.why(), testing::HasSubstr("it is damaged: "));
    EXPECT_THAT(error.line(), testing::HasSubstr("put a good copy in its place, or use another folder"));
  }
  EXPECT_EQ(std::filesystem::file_size(options.path), size - 1);
}

}  // namespace
}  // namespace tare::sqlite
