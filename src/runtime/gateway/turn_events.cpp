#include "runtime/gateway/turn_events.hpp"

#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/session.hpp"
#include "runtime/gateway/transcripts.hpp"

namespace tare::gateway {
namespace {

/// Appends an event up to the value of its payload, with room for what is typical.
std::shared_ptr<std::string> begin(std::string_view name, std::size_t room) {
  auto text = std::make_shared<std::string>();
  text->reserve(room);
  *text += R"({"type":"event","event":")";
  *text += name;
  *text += R"(","payload":)";
  return text;
}

template <class Data>
Event agent_event(Run& run, std::string_view stream, Millis now, std::size_t room, Data&& data) {
  auto text = begin("agent", 256 + room);
  ObjectText payload(*text);
  payload.text("runId", run.record.key)
      .text("sessionKey", run.session->record.key)
      .number("seq", ++run.agent_seq)
      .text("stream", stream)
      .text("agentId", run.session->record.agent)
      .number("ts", now);
  ObjectText object(payload.value("data"));
  data(object);
  object.close();
  payload.close();
  return text;
}

void append_assistant(std::string& out, std::string_view text, Millis now) {
  out += R"({"role":"assistant","content":[{"type":"text","text":)";
  append_string(out, text);
  out += R"(}],"timestamp":)";
  append_number(out, now);
  out += '}';
}

std::string_view task_status(const Run& run) {
  switch (run.phase) {
    case Run::Phase::accepting:
    case Run::Phase::queued:
      return "queued";
    case Run::Phase::running:
      return "running";
    case Run::Phase::ended:
      break;
  }
  switch (run.record.outcome) {
    case Outcome::ok:
      return "completed";
    case Outcome::aborted:
      return "cancelled";
    case Outcome::timed_out:
      return "timed_out";
    case Outcome::failed:
      return "failed";
    case Outcome::interrupted:
      return "lost";
  }
  return "failed";
}

std::string_view stop_reason(const Run& run) {
  return run.record.outcome == Outcome::ok ? "stop" : name_of(run.record.outcome);
}

void number_or_null(ObjectText& object, std::string_view key, const std::optional<Millis>& value) {
  if (value) {
    object.number(key, *value);
  } else {
    object.null(key);
  }
}

const std::string& key_of(const Run& run) {
  return run.session->record.key;
}

}  // namespace

Event sessions_changed(const Sessions& sessions, Session& session, std::string_view reason, Millis now,
                       const Run* run) {
  auto text = begin("sessions.changed", 1024);
  ObjectText payload(*text);
  payload.text("sessionKey", session.record.key)
      .text("agentId", session.record.agent)
      .text("reason", reason)
      .number("ts", now);
  if (run != nullptr) payload.text("runId", run->record.key);
  if (session.stage == Session::Stage::kept) payload.json("session", sessions.row(session));
  payload.close();
  return text;
}

Event session_message(const Session& session, const Message& message) {
  auto text = begin("session.message", 384 + message.text.size());
  ObjectText payload(*text);
  payload.text("sessionKey", session.record.key)
      .text("agentId", session.record.agent)
      .text("sessionId", session.record.uuid);
  append_message(payload.value("message"), session.record, message);
  payload.text("messageId", message_id(session.record, message.seq))
      .number("messageSeq", message.seq)
      .close();
  return text;
}

std::string task_row(const Run& run) {
  std::string out;
  out.reserve(512);
  const std::string& key = key_of(run);
  ObjectText row(out);
  row.text("id", run.record.key)
      .text("taskId", run.record.key)
      .text("kind", "cli")
      .text("runtime", "cli")
      .text("status", task_status(run))
      .text("title", run.title.empty() ? std::string_view("Agent run") : run.title)
      .text("agentId", run.session->record.agent)
      .text("sessionKey", key)
      .text("childSessionKey", key)
      .text("runId", run.record.key)
      .number("createdAt", run.record.accepted)
      .number("updatedAt", run.record.ended.value_or(run.record.started.value_or(run.record.accepted)));
  number_or_null(row, "startedAt", run.record.started);
  number_or_null(row, "endedAt", run.record.ended);
  if (run.phase == Run::Phase::ended) row.text("terminalSummary", task_status(run));
  if (!run.record.error.empty()) row.text("error", run.record.error);
  row.close();
  return out;
}

Event task_changed(const Run& run) {
  auto text = begin("task", 512);
  ObjectText(*text).text("action", "upserted").json("task", task_row(run)).close();
  return text;
}

Event lifecycle_start(Run& run, Millis now) {
  return agent_event(run, "lifecycle", now, 64, [&](ObjectText& data) {
    data.text("phase", "start").number("startedAt", run.record.started.value_or(now));
  });
}

Event lifecycle_end(Run& run, Millis now) {
  return agent_event(run, "lifecycle", now, 128, [&](ObjectText& data) {
    const Outcome outcome = run.record.outcome;
    data.text("phase", outcome == Outcome::ok || outcome == Outcome::aborted ? "end" : "error");
    number_or_null(data, "startedAt", run.record.started);
    number_or_null(data, "endedAt", run.record.ended);
    data.text("stopReason", stop_reason(run)).boolean("aborted", outcome == Outcome::aborted);
    if (!run.record.error.empty()) data.text("error", run.record.error);
  });
}

Event assistant_delta(Run& run, std::string_view delta, Millis now) {
  return agent_event(run, "assistant", now, run.text.size() + delta.size(), [&](ObjectText& data) {
    data.text("text", run.text).text("delta", delta).text("itemId", "msg_1");
  });
}

Event usage(Run& run, Millis now) {
  return agent_event(run, "usage", now, 96, [&](ObjectText& data) {
    data.number("inputTokens", run.record.input_tokens)
        .number("outputTokens", run.record.output_tokens)
        .number("totalTokens", run.record.input_tokens + run.record.output_tokens);
  });
}

Event chat_delta(Run& run, std::string_view delta, Millis now) {
  auto text = begin("chat", 320 + run.text.size() + delta.size());
  ObjectText payload(*text);
  payload.text("runId", run.record.key)
      .text("sessionKey", run.session->record.key)
      .text("agentId", run.session->record.agent)
      .number("seq", ++run.chat_seq)
      .text("state", "delta")
      .text("deltaText", delta);
  append_assistant(payload.value("message"), run.text, now);
  payload.close();
  return text;
}

Event chat_end(Run& run, Millis now) {
  auto text = begin("chat", 320 + run.text.size());
  ObjectText payload(*text);
  payload.text("runId", run.record.key)
      .text("sessionKey", run.session->record.key)
      .text("agentId", run.session->record.agent)
      .number("seq", ++run.chat_seq);
  switch (run.record.outcome) {
    case Outcome::ok:
      payload.text("state", "final").text("stopReason", "stop");
      break;
    case Outcome::aborted:
      payload.text("state", "aborted").text("stopReason", "aborted");
      break;
    default:
      payload.text("state", "error").text("errorMessage", run.record.error);
  }
  if (run.record.outcome == Outcome::ok || !run.text.empty())
    append_assistant(payload.value("message"), run.text, now);
  payload.close();
  return text;
}

std::string accepted(const Run& run, std::string_view status) {
  std::string out;
  ObjectText(out)
      .text("runId", run.record.key)
      .text("sessionKey", key_of(run))
      .text("agentId", run.session->record.agent)
      .text("status", status)
      .number("acceptedAt", run.record.accepted)
      .close();
  return out;
}

std::string final_result(const Run& run, std::string_view text) {
  std::string out;
  out.reserve(384 + text.size());
  ObjectText payload(out);
  payload.text("runId", run.record.key)
      .text("sessionKey", key_of(run))
      .text("status", "ok")
      .text("summary", run.record.outcome == Outcome::aborted ? "aborted" : "completed");
  std::string& result = payload.value("result");
  result += R"({"payloads":[{"text":)";
  append_string(result, text);
  result += R"(,"mediaUrl":null}],"meta":)";
  ObjectText meta(result);
  meta.number("durationMs", run.record.ended.value_or(0) - run.record.started.value_or(run.record.accepted))
      .text("stopReason", stop_reason(run))
      .boolean("aborted", run.record.outcome == Outcome::aborted);
  ObjectText(meta.value("usage"))
      .number("input", run.record.input_tokens)
      .number("output", run.record.output_tokens)
      .number("total", run.record.input_tokens + run.record.output_tokens)
      .close();
  meta.close();
  result += '}';
  payload.close();
  return out;
}

std::string wait_result(const Run& run, std::string_view text) {
  std::string out;
  out.reserve(320 + text.size());
  const bool is_ok = run.record.outcome == Outcome::ok;
  ObjectText payload(out);
  payload.text("runId", run.record.key).text("status", is_ok ? "ok" : "error");
  number_or_null(payload, "startedAt", run.record.started);
  number_or_null(payload, "endedAt", run.record.ended);
  payload.text("stopReason", stop_reason(run));
  if (!is_ok)
    payload.text("error", run.record.error.empty() ? name_of(run.record.outcome) : run.record.error);
  const std::string_view disposition = text.empty() ? "none" : "visible";
  ObjectText(payload.value("terminalReceipt"))
      .text("runId", run.record.key)
      .text("sessionId", run.session->record.uuid)
      .text("turnId", run.record.key)
      .json("successfulToolNames", "[]")
      .text("terminalDisposition", disposition)
      .close();
  ObjectText(payload.value("terminalReply")).text("disposition", disposition).text("text", text).close();
  payload.close();
  return out;
}

std::string wait_timeout(std::string_view run_key) {
  std::string out;
  ObjectText(out).text("runId", run_key).text("status", "timeout").close();
  return out;
}

}  // namespace tare::gateway
