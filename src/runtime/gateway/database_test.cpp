#include "runtime/gateway/database.hpp"

#include <fstream>
#include <sqlite3.h>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::gateway {
namespace {

using testing::HasSubstr;

class DatabaseTest : public testing::Test {
 protected:
  file::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "gateway.sqlite";

  static SessionRecord session(SessionId id, std::string key) {
    SessionRecord record;
    record.id = id;
    record.key = std::move(key);
    record.uuid = "u";
    record.agent = "main";
    record.created = record.updated = 100;
    return record;
  }
  static Message message(std::uint32_t seq, std::string text) {
    return {seq, Role::user, 200, std::move(text), Outcome::ok};
  }
  void write(std::vector<Change> changes) {
    Database database({path});
    database.load();
    const std::vector<std::vector<Change>> batch{std::move(changes)};
    database.commit(batch);
  }
  Kept load() { return Database({path}).load(); }
  void sql(const char* text) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  /// It is refused for this cause, and not a byte of it is changed.
  void refused(const std::string& cause) {
    const std::string before = file::read(path);
    try {
      load();
      ADD_FAILURE() << "it was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      EXPECT_THAT(error.why(), HasSubstr(cause));
    }
    EXPECT_EQ(file::read(path), before);
  }
};

TEST_F(DatabaseTest, what_was_written_is_there_after_a_restart) {
  SessionRecord kept = session(1, "agent:main:a");
  kept.cwd = "/w";
  write({AddSession{kept}, AddSession{session(2, "b")}, AddMessage{1, message(1, "gr\xC3\xBC\xC3\x9F"), 300},
         PatchSession{1, "label", SessionRecord::Shelf::archived, 400}});
  const Kept found = load();
  ASSERT_EQ(found.sessions.size(), 2u);
  EXPECT_EQ(found.sessions[0].label, "label");
  EXPECT_EQ(found.sessions[0].cwd, "/w");
  EXPECT_EQ(found.sessions[0].shelf, SessionRecord::Shelf::archived);
  EXPECT_EQ(found.sessions[0].revision, 2);
  EXPECT_EQ(found.sessions[0].updated, 400);
  EXPECT_EQ(found.last_session, 2);
  MessageReader reader(path);
  ASSERT_EQ(reader.messages(1, 100, {10}).size(), 1u);
  EXPECT_EQ(reader.messages(1, 100, {10})[0].text, "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(reader.extent(2).count, 0u);
}

TEST_F(DatabaseTest, a_patch_changes_what_it_names_alone) {
  write({AddSession{session(1, "a")}, PatchSession{1, "one", {}, 1},
         PatchSession{1, {}, SessionRecord::Shelf::archived, 2}});
  EXPECT_EQ(load().sessions[0].label, "one");
}

TEST_F(DatabaseTest, runs_that_have_not_ended_are_found_among_any_number) {
  std::vector<Change> changes{AddSession{session(1, "a")}};
  for (RunId id = 1; id <= 5000; ++id) {
    RunRecord run{
        id, "k" + std::to_string(id), 1, id == 1 ? "waiting" : "", 10, {}, {}, Outcome::ok, "", 0, 0, 0};
    changes.emplace_back(AddRun{run});
    if (id == 1) continue;
    run.ended = 20;
    run.started = 15;
    run.reply = 7;
    changes.emplace_back(EndRun{run});
  }
  write(std::move(changes));
  const Kept kept = load();
  ASSERT_EQ(kept.runs.size(), 4097u);
  EXPECT_EQ(kept.runs.front().id, 1);
  EXPECT_EQ(kept.runs.front().waiting, "waiting");
  EXPECT_FALSE(kept.runs.front().ended);
  EXPECT_EQ(kept.runs.back().started, 15);
  EXPECT_EQ(kept.runs.back().reply, 7u);
  EXPECT_EQ(kept.last_run, 5000);
}

TEST_F(DatabaseTest, messages_are_read_page_by_page_and_session_by_session) {
  std::vector<Change> changes;
  for (SessionId id = 1; id <= 3; ++id) {
    for (std::uint32_t seq = 1; seq <= 10; ++seq)
      changes.emplace_back(AddMessage{id, message(seq, std::string(100, 'x')), 1});
  }
  write(std::move(changes));
  MessageReader reader(path);
  const auto page = reader.messages(2, 8, {3});
  ASSERT_EQ(page.size(), 3u);
  EXPECT_EQ(page.front().seq, 5u);
  EXPECT_EQ(page.back().seq, 7u);
  EXPECT_EQ(reader.messages(2, 100, {100}).size(), 10u);
  EXPECT_EQ(reader.messages(2, 100, {100, 250}).size(), 3u);  // the third is the one that passes the limit
  EXPECT_EQ(reader.messages(4, 100, {100}).size(), 0u);
  EXPECT_EQ(reader.extent(3).last_seq, 10u);
}

TEST_F(DatabaseTest, the_id_of_a_removed_session_is_not_given_again) {
  write({AddSession{session(9, "a")}, AddMessage{9, message(1, "x"), 1}, RemoveSession{9}});
  const Kept kept = load();
  EXPECT_TRUE(kept.sessions.empty());
  EXPECT_EQ(kept.last_session, 9);
  EXPECT_EQ(MessageReader(path).extent(9).count, 0u);
}

TEST_F(DatabaseTest, a_transaction_is_done_as_a_whole_or_not_at_all) {
  write({AddSession{session(1, "a")}});
  Database database({path});
  database.load();
  const std::vector<std::vector<Change>> batch{
      {AddMessage{1, message(1, "x"), 1}, AddMessage{1, message(1, "twice"), 1}}};
  EXPECT_THROW(database.commit(batch), Error);
  EXPECT_EQ(MessageReader(path).extent(1).count, 0u);
}

TEST_F(DatabaseTest, what_is_no_database_is_refused_untouched) {
  std::ofstream(path) << "this is a text file, and a long one: " << std::string(200, '.');
  refused("it is not a database");
}

TEST_F(DatabaseTest, a_damaged_one_is_refused_untouched) {
  write({AddSession{session(1, "a")}, AddMessage{1, message(1, "x"), 1}});
  const std::string whole = file::read(path);
  for (const std::streamoff page : {1, 2, 3}) {  // the roots of sessions, messages, runs
    std::ofstream(path, std::ios::binary) << whole;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(page * 4096);
    file << std::string(4096, 'Z');
    file.close();
    refused("damaged");
  }
}

TEST_F(DatabaseTest, one_of_a_newer_version_or_another_program_is_refused_untouched) {
  write({AddSession{session(1, "a")}});
  sql("PRAGMA user_version=99");
  refused("its schema is version 99, this program knows 1");
  sql("PRAGMA application_id=1");
  refused("another program");
}

TEST_F(DatabaseTest, one_gateway_at_a_time_has_it) {
  Database first({path});
  first.load();
  try {
    Database second({path, std::chrono::milliseconds(0)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.why(), HasSubstr("locked by another process"));
  }
}

TEST_F(DatabaseTest, bytes_that_are_no_text_are_damage) {
  write({AddSession{session(1, "a")}, AddMessage{1, message(1, "é"), 1}, AddMessage{1, message(2, "x"), 1}});
  sql("UPDATE messages SET text=CAST(x'61ab62' AS TEXT) WHERE text='x'");
  load();
  const auto read = MessageReader(path).messages(1, 100, {10});
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].text, "é");
  EXPECT_EQ(read[1].text, "a\\xabb");
  sql("UPDATE sessions SET label=CAST(x'ab' AS TEXT)");
  refused("it is damaged");
}

}  // namespace
}  // namespace tare::gateway
