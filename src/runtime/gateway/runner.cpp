#include "runtime/gateway/runner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/turn_events.hpp"

namespace tare::gateway {
namespace {

namespace asio = boost::asio;

std::string sentence(const Error& error) {
  return error.why().empty() ? std::string(error.what()) : fmt::format("{} ({})", error.what(), error.why());
}

Fault shutting_down() {
  return {Code::unavailable, "gateway is shutting down", R"({"reason":"shutting-down"})", Retry::later,
          std::chrono::milliseconds(1000)};
}

}  // namespace

Fault storage_fault(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return {Code::unavailable, "cannot store: " + sentence(error), R"({"reason":"storage"})", Retry::later};
  } catch (const std::exception& error) {
    return {Code::unavailable, std::string("cannot store: ") + error.what(), R"({"reason":"storage"})",
            Retry::later};
  }
}

Runner::Runner(Parts parts, RunnerOptions options) : parts_(parts), options_(std::move(options)) {}

Runner::~Runner() {
  // A session and its runs hold each other until the runs have ended.
  for (const auto& [key, run] : runs_) {
    run->session->waiting.clear();
    run->session->active.reset();
  }
}

Millis Runner::now() const {
  return parts_.clock.wall().time_since_epoch().count();
}

Millis Runner::end_of(const Run& run) const {
  if (!run.record.started) return std::max(now(), run.record.accepted);
  const Nanoseconds time = run.began == Instant{} ? Nanoseconds{} : parts_.clock.now() - run.began;
  return *run.record.started + std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::vector<Change> Runner::restore(std::vector<RunRecord> runs, RunId last) {
  std::vector<Change> changes;
  last_ = last;
  for (RunRecord& record : runs) {
    const std::shared_ptr<Session> session = parts_.sessions.find(record.session);
    if (!record.ended) {
      if (session && !record.waiting.empty()) {
        const Message user{parts_.transcripts.take_seq(*session), Role::user, record.accepted,
                           std::exchange(record.waiting, {}), Outcome::ok};
        changes.emplace_back(AddMessage{record.session, user, now()});
      }
      record.ended = std::max(now(), record.started.value_or(record.accepted));
      record.outcome = Outcome::interrupted;
      record.error = "the gateway ended before this run did";
      changes.emplace_back(EndRun{record});
    }
    if (!session) continue;
    auto run = std::make_shared<Run>();
    run->record = std::move(record);
    run->session = session;
    run->phase = Run::Phase::ended;
    session->last_outcome = run->record.outcome;
    if (run->record.outcome != Outcome::ok)
      run->fault = Fault{Code::unavailable, run->record.error, R"({"reason":"interrupted"})", Retry::later};
    runs_.insert_or_assign(run->record.key, run);
    ended_.push_back(std::move(run));
  }
  return changes;
}

Runner::RunPtr Runner::find(const std::string& key) const {
  const auto found = runs_.find(key);
  return found == runs_.end() ? nullptr : found->second;
}

void Runner::repeat(const Call& call, const RunPtr& run) {
  switch (run->phase) {
    case Run::Phase::accepting:
      run->joining.push_back(call);
      return;
    case Run::Phase::queued:
    case Run::Phase::running:
      call.ok(accepted(*run, "in_flight"));
      return;
    case Run::Phase::ended:
      if (run->record.outcome == Outcome::ok || run->record.outcome == Outcome::aborted) {
        call.ok(final_result(*run, text_of(*run)));
      } else {
        call.refuse(run->fault);
      }
  }
}

std::shared_ptr<Session> Runner::session_for(const RunRequest& request) {
  auto session = parts_.sessions.find_or_coming(request.session_key);
  if (session) return session;
  parts_.sessions.check_not_going(request.session_key);
  if (parts_.sessions.size() >= options_.max_sessions) {
    throw Refusal(Fault{Code::unavailable, fmt::format("too many sessions ({})", options_.max_sessions),
                        R"({"reason":"session-limit"})"});
  }
  return parts_.sessions.make(request.session_key, request.agent, "", now());
}

void Runner::start(const Call& call, RunRequest request) {
  if (const RunPtr known = find(request.key)) {
    repeat(call, known);
    return;
  }
  if (is_draining_) throw Refusal(shutting_down());
  auto run = std::make_shared<Run>();
  run->session = session_for(request);
  Session& session = *run->session;
  if (session.waiting.size() >= options_.queue) {
    throw Refusal(Fault{Code::unavailable,
                        fmt::format("session has {} runs waiting already", session.waiting.size()),
                        R"({"reason":"session-queue"})", Retry::later});
  }
  if (held_ + request.message.size() > options_.held_bytes) {
    throw Refusal(Fault{Code::unavailable, "too much waits for its turn already",
                        R"({"reason":"session-queue"})", Retry::later});
  }
  run->record.id = ++last_;
  run->record.key = std::move(request.key);
  run->record.session = session.record.id;
  run->record.accepted = now();
  run->title = beginning_of(request.message, 80);
  held_ += run->held = request.message.size();
  run->user = Message{0, Role::user, run->record.accepted, std::move(request.message), Outcome::ok};
  std::vector<Change> changes;
  if (session.stage == Session::Stage::coming) changes.emplace_back(AddSession{session.record});
  if (session.is_busy()) {
    // It may be long until it is a message; meanwhile the run keeps its text.
    run->record.waiting = run->user.text;
  } else {
    run->user.seq = parts_.transcripts.take_seq(session);
    changes.emplace_back(AddMessage{session.record.id, run->user, run->record.accepted});
  }
  changes.emplace_back(AddRun{run->record});
  run->record.waiting.clear();
  run->finals.push_back(call);
  session.waiting.push_back(run);
  runs_.emplace(run->record.key, run);
  parts_.store.write(std::move(changes), [this, run](const std::exception_ptr& failure) {
    if (failure) {
      refuse(run, failure);
    } else {
      accept(run);
    }
  });
}

void Runner::refuse(const RunPtr& run, const std::exception_ptr& failure) {
  const Fault fault = storage_fault(failure);
  runs_.erase(run->record.key);
  std::erase(run->session->waiting, run);
  let_go(*run);
  for (const Call& call : run->finals) call.refuse(fault);
  for (const Call& call : run->joining) call.refuse(fault);
  pump(*run->session);
}

void Runner::accept(const RunPtr& run) {
  ++facts_.accepted;
  Session& session = *run->session;
  parts_.sessions.settle(run->session);
  run->phase = Run::Phase::queued;
  if (run->user.seq != 0) parts_.transcripts.add(session, run->user);
  parts_.sessions.touch(session, run->record.accepted);
  for (const Call& call : run->finals) call.ok(accepted(*run, "accepted"));
  for (const Call& call : std::exchange(run->joining, {})) call.ok(accepted(*run, "in_flight"));
  const auto [from, to] = early_waits_.equal_range(run->record.key);
  for (auto wait = from; wait != to; ++wait) run->waits.push_back(std::move(wait->second));
  early_waits_.erase(from, to);
  parts_.hub.to_session_watchers(sessions_changed(parts_.sessions, session, "send", now(), run.get()));
  if (run->stop != Run::Stop::no) {
    std::erase(session.waiting, run);
    asio::co_spawn(parts_.io, drop(run), asio::detached);
    return;
  }
  pump(session);
  if (run->phase == Run::Phase::queued) parts_.hub.to_operators(task_changed(*run));
}

void Runner::pump(Session& session) {
  if (session.active || session.waiting.empty() || is_draining_) return;
  const RunPtr next = session.waiting.front();
  if (next->phase != Run::Phase::queued) return;  // it is not on disk yet
  if (running_ >= options_.max_concurrent) {
    if (!std::exchange(session.waits_for_a_place, true)) line_.push_back(next->session);
    return;
  }
  session.waiting.pop_front();
  begin(next);
}

void Runner::pump_line() {
  while (!line_.empty() && running_ < options_.max_concurrent) {
    const std::shared_ptr<Session> session = std::move(line_.front());
    line_.pop_front();
    session->waits_for_a_place = false;
    pump(*session);
  }
}

void Runner::begin(const RunPtr& run) {
  ++running_;
  run->phase = Run::Phase::running;
  run->record.started = std::max(now(), run->record.accepted);
  run->began = parts_.clock.now();
  run->session->active = run;
  parts_.sessions.changed(*run->session);
  set_limit(run);
  asio::co_spawn(parts_.io, turn(run), asio::detached);
}

void Runner::set_limit(const RunPtr& run) {
  run->limit = std::make_unique<asio::steady_timer>(parts_.io, options_.turn_time);
  run->limit->async_wait([this, weak = std::weak_ptr(run)](const boost::system::error_code& error) {
    const RunPtr late = weak.lock();
    if (!error && late) stop(late, Run::Stop::timed_out);
  });
}

void Runner::stop(const RunPtr& run, Run::Stop why) {
  if (run->phase == Run::Phase::ended || run->stop != Run::Stop::no) return;
  run->stop = why;
  if (run->phase == Run::Phase::running) {
    run->cancel.emit(asio::cancellation_type::terminal);
  } else if (run->phase == Run::Phase::queued) {
    std::erase(run->session->waiting, run);
    asio::co_spawn(parts_.io, drop(run), asio::detached);
  }
}

bool Runner::abort_run(const std::string& key) {
  const RunPtr run = find(key);
  if (!run || run->phase == Run::Phase::ended || run->stop != Run::Stop::no) return false;
  stop(run, Run::Stop::aborted);
  return true;
}

std::vector<std::string> Runner::abort_session(Session& session) {
  std::vector<RunPtr> runs(session.waiting.begin(), session.waiting.end());
  if (session.active) runs.push_back(session.active);
  std::vector<std::string> keys;
  for (const RunPtr& run : runs) {
    if (abort_run(run->record.key)) keys.push_back(run->record.key);
  }
  return keys;
}

void Runner::wait(const Call& call, const std::string& key, std::chrono::milliseconds timeout) {
  const RunPtr run = find(key);
  if (run && run->phase == Run::Phase::ended) {
    call.ok(wait_result(*run, text_of(*run)));
    return;
  }
  const auto client = call.client();
  if (timeout.count() == 0 || !client) {
    call.ok(wait_timeout(key));
    return;
  }
  if (client->waits.size() >= options_.waits)
    throw Refusal(Fault{Code::unavailable, "too many waits on this connection", R"({"reason":"wait-limit"})",
                        Retry::later});
  auto wait = std::make_shared<Wait>(call, key, asio::steady_timer(parts_.io, timeout));
  client->waits.emplace(wait.get(), wait);
  wait->timer.async_wait([this, weak = std::weak_ptr(wait)](const boost::system::error_code& error) {
    const auto late = weak.lock();
    if (error || !late) return;
    if (const auto who = late->call.client()) who->waits.erase(late.get());
    late->call.ok(wait_timeout(late->key));
    forget(late);
  });
  if (run) {
    run->waits.push_back(std::move(wait));
  } else {
    early_waits_.emplace(key, std::move(wait));
  }
}

void Runner::forget(const std::shared_ptr<Wait>& wait) {
  if (const RunPtr awaited = find(wait->key)) std::erase(awaited->waits, wait);
  const auto [from, to] = early_waits_.equal_range(wait->key);
  const auto same = std::find_if(from, to, [&](const auto& entry) { return entry.second == wait; });
  if (same != to) early_waits_.erase(same);
}

void Runner::leave(Client& client) {
  for (const auto& [address, weak] : std::exchange(client.waits, {})) {
    const auto wait = weak.lock();
    if (!wait) continue;
    wait->timer.cancel();
    forget(wait);
  }
}

void Runner::let_go(Run& run) {
  held_ -= std::exchange(run.held, 0);
  std::string().swap(run.user.text);
}

std::string Runner::text_of(const Run& run) {
  if (!run.text.empty() || run.record.reply == 0 || !run.session) return run.text;
  const auto messages = parts_.store.messages(run.record.session, run.record.reply + 1, {1});
  return messages.empty() ? std::string() : messages.front().text;
}

void Runner::drain(std::function<void()> done) {
  is_draining_ = true;
  drained_ = std::move(done);
  if (running_ == 0) std::exchange(drained_, nullptr)();
}

void Runner::halt() {
  is_draining_ = true;
  const auto end_waits = [](const std::shared_ptr<Wait>& wait) { wait->timer.cancel(); };
  for (const auto& [key, wait] : early_waits_) end_waits(wait);
  std::vector<RunPtr> active;
  for (const auto& [key, run] : runs_) {
    for (const auto& wait : run->waits) end_waits(wait);
    if (run->phase == Run::Phase::running) active.push_back(run);
  }
  for (const RunPtr& run : active) stop(run, Run::Stop::interrupted);
}

std::string Runner::pending_inputs(const Session& session) const {
  std::string out = R"({"items":[)";
  std::int64_t total = 0;
  for (const RunPtr& run : session.waiting) {
    if (run->phase != Run::Phase::queued) continue;
    if (total++ > 0 && out.size() > options_.told_bytes) continue;  // only counted
    if (out.back() != '[') out += ',';
    ObjectText(out)
        .text("runId", run->record.key)
        .text("text", run->user.text)
        .number("acceptedAt", run->record.accepted)
        .close();
  }
  out += R"(],"total":)";
  append_number(out, total);
  return out += '}';
}

std::string Runner::tasks() const {
  constexpr std::size_t most = 200;
  std::vector<const Run*> latest;
  for (const auto& [key, run] : runs_) {
    if (run->phase != Run::Phase::ended && run->phase != Run::Phase::accepting) latest.push_back(run.get());
  }
  std::ranges::sort(latest, std::ranges::greater{}, [](const Run* run) { return run->record.id; });
  for (auto run = ended_.rbegin(); run != ended_.rend() && latest.size() < most; ++run)
    latest.push_back(run->get());
  std::string out = R"({"tasks":[)";
  for (const Run* run : latest) {
    if (out.back() != '[') out += ',';
    out += task_row(*run);
    if (out.size() > options_.told_bytes) break;
  }
  return out += "]}";
}

RunnerFacts Runner::facts() const {
  RunnerFacts facts = facts_;
  facts.running = running_;
  for (const auto& [key, run] : runs_) facts.queued += run->phase == Run::Phase::queued ? 1 : 0;
  return facts;
}

}  // namespace tare::gateway
