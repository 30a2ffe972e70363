#include "runtime/agents_driver/world.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::agents_driver {
namespace {

constexpr const char* requester = "agent:main:main";

}  // namespace

World::World(const std::optional<std::filesystem::path>& database, agents::RegistryOptions options) {
  if (database) {
    files_.emplace(*database, !std::filesystem::exists(*database));
    store = std::make_unique<agents::SqliteStore>(loop, agents::DatabaseOptions{*database});
  } else {
    store = std::make_unique<agents::MemoryStore>();
  }
  registry = std::make_unique<agents::Registry>(loop, *store, clock, options);
  if (const std::size_t runs = registry->restore(); runs > 0) {
    throw Error(ErrorCode::input, fmt::format("cannot use {}", database->string()),
                fmt::format("it holds {} runs of somebody", runs), "use an empty folder");
  }
}

World::Files::~Files() {
  if (ours) remove_database(path);
}

World::~World() {
  close();
}

void World::close() {
  loop.abandon();
  registry.reset();
  store.reset();
  files_.reset();
}

agents::NewRun child_of(const std::string& nonce, std::size_t number) {
  agents::NewRun run;
  run.child = fmt::format("agent:main:subagent:{}-{}", nonce, number);
  run.requester = requester;
  run.controller = requester;
  run.group = "bench";
  run.label = fmt::format("{}-{}", nonce, number);
  run.task = "count the files of the folder and report";
  run.payload = R"({"model":"gpt-5.6-luna","thinking":"low","timeoutSeconds":600})";
  return run;
}

OnDisk read_disk(const std::filesystem::path& database) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  OnDisk counts;
  int code = sqlite3_open_v2(database.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_prepare_v2(db,
                              "SELECT (SELECT count(*) - count(ended_ms) FROM runs), "
                              "(SELECT count(ended_ms) FROM runs), "
                              "(SELECT count(*) - count(ended_ms) FROM tasks), "
                              "(SELECT count(ended_ms) FROM tasks)",
                              -1, &statement, nullptr);
  }
  if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    counts = {sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
              sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 3)};
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  if (code != SQLITE_ROW) {
    throw Error(ErrorCode::failed, fmt::format("cannot read {}", database.string()), sqlite3_errstr(code));
  }
  return counts;
}

void remove_database(const std::filesystem::path& database) {
  for (const char* end : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(database.string() + end, ignored);
  }
}

}  // namespace tare::agents_driver
