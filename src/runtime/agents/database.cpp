#include "runtime/agents/database.hpp"

#include <sqlite3.h>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "base/error.hpp"

namespace tare::agents {
namespace {

/// Nothing is indexed but the ids: an index would be written at random places in every commit, and reads come
/// from memory.
constexpr const char* tables = R"(
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY, child TEXT NOT NULL, requester TEXT NOT NULL, controller TEXT NOT NULL,
    grp TEXT NOT NULL, label TEXT NOT NULL, payload TEXT NOT NULL, generation INTEGER NOT NULL,
    cleanup INTEGER NOT NULL, delivery INTEGER NOT NULL, recovered INTEGER NOT NULL,
    created_ms INTEGER NOT NULL, archive_ms INTEGER, outcome INTEGER, ended_ms INTEGER, result TEXT) STRICT;
  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, task TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_ms INTEGER) STRICT;
)";

constexpr const char* select_runs =
    "SELECT id, child, requester, controller, grp, label, payload, generation, cleanup, delivery, recovered,"
    " created_ms, archive_ms, outcome, ended_ms, result FROM runs ORDER BY id";
constexpr const char* select_tasks = "SELECT id, task FROM tasks ORDER BY id";

std::int64_t ms_of(WallTime time) {
  return time.time_since_epoch().count();
}

WallTime wall_of(std::int64_t ms) {
  return WallTime(std::chrono::milliseconds(ms));
}

void bind(sqlite3_stmt* statement, int at, std::int64_t value) {
  sqlite3_bind_int64(statement, at, value);
}
void bind(sqlite3_stmt* statement, int at, const std::string& text) {
  sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
void bind(sqlite3_stmt* statement, int at, const std::optional<WallTime>& time) {
  if (time) {
    bind(statement, at, ms_of(*time));
  } else {
    sqlite3_bind_null(statement, at);
  }
}

template <class... Values>
void bind_all(sqlite3_stmt* statement, const Values&... values) {
  int at = 0;
  (bind(statement, ++at, values), ...);
}

std::string text_at(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

std::optional<WallTime> time_at(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  return wall_of(sqlite3_column_int64(row, column));
}

Run run_at(sqlite3_stmt* row) {
  Run run;
  run.id = sqlite3_column_int64(row, 0);
  run.child = text_at(row, 1);
  run.requester = text_at(row, 2);
  run.controller = text_at(row, 3);
  run.group = text_at(row, 4);
  run.label = text_at(row, 5);
  run.payload = text_at(row, 6);
  run.generation = static_cast<std::uint32_t>(sqlite3_column_int64(row, 7));
  run.cleanup = static_cast<Cleanup>(sqlite3_column_int(row, 8));
  run.delivery = static_cast<Delivery>(sqlite3_column_int(row, 9));
  run.recovered = sqlite3_column_int(row, 10) != 0;
  run.created = wall_of(sqlite3_column_int64(row, 11));
  run.archive_at = time_at(row, 12);
  if (const auto ended = time_at(row, 14)) {
    run.status = Status::terminal;
    run.settlement = Settlement{static_cast<Outcome>(sqlite3_column_int(row, 13)), *ended, text_at(row, 15)};
  }
  return run;
}

/// In words, for the faults that a person can do something about.
std::string cause_of(int code, sqlite3* db) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "it is not a database, or its head is damaged";
    case SQLITE_CORRUPT:
      return "it is damaged";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "it is locked by another process";
    case SQLITE_READONLY:
      return "it is read-only";
    case SQLITE_FULL:
      return "the disk is full, or it may not grow";
    default:
      break;
  }
  const int system = db != nullptr ? sqlite3_system_errno(db) : 0;
  std::string text = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  if (system != 0) text += ": " + errno_text(system);
  return text;
}

}  // namespace

void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

void Database::Close::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::Database(const DatabaseOptions& options) : path_(options.path) {
  open(options);
  check();
  execute("PRAGMA journal_mode=WAL");
  execute("PRAGMA synchronous=FULL");
  if (options.most_pages) execute(fmt::format("PRAGMA max_page_count={}", *options.most_pages).c_str());
  if (number("PRAGMA user_version") == 0) make_tables();
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  rollback_ = prepare("ROLLBACK");
  insert_run_ = prepare("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,NULL)");
  insert_task_ = prepare("INSERT INTO tasks VALUES (?,?,?,NULL)");
  settle_run_ = prepare("UPDATE runs SET outcome=?2, ended_ms=?3, result=?4, archive_ms=?5 WHERE id=?1");
  settle_task_ = prepare("UPDATE tasks SET ended_ms=?2 WHERE id=?1");
  mark_run_ = prepare("UPDATE runs SET delivery=?2, recovered=?3 WHERE id=?1");
  erase_run_ = prepare("DELETE FROM runs WHERE id=?");
  erase_task_ = prepare("DELETE FROM tasks WHERE id=?");
}

Database::~Database() = default;

void Database::open(const DatabaseOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) {
    throw Error(ErrorCode::input, fmt::format("cannot use the folder {}", path_.parent_path().string()),
                error.message());
  }
  lock_ = Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) {
    throw Error(ErrorCode::input, fmt::format("cannot use {}", path_.string()), errno_text(errno));
  }
  take_lock(options.lock_wait);
  sqlite3* db = nullptr;
  // NOMUTEX: one thread at a time has it.
  const int code = sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) refuse(code);
  sqlite3_busy_timeout(db, static_cast<int>(options.lock_wait.count()));
  // A file that can't be used is closed as it was found: without this, closing it would write to it.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Database::take_lock(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds turn{20};
  while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || wait <= turn) refuse(SQLITE_BUSY);
    std::this_thread::sleep_for(turn);
    wait -= turn;
  }
}

void Database::check() {
  if (sqlite3_db_readonly(db_.get(), "main") == 1) refuse(SQLITE_READONLY);
  const std::int64_t version = number("PRAGMA user_version");
  if (version > schema_version) {
    throw Error(ErrorCode::input, fmt::format("cannot use {}", path_.string()),
                fmt::format("its schema is version {}, this program knows {}", version, schema_version),
                "use the newer program, or another folder");
  }
  if (version == 0) {
    if (number("SELECT count(*) FROM sqlite_schema") == 0) return;
    throw Error(ErrorCode::input, fmt::format("cannot use {}", path_.string()),
                "it is the database of another program", "use another folder");
  }
}

void Database::make_tables() {
  accept();
  execute("BEGIN IMMEDIATE");
  execute(tables);
  execute(fmt::format("PRAGMA user_version={}", schema_version).c_str());
  execute("COMMIT");
}

void Database::commit(std::span<const std::vector<Change>> batch) {
  try {
    step(begin_.get());
    for (const std::vector<Change>& changes : batch) {
      for (const Change& change : changes) apply(change);
    }
    step(commit_.get());
  } catch (const Error& error) {
    if (sqlite3_get_autocommit(db_.get()) == 0) {
      sqlite3_step(rollback_.get());
      sqlite3_reset(rollback_.get());
    }
    throw Error(ErrorCode::failed, fmt::format("cannot write {}", path_.string()), error.why());
  }
}

void Database::apply(const Change& change) {
  if (const auto* insert = std::get_if<Insert>(&change)) {
    const Run& run = insert->run;
    const auto whole = [](auto value) { return static_cast<std::int64_t>(value); };
    bind_all(insert_run_.get(), run.id, run.child, run.requester, run.controller, run.group, run.label,
             run.payload, whole(run.generation), whole(run.cleanup), whole(run.delivery),
             whole(run.recovered), ms_of(run.created), run.archive_at);
    step(insert_run_.get());
    bind_all(insert_task_.get(), run.id, run.task, ms_of(run.created));
    step(insert_task_.get());
  } else if (const auto* settle = std::get_if<Settle>(&change)) {
    bind_all(settle_run_.get(), settle->id, static_cast<std::int64_t>(settle->settlement.outcome),
             ms_of(settle->settlement.ended), settle->settlement.result, settle->archive_at);
    step(settle_run_.get());
    bind_all(settle_task_.get(), settle->id, ms_of(settle->settlement.ended));
    step(settle_task_.get());
  } else if (const auto* mark = std::get_if<Mark>(&change)) {
    bind_all(mark_run_.get(), mark->id, static_cast<std::int64_t>(mark->delivery),
             static_cast<std::int64_t>(mark->recovered));
    step(mark_run_.get());
  } else if (const auto* erase = std::get_if<Erase>(&change)) {
    bind_all(erase_run_.get(), erase->id);
    step(erase_run_.get());
    bind_all(erase_task_.get(), erase->id);
    step(erase_task_.get());
  }
}

void Database::load(const std::function<void(Run)>& each) {
  // Both tables in the order of the same ids, side by side: a join would look each task up.
  const Statement runs = prepare(select_runs);
  const Statement tasks = prepare(select_tasks);
  while (next(runs.get())) {
    Run run = run_at(runs.get());
    if (!next(tasks.get()) || sqlite3_column_int64(tasks.get(), 0) != run.id) refuse(SQLITE_CORRUPT);
    run.task = text_at(tasks.get(), 1);
    each(std::move(run));
  }
  accept();
}

void Database::accept() {
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

bool Database::next(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) refuse(code);
  return code == SQLITE_ROW;
}

void Database::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  if (code != SQLITE_DONE && code != SQLITE_ROW) refuse(code);
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) refuse(code);
}

std::int64_t Database::number(const char* sql) {
  const Statement statement = prepare(sql);
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) refuse(code);
  return sqlite3_column_int64(statement.get(), 0);
}

Database::Statement Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) refuse(code);
  return Statement(statement);
}

void Database::refuse(int code) const {
  throw Error(ErrorCode::input, fmt::format("cannot use {}", path_.string()), cause_of(code, db_.get()));
}

}  // namespace tare::agents
