#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "runtime/agents/store.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tare::agents {

/// The version of the tables, `PRAGMA user_version`, and whose they are, `PRAGMA application_id`: "Tare".
inline constexpr std::int64_t schema_version = 1;
inline constexpr std::int64_t application_id = 0x54617265;

struct DatabaseOptions {
  std::filesystem::path path;
  std::chrono::milliseconds lock_wait{1000};     ///< for another process to let go of it
  std::optional<std::uint32_t> most_pages = {};  ///< the largest size; none: what the disk holds
};

/// The runs in a SQLite file: write-ahead log, `synchronous=FULL`, integer primary keys and no other index,
/// so that a commit appends. One process at a time has it. One thread at a time.
class Database {
 public:
  /// Makes the file and its folder, or opens what is there. Throws Error(input) that names the file and the
  /// cause when it can't be used: not a database, damaged, of a newer schema, of another program, locked,
  /// read-only. It is then as it was, byte for byte, and one that was made here is gone.
  explicit Database(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Whether there were no tables yet.
  bool is_new() const { return is_new_; }

  /// Its files go with it, while nobody else can have them.
  void remove_when_closed() { keep_ = Keep::no; }
  void keep() { keep_ = Keep::yes; }

  /// All changes in one transaction. Throws Error(failed) that names the file and the cause; nothing of
  /// them is then kept.
  void commit(std::span<const std::vector<Change>> batch);

  /// Every run in the order of registration, as it was last written. To be called before the first commit:
  /// whatever is damaged shows here, and until that commit the file stays as it is. Throws as the constructor
  /// does.
  void load(const std::function<void(const Run&)>& each);

  /// About how many runs there are, from the size of the file.
  std::size_t estimate();

 private:
  struct Close {
    void operator()(sqlite3* db) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void open(const DatabaseOptions& options);
  void open_tables(const DatabaseOptions& options);
  void take_lock(std::chrono::milliseconds wait);
  bool is_named_so() const;
  void check_head() const;
  void check_version(std::int64_t application, std::int64_t version) const;
  void make_tables();
  void use_log();
  void prepare_all();
  void apply(const Change& change);
  void accept();
  bool next(sqlite3_stmt* statement);
  void step(sqlite3_stmt* statement);
  /// A change of a row that must be there.
  void change(sqlite3_stmt* statement);
  void execute(const char* sql);
  std::int64_t number(const char* sql);
  Statement prepare(const char* sql);
  template <class... Values>
  void bind(sqlite3_stmt* statement, const Values&... values);
  [[noreturn]] void refuse(int code) const;
  [[noreturn]] void refuse(const std::string& cause, const std::string& hint = {}) const;

  std::filesystem::path path_;
  enum class Keep : std::uint8_t { yes, no };
  Keep keep_ = Keep::yes;
  bool is_new_ = false;
  bool accepted_ = false;
  Fd lock_;  ///< closed after the database: closing it would drop SQLite's own locks
  std::unique_ptr<sqlite3, Close> db_;
  Statement insert_run_, insert_task_, settle_run_, settle_task_, deliver_, recover_, erase_run_, erase_task_;
  Statement begin_, commit_, rollback_;
};

/// What is added to the name of a database by the files that SQLite keeps beside it, itself included.
inline constexpr std::array<std::string_view, 4> database_suffixes{"", "-wal", "-shm", "-journal"};

/// Removes a database that nobody has open, with its log and what else SQLite keeps beside it.
void remove_database(const std::filesystem::path& path);

}  // namespace tare::agents
