#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/agents/store.hpp"
#include "runtime/sqlite/file.hpp"

namespace tare::agents {

/// Whose the tables are, `PRAGMA application_id`: "Tare".
inline constexpr std::int64_t application_id = 0x54617265;

using DatabaseOptions = sqlite::Options;

/// The runs in a SQLite file: integer primary keys and no other index, so that a commit appends. One process
/// at a time has it. One thread at a time.
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
  bool is_new() const { return file_.is_new(); }

  /// Its files go with it, while nobody else can have them.
  void remove_when_closed() { file_.remove_when_closed(); }
  void keep() { file_.keep(); }

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
  void prepare_all();
  void apply(const Change& change);
  /// A change of a row that must be there.
  void change(sqlite3_stmt* statement);

  sqlite::File file_;
  sqlite::Statement insert_run_, insert_task_, settle_run_, settle_task_, deliver_, recover_, erase_run_,
      erase_task_;
};

/// What is added to the name of a database by the files that SQLite keeps beside it, itself included.
inline constexpr auto database_suffixes = sqlite::file_suffixes;

/// Removes a database that nobody has open, with its log and what else SQLite keeps beside it.
inline void remove_database(const std::filesystem::path& path) {
  sqlite::remove_files(path);
}

}  // namespace tare::agents
