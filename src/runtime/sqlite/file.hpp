#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite files as Tare keeps them: of one process at a time, with a write-ahead log, refused untouched when
/// they cannot be used.
namespace tare::sqlite {

struct Options {
  std::filesystem::path path;
  std::chrono::milliseconds lock_wait{1000};     ///< for another process to let go of it
  std::optional<std::uint32_t> most_pages = {};  ///< the largest size; none: what the disk holds
};

/// Whose tables they are, and how they came to be.
struct Schema {
  std::int64_t application;  ///< `PRAGMA application_id`
  /// SQL that makes version n out of version n - 1; their number is the version, `PRAGMA user_version`.
  std::span<const char* const> steps;
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const;
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

/// Resets a statement at the end of its scope: one that is not reset holds on to what it has read.
class Rewind {
 public:
  explicit Rewind(sqlite3_stmt* statement) : statement_(statement) {}
  ~Rewind();
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;

 private:
  sqlite3_stmt* statement_;
};

/// What can be bound to a statement and read from a row. Texts of a row are valid until its next step.
int bind_one(sqlite3_stmt* statement, int at, std::int64_t value);
int bind_one(sqlite3_stmt* statement, int at, std::string_view text);
int bind_one(sqlite3_stmt* statement, int at, const std::optional<std::int64_t>& value);
std::int64_t whole_at(sqlite3_stmt* row, int column);
std::optional<std::int64_t> maybe_at(sqlite3_stmt* row, int column);
std::string_view text_at(sqlite3_stmt* row, int column);

/// One open SQLite file: write-ahead log, `synchronous=FULL`. One process at a time has it. One thread at a
/// time. Statements must be gone before it.
class File {
 public:
  /// Opens or makes the file and its folder. Throws Error(input) that names the file and the cause when it
  /// can't be used: not a database, damaged, of a newer version, of another program, locked, read-only.
  /// Nothing is written to a file that was there until `start`.
  File(const Options& options, const Schema& schema);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Whether there were no tables yet.
  bool is_new() const { return is_new_; }
  /// Whether its tables are of the version that this program knows: statements can be prepared before
  /// `start`, so that what is damaged shows while the file is as it was.
  bool is_current() const { return version_ == static_cast<std::int64_t>(schema_.steps.size()); }
  /// Makes or migrates the tables, in one transaction, and turns the log on. Throws as the constructor does;
  /// the file is then as it was, and one that was made here is gone.
  void start();

  /// Its files go with it, while nobody else can have them.
  void remove_when_closed() { keep_ = Keep::no; }
  void keep() { keep_ = Keep::yes; }

  /// To be called before the first change: from then on closing it may move the log into it.
  void accept();

  /// Whether there is a row.
  bool next(sqlite3_stmt* statement);
  /// Runs a statement to its end and resets it, even when it throws.
  void step(sqlite3_stmt* statement);
  /// How many rows the last step changed.
  int changes() const;
  void execute(const char* sql);
  std::int64_t number(const char* sql);
  Statement prepare(const char* sql);
  template <class... Values>
  void bind(sqlite3_stmt* statement, const Values&... values) {
    int at = 0;
    for (const int code : {bind_one(statement, ++at, values)...}) {
      if (code != 0) refuse(code);
    }
  }

  /// Runs `work` in a transaction. Throws Error(failed) "cannot write <file>" with the cause; nothing of it
  /// is then kept.
  template <class Work>
  void transaction(Work&& work) {
    accept();
    try {
      step(begin_.get());
      work();
      step(commit_.get());
    } catch (...) {
      roll_back();
    }
  }

  /// Throws Error(input): "cannot use <file> (<cause>); <hint>".
  [[noreturn]] void refuse(int code) const;
  [[noreturn]] void refuse(const std::string& cause, const std::string& hint = {}) const;

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };

  void take_file();
  void take_lock(std::chrono::milliseconds wait);
  bool is_named_so() const;
  using Head = std::array<unsigned char, 100>;
  void check_head() const;
  void check_size(const Head& head) const;
  void check_version(std::int64_t application, std::int64_t version) const;
  void connect();
  void migrate();
  void use_log();
  [[noreturn]] void roll_back();

  enum class Keep : std::uint8_t { yes, no };

  std::filesystem::path path_;
  Options options_;
  Schema schema_;
  Keep keep_ = Keep::yes;
  bool is_new_ = false;
  bool accepted_ = false;
  std::int64_t version_ = 0;
  Fd lock_;  ///< closed after the database: closing it would drop SQLite's own locks
  std::unique_ptr<sqlite3, Close> db_;
  Statement begin_, commit_, rollback_;
};

/// A second connection to the same file, of the same process, which only reads: what is committed, while the
/// first writes. One thread at a time, not necessarily the first one's.
class Reader {
 public:
  /// Throws Error(input) as File does.
  explicit Reader(std::filesystem::path path);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool next(sqlite3_stmt* statement);
  Statement prepare(const char* sql);

 private:
  std::filesystem::path path_;
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::unique_ptr<sqlite3, Close> db_;
};

/// What is added to the name of a database by the files that SQLite keeps beside it, itself included.
inline constexpr std::array<std::string_view, 4> file_suffixes{"", "-wal", "-shm", "-journal"};

/// Removes a database that nobody has open, with its log and what else SQLite keeps beside it.
void remove_files(const std::filesystem::path& path);

}  // namespace tare::sqlite
