#include "lab/bench/gateway/turns.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/gateway/frame.hpp"

namespace tare::gateway_bench {
namespace {

using lab_gateway::Answer;
using lab_gateway::Event;
using lab_gateway::member;

/// How much longer than the gateway's own wait its answer may take (the seed's), or half of the time that is
/// left: a gateway that may not wait at all says at once that the turn is not over.
constexpr std::chrono::milliseconds wait_grace{5'000};
constexpr std::size_t most_failure_bytes = 500;

std::chrono::milliseconds until(Instant deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

std::string text_member(std::string_view object, std::string_view path) {
  return lab_gateway::text_of(member(object, path)).value_or("");
}

std::uint64_t number_member(std::string_view object, std::string_view name) {
  const std::string_view text = member(object, name);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The text of a chat message: of its content, which is a list of parts or a text itself.
std::string message_text(std::string_view message) {
  try {
    const json::Value content = json::parse(member(message, "content"), "content");
    if (content.is_string()) return std::string(content.get_string());
    std::string text;
    for (const json::Value& part : content.as_array()) {
      if (const json::Value* piece = part.as_object().if_contains("text"); piece && piece->is_string())
        text += std::string_view(piece->get_string());
    }
    return text;
  } catch (const std::exception&) {
    return {};
  }
}

/// How much of what was said to a turn is kept: what is longer than its reply is wrong, whatever it is.
std::size_t most_of(const Turn& turn) {
  return turn.line.reply.size() + 16;
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 120;
  const std::string line = text::one_line(text);
  return fmt::format("'{}'", line.size() > most ? fmt::format("{}…", text::cut(line, most)) : line);
}

}  // namespace

Turns::Turns(std::vector<lab_gateway::Client*> clients, const Options& options, const Script& script,
             Wakeup& wakeup, Plan plan)
    : clients_(std::move(clients)),
      options_(options),
      script_(script),
      wakeup_(wakeup),
      plan_(std::move(plan)),
      first_session_(plan_.sessions.empty() ? 0 : plan_.sessions.front()),
      sessions_(plan_.sessions.size()),
      gaps_(max_samples_per_run) {}

void Turns::begin() {
  for (std::size_t place = 0; place < sessions_.size() && !failure_; ++place) next(place);
}

void Turns::next(std::size_t place) {
  Session& session = sessions_[place];
  if (failure_ || session.begun == plan_.turns_per_session) return;
  auto turn = std::make_shared<Turn>();
  turn->session = plan_.sessions[place];
  turn->line = script_.line(turn->session, session.begun, plan_.phase);
  session.begun += 1;
  session.turns.push_back(turn);
  turns_.push_back(turn);
  const json::Value params{{"sessionKey", session_key(turn->session)},
                           {"message", turn->line.message},
                           {"deliver", false},
                           {"idempotencyKey", turn->line.marker}};
  turn->sent = std::chrono::steady_clock::now();
  client_of(place).ask(
      "agent", json::line(params), until(plan_.deadline),
      [this, place, turn](const Answer& answer) { take_response(place, turn, answer); },
      lab_gateway::Client::Answers::two);
}

void Turns::take_response(std::size_t place, const std::shared_ptr<Turn>& turn, const Answer& answer) {
  if (answer.outcome == load::Outcome::censored) return;
  if (!turn->accepted) return accept(place, turn, answer);
  const std::string status = text_member(answer.payload, "status");
  checks_.check(
      "second_response", answer.outcome == load::Outcome::ok && status == "ok", [] { return "status ok"; },
      [&] { return answer.outcome == load::Outcome::ok ? "status " + status : answer.error; });
  turn->settled = true;
  settled_ += 1;
  wakeup_.notify();
}

void Turns::accept(std::size_t place, const std::shared_ptr<Turn>& turn, const Answer& answer) {
  if (answer.outcome != load::Outcome::ok) return fail(*turn, answer.error);
  const std::string status = text_member(answer.payload, "status");
  if (status != "accepted") return fail(*turn, fmt::format("was not accepted: {}", shown(answer.payload)));
  turn->accepted = answer.at;
  turn->run_id = text_member(answer.payload, "runId");
  if (turn->run_id.empty()) turn->run_id = turn->line.marker;
  accepted_ += 1;
  if (sessions_[place].begun == 1) started_ += 1;
  wait(place, turn);
  wakeup_.notify();
}

void Turns::wait(std::size_t place, const std::shared_ptr<Turn>& turn) {
  const std::chrono::milliseconds left = until(plan_.deadline);
  const json::Value params{{"runId", turn->run_id},
                           {"timeoutMs", (left - std::min(wait_grace, left / 2)).count()}};
  client_of(place).ask("agent.wait", json::line(params), left,
                       [this, place, turn](const Answer& answer) { complete(place, turn, answer); });
}

void Turns::complete(std::size_t place, const std::shared_ptr<Turn>& turn, const Answer& answer) {
  if (answer.outcome == load::Outcome::censored) return;
  if (answer.outcome != load::Outcome::ok) return fail(*turn, answer.error);
  const std::string status = text_member(answer.payload, "status");
  if (status != "ok")
    return fail(*turn, fmt::format("did not complete: status {}, {}", status,
                                   shown(text_member(answer.payload, "error"))));
  turn->completed = answer.at;
  completed_ += 1;
  check_reply(*turn, answer.payload);
  next(place);
  wakeup_.notify();
}

void Turns::check_reply(const Turn& turn, std::string_view waited) {
  const std::string reply = text_member(waited, "terminalReply.text");
  if (plan_.exact) {
    checks_.check(
        "reply_exact", reply == turn.line.reply, [&] { return shown(turn.line.reply); },
        [&] { return shown(reply); });
  } else {
    checks_.check("reply_not_empty", !reply.empty(), "a text", "none");
  }
  if (plan_.phase == Phase::load && options_.tool_events) {
    const std::string_view tools = member(waited, "terminalReceipt.successfulToolNames");
    checks_.check("tool_ran", tools.find(fmt::format("\"{}\"", tool_name)) != std::string_view::npos,
                  tool_name, tools);
  }
}

void Turns::take_event(std::size_t client, const Event& event) {
  const bool is_chat = event.name == "chat";
  if (!is_chat && event.name != "agent") return;
  const std::string_view key = member(event.payload, "sessionKey");
  const auto session = key.size() > 2 ? session_of(key.substr(1, key.size() - 2)) : std::nullopt;
  if (!session || *session < first_session_ || *session - first_session_ >= sessions_.size()) return;
  const std::size_t place = *session - first_session_;
  if (place % clients_.size() != client) return;
  Turn* turn = turn_of(place, event.payload);
  if (turn == nullptr) return;
  is_chat ? take_chat(*turn, event) : take_agent(*turn, event);
}

/// The turn that an event is of. One that is of another run than this session has is an event that it must
/// not have.
Turn* Turns::turn_of(std::size_t place, std::string_view payload) {
  std::string_view run = member(payload, "runId");
  if (run.size() > 1) run = run.substr(1, run.size() - 2);
  const auto& known = sessions_[place].turns;
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const auto& turn) {
    // Events may overtake the response that says which run it is.
    return turn->run_id == run || (!turn->accepted && turn->line.marker == run);
  });
  if (found != known.rend()) return found->get();
  if (plan_.exclusive) {
    checks_.check(
        "own_events", false, [] { return "events of its own runs"; },
        [&] { return fmt::format("one of run {}", shown(run)); });
  }
  return nullptr;
}

void Turns::take_chat(Turn& turn, const Event& event) {
  const std::uint64_t seq = number_member(event.payload, "seq");
  // OpenClaw may give the last delta the number of the one before it.
  checks_.check(
      "events_in_order", seq >= turn.chat_seq && !turn.chat_ended,
      [&] { return fmt::format("chat seq {} or more", turn.chat_seq); },
      [&] { return fmt::format("{}{}", seq, turn.chat_ended ? " after the last" : ""); });
  turn.chat_seq = seq;
  checks_.check("own_events", true, "", "");
  const std::string_view state = member(event.payload, "state");
  if (state == "\"delta\"") {
    const std::string delta = text_member(event.payload, "deltaText");
    if (delta.empty()) return;
    turn.streamed += text::cut(delta, most_of(turn) - std::min(turn.streamed.size(), most_of(turn)));
    if (!turn.first_token) take_text(turn, event.at);
  } else {
    turn.chat_ended = true;
    turn.final_text = text::cut(message_text(member(event.payload, "message")), most_of(turn));
  }
}

void Turns::take_agent(Turn& turn, const Event& event) {
  const std::uint64_t seq = number_member(event.payload, "seq");
  checks_.check(
      "events_in_order", seq >= turn.agent_seq,
      [&] { return fmt::format("agent seq {} or more", turn.agent_seq); },
      [&] { return fmt::to_string(seq); });
  turn.agent_seq = seq;
  if (member(event.payload, "stream") != "\"assistant\"") return;
  const std::string_view delta = member(event.payload, "data.delta");
  if (delta.size() > 2) take_text(turn, event.at);
}

void Turns::take_text(Turn& turn, Instant at) {
  if (!turn.first_token) {
    turn.first_token = at;
  } else {
    gaps_.due();
    gaps_.add({*turn.last_token, *turn.last_token, at});
  }
  turn.last_token = at;
}

void Turns::fail(const Turn& turn, std::string_view what) {
  if (!failure_)
    failure_ = fmt::format("turn of session {}: {}", turn.session + 1,
                           text::one_line(text::cut(what, most_failure_bytes)));
  wakeup_.notify();
}

const Checks& Turns::conclude() {
  for (const auto& turn : turns_) {
    checks_.check(
        "no_turn_lost", turn->completed.has_value(), [] { return "completed"; },
        [&] { return turn->accepted ? "accepted, and nothing after it" : "no answer"; });
    if (!turn->completed) continue;
    checks_.check("settled", turn->settled, "a second response", "none");
    if (!plan_.exact) continue;
    checks_.check(
        "stream_exact", turn->streamed == turn->line.reply, [&] { return shown(turn->line.reply); },
        [&] { return shown(turn->streamed); });
    checks_.check(
        "final_exact", turn->chat_ended && turn->final_text == turn->line.reply,
        [&] { return shown(turn->line.reply); }, [&] { return shown(turn->final_text); });
  }
  return checks_;
}

}  // namespace tare::gateway_bench
