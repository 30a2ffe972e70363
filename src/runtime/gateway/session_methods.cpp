// What Methods does with sessions and their messages.
#include <algorithm>
#include <limits>

#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/methods.hpp"
#include "runtime/gateway/schema.hpp"
#include "runtime/gateway/turn_events.hpp"

namespace tare::gateway {

void Methods::subscribe_sessions(const Call& call, const Params&) {
  parts_.hub.watch_sessions(*call.client());
  call.ok(R"({"subscribed":true})");
}

void Methods::unsubscribe_sessions(const Call& call, const Params&) {
  parts_.hub.unwatch_sessions(*call.client());
  call.ok(R"({"subscribed":false})");
}

void Methods::subscribe_messages(const Call& call, const Params& params) {
  const std::string key(key_of(params, "key"));
  if (call.client()->watched() >= limits_.subscriptions) {
    throw Refusal(Fault{Code::unavailable, "too many subscriptions on this connection",
                        R"({"reason":"subscription-limit"})"});
  }
  parts_.hub.watch_messages(*call.client(), key);
  std::string out;
  ObjectText(out).boolean("subscribed", true).text("key", key).close();
  call.ok(out);
}

void Methods::unsubscribe_messages(const Call& call, const Params& params) {
  const std::string key(key_of(params, "key"));
  parts_.hub.unwatch_messages(*call.client(), key);
  std::string out;
  ObjectText(out).boolean("subscribed", false).text("key", key).close();
  call.ok(out);
}

/// Nothing here is done for those who look alone.
void Methods::observer_visibility(const Call& call, const Params&) {
  call.ok(R"({"ok":true})");
}

void Methods::changed(Session& session, std::string_view reason) {
  parts_.hub.to_session_watchers(sessions_changed(parts_.sessions, session, reason, now(), nullptr));
}

std::string Methods::created(const Session& session) const {
  std::string out;
  ObjectText(out)
      .boolean("ok", true)
      .text("key", session.record.key)
      .text("sessionId", session.record.uuid)
      .json("entry", parts_.sessions.entry(session))
      .boolean("runStarted", false)
      .json("resolved", parts_.sessions.defaults())
      .close();
  return out;
}

void Methods::create_session(const Call& call, const Params& params) {
  const std::string_view key = key_of(params, "key");
  if (const auto session = parts_.sessions.find(key)) {
    call.ok(created(*session));
    return;
  }
  auto session = parts_.sessions.find_or_coming(key);
  if (!session) {
    parts_.sessions.check_not_going(key);
    if (parts_.sessions.size() >= limits_.max_sessions)
      throw Refusal(Fault{Code::unavailable, "too many sessions", R"({"reason":"session-limit"})"});
    const auto agent = short_text_of(params, "agentId", limits_.key_bytes);
    const auto cwd = short_text_of(params, "cwd", limits_.path_bytes);
    const auto label = short_text_of(params, "label", limits_.key_bytes);
    session = parts_.sessions.make(key, agent.value_or(agent_of(key)), cwd.value_or(""), now());
    session->record.label = label.value_or("");
  }
  std::vector<Change> changes{AddSession{session->record}};
  write(call, std::move(changes), [this, call, session] {
    const bool is_new = session->stage == Session::Stage::coming;
    parts_.sessions.settle(session);
    call.ok(created(*session));
    if (is_new) changed(*session, "create");
  });
}

void Methods::list_sessions(const Call& call, const Params& params) {
  ListQuery query;
  query.limit = std::clamp<std::size_t>(static_cast<std::size_t>(whole_of(params, "limit").value_or(100)), 1,
                                        limits_.list_rows);
  query.bytes = limits_.list_bytes;
  query.offset = static_cast<std::size_t>(whole_of(params, "offset").value_or(0));
  if (const auto archived = boolean_of(params, "archived")) {
    query.which = *archived ? ListQuery::Which::archived : ListQuery::Which::current;
  } else if (const auto which = text_of(params, "archived")) {
    if (*which != "all") throw Refusal(Code::invalid_request, "at /archived: must be true, false or 'all'");
    query.which = ListQuery::Which::all;
  }
  if (boolean_of(params, "activeOnly").value_or(false)) query.activity = ListQuery::Activity::active;
  call.ok(parts_.sessions.list(query, now()));
}

void Methods::patch_session(const Call& call, const Params& params) {
  const auto session = existing(key_of(params, "key"));
  PatchSession patch;
  patch.id = session->record.id;
  patch.updated = now();
  if (params.get_object().contains("label"))
    patch.label = short_text_of(params, "label", limits_.key_bytes).value_or("");
  if (const auto archived = boolean_of(params, "archived"))
    patch.shelf = *archived ? SessionRecord::Shelf::archived : SessionRecord::Shelf::current;
  std::vector<Change> changes{patch};
  write(call, std::move(changes), [this, call, session, patch] {
    if (session->stage == Session::Stage::going) {
      call.refuse(Refusal(Code::invalid_request, "session not found: " + session->record.key).fault());
      return;
    }
    if (patch.label) session->record.label = *patch.label;
    if (patch.shelf) parts_.sessions.shelve(*session, *patch.shelf);
    ++session->record.revision;
    parts_.sessions.touch(*session, patch.updated);
    std::string out;
    ObjectText(out)
        .boolean("ok", true)
        .text("path", parts_.state_path)
        .text("key", session->record.key)
        .json("entry", parts_.sessions.entry(*session))
        .json("resolved", parts_.sessions.defaults())
        .close();
    call.ok(out);
    changed(*session, "patch");
  });
}

void Methods::describe_session(const Call& call, const Params& params) {
  const auto session = existing(key_of(params, "key"));
  std::string out;
  ObjectText(out)
      .boolean("ok", true)
      .text("key", session->record.key)
      .json("entry", parts_.sessions.entry(*session))
      .json("session", parts_.sessions.row(*session))
      .close();
  call.ok(out);
}

void Methods::delete_session(const Call& call, const Params& params) {
  const auto session = existing(key_of(params, "key"));
  if (session->is_busy()) {
    throw Refusal(Fault{Code::unavailable, "the session has a run that has not ended: abort it first",
                        R"({"reason":"session-busy"})", Retry::later});
  }
  check_room();
  session->stage = Session::Stage::going;
  std::vector<Change> changes{RemoveSession{session->record.id}};
  parts_.store.write(std::move(changes), [this, call, session](const std::exception_ptr& failure) {
    if (failure) {
      session->stage = Session::Stage::kept;
      call.refuse(storage_fault(failure));
      return;
    }
    parts_.transcripts.forget(*session);
    parts_.sessions.remove(*session);
    std::string out;
    ObjectText(out)
        .boolean("ok", true)
        .text("key", session->record.key)
        .boolean("deleted", true)
        .json("archived", "[]")
        .close();
    call.ok(out);
    changed(*session, "delete");
  });
}

void Methods::inject(const Call& call, const Params& params) {
  const auto session = existing(key_of(params, "sessionKey"));
  check_room();
  const std::string_view text = *text_of(params, "message");
  if (injected_ + text.size() > limits_.injected_bytes) {
    throw Refusal(Fault{Code::unavailable, "the disk does not keep up", R"({"reason":"storage"})",
                        Retry::later, std::chrono::milliseconds(500)});
  }
  const Millis at = now();
  const Message message{parts_.transcripts.take_seq(*session), Role::assistant, at, std::string(text),
                        Outcome::ok};
  std::vector<Change> changes{AddMessage{session->record.id, message, at}};
  injected_ += message.text.size();
  parts_.store.write(std::move(changes), [this, call, session, message](const std::exception_ptr& failure) {
    injected_ -= message.text.size();
    if (failure) {
      call.refuse(storage_fault(failure));
      return;
    }
    parts_.transcripts.add(*session, message);
    if (session->stage == Session::Stage::kept) parts_.sessions.touch(*session, message.at);
    std::string out;
    ObjectText(out).boolean("ok", true).text("messageId", message_id(session->record, message.seq)).close();
    call.ok(out);
    parts_.hub.to_message_watchers(session->record.key, session_message(*session, message));
  });
}

void Methods::history(const Call& call, const Params& params) {
  const std::string_view key = key_of(params, "sessionKey");
  const auto session = parts_.sessions.find(key);
  const std::size_t limit = std::clamp<std::size_t>(
      static_cast<std::size_t>(whole_of(params, "limit").value_or(200)), 1, limits_.history_messages);
  const auto before = static_cast<std::uint32_t>(
      std::min<std::int64_t>(whole_of(params, "before").value_or(std::numeric_limits<std::uint32_t>::max()),
                             std::numeric_limits<std::uint32_t>::max()));
  std::vector<Message> messages;
  std::size_t total = 0;
  if (session) {
    // Before the page, so that what is in memory is known to be all of it.
    total = parts_.transcripts.count(*session);
    messages = parts_.transcripts.page(*session, before, {limit + 1, limits_.history_bytes});
  }
  // One more than asked for was looked for: it says whether there is more.
  bool has_more = messages.size() > limit;
  if (has_more) messages.erase(messages.begin());
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.text.size();
  has_more = has_more || bytes > limits_.history_bytes;
  std::string out;
  out.reserve(512 + bytes + messages.size() * 256);
  ObjectText object(out);
  object.text("sessionKey", key);
  if (session) {
    object.text("sessionId", session->record.uuid);
  } else {
    object.null("sessionId");
  }
  std::string& list = object.value("messages");
  list += '[';
  for (const Message& message : messages) {
    if (list.back() != '[') list += ',';
    append_message(list, session->record, message);
  }
  list += ']';
  object.json("pendingInputs", session ? parts_.runner.pending_inputs(*session) : R"({"items":[],"total":0})")
      .null("deltaCursor")
      .boolean("hasMore", has_more)
      .number("totalMessages", static_cast<std::int64_t>(total))
      .json("defaults", parts_.sessions.defaults());
  if (session) {
    object.json("sessionInfo", parts_.sessions.row(*session));
  } else {
    object.null("sessionInfo");
  }
  object.close();
  call.ok(out);
}

}  // namespace tare::gateway
