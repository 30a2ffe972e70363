#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/gateway/record.hpp"
#include "runtime/sqlite/file.hpp"

namespace tare::gateway {

/// All but the messages, which are read when they are asked for.
struct Kept {
  std::vector<SessionRecord> sessions;  ///< in the order of their ids
  std::vector<RunRecord> runs;  ///< the latest, in the order of their ids, and all that have not ended
  SessionId last_session = 0;   ///< the highest id that there ever was
  RunId last_run = 0;
};

/// Sessions, messages and runs in a SQLite file: integer primary keys and no other index. The messages of a
/// session lie together, as their id is the session's and their place in it. One thread at a time.
class Database {
 public:
  /// Throws as sqlite::File does; a file that was there is then untouched.
  explicit Database(const sqlite::Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Before the first commit, so that what is damaged shows while the file is as it was. Throws Error(input).
  Kept load();

  /// All in one transaction. Throws Error(failed); nothing of it is then kept.
  void commit(std::span<const std::vector<Change>> batch);

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  void prepare_all();
  Kept read_all();
  void apply(const Change& change);
  void one(const AddSession& change);
  void one(const PatchSession& change);
  void one(const RemoveSession& change);
  void one(const AddMessage& change);
  void one(const AddRun& change);
  void one(const StartRun& change);
  void one(const EndRun& change);
  std::vector<RunRecord> load_runs(const char* sql);
  void check(std::initializer_list<std::string_view> texts) const;

  sqlite::File file_;
  sqlite::Statement add_session_, patch_session_, touch_session_, remove_session_, remove_messages_,
      remember_id_;
  sqlite::Statement add_message_, add_run_, open_run_, start_run_, end_run_, close_run_, spend_;
};

/// Reads messages while a Database of the same process writes them. One thread at a time.
class MessageReader {
 public:
  explicit MessageReader(const std::filesystem::path& path);

  /// The last messages of a session before `before`, the oldest first. Throws Error(input).
  std::vector<Message> messages(SessionId session, std::uint32_t before, Span span);
  Extent extent(SessionId session);

 private:
  sqlite::Reader reader_;
  sqlite::Statement page_, extent_;
};

}  // namespace tare::gateway
