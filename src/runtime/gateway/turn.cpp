// The course of one turn: the second half of Runner.
#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/gateway/runner.hpp"
#include "runtime/gateway/turn_events.hpp"

namespace tare::gateway {
namespace {

constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

std::string sentence_of(const Error& error) {
  return error.why().empty() ? std::string(error.what()) : fmt::format("{} ({})", error.what(), error.why());
}

/// So that the sums of a session stay numbers, whatever a server claims.
std::int64_t tokens(const std::optional<std::uint64_t>& claimed) {
  constexpr std::uint64_t most = 1'000'000'000;
  return static_cast<std::int64_t>(std::min(claimed.value_or(0), most));
}

}  // namespace

boost::asio::awaitable<std::exception_ptr> Runner::written(std::vector<Change> changes) {
  auto start = [this](auto handler, std::vector<Change> what) {
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    parts_.store.write(std::move(what),
                       [shared](const std::exception_ptr& failure) { std::move (*shared)(failure); });
  };
  auto result = co_await boost::asio::async_initiate<decltype(as_result), void(std::exception_ptr)>(
      start, as_result, std::move(changes));
  co_return std::get<0>(result);
}

boost::asio::awaitable<void> Runner::turn(RunPtr run) {
  const bool is_taken = co_await take_message(run);
  if (is_taken) {
    tell_start(run);
    if (run->stop == Run::Stop::no) {
      auto result = co_await boost::asio::co_spawn(
          parts_.io, ask(run), boost::asio::bind_cancellation_slot(run->cancel.slot(), as_result));
      judge(*run, std::get<0>(result));
    } else {
      judge(*run, nullptr);
    }
  }
  co_await end(run);
}

boost::asio::awaitable<void> Runner::drop(RunPtr run) {
  co_await take_message(run);
  judge(*run, nullptr);
  co_await end(run);
}

/// Makes the user's text a message of the session. False when it could not be stored, which ends the run.
boost::asio::awaitable<bool> Runner::take_message(RunPtr run) {
  if (run->user.seq != 0) co_return true;
  Session& session = *run->session;
  std::exception_ptr failure;
  try {
    run->user.seq = parts_.transcripts.take_seq(session);
    run->user.at = now();
    std::vector<Change> changes;
    changes.emplace_back(AddMessage{session.record.id, run->user, run->user.at});
    changes.emplace_back(StartRun{run->record.id, run->record.started.value_or(run->user.at)});
    failure = co_await written(std::move(changes));
  } catch (const Error&) {
    failure = std::current_exception();
  }
  if (!failure) {
    parts_.transcripts.add(session, run->user);
    co_return true;
  }
  const Fault fault = storage_fault(failure);
  fail(*run, fault, fault.message);
  co_return false;
}

void Runner::tell_start(const RunPtr& run) {
  Session& session = *run->session;
  parts_.hub.to_operators(task_changed(*run));
  parts_.hub.to_session_watchers(
      sessions_changed(parts_.sessions, session, "agent.run.started", now(), run.get()));
  parts_.hub.to_operators(lifecycle_start(*run, now()));
  parts_.hub.to_message_watchers(session.record.key, session_message(session, run->user));
  let_go(*run);
}

provider::ModelRequest Runner::request_of(Session& session) {
  provider::ModelRequest request;
  request.model = options_.model;
  request.system = options_.system;
  for (const Message* message : parts_.transcripts.latest(session, options_.context)) {
    if (message->role == Role::assistant) {
      request.items.emplace_back(provider::AssistantMessage{message->text, {}});
    } else {
      request.items.emplace_back(provider::UserMessage{message->text});
    }
  }
  return request;
}

boost::asio::awaitable<void> Runner::ask(RunPtr run) {
  const provider::ModelRequest request = request_of(*run->session);
  const std::unique_ptr<provider::ReplyStream> stream = co_await parts_.provider.open(request);
  for (;;) {
    const provider::Events events = co_await stream->next();
    if (events.empty()) break;
    take(*run, events);
    if (run->text.size() > options_.reply_bytes)
      throw provider::Failure(
          provider::FailureKind::too_large,
          fmt::format("the text of the reply is larger than {}", text::bytes(options_.reply_bytes)));
  }
}

/// What one read from the provider brought is one delta, however many pieces it came in.
void Runner::take(Run& run, const provider::Events& events) {
  for (const provider::Event& event : events) {
    if (const auto* delta = std::get_if<provider::TextDelta>(&event)) {
      run.text += delta->text;
    } else if (const auto* spent = std::get_if<provider::Usage>(&event)) {
      run.record.input_tokens = tokens(spent->input_tokens);
      run.record.output_tokens = tokens(spent->output_tokens);
    }
  }
  // Every delta carries the whole text so far, which would make a long reply cost the square of its length:
  // so deltas of a long one are gathered until they are a part worth telling, or some time has passed. A very
  // long one that comes at once would be more than its readers can take, and drop them.
  constexpr std::size_t short_text = 4096;
  constexpr std::size_t long_text = 64 * 1024;
  const std::size_t least_part = run.text.size() <= long_text ? 32 : 2;
  constexpr std::chrono::milliseconds least_pause{150};
  const std::size_t fresh = run.text.size() - run.told;
  if (fresh == 0) return;
  if (run.text.size() <= short_text || fresh >= run.text.size() / least_part ||
      parts_.clock.now() - run.told_at >= least_pause)
    tell_delta(run);
}

void Runner::tell_delta(Run& run) {
  const Millis at = now();
  const std::string_view delta = std::string_view(run.text).substr(run.told);
  if (delta.empty()) return;
  ++facts_.deltas;
  parts_.hub.to_operators(assistant_delta(run, delta, at));
  parts_.hub.to_operators(chat_delta(run, delta, at));
  run.told = run.text.size();
  run.told_at = parts_.clock.now();
}

void Runner::fail(Run& run, Fault fault, const std::string& error) {
  run.record.outcome = Outcome::failed;
  run.record.error = text::escape_bad_utf8(error);  // it may quote a foreign server
  run.fault = std::move(fault);
  run.fault.message = text::escape_bad_utf8(run.fault.message);
}

/// What the reply has come to. What the caller stopped ends as it was stopped, whatever it failed with.
void Runner::judge(Run& run, const std::exception_ptr& failure) {
  if (run.stop == Run::Stop::aborted) {
    run.record.outcome = Outcome::aborted;
    return;
  }
  if (run.stop == Run::Stop::interrupted) {
    fail(run,
         Fault{Code::unavailable, "the gateway ended before this run did", R"({"reason":"interrupted"})",
               Retry::later},
         "the gateway ended before this run did");
    run.record.outcome = Outcome::interrupted;
    return;
  }
  if (run.stop == Run::Stop::timed_out) {
    const std::string error = fmt::format("the turn took longer than {} ms", options_.turn_time.count());
    fail(run, Fault{Code::agent_timeout, error, {}, Retry::later}, error);
    run.record.outcome = Outcome::timed_out;
    return;
  }
  if (!failure) {
    if (run.text.empty())
      fail(run,
           Fault{Code::unavailable, "the model answered nothing", R"({"reason":"provider"})", Retry::later},
           "the model answered nothing");
    return;
  }
  try {
    std::rethrow_exception(failure);
  } catch (const provider::Failure& error) {
    const bool is_late = error.kind() == provider::FailureKind::timeout;
    const Retry retry = error.retryable() ? Retry::later : Retry::never;
    fail(run,
         Fault{is_late ? Code::agent_timeout : Code::unavailable, sentence_of(error),
               R"({"reason":"provider"})", retry, error.retry_after()},
         sentence_of(error));
  } catch (const Error& error) {
    fail(run, Fault{Code::unavailable, sentence_of(error), {}, Retry::never}, sentence_of(error));
  } catch (const std::exception& error) {
    fail(run, Fault{Code::unavailable, error.what(), {}, Retry::never}, error.what());
  }
}

/// Stores what there is of a reply, and then tells everybody.
boost::asio::awaitable<void> Runner::end(RunPtr run) {
  if (run->limit) run->limit->cancel();
  run->limit.reset();
  Session& session = *run->session;
  tell_delta(*run);
  if (run->record.input_tokens + run->record.output_tokens > 0) parts_.hub.to_operators(usage(*run, now()));
  run->record.ended = end_of(*run);
  Message reply{0, Role::assistant, *run->record.ended, run->text, run->record.outcome};
  std::vector<Change> changes;
  std::exception_ptr failure;
  try {
    if (!run->text.empty()) {
      reply.seq = run->record.reply = parts_.transcripts.take_seq(session);
      changes.emplace_back(AddMessage{session.record.id, reply, reply.at});
    }
    changes.emplace_back(EndRun{run->record});
    failure = co_await written(std::move(changes));
  } catch (const Error&) {
    failure = std::current_exception();
  }
  if (failure) {
    // It is not on disk: nobody may take it for said.
    const Fault fault = storage_fault(failure);
    fail(*run, fault, fault.message);
    reply.seq = run->record.reply = 0;
  }
  tell_end(run, reply.seq == 0 ? nullptr : &reply);
}

void Runner::tell_end(const RunPtr& run, const Message* reply) {
  Session& session = *run->session;
  run->phase = Run::Phase::ended;
  if (reply != nullptr) {
    parts_.transcripts.add(session, *reply);
    parts_.hub.to_message_watchers(session.record.key, session_message(session, *reply));
  }
  parts_.hub.to_operators(lifecycle_end(*run, now()));
  parts_.hub.to_operators(chat_end(*run, now()));
  for (const auto& wait : std::exchange(run->waits, {})) {
    wait->timer.cancel();
    if (const auto who = wait->call.client()) who->waits.erase(wait.get());
    wait->call.ok(wait_result(*run, run->text));
  }
  parts_.hub.to_operators(task_changed(*run));
  for (const Call& call : std::exchange(run->finals, {})) {
    if (run->record.outcome == Outcome::ok || run->record.outcome == Outcome::aborted) {
      call.ok(final_result(*run, run->text));
    } else {
      call.refuse(run->fault);
    }
  }
  session.last_outcome = run->record.outcome;
  session.record.input_tokens += run->record.input_tokens;
  session.record.output_tokens += run->record.output_tokens;
  const bool was_active = session.active == run;
  if (was_active) session.active.reset();
  parts_.sessions.touch(session, *run->record.ended);
  parts_.hub.to_session_watchers(
      sessions_changed(parts_.sessions, session, "agent.input.settled", now(), run.get()));
  retire(run);
  if (was_active) --running_;
  if (!session.waiting.empty() && !session.active && session.waiting.front()->phase == Run::Phase::queued &&
      !std::exchange(session.waits_for_a_place, true)) {
    line_.push_back(run->session);  // behind those that have waited longer
  }
  pump_line();
  if (running_ == 0 && drained_) std::exchange(drained_, nullptr)();
}

void Runner::retire(const RunPtr& run) {
  switch (run->record.outcome) {
    case Outcome::ok:
      ++facts_.ok;
      break;
    case Outcome::aborted:
      ++facts_.aborted;
      break;
    default:
      ++facts_.failed;
  }
  on_end(*run);
  let_go(*run);
  run->user = Message{};
  ended_.push_back(run);
  if (ended_.size() > options_.kept_texts) {
    std::string& text = ended_[ended_.size() - options_.kept_texts - 1]->text;
    std::string().swap(text);
  }
  while (ended_.size() > options_.kept_runs) {
    const auto oldest = runs_.find(ended_.front()->record.key);
    if (oldest != runs_.end() && oldest->second == ended_.front()) runs_.erase(oldest);
    ended_.pop_front();
  }
}

}  // namespace tare::gateway
