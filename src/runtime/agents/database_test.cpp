#include "runtime/agents/database.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <sqlite3.h>
#include <thread>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::agents {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Run run_of(RunId id, const std::string& child = "c") {
  Run run;
  run.child = child;
  run.requester = "main";
  run.controller = "main";
  run.group = "g";
  run.label = "label";
  run.task = "count the files";
  run.payload = R"({"a":1})";
  run.cleanup = Cleanup::remove;
  run.id = id;
  run.generation = 3;
  run.created = WallTime(std::chrono::milliseconds(1'700'000'000'123));
  return run;
}

class DatabaseTest : public testing::Test {
 protected:
  file::TemporaryFolder folder;
  fs::path path = folder.path() / "registry.sqlite";
  DatabaseOptions options{path, std::chrono::milliseconds(0)};

  void write(std::vector<Change> changes) {
    Database database(options);
    load(database);
    const std::vector<std::vector<Change>> batch{std::move(changes)};
    database.commit(batch);
  }
  static std::vector<agents::Run> load(Database& database) {
    std::vector<agents::Run> runs;
    database.load([&](const agents::Run& run) { runs.push_back(run); });
    return runs;
  }
  std::vector<agents::Run> load() {
    Database database(options);
    return load(database);
  }

  /// Opening and loading fails with this cause, which names the file, and changes no byte of it.
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
    EXPECT_FALSE(fs::exists(path.string() + "-wal") && fs::file_size(path.string() + "-wal") > 0);
  }

  void sql(const char* text) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  void overwrite(std::streamoff at, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << bytes;
  }
};

TEST_F(DatabaseTest, gives_back_what_was_written) {
  write({Insert{run_of(1)}, Insert{run_of(2)}});
  const std::vector<agents::Run> runs = load();
  ASSERT_EQ(runs.size(), 2u);
  const agents::Run& run = runs.front();
  const agents::Run expected = run_of(1);
  EXPECT_EQ(run.id, 1);
  EXPECT_EQ(run.child, expected.child);
  EXPECT_EQ(run.requester, expected.requester);
  EXPECT_EQ(run.group, expected.group);
  EXPECT_EQ(run.label, expected.label);
  EXPECT_EQ(run.task, expected.task);
  EXPECT_EQ(run.payload, expected.payload);
  EXPECT_EQ(run.cleanup, Cleanup::remove);
  EXPECT_EQ(run.generation, 3u);
  EXPECT_EQ(run.created, expected.created);
  EXPECT_EQ(run.status, Status::running);
  EXPECT_FALSE(run.settlement);
}

TEST_F(DatabaseTest, keeps_ends_marks_and_removals) {
  const WallTime ended(std::chrono::milliseconds(1'700'000'009'000));
  write({Insert{run_of(1)}, Insert{run_of(2)}, Insert{run_of(3)}});
  write({Settle{1, {Outcome::timeout, ended, R"("r")"}, ended + std::chrono::hours(1)},
         Deliver{2, Delivery::delivered}, Recover{2}, Erase{3}});
  const std::vector<agents::Run> runs = load();
  ASSERT_EQ(runs.size(), 2u);
  ASSERT_TRUE(runs[0].settlement);
  EXPECT_EQ(runs[0].status, Status::terminal);
  EXPECT_EQ(runs[0].settlement->outcome, Outcome::timeout);
  EXPECT_EQ(runs[0].settlement->ended, ended);
  EXPECT_EQ(runs[0].settlement->result, R"("r")");
  EXPECT_EQ(runs[0].archive_at, ended + std::chrono::hours(1));
  EXPECT_EQ(runs[1].delivery, Delivery::delivered);
  EXPECT_TRUE(runs[1].recovered);
}

TEST_F(DatabaseTest, text_of_any_bytes_comes_back) {
  agents::Run run = run_of(1);
  run.task = std::string("a\0b", 3) + "ä\n'\"";
  write({Insert{run}});
  EXPECT_EQ(load().front().task, run.task);
}

TEST_F(DatabaseTest, a_commit_that_fails_keeps_nothing_of_it) {
  write({Insert{run_of(1)}});
  Database database(options);
  load(database);
  const std::vector<std::vector<Change>> batch{{Insert{run_of(2)}}, {Insert{run_of(1)}}};
  EXPECT_THROW(database.commit(batch), Error);
  const std::vector<std::vector<Change>> good{{Insert{run_of(4)}}};
  database.commit(good);
  std::vector<RunId> ids;
  for (const agents::Run& run : load(database)) ids.push_back(run.id);
  EXPECT_THAT(ids, ElementsAre(1, 4));
}

TEST_F(DatabaseTest, a_full_disk_is_named_and_what_was_there_stays) {
  options.most_pages = 12;
  write({Insert{run_of(1)}});
  {
    Database database(options);
    load(database);
    agents::Run large = run_of(2);
    large.task = std::string(200'000, 'x');
    const std::vector<std::vector<Change>> batch{{Insert{large}}};
    try {
      database.commit(batch);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::failed);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      EXPECT_THAT(error.why(), HasSubstr("full"));
    }
  }
  EXPECT_EQ(load().size(), 1u);
}

TEST_F(DatabaseTest, what_is_no_database_is_left_alone) {
  std::ofstream(path) << std::string(5000, 'x');
  refused("not a database");
}

TEST_F(DatabaseTest, a_damaged_one_is_left_alone) {
  std::vector<Change> changes;
  for (RunId id = 1; id <= 500; ++id) changes.emplace_back(Insert{run_of(id)});
  write(std::move(changes));
  overwrite(4096 * 5, std::string(4096, '\x5a'));
  refused("damaged");
}

TEST_F(DatabaseTest, one_that_was_cut_off_is_left_alone) {
  std::vector<Change> changes;
  for (RunId id = 1; id <= 500; ++id) changes.emplace_back(Insert{run_of(id)});
  write(std::move(changes));
  fs::resize_file(path, 4096 * 4);
  refused("damaged");
}

TEST_F(DatabaseTest, a_run_without_its_task_is_damage) {
  write({Insert{run_of(1)}, Insert{run_of(2)}});
  sql("DELETE FROM tasks WHERE id=1");
  refused("damaged");
}

TEST_F(DatabaseTest, a_newer_schema_is_left_alone) {
  write({Insert{run_of(1)}});
  sql("PRAGMA user_version=9");
  refused("its schema is version 9, this program knows 1");
}

TEST_F(DatabaseTest, somebody_elses_database_is_left_alone_whatever_its_version) {
  for (const char* text : {"CREATE TABLE theirs (a)", "PRAGMA user_version=1", "PRAGMA user_version=-1",
                           "PRAGMA application_id=7", "PRAGMA journal_mode=WAL"}) {
    sql(text);
    refused("another program");
  }
}

TEST_F(DatabaseTest, what_another_program_left_half_done_is_left_so) {
  sql("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
  std::ofstream(path.string() + "-journal") << "a journal that SQLite would play back";
  refused("another program");
  EXPECT_TRUE(fs::exists(path.string() + "-journal"));
}

TEST_F(DatabaseTest, an_older_schema_that_never_was_is_left_alone) {
  write({Insert{run_of(1)}});
  sql("PRAGMA user_version=-1");
  refused("its schema is version -1");
}

TEST_F(DatabaseTest, a_change_of_a_run_that_is_not_there_is_an_error) {
  write({Insert{run_of(1)}});
  Database database(options);
  load(database);
  for (const Change& change :
       {Change(Settle{2, {}, {}}), Change(Deliver{2, Delivery::delivered}), Change(Recover{2})}) {
    const std::vector<std::vector<Change>> batch{{change}};
    EXPECT_THROW(database.commit(batch), Error);
  }
  const std::vector<std::vector<Change>> gone{{Erase{2}}};  // it is gone, which is what was asked for
  database.commit(gone);
}

TEST_F(DatabaseTest, what_no_registry_has_written_is_damage) {
  for (const char* text : {"UPDATE runs SET cleanup=7", "UPDATE runs SET delivery=-1",
                           "INSERT INTO tasks VALUES (9,'t',0,NULL)"}) {
    fs::remove(path);
    write({Insert{run_of(1)}});
    sql(text);
    refused("damaged");
  }
}

TEST_F(DatabaseTest, one_process_at_a_time_has_it) {
  Database first(options);
  load(first);
  try {
    const Database second(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.why(), HasSubstr("locked by another process"));
  }
}

TEST_F(DatabaseTest, one_that_another_program_has_locked_is_left_alone) {
  write({Insert{run_of(1)}});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  refused("locked by another process");
  sqlite3_close(db);
  EXPECT_EQ(load().size(), 1u);
}

TEST_F(DatabaseTest, its_files_go_with_it_only_when_it_is_told_so) {
  {
    const Database database(options);
  }
  EXPECT_TRUE(fs::exists(path));
  {
    Database database(options);
    EXPECT_FALSE(database.is_new());
    database.remove_when_closed();
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(DatabaseTest, one_that_could_not_be_made_leaves_nothing) {
  options.most_pages = 1;
  EXPECT_THROW(Database database(options), Error);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(DatabaseTest, a_log_of_somebody_who_was_killed_is_not_moved_by_looking) {
  const fs::path copy = folder.path() / "copy.sqlite";
  {
    Database database(options);
    const std::vector<std::vector<Change>> batch{{Insert{run_of(1)}}};
    database.commit(batch);
    fs::copy_file(path, copy);
    fs::copy_file(path.string() + "-wal", copy.string() + "-wal");
  }
  options.path = path = copy;
  const std::string before = file::read(path);
  const std::string log = file::read(path.string() + "-wal");
  EXPECT_EQ(load().size(), 1u);
  EXPECT_EQ(file::read(path), before);
  EXPECT_EQ(file::read(path.string() + "-wal"), log);
}

TEST_F(DatabaseTest, many_that_make_and_remove_it_never_get_in_each_others_way) {
  // Each either has it alone or finds it locked.
  options.lock_wait = std::chrono::seconds(5);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  std::atomic<int> locked = 0;
  std::mutex mutex;
  std::vector<std::string> faults;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 30; ++k) {
        try {
          Database database(options);
          if (!database.is_new()) throw std::runtime_error("somebody left it");
          database.remove_when_closed();
          const std::vector<std::vector<Change>> batch{{Insert{run_of(1)}}};
          database.commit(batch);
          ++done;
        } catch (const Error& error) {
          if (error.why() == "it is locked by another process") {
            ++locked;
            continue;
          }
          const std::lock_guard lock(mutex);
          faults.push_back(error.line());
        } catch (const std::exception& error) {
          const std::lock_guard lock(mutex);
          faults.emplace_back(error.what());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(faults, testing::IsEmpty());
  EXPECT_EQ(done + locked, 90);
  EXPECT_GT(done, 0);
}

TEST_F(DatabaseTest, a_folder_that_cannot_be_used_is_named) {
  for (const char* place : {"/proc/1/nothing/registry.sqlite", "/dev/null/registry.sqlite"}) {
    try {
      const Database database({place});
      FAIL() << place;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_THAT(error.what(), HasSubstr(fs::path(place).parent_path().string()));
    }
  }
}

TEST_F(DatabaseTest, a_log_that_a_killed_process_left_is_read) {
  const fs::path copy = folder.path() / "copy.sqlite";
  {
    Database database(options);
    load(database);
    const std::vector<std::vector<Change>> batch{{Insert{run_of(1)}}};
    database.commit(batch);
    // As after a kill: the log is there, and nothing of it is in the database.
    fs::copy_file(path, copy);
    fs::copy_file(path.string() + "-wal", copy.string() + "-wal");
  }
  options.path = copy;
  EXPECT_EQ(load().size(), 1u);
}

}  // namespace
}  // namespace tare::agents
