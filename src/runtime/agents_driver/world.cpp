#include "runtime/agents_driver/world.hpp"

#include <algorithm>
#include <sqlite3.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::agents_driver {
namespace {

constexpr const char* requester = "agent:main:main";

/// What is in the folder of a database and may not be there.
std::optional<std::string> foreign(const std::filesystem::path& path, Holds known) {
  const std::filesystem::path folder = path.parent_path();
  const std::string database = path.filename().string();
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unknown;
    if (name == "lost+found" || entry->is_fifo(unknown)) continue;
    const bool ours = std::ranges::any_of(agents::database_suffixes, [&](std::string_view suffix) {
      return name == std::string(database).append(suffix);
    });
    if (known == Holds::nothing || !ours) return name;
  }
  if (error) throw Error(ErrorCode::failed, fmt::format("cannot use {}", folder.string()), error.message());
  return std::nullopt;
}

}  // namespace

World::World(const std::optional<std::filesystem::path>& database, std::chrono::milliseconds budget,
             agents::RegistryOptions options)
    : end_(clock.now() + budget) {
  if (database) {
    database_ = *database;
    auto on_disk = std::make_unique<agents::SqliteStore>(loop, agents::DatabaseOptions{database_});
    on_disk_ = on_disk.get();
    // What was there is somebody's, whatever is in it.
    if (on_disk_->is_new()) on_disk_->remove_when_closed();
    store = std::move(on_disk);
  } else {
    store = std::make_unique<agents::MemoryStore>();
  }
  registry = std::make_unique<agents::Registry>(loop, *store, clock, options);
  if (const std::size_t runs = registry->restore(); runs > 0) {
    throw Error(ErrorCode::input, fmt::format("cannot use {}", database->string()),
                fmt::format("it holds {} runs of somebody", runs), "use an empty folder");
  }
}

World::~World() {
  close();
}

void World::close() {
  loop.abandon();
  registry.reset();
  store.reset();
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

void check_folder(const std::filesystem::path& database, Holds known) {
  std::optional<std::string> found = foreign(database, known);
  if (!found) return;
  std::error_code none;
  if (const auto size = std::filesystem::file_size(database, none);
      known == Holds::nothing && !none && size > 0) {
    // Opened for what it says: damaged, newer, locked. Nothing but an empty file would be written to.
    const agents::Database opened({database});
    found = database.filename().string();
  }
  throw Error(ErrorCode::failed, fmt::format("cannot use {}", database.parent_path().string()),
              fmt::format("it is not empty: it holds {}", *found));
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

}  // namespace tare::agents_driver
