#include "runtime/agents/database.hpp"

#include <array>
#include <cstring>
#include <ranges>
#include <sqlite3.h>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

int bind_one(sqlite3_stmt* statement, int at, std::int64_t value) {
  return sqlite3_bind_int64(statement, at, value);
}
int bind_one(sqlite3_stmt* statement, int at, const std::string& text) {
  return sqlite3_bind_text64(statement, at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
int bind_one(sqlite3_stmt* statement, int at, const std::optional<WallTime>& time) {
  return time ? bind_one(statement, at, ms_of(*time)) : sqlite3_bind_null(statement, at);
}

/// A name of an enumeration out of the file; nothing when it has no such name.
template <class E>
std::optional<E> enum_at(sqlite3_stmt* row, int column, E last) {
  const std::int64_t value = sqlite3_column_int64(row, column);
  if (value < 0 || value > static_cast<std::int64_t>(last)) return std::nullopt;
  return static_cast<E>(value);
}

/// Valid until the next step.
std::string_view text_at(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

std::optional<WallTime> time_at(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  return wall_of(sqlite3_column_int64(row, column));
}

/// Reads a row into a run that is used again and again, as its texts need no new memory then. Returns false
/// for a row that no registry has written.
bool read_run(sqlite3_stmt* row, Run& run) {
  run.id = sqlite3_column_int64(row, 0);
  run.child = text_at(row, 1);
  run.requester = text_at(row, 2);
  run.controller = text_at(row, 3);
  run.group = text_at(row, 4);
  run.label = text_at(row, 5);
  run.payload = text_at(row, 6);
  run.generation = static_cast<std::uint32_t>(sqlite3_column_int64(row, 7));
  const auto cleanup = enum_at(row, 8, Cleanup::remove);
  const auto delivery = enum_at(row, 9, Delivery::suppressed);
  run.recovered = sqlite3_column_int(row, 10) != 0;
  run.created = wall_of(sqlite3_column_int64(row, 11));
  run.archive_at = time_at(row, 12);
  const auto outcome = enum_at(row, 13, Outcome::lost);
  if (run.id <= 0 || !cleanup || !delivery || !outcome) return false;
  run.cleanup = *cleanup;
  run.delivery = *delivery;
  run.status = Status::running;
  run.settlement.reset();
  if (const auto ended = time_at(row, 14)) {
    run.status = Status::terminal;
    run.settlement = Settlement{*outcome, *ended, std::string(text_at(row, 15))};
  }
  return true;
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
  try {
    open_tables(options);
  } catch (...) {
    db_.reset();
    if (is_new_) remove_database(path_);
    throw;
  }
}

void Database::open_tables(const DatabaseOptions& options) {
  sqlite3* db = nullptr;
  // NOMUTEX: one thread at a time has it.
  const int code = sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) refuse(code);
  sqlite3_busy_timeout(db, static_cast<int>(options.lock_wait.count()));
  // A file that can't be used is closed as it was found: without this, closing it would write to it.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (sqlite3_db_readonly(db, "main") == 1) refuse(SQLITE_READONLY);
  const std::int64_t application = number("PRAGMA application_id");
  const std::int64_t version = number("PRAGMA user_version");
  is_new_ = is_new_ || number("SELECT count(*) FROM sqlite_schema") == 0;
  // Nothing has been written until here, and to what is not ours nothing will be.
  if (!is_new_) {
    check_version(application, version);
    prepare_all();
  }
  execute("PRAGMA synchronous=FULL");
  if (options.most_pages) execute(fmt::format("PRAGMA max_page_count={}", *options.most_pages).c_str());
  if (is_new_) make_tables();
  use_log();
  if (!is_new_) return;
  // The log is made, with a sync of its own, by the first commit: not by the first registration.
  execute("BEGIN IMMEDIATE; INSERT INTO tasks VALUES (1, '', 0, NULL); DELETE FROM tasks; COMMIT");
  prepare_all();
}

void Database::use_log() {
  const Statement mode = prepare("PRAGMA journal_mode=WAL");
  if (!next(mode.get()) || text_at(mode.get(), 0) != "wal")
    refuse("it can't be kept with a write-ahead log here");
}

void Database::prepare_all() {
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  rollback_ = prepare("ROLLBACK");
  insert_run_ = prepare("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,NULL)");
  insert_task_ = prepare("INSERT INTO tasks VALUES (?,?,?,NULL)");
  settle_run_ = prepare("UPDATE runs SET outcome=?2, ended_ms=?3, result=?4, archive_ms=?5 WHERE id=?1");
  settle_task_ = prepare("UPDATE tasks SET ended_ms=?2 WHERE id=?1");
  deliver_ = prepare("UPDATE runs SET delivery=?2 WHERE id=?1");
  recover_ = prepare("UPDATE runs SET recovered=1 WHERE id=?1");
  erase_run_ = prepare("DELETE FROM runs WHERE id=?");
  erase_task_ = prepare("DELETE FROM tasks WHERE id=?");
}

Database::~Database() {
  for (Statement* statement : {&insert_run_, &insert_task_, &settle_run_, &settle_task_, &deliver_, &recover_,
                               &erase_run_, &erase_task_, &begin_, &commit_, &rollback_})
    statement->reset();
  db_.reset();
  if (keep_ == Keep::no) remove_database(path_);  // still under the lock
}

void remove_database(const std::filesystem::path& path) {
  // The file itself last: it has the lock, and once it is gone the next to come makes a log of its own.
  for (const std::string_view suffix : database_suffixes | std::views::reverse) {
    std::error_code ignored;
    std::filesystem::remove(path.string().append(suffix), ignored);
  }
}

void Database::open(const DatabaseOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) {
    throw Error(ErrorCode::input, fmt::format("cannot use the folder {}", path_.parent_path().string()),
                error.message());
  }
  take_lock(options.lock_wait);
  check_head();
  struct stat facts{};
  is_new_ = ::fstat(lock_.get(), &facts) == 0 && facts.st_size == 0;
}

void Database::take_lock(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds turn{20};
  for (;;) {
    lock_ = Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock_) refuse(errno_text(errno));
    const bool locked = ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
    // Whoever had it may have removed it: a lock on a file without a name keeps nobody out.
    if (locked && is_named_so()) return;
    if (!locked && (errno != EWOULDBLOCK || wait <= turn)) refuse(SQLITE_BUSY);
    std::this_thread::sleep_for(turn);
    wait -= turn;
  }
}

bool Database::is_named_so() const {
  struct stat held{};
  struct stat named{};
  return ::fstat(lock_.get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void Database::check_head() const {
  // SQLite itself would already finish what another program left half done.
  std::array<unsigned char, 100> head{};
  const ssize_t size = ::pread(lock_.get(), head.data(), head.size(), 0);
  if (size < 0) refuse(errno_text(errno));
  if (size == 0) return;  // new
  constexpr std::string_view magic("SQLite format 3\0", 16);
  if (size != static_cast<ssize_t>(head.size()) || std::memcmp(head.data(), magic.data(), magic.size()) != 0)
    refuse(SQLITE_NOTADB);
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | head[i];
    return static_cast<std::int32_t>(value);
  };
  constexpr std::size_t version_at = 60;  // https://www.sqlite.org/fileformat.html, 1.3
  constexpr std::size_t application_at = 68;
  check_version(number(application_at), number(version_at));
}

void Database::check_version(std::int64_t application, std::int64_t version) const {
  if (application != application_id) refuse("it is the database of another program", "use another folder");
  if (version == schema_version) return;
  refuse(fmt::format("its schema is version {}, this program knows {}", version, schema_version),
         "use the program that made it, or another folder");
}

void Database::make_tables() {
  accept();
  // Before there is a log, so that the head of the file says whose it is whatever happens later.
  execute("BEGIN IMMEDIATE");
  execute(tables);
  execute(fmt::format("PRAGMA application_id={}", application_id).c_str());
  execute(fmt::format("PRAGMA user_version={}", schema_version).c_str());
  execute("COMMIT");
}

void Database::commit(std::span<const std::vector<Change>> batch) {
  accept();
  try {
    step(begin_.get());
    for (const std::vector<Change>& changes : batch) {
      for (const Change& change : changes) apply(change);
    }
    step(commit_.get());
  } catch (...) {
    if (sqlite3_get_autocommit(db_.get()) == 0) {
      sqlite3_step(rollback_.get());
      sqlite3_reset(rollback_.get());
    }
    try {
      throw;
    } catch (const Error& error) {
      throw Error(ErrorCode::failed, fmt::format("cannot write {}", path_.string()), error.why());
    }
  }
}

void Database::apply(const Change& change) {
  const auto whole = [](auto value) { return static_cast<std::int64_t>(value); };
  if (const auto* insert = std::get_if<Insert>(&change)) {
    const Run& run = insert->run;
    bind(insert_run_.get(), run.id, run.child, run.requester, run.controller, run.group, run.label,
         run.payload, whole(run.generation), whole(run.cleanup), whole(run.delivery), whole(run.recovered),
         ms_of(run.created), run.archive_at);
    step(insert_run_.get());
    bind(insert_task_.get(), run.id, run.task, ms_of(run.created));
    step(insert_task_.get());
  } else if (const auto* settle = std::get_if<Settle>(&change)) {
    bind(settle_run_.get(), settle->id, whole(settle->settlement.outcome), ms_of(settle->settlement.ended),
         settle->settlement.result, settle->archive_at);
    this->change(settle_run_.get());
    bind(settle_task_.get(), settle->id, ms_of(settle->settlement.ended));
    this->change(settle_task_.get());
  } else if (const auto* deliver = std::get_if<Deliver>(&change)) {
    bind(deliver_.get(), deliver->id, whole(deliver->delivery));
    this->change(deliver_.get());
  } else if (const auto* recover = std::get_if<Recover>(&change)) {
    bind(recover_.get(), recover->id);
    this->change(recover_.get());
  } else if (const auto* erase = std::get_if<Erase>(&change)) {
    bind(erase_run_.get(), erase->id);
    step(erase_run_.get());
    bind(erase_task_.get(), erase->id);
    step(erase_task_.get());
  }
}

void Database::load(const std::function<void(const Run&)>& each) {
  // Both tables in the order of the same ids, side by side: a join would look each task up.
  const Statement runs = prepare(select_runs);
  const Statement tasks = prepare(select_tasks);
  Run run;
  while (next(runs.get())) {
    if (!read_run(runs.get(), run) || !next(tasks.get()) || sqlite3_column_int64(tasks.get(), 0) != run.id)
      refuse(SQLITE_CORRUPT);
    run.task = text_at(tasks.get(), 1);
    each(run);
  }
  if (next(tasks.get())) refuse(SQLITE_CORRUPT);
}

std::size_t Database::estimate() {
  constexpr std::int64_t bytes_a_run = 400;
  return static_cast<std::size_t>(number("PRAGMA page_count") * number("PRAGMA page_size") / bytes_a_run);
}

void Database::accept() {
  if (std::exchange(accepted_, true)) return;
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

void Database::change(sqlite3_stmt* statement) {
  step(statement);
  if (sqlite3_changes(db_.get()) != 1) refuse("a run that is to be changed is not there");
}

template <class... Values>
void Database::bind(sqlite3_stmt* statement, const Values&... values) {
  int at = 0;
  for (const int code : {bind_one(statement, ++at, values)...}) {
    if (code != SQLITE_OK) refuse(code);
  }
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
  refuse(cause_of(code, db_.get()));
}

void Database::refuse(const std::string& cause, const std::string& hint) const {
  throw Error(ErrorCode::input, fmt::format("cannot use {}", path_.string()), cause, hint);
}

}  // namespace tare::agents
