#include "runtime/sqlite/file.hpp"

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

namespace tare::sqlite {
namespace {

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

/// What to do about it, where that is not plain.
std::string hint_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "put a good copy in its place, or use another folder";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "stop that one, or use another folder";
    default:
      return {};
  }
}

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& cause,
                              const std::string& hint = {}) {
  throw Error(ErrorCode::input, fmt::format("cannot use {}", path.string()), cause, hint);
}

std::uint32_t number_at(const std::array<unsigned char, 100>& head, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | head[i];
  return value;
}

}  // namespace

void Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void File::Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

Rewind::~Rewind() {
  sqlite3_reset(statement_);
}

int bind_one(sqlite3_stmt* statement, int at, std::int64_t value) {
  return sqlite3_bind_int64(statement, at, value);
}
int bind_one(sqlite3_stmt* statement, int at, std::string_view text) {
  // An empty text has no address, and would be null.
  return sqlite3_bind_text64(statement, at, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                             SQLITE_UTF8);
}
int bind_one(sqlite3_stmt* statement, int at, const std::optional<std::int64_t>& value) {
  return value ? sqlite3_bind_int64(statement, at, *value) : sqlite3_bind_null(statement, at);
}

std::int64_t whole_at(sqlite3_stmt* row, int column) {
  return sqlite3_column_int64(row, column);
}

std::optional<std::int64_t> maybe_at(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(row, column);
}

std::string_view text_at(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

File::File(const Options& options, const Schema& schema)
    : path_(options.path), options_(options), schema_(schema) {
  take_file();
  try {
    connect();
  } catch (...) {
    db_.reset();
    if (is_new_) remove_files(path_);
    throw;
  }
}

File::~File() {
  for (Statement* statement : {&begin_, &commit_, &rollback_}) statement->reset();
  db_.reset();
  if (keep_ == Keep::no) remove_files(path_);  // still under the lock
}

void File::take_file() {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) {
    throw Error(ErrorCode::input, fmt::format("cannot use the folder {}", path_.parent_path().string()),
                error.message());
  }
  take_lock(options_.lock_wait);
  check_head();
  struct stat facts{};
  is_new_ = ::fstat(lock_.get(), &facts) == 0 && facts.st_size == 0;
}

void File::take_lock(std::chrono::milliseconds wait) {
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

bool File::is_named_so() const {
  struct stat held{};
  struct stat named{};
  return ::fstat(lock_.get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void File::check_head() const {
  // SQLite itself would already finish what another program left half done.
  Head head{};
  const ssize_t size = ::pread(lock_.get(), head.data(), head.size(), 0);
  if (size < 0) refuse(errno_text(errno));
  if (size == 0) return;  // new
  constexpr std::string_view magic("SQLite format 3\0", 16);
  if (size != static_cast<ssize_t>(head.size()) || std::memcmp(head.data(), magic.data(), magic.size()) != 0)
    refuse(SQLITE_NOTADB);
  const auto number = [&](std::size_t at) { return static_cast<std::int32_t>(number_at(head, at)); };
  check_size(head);
  constexpr std::size_t version_at = 60;  // https://www.sqlite.org/fileformat.html, 1.3
  constexpr std::size_t application_at = 68;
  check_version(number(application_at), number(version_at));
}

/// SQLite sees that pages are missing when it wants one of them, which may be long after the start.
void File::check_size(const Head& head) const {
  struct stat facts{};
  struct stat unfinished{};
  // Where a log is there, it has what the file has not.
  for (const std::string_view suffix : {"-wal", "-journal"}) {
    if (::stat((path_.string() + std::string(suffix)).c_str(), &unfinished) == 0 && unfinished.st_size > 0)
      return;
  }
  constexpr std::size_t page_bytes_at = 16;  // two bytes, of which 1 is for 65,536
  constexpr std::size_t changes_at = 24;
  constexpr std::size_t pages_at = 28;
  constexpr std::size_t pages_valid_for_at = 92;
  const std::int64_t page_bytes = head[page_bytes_at] << 8 | head[page_bytes_at + 1];
  if (number_at(head, changes_at) != number_at(head, pages_valid_for_at)) return;  // an old program wrote it
  const std::int64_t whole = number_at(head, pages_at) * (page_bytes == 1 ? 65'536 : page_bytes);
  if (::fstat(lock_.get(), &facts) != 0 || facts.st_size >= whole) return;
  refuse(fmt::format("it is damaged: {} of its {} bytes are there", facts.st_size, whole),
         hint_of(SQLITE_CORRUPT));
}

void File::check_version(std::int64_t application, std::int64_t version) const {
  if (application != schema_.application)
    refuse("it is the database of another program", "use another folder");
  const auto known = static_cast<std::int64_t>(schema_.steps.size());
  if (version >= 1 && version <= known) return;
  refuse(fmt::format("its schema is version {}, this program knows {}", version, known),
         "use the program that made it, or another folder");
}

void File::connect() {
  sqlite3* db = nullptr;
  // NOMUTEX: one thread at a time has it.
  const int code = sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) refuse(code);
  sqlite3_busy_timeout(db, static_cast<int>(options_.lock_wait.count()));
  // A file that can't be used is closed as it was found: without this, closing it would write to it.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (sqlite3_db_readonly(db, "main") == 1) refuse(SQLITE_READONLY);
  const std::int64_t application = number("PRAGMA application_id");
  version_ = number("PRAGMA user_version");
  is_new_ = is_new_ || number("SELECT count(*) FROM sqlite_schema") == 0;
  if (is_new_) {
    version_ = 0;
  } else {
    check_version(application, version_);
  }
}

void File::start() {
  try {
    execute("PRAGMA synchronous=FULL");
    if (options_.most_pages) execute(fmt::format("PRAGMA max_page_count={}", *options_.most_pages).c_str());
    if (!is_current()) migrate();
    use_log();
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    rollback_ = prepare("ROLLBACK");
  } catch (...) {
    if (is_new_) keep_ = Keep::no;
    throw;
  }
}

void File::migrate() {
  accept();
  // Before there is a log, so that the head of a new file says whose it is whatever happens later.
  execute("BEGIN IMMEDIATE");
  try {
    for (const char* const step : schema_.steps.subspan(static_cast<std::size_t>(version_))) execute(step);
    execute(fmt::format("PRAGMA application_id={}", schema_.application).c_str());
    execute(fmt::format("PRAGMA user_version={}", schema_.steps.size()).c_str());
    execute("COMMIT");
  } catch (...) {
    if (sqlite3_get_autocommit(db_.get()) == 0)
      sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  version_ = static_cast<std::int64_t>(schema_.steps.size());
}

void File::use_log() {
  const Statement mode = prepare("PRAGMA journal_mode=WAL");
  if (!next(mode.get()) || text_at(mode.get(), 0) != "wal")
    refuse("it can't be kept with a write-ahead log here");
}

void File::accept() {
  if (std::exchange(accepted_, true)) return;
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

void File::roll_back() {
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

bool File::next(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) refuse(code);
  return code == SQLITE_ROW;
}

void File::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  if (code != SQLITE_DONE && code != SQLITE_ROW) refuse(code);
}

int File::changes() const {
  return sqlite3_changes(db_.get());
}

void File::execute(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) refuse(code);
}

std::int64_t File::number(const char* sql) {
  const Statement statement = prepare(sql);
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) refuse(code);
  return sqlite3_column_int64(statement.get(), 0);
}

Statement File::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) refuse(code);
  return Statement(statement);
}

void File::refuse(int code) const {
  refuse(cause_of(code, db_.get()), hint_of(code));
}

void File::refuse(const std::string& cause, const std::string& hint) const {
  refuse_file(path_, cause, hint);
}

Reader::Reader(std::filesystem::path path) : path_(std::move(path)) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) refuse_file(path_, cause_of(code, db));
}

Reader::~Reader() = default;

void Reader::Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

bool Reader::next(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) refuse_file(path_, cause_of(code, db_.get()));
  return code == SQLITE_ROW;
}

Statement Reader::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) refuse_file(path_, cause_of(code, db_.get()));
  return Statement(statement);
}

void remove_files(const std::filesystem::path& path) {
  // The file itself last: it has the lock, and once it is gone the next to come makes a log of its own.
  for (const std::string_view suffix : file_suffixes | std::views::reverse) {
    std::error_code ignored;
    std::filesystem::remove(path.string().append(suffix), ignored);
  }
}

}  // namespace tare::sqlite
