#include "runtime/agents/database.hpp"

#include <array>
#include <sqlite3.h>

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
constexpr std::array steps{tables};

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

std::optional<std::int64_t> maybe_ms(const std::optional<WallTime>& time) {
  return time ? std::optional(ms_of(*time)) : std::nullopt;
}

/// A name of an enumeration out of the file; nothing when it has no such name.
template <class E>
std::optional<E> enum_at(sqlite3_stmt* row, int column, E last) {
  const std::int64_t value = sqlite::whole_at(row, column);
  if (value < 0 || value > static_cast<std::int64_t>(last)) return std::nullopt;
  return static_cast<E>(value);
}

std::optional<WallTime> time_at(sqlite3_stmt* row, int column) {
  const auto ms = sqlite::maybe_at(row, column);
  return ms ? std::optional(wall_of(*ms)) : std::nullopt;
}

/// Reads a row into a run that is used again and again, as its texts need no new memory then. Returns false
/// for a row that no registry has written.
bool read_run(sqlite3_stmt* row, Run& run) {
  run.id = sqlite::whole_at(row, 0);
  run.child = sqlite::text_at(row, 1);
  run.requester = sqlite::text_at(row, 2);
  run.controller = sqlite::text_at(row, 3);
  run.group = sqlite::text_at(row, 4);
  run.label = sqlite::text_at(row, 5);
  run.payload = sqlite::text_at(row, 6);
  run.generation = static_cast<std::uint32_t>(sqlite::whole_at(row, 7));
  const auto cleanup = enum_at(row, 8, Cleanup::remove);
  const auto delivery = enum_at(row, 9, Delivery::suppressed);
  run.recovered = sqlite::whole_at(row, 10) != 0;
  run.created = wall_of(sqlite::whole_at(row, 11));
  run.archive_at = time_at(row, 12);
  const auto outcome = enum_at(row, 13, Outcome::lost);
  if (run.id <= 0 || !cleanup || !delivery || !outcome) return false;
  run.cleanup = *cleanup;
  run.delivery = *delivery;
  run.status = Status::running;
  run.settlement.reset();
  if (const auto ended = time_at(row, 14)) {
    run.status = Status::terminal;
    run.settlement = Settlement{*outcome, *ended, std::string(sqlite::text_at(row, 15))};
  }
  return true;
}

}  // namespace

Database::Database(const DatabaseOptions& options) : file_(options, {application_id, steps}) {
  if (file_.is_current()) prepare_all();  // while nothing has been written
  file_.start();
  if (!is_new()) return;
  file_.remove_when_closed();
  // The log is made, with a sync of its own, by the first commit: not by the first registration.
  file_.execute("BEGIN IMMEDIATE; INSERT INTO tasks VALUES (1, '', 0, NULL); DELETE FROM tasks; COMMIT");
  prepare_all();
  file_.keep();
}

void Database::prepare_all() {
  insert_run_ = file_.prepare("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,NULL)");
  insert_task_ = file_.prepare("INSERT INTO tasks VALUES (?,?,?,NULL)");
  settle_run_ =
      file_.prepare("UPDATE runs SET outcome=?2, ended_ms=?3, result=?4, archive_ms=?5 WHERE id=?1");
  settle_task_ = file_.prepare("UPDATE tasks SET ended_ms=?2 WHERE id=?1");
  deliver_ = file_.prepare("UPDATE runs SET delivery=?2 WHERE id=?1");
  recover_ = file_.prepare("UPDATE runs SET recovered=1 WHERE id=?1");
  erase_run_ = file_.prepare("DELETE FROM runs WHERE id=?");
  erase_task_ = file_.prepare("DELETE FROM tasks WHERE id=?");
}

Database::~Database() = default;

void Database::commit(std::span<const std::vector<Change>> batch) {
  file_.transaction([&] {
    for (const std::vector<Change>& changes : batch) {
      for (const Change& change : changes) apply(change);
    }
  });
}

void Database::apply(const Change& change) {
  const auto whole = [](auto value) { return static_cast<std::int64_t>(value); };
  if (const auto* insert = std::get_if<Insert>(&change)) {
    const Run& run = insert->run;
    file_.bind(insert_run_.get(), run.id, run.child, run.requester, run.controller, run.group, run.label,
               run.payload, whole(run.generation), whole(run.cleanup), whole(run.delivery),
               whole(run.recovered), ms_of(run.created), maybe_ms(run.archive_at));
    file_.step(insert_run_.get());
    file_.bind(insert_task_.get(), run.id, run.task, ms_of(run.created));
    file_.step(insert_task_.get());
  } else if (const auto* settle = std::get_if<Settle>(&change)) {
    file_.bind(settle_run_.get(), settle->id, whole(settle->settlement.outcome),
               ms_of(settle->settlement.ended), settle->settlement.result, maybe_ms(settle->archive_at));
    this->change(settle_run_.get());
    file_.bind(settle_task_.get(), settle->id, ms_of(settle->settlement.ended));
    this->change(settle_task_.get());
  } else if (const auto* deliver = std::get_if<Deliver>(&change)) {
    file_.bind(deliver_.get(), deliver->id, whole(deliver->delivery));
    this->change(deliver_.get());
  } else if (const auto* recover = std::get_if<Recover>(&change)) {
    file_.bind(recover_.get(), recover->id);
    this->change(recover_.get());
  } else if (const auto* erase = std::get_if<Erase>(&change)) {
    file_.bind(erase_run_.get(), erase->id);
    file_.step(erase_run_.get());
    file_.bind(erase_task_.get(), erase->id);
    file_.step(erase_task_.get());
  }
}

void Database::load(const std::function<void(const Run&)>& each) {
  // Both tables in the order of the same ids, side by side: a join would look each task up.
  const sqlite::Statement runs = file_.prepare(select_runs);
  const sqlite::Statement tasks = file_.prepare(select_tasks);
  Run run;
  while (file_.next(runs.get())) {
    if (!read_run(runs.get(), run) || !file_.next(tasks.get()) || sqlite::whole_at(tasks.get(), 0) != run.id)
      file_.refuse(SQLITE_CORRUPT);
    run.task = sqlite::text_at(tasks.get(), 1);
    each(run);
  }
  if (file_.next(tasks.get())) file_.refuse(SQLITE_CORRUPT);
}

std::size_t Database::estimate() {
  constexpr std::int64_t bytes_a_run = 400;
  return static_cast<std::size_t>(file_.number("PRAGMA page_count") * file_.number("PRAGMA page_size") /
                                  bytes_a_run);
}

void Database::change(sqlite3_stmt* statement) {
  file_.step(statement);
  if (file_.changes() != 1) file_.refuse("a run that is to be changed is not there");
}

}  // namespace tare::agents
