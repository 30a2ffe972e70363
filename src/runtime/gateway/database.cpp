#include "runtime/gateway/database.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sqlite3.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::gateway {
namespace {

constexpr std::int64_t application = 0x54674757;  // "TgGW"

/// `open_runs` is what a start has to look at: the few that have not ended, of any number.
constexpr std::array<const char*, 1> steps{R"(
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, uuid TEXT NOT NULL, agent TEXT NOT NULL, cwd TEXT NOT NULL,
    label TEXT NOT NULL, archived INTEGER NOT NULL, revision INTEGER NOT NULL, created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL) STRICT;
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY, role INTEGER NOT NULL, at_ms INTEGER NOT NULL, outcome INTEGER NOT NULL,
    text TEXT NOT NULL) STRICT;
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, session INTEGER NOT NULL, waiting TEXT NOT NULL,
    accepted_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER, outcome INTEGER NOT NULL,
    error TEXT NOT NULL, reply INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL) STRICT;
  CREATE TABLE open_runs (id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE highest (id INTEGER PRIMARY KEY, session INTEGER NOT NULL) STRICT;
  INSERT INTO highest VALUES (1, 0);
)"};

constexpr const char* select_sessions =
    "SELECT id, key, uuid, agent, cwd, label, archived, revision, created_ms, updated_ms, input_tokens, "
    "output_tokens"
    " FROM sessions ORDER BY id";
constexpr const char* select_runs =
    "SELECT id, key, session, waiting, accepted_ms, started_ms, ended_ms, outcome, error, reply, "
    "input_tokens,"
    " output_tokens FROM runs ORDER BY id DESC LIMIT 4096";
constexpr const char* select_open_runs =
    "SELECT id, key, session, waiting, accepted_ms, started_ms, ended_ms, outcome, error, reply, "
    "input_tokens,"
    " output_tokens FROM open_runs JOIN runs USING (id) ORDER BY id";

constexpr unsigned seq_bits = 32;

std::int64_t message_id(SessionId session, std::uint32_t seq) {
  return session << seq_bits | seq;
}

std::int64_t whole(auto value) {
  return static_cast<std::int64_t>(value);
}

bool is_utf8(std::string_view text) {
  const bool is_ascii =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
  return is_ascii || text::escape_bad_utf8(text) == text;
}

template <class E>
E enum_at(sqlite3_stmt* row, int column, E last) {
  return static_cast<E>(std::clamp<std::int64_t>(sqlite::whole_at(row, column), 0, whole(last)));
}

SessionRecord session_at(sqlite3_stmt* row) {
  SessionRecord session;
  session.id = sqlite::whole_at(row, 0);
  session.key = sqlite::text_at(row, 1);
  session.uuid = sqlite::text_at(row, 2);
  session.agent = sqlite::text_at(row, 3);
  session.cwd = sqlite::text_at(row, 4);
  session.label = sqlite::text_at(row, 5);
  session.shelf = enum_at(row, 6, SessionRecord::Shelf::archived);
  session.revision = sqlite::whole_at(row, 7);
  session.created = sqlite::whole_at(row, 8);
  session.updated = sqlite::whole_at(row, 9);
  session.input_tokens = sqlite::whole_at(row, 10);
  session.output_tokens = sqlite::whole_at(row, 11);
  return session;
}

RunRecord run_at(sqlite3_stmt* row) {
  RunRecord run;
  run.id = sqlite::whole_at(row, 0);
  run.key = sqlite::text_at(row, 1);
  run.session = sqlite::whole_at(row, 2);
  run.waiting = sqlite::text_at(row, 3);
  run.accepted = sqlite::whole_at(row, 4);
  run.started = sqlite::maybe_at(row, 5);
  run.ended = sqlite::maybe_at(row, 6);
  run.outcome = enum_at(row, 7, Outcome::interrupted);
  run.error = sqlite::text_at(row, 8);
  run.reply = static_cast<std::uint32_t>(sqlite::whole_at(row, 9));
  run.input_tokens = sqlite::whole_at(row, 10);
  run.output_tokens = sqlite::whole_at(row, 11);
  return run;
}

}  // namespace

Database::Database(const sqlite::Options& options) : file_(options, {application, steps}) {
  if (file_.is_current()) prepare_all();  // while nothing has been written
}

Database::~Database() = default;

void Database::prepare_all() {
  add_session_ = file_.prepare("INSERT OR IGNORE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  patch_session_ = file_.prepare(
      "UPDATE sessions SET label=coalesce(?2,label), archived=coalesce(?3,archived), updated_ms=?4,"
      " revision=revision+1 WHERE id=?1");
  touch_session_ = file_.prepare("UPDATE sessions SET updated_ms=?2 WHERE id=?1");
  remove_session_ = file_.prepare("DELETE FROM sessions WHERE id=?");
  remove_messages_ = file_.prepare("DELETE FROM messages WHERE id BETWEEN ? AND ?");
  remember_id_ = file_.prepare("UPDATE highest SET session=max(session, ?)");
  add_message_ = file_.prepare("INSERT INTO messages VALUES (?,?,?,?,?)");
  add_run_ = file_.prepare("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  open_run_ = file_.prepare("INSERT INTO open_runs VALUES (?)");
  start_run_ = file_.prepare("UPDATE runs SET waiting='', started_ms=?2 WHERE id=?1");
  end_run_ = file_.prepare(
      "UPDATE runs SET waiting='', ended_ms=?2, outcome=?3, error=?4, reply=?5, input_tokens=?6, "
      "output_tokens=?7,"
      " started_ms=?8"
      " WHERE id=?1");
  close_run_ = file_.prepare("DELETE FROM open_runs WHERE id=?");
  spend_ = file_.prepare(
      "UPDATE sessions SET updated_ms=?2, input_tokens=input_tokens+?3, output_tokens=output_tokens+?4 WHERE "
      "id=?1");
}

Kept Database::load() {
  if (file_.is_current()) {
    Kept kept = read_all();
    file_.start();
    return kept;
  }
  file_.start();
  prepare_all();
  return read_all();
}

Kept Database::read_all() {
  Kept kept;
  kept.last_session = file_.number("SELECT session FROM highest");
  const sqlite::Statement sessions = file_.prepare(select_sessions);
  while (file_.next(sessions.get())) {
    kept.sessions.push_back(session_at(sessions.get()));
    const SessionRecord& session = kept.sessions.back();
    check({session.key, session.uuid, session.agent, session.cwd, session.label});
  }
  // Nothing is wanted of messages now; but a damaged root would leave every session without any.
  file_.number("SELECT count(*) FROM (SELECT min(id) FROM messages UNION ALL SELECT max(id) FROM messages)");
  kept.runs = load_runs(select_open_runs);
  const std::size_t open = kept.runs.size();
  for (RunRecord& run : load_runs(select_runs)) {
    const auto end = kept.runs.begin() + static_cast<std::ptrdiff_t>(open);
    if (!std::binary_search(kept.runs.begin(), end, run,
                            [](const RunRecord& a, const RunRecord& b) { return a.id < b.id; }))
      kept.runs.push_back(std::move(run));
  }
  std::ranges::sort(kept.runs, {}, &RunRecord::id);
  if (!kept.sessions.empty()) kept.last_session = std::max(kept.last_session, kept.sessions.back().id);
  if (!kept.runs.empty()) kept.last_run = kept.runs.back().id;
  return kept;
}

std::vector<RunRecord> Database::load_runs(const char* sql) {
  std::vector<RunRecord> runs;
  const sqlite::Statement statement = file_.prepare(sql);
  while (file_.next(statement.get())) {
    runs.push_back(run_at(statement.get()));
    check({runs.back().key, runs.back().waiting, runs.back().error});
  }
  return runs;
}

/// SQLite gives whatever bytes are there; nothing else was ever written than UTF-8.
void Database::check(std::initializer_list<std::string_view> texts) const {
  if (!std::ranges::all_of(texts, is_utf8)) file_.refuse(SQLITE_CORRUPT);
}

void Database::commit(std::span<const std::vector<Change>> batch) {
  file_.transaction([&] {
    for (const std::vector<Change>& changes : batch) {
      for (const Change& change : changes) apply(change);
    }
  });
}

void Database::apply(const Change& change) {
  std::visit([this](const auto& each) { one(each); }, change);
}

void Database::one(const AddSession& change) {
  const SessionRecord& s = change.session;
  file_.bind(add_session_.get(), s.id, std::string_view(s.key), std::string_view(s.uuid),
             std::string_view(s.agent), std::string_view(s.cwd), std::string_view(s.label), whole(s.shelf),
             s.revision, s.created, s.updated, s.input_tokens, s.output_tokens);
  file_.step(add_session_.get());
}

void Database::one(const PatchSession& change) {
  file_.bind(patch_session_.get(), change.id);
  const auto bind = [&](int code) {
    if (code != SQLITE_OK) file_.refuse(code);
  };
  bind(change.label ? sqlite::bind_one(patch_session_.get(), 2, std::string_view(*change.label))
                    : sqlite3_bind_null(patch_session_.get(), 2));
  bind(sqlite::bind_one(patch_session_.get(), 3,
                        change.shelf ? std::optional(whole(*change.shelf)) : std::optional<std::int64_t>()));
  bind(sqlite::bind_one(patch_session_.get(), 4, change.updated));
  file_.step(patch_session_.get());
}

void Database::one(const RemoveSession& change) {
  file_.bind(remember_id_.get(), change.id);
  file_.step(remember_id_.get());
  file_.bind(remove_messages_.get(), message_id(change.id, 0),
             message_id(change.id, std::numeric_limits<std::uint32_t>::max()));
  file_.step(remove_messages_.get());
  file_.bind(remove_session_.get(), change.id);
  file_.step(remove_session_.get());
}

void Database::one(const AddMessage& change) {
  const Message& m = change.message;
  file_.bind(add_message_.get(), message_id(change.session, m.seq), whole(m.role), m.at, whole(m.outcome),
             std::string_view(m.text));
  file_.step(add_message_.get());
  file_.bind(touch_session_.get(), change.session, change.updated);
  file_.step(touch_session_.get());
}

void Database::one(const AddRun& change) {
  const RunRecord& r = change.run;
  file_.bind(add_run_.get(), r.id, std::string_view(r.key), r.session, std::string_view(r.waiting),
             r.accepted, r.started, r.ended, whole(r.outcome), std::string_view(r.error), whole(r.reply),
             r.input_tokens, r.output_tokens);
  file_.step(add_run_.get());
  file_.bind(open_run_.get(), r.id);
  file_.step(open_run_.get());
}

void Database::one(const StartRun& change) {
  file_.bind(start_run_.get(), change.id, change.at);
  file_.step(start_run_.get());
}

void Database::one(const EndRun& change) {
  const RunRecord& r = change.run;
  file_.bind(end_run_.get(), r.id, r.ended.value_or(r.accepted), whole(r.outcome), std::string_view(r.error),
             whole(r.reply), r.input_tokens, r.output_tokens, r.started);
  file_.step(end_run_.get());
  file_.bind(close_run_.get(), r.id);
  file_.step(close_run_.get());
  file_.bind(spend_.get(), r.session, r.ended.value_or(r.accepted), r.input_tokens, r.output_tokens);
  file_.step(spend_.get());
}

MessageReader::MessageReader(const std::filesystem::path& path)
    : reader_(path),
      page_(reader_.prepare("SELECT id, role, at_ms, outcome, text FROM messages WHERE id BETWEEN ? AND ?"
                            " ORDER BY id DESC LIMIT ?")),
      extent_(reader_.prepare("SELECT count(*), max(id) FROM messages WHERE id BETWEEN ? AND ?")) {}

std::vector<Message> MessageReader::messages(SessionId session, std::uint32_t before, Span span) {
  std::vector<Message> found;
  if (before <= 1 || span.messages == 0) return found;
  sqlite::bind_one(page_.get(), 1, message_id(session, 0));
  sqlite::bind_one(page_.get(), 2, message_id(session, before - 1));
  sqlite::bind_one(page_.get(), 3, whole(span.messages));
  const sqlite::Rewind rewind(page_.get());
  for (std::size_t bytes = 0; bytes <= span.bytes && reader_.next(page_.get());) {
    Message message;
    message.seq = static_cast<std::uint32_t>(sqlite::whole_at(page_.get(), 0));
    message.role = enum_at(page_.get(), 1, Role::tool_result);
    message.at = sqlite::whole_at(page_.get(), 2);
    message.outcome = enum_at(page_.get(), 3, Outcome::interrupted);
    message.text = sqlite::text_at(page_.get(), 4);
    // Damaged, but all that there is; as it is, it would end the connection of whoever asks for it.
    if (!is_utf8(message.text)) message.text = text::escape_bad_utf8(message.text);
    bytes += message.text.size();
    found.push_back(std::move(message));
  }
  std::ranges::reverse(found);
  return found;
}

Extent MessageReader::extent(SessionId session) {
  sqlite::bind_one(extent_.get(), 1, message_id(session, 0));
  sqlite::bind_one(extent_.get(), 2, message_id(session, std::numeric_limits<std::uint32_t>::max()));
  const sqlite::Rewind rewind(extent_.get());
  if (!reader_.next(extent_.get())) return {};
  return {static_cast<std::size_t>(sqlite::whole_at(extent_.get(), 0)),
          static_cast<std::uint32_t>(sqlite::whole_at(extent_.get(), 1))};
}

}  // namespace tare::gateway
