// SQLite by itself, as the durable registry uses it: write-ahead log, synchronous=FULL, prepared statements.
//
//   bare_commit FILE
//
// A line "TRANSACTIONS ROWS" on stdin asks for that many transactions of that many rows in a fresh FILE, one
// after the other; the answer is their nanoseconds, from the first BEGIN until the last COMMIT has returned.
// Making the database and its table is not in them. The rows have the columns and texts of a registry's runs.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sqlite3.h>
#include <string>

namespace {

[[noreturn]] void fail(sqlite3* db, const char* what) {
  std::fprintf(stderr, "bare_commit: %s: %s\n", what, db != nullptr ? sqlite3_errmsg(db) : "no memory");
  std::exit(EXIT_FAILURE);
}

void execute(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(db, sql);
}

sqlite3_stmt* prepare(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    fail(db, sql);
  return statement;
}

void step(sqlite3* db, sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  if (code != SQLITE_DONE) fail(db, "step");
}

void bind(sqlite3_stmt* statement, int at, const std::string& text) {
  sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

void remove_database(const std::string& path) {
  for (const char* end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
}

void insert(sqlite3* db, sqlite3_stmt* statement, std::int64_t number) {
  const std::string name = "0123456789abcdef-" + std::to_string(number);
  const std::string child = "agent:main:subagent:" + name;
  const std::string requester = "agent:main:main";
  const std::string group = "bench";
  const std::string payload = R"({"model":"gpt-5.6-luna","thinking":"low","timeoutSeconds":600})";
  sqlite3_bind_int64(statement, 1, number + 1);
  bind(statement, 2, child);
  bind(statement, 3, requester);
  bind(statement, 4, requester);
  bind(statement, 5, group);
  bind(statement, 6, name);
  bind(statement, 7, payload);
  step(db, statement);
}

std::int64_t commits_ns(const std::string& path, std::int64_t transactions, std::int64_t rows) {
  remove_database(path);
  sqlite3* db = nullptr;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK)
    fail(db, "open");
  execute(db, "PRAGMA journal_mode=WAL");
  execute(db, "PRAGMA synchronous=FULL");
  execute(db,
          "CREATE TABLE runs (id INTEGER PRIMARY KEY, child TEXT NOT NULL, requester TEXT NOT NULL,"
          " controller TEXT NOT NULL, grp TEXT NOT NULL, label TEXT NOT NULL, payload TEXT NOT NULL,"
          " generation INTEGER NOT NULL, cleanup INTEGER NOT NULL, delivery INTEGER NOT NULL,"
          " recovered INTEGER NOT NULL, created_ms INTEGER NOT NULL, archive_ms INTEGER, outcome INTEGER,"
          " ended_ms INTEGER, result TEXT) STRICT");
  sqlite3_stmt* const begin = prepare(db, "BEGIN IMMEDIATE");
  sqlite3_stmt* const commit = prepare(db, "COMMIT");
  sqlite3_stmt* const row =
      prepare(db, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,1,0,0,0,1767225600000,NULL,NULL,NULL,NULL)");
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < transactions; ++i) {
    step(db, begin);
    for (std::int64_t k = 0; k < rows; ++k) insert(db, row, i * rows + k);
    step(db, commit);
  }
  const auto end = std::chrono::steady_clock::now();
  for (sqlite3_stmt* statement : {begin, commit, row}) sqlite3_finalize(statement);
  sqlite3_close(db);
  remove_database(path);
  return std::chrono::nanoseconds(end - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bare_commit FILE\n");
    return EXIT_FAILURE;
  }
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    char* rest = nullptr;
    const std::int64_t transactions = std::strtoll(line, &rest, 10);
    const std::int64_t rows = std::strtoll(rest, nullptr, 10);
    if (transactions < 1 || rows < 1) {
      std::fprintf(stderr, "bare_commit: not \"TRANSACTIONS ROWS\": %s\n", line);
      return EXIT_FAILURE;
    }
    std::printf("%lld\n", static_cast<long long>(commits_ns(argv[1], transactions, rows)));
    if (std::fflush(stdout) != 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
