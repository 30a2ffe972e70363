#include "runtime/gateway/sessions.hpp"

#include <algorithm>

#include "runtime/gateway/device.hpp"
#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/run.hpp"

namespace tare::gateway {
namespace {

void text_or_null(ObjectText& object, std::string_view key, std::string_view value) {
  if (value.empty()) {
    object.null(key);
  } else {
    object.text(key, value);
  }
}

/// Empty while it never ran.
std::string_view status_of(const Session& session) {
  if (session.active) return "running";
  if (!session.waiting.empty()) return "queued";
  if (!session.last_outcome) return {};
  return *session.last_outcome == Outcome::ok ? "done" : name_of(*session.last_outcome);
}

void append_run_ids(std::string& out, const Session& session) {
  out += '[';
  const auto append = [&](const Run& run) {
    if (out.back() != '[') out += ',';
    append_string(out, run.record.key);
  };
  if (session.active) append(*session.active);
  for (const auto& run : session.waiting) append(*run);
  out += ']';
}

}  // namespace

void Sessions::restore(std::vector<SessionRecord> records, SessionId last) {
  std::ranges::sort(records, std::ranges::greater{}, &SessionRecord::updated);
  by_key_.reserve(records.size());
  by_id_.reserve(records.size());
  for (SessionRecord& record : records) {
    auto session = std::make_shared<Session>(std::move(record));
    std::list<Session*>& order = order_of(session->record.shelf);
    session->place = order.insert(order.end(), session.get());
    by_id_.emplace(session->record.id, session.get());
    by_key_.emplace(session->record.key, std::move(session));
  }
  last_ = last;
}

std::shared_ptr<Session> Sessions::find(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || found->second->stage == Session::Stage::going ? nullptr : found->second;
}

std::shared_ptr<Session> Sessions::find_or_coming(std::string_view key) const {
  if (auto session = find(key)) return session;
  const auto coming = coming_.find(std::string(key));
  if (coming == coming_.end()) return nullptr;
  auto session = coming->second.lock();
  if (!session) coming_.erase(coming);
  return session;
}

std::shared_ptr<Session> Sessions::find(SessionId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : find(found->second->record.key);
}

void Sessions::check_not_going(std::string_view key) const {
  if (!by_key_.contains(key)) return;
  throw Refusal(Fault{Code::unavailable, "the session is being deleted", R"({"reason":"session-going"})",
                      Retry::later});
}

std::string_view agent_of(std::string_view key) {
  constexpr std::string_view prefix = "agent:";
  if (!key.starts_with(prefix)) return "main";
  const std::string_view rest = key.substr(prefix.size());
  const std::string_view name = rest.substr(0, rest.find(':'));
  return name.empty() || name.size() == rest.size() ? "main" : name;
}

std::shared_ptr<Session> Sessions::make(std::string_view key, std::string_view agent, std::string_view cwd,
                                        Millis now) {
  SessionRecord record;
  record.id = ++last_;
  record.key = key;
  record.uuid = random_uuid();
  record.agent = agent;
  record.cwd = cwd;
  record.created = record.updated = now;
  auto session = std::make_shared<Session>(std::move(record));
  session->stage = Session::Stage::coming;
  session->last_seq = 0;
  session->count = 0;
  coming_[session->record.key] = session;
  return session;
}

void Sessions::settle(const std::shared_ptr<Session>& session) {
  if (session->stage != Session::Stage::coming) return;
  session->stage = Session::Stage::kept;
  coming_.erase(session->record.key);
  std::list<Session*>& order = order_of(session->record.shelf);
  session->place = order.insert(order.begin(), session.get());
  by_id_.emplace(session->record.id, session.get());
  by_key_.emplace(session->record.key, session);
}

void Sessions::remove(Session& session) {
  order_of(session.record.shelf).erase(session.place);
  by_id_.erase(session.record.id);
  by_key_.erase(by_key_.find(session.record.key));
}

std::list<Session*>& Sessions::order_of(SessionRecord::Shelf shelf) {
  return shelf == SessionRecord::Shelf::current ? current_ : archived_;
}

void Sessions::touch(Session& session, Millis now) {
  session.record.updated = now;
  session.row.clear();
  if (session.stage == Session::Stage::coming) return;
  std::list<Session*>& order = order_of(session.record.shelf);
  order.splice(order.begin(), order, session.place);
}

void Sessions::shelve(Session& session, SessionRecord::Shelf shelf) {
  if (session.record.shelf == shelf) return;
  std::list<Session*>& from = order_of(session.record.shelf);
  std::list<Session*>& to = order_of(shelf);
  to.splice(to.begin(), from, session.place);
  session.record.shelf = shelf;
  session.row.clear();
}

std::vector<Session*> Sessions::page(const ListQuery& query, std::size_t& total) {
  std::vector<Session*> rows;
  const auto walk = [&](const auto& order) {
    for (Session* session : order) {
      if (query.activity == ListQuery::Activity::active && !session->is_busy()) continue;
      if (total++ >= query.offset && rows.size() < query.limit) rows.push_back(session);
      // The rest need not be looked at to be counted.
      if (query.activity == ListQuery::Activity::any && rows.size() == query.limit) break;
    }
  };
  using Which = ListQuery::Which;
  if (query.which == Which::all) {
    std::vector<Session*> merged;
    std::ranges::merge(
        current_, archived_, std::back_inserter(merged), std::ranges::greater{},
        [](const Session* s) { return s->record.updated; },
        [](const Session* s) { return s->record.updated; });
    walk(merged);
  } else {
    walk(query.which == Which::archived ? archived_ : current_);
  }
  if (query.activity == ListQuery::Activity::any) {
    total = query.which == Which::all        ? size()
            : query.which == Which::archived ? archived_.size()
                                             : current_.size();
  }
  return rows;
}

std::string Sessions::list(const ListQuery& query, Millis now) {
  std::size_t total = 0;
  std::vector<Session*> rows = page(query, total);
  std::size_t bytes = 0;
  const auto too_many = std::ranges::find_if(rows, [&](Session* session) {
    const bool is_first = bytes == 0;
    return (bytes += row(*session).size()) > query.bytes && !is_first;
  });
  rows.erase(too_many, rows.end());
  const std::size_t next = query.offset + rows.size();
  std::string out;
  out.reserve(512 + rows.size() * 700);
  ObjectText object(out);
  object.number("ts", now)
      .number("count", static_cast<std::int64_t>(rows.size()))
      .number("totalCount", static_cast<std::int64_t>(total))
      .number("limitApplied", static_cast<std::int64_t>(query.limit));
  if (next < total) {
    object.number("nextOffset", static_cast<std::int64_t>(next));
  } else {
    object.null("nextOffset");
  }
  object.boolean("hasMore", next < total).json("owners", "[]").json("defaults", defaults());
  std::string& list = object.value("sessions");
  list += '[';
  for (Session* session : rows) {
    if (list.back() != '[') list += ',';
    list += row(*session);
  }
  list += ']';
  object.close();
  return out;
}

const std::string& Sessions::row(Session& session) const {
  if (!session.row.empty()) return session.row;
  const SessionRecord& record = session.record;
  session.row.reserve(640);
  ObjectText object(session.row);
  object.text("key", record.key).text("sessionId", record.uuid).text("agentId", record.agent);
  text_or_null(object, "label", record.label);
  object.text("displayName", record.label.empty() ? record.key : record.label);
  object.text("kind", "direct");
  text_or_null(object, "status", status_of(session));
  object.boolean("hasActiveRun", session.active != nullptr);
  append_run_ids(object.value("activeRunIds"), session);
  object.number("updatedAt", record.updated)
      .number("createdAt", record.created)
      .boolean("archived", record.shelf == SessionRecord::Shelf::archived)
      .number("inputTokens", record.input_tokens)
      .number("outputTokens", record.output_tokens)
      .number("totalTokens", record.input_tokens + record.output_tokens)
      .text("modelProvider", model_.provider)
      .text("model", model_.model)
      .null("spawnedBy")
      .number("spawnDepth", 0)
      .json("childSessions", "[]");
  text_or_null(object, "cwd", record.cwd);
  object.close();
  return session.row;
}

std::string Sessions::entry(const Session& session) const {
  const SessionRecord& record = session.record;
  std::string out;
  ObjectText object(out);
  object.text("sessionId", record.uuid)
      .text("lifecycleRevision", std::to_string(record.revision))
      .number("createdAt", record.created)
      .number("updatedAt", record.updated);
  text_or_null(object, "label", record.label);
  text_or_null(object, "sessionRoot", record.cwd);
  object.text("createdVia", "operator")
      .number("spawnDepth", 0)
      .boolean("archived", record.shelf == SessionRecord::Shelf::archived)
      .number("inputTokens", record.input_tokens)
      .number("outputTokens", record.output_tokens)
      .number("totalTokens", record.input_tokens + record.output_tokens)
      .close();
  return out;
}

std::string Sessions::defaults() const {
  std::string out;
  ObjectText(out).text("modelProvider", model_.provider).text("model", model_.model).close();
  return out;
}

}  // namespace tare::gateway
