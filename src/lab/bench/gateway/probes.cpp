#include "lab/bench/gateway/probes.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/gateway/frame.hpp"

namespace tare::gateway_bench {
namespace {

using load::Outcome;

/// Of one connection. A start beyond them is counted as unsent: a gateway that stands still does
/// not make the lab hold requests without end.
constexpr std::size_t most_open = 4'096;
constexpr std::chrono::milliseconds probe_limit{20'000};
constexpr std::chrono::seconds fresh_every{1};
constexpr std::size_t error_bytes = 500;

struct ProbeName {
  std::string_view row;
  std::string_view name;
};
constexpr std::array<ProbeName, probe_count> probe_names{
    {{"readyz", "/readyz"},
     {"control_ui", "/"},
     {"sessions_list", "sessions.list"},
     {"chat_history", "chat.history"},
     {"messages_subscribe", "sessions.messages.subscribe"},
     {"sessions_patch", "sessions.patch"},
     {"tasks_list", "tasks.list"},
     {"cron_list", "cron.list"},
     {"cron_status", "cron.status"},
     {"fresh_connection", "fresh connection"}}};

/// The member that the answer of a method must have.
std::string_view proof_of(Probe probe) {
  switch (probe) {
    case Probe::sessions_list:
      return "sessions";
    case Probe::chat_history:
      return "messages";
    case Probe::messages_subscribe:
      return "subscribed";
    case Probe::sessions_patch:
      return "key";
    case Probe::tasks_list:
      return "tasks";
    case Probe::cron_list:
      return "jobs";
    case Probe::cron_status:
      return "enabled";
    case Probe::readyz:
    case Probe::control_ui:
    case Probe::fresh_connection:
      break;
  }
  return {};
}

}  // namespace

std::string_view row_of(Probe probe) {
  return probe_names.at(static_cast<std::size_t>(probe)).row;
}

std::string_view name_of(Probe probe) {
  return probe_names.at(static_cast<std::size_t>(probe)).name;
}

std::vector<Probe> probes_of(const Options& options) {
  std::vector<Probe> probes{Probe::readyz, Probe::control_ui, Probe::sessions_list};
  if (options.history_clients > 0) probes.push_back(Probe::chat_history);
  if (options.subscribers > 0) probes.push_back(Probe::messages_subscribe);
  if (options.session_updates > 0) probes.push_back(Probe::sessions_patch);
  if (options.control_plane)
    probes.insert(probes.end(), {Probe::tasks_list, Probe::cron_list, Probe::cron_status});
  probes.push_back(Probe::fresh_connection);
  return probes;
}

std::optional<Fault> fault_of(Probe probe, const load::HttpAnswer& answer) {
  if (answer.outcome != Outcome::ok) return Fault{Fault::Kind::failed, std::string(answer.error)};
  if (answer.status != 200) return Fault{Fault::Kind::failed, fmt::format("status {}", answer.status)};
  if (probe == Probe::control_ui && answer.body.find("<html") == std::string_view::npos)
    return Fault{Fault::Kind::wrong, "response body did not contain <html"};
  // Unknown paths may be answered with the page of the Control UI, and 200.
  if (probe == Probe::readyz && lab_gateway::member(answer.body, "ready") != "true")
    return Fault{Fault::Kind::wrong, "response body did not say ready:true"};
  return std::nullopt;
}

std::optional<Fault> fault_of(Probe probe, const lab_gateway::Answer& answer) {
  if (answer.outcome != Outcome::ok) return Fault{Fault::Kind::failed, answer.error};
  if (!lab_gateway::member(answer.payload, proof_of(probe)).empty()) return std::nullopt;
  return Fault{Fault::Kind::wrong, fmt::format("{} answered without '{}'", name_of(probe), proof_of(probe))};
}

/// A round of the sampler: over when its last part is.
struct Probes::Round {
  Round(load::Pacer& pacer, std::shared_ptr<bool> alive) : pacer_(pacer), alive_(std::move(alive)) {}
  ~Round() {
    if (*alive_) pacer_.ended();
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

 private:
  load::Pacer& pacer_;
  std::shared_ptr<bool> alive_;  ///< the probes, and so their pacers
};

Probes::Probes(boost::asio::io_context& io, const Options& options, ProbeCrew crew, Wakeup& wakeup)
    : io_(io), options_(options), crew_(std::move(crew)), wakeup_(wakeup) {
  series_.fill(load::Series(max_samples_per_run));
}

Probes::~Probes() {
  *alive_ = false;
}

void Probes::begin() {
  const bool closed = options_.closed_loop;
  const load::Schedule rounds{closed ? load::Pace::closed_from_start : load::Pace::open,
                              options_.cadence(),
                              {},
                              options_.probe_rounds};
  sampler_ = std::make_unique<load::Pacer>(io_, rounds,
                                           [this](std::uint64_t index, Instant due) { sample(index, due); });
  load::Schedule bursts = rounds;
  if (closed) bursts.pace = load::Pace::closed_from_end;
  for (std::size_t i = 0; i < crew_.history.size(); ++i) {
    history_.push_back(std::make_unique<load::Pacer>(
        io_, bursts, [this, i](std::uint64_t index, Instant due) { ask_history(i, index, due); }));
  }
  const load::Schedule patches{closed ? load::Pace::closed_from_end : load::Pace::open,
                               closed ? Nanoseconds(0) : options_.cadence(),
                               {},
                               {}};
  for (std::size_t i = 0; i < crew_.updates.size(); ++i) {
    updates_.push_back(std::make_unique<load::Pacer>(
        io_, patches, [this, i](std::uint64_t, Instant due) { patch(i, due); }));
  }
  sampler_->begin();
  for (const auto& pacer : history_) pacer->begin();
  for (const auto& pacer : updates_) pacer->begin();
}

void Probes::begin_fresh_connections() {
  if (fresh_) return;
  const load::Schedule schedule{load::Pace::open, fresh_every, {}, {}};
  fresh_ = std::make_unique<load::Pacer>(io_, schedule, [this](std::uint64_t, Instant due) {
    of(Probe::fresh_connection).due();
    boost::asio::co_spawn(io_, connect_afresh(due), boost::asio::detached);
  });
  fresh_->begin();
}

void Probes::wind_down() {
  if (options_.probe_rounds) return;
  sampler_->stop();
  for (const auto& pacer : history_) pacer->stop();
}

void Probes::stop() {
  if (fresh_) fresh_->stop();
  if (sampler_) sampler_->stop();
  for (const auto& pacer : history_) pacer->stop();
  for (const auto& pacer : updates_) pacer->stop();
}

bool Probes::updates_done() const {
  return updated_ == options_.session_updates;
}

bool Probes::has_dialled() const {
  return fresh_ && fresh_->started() > 0;
}

bool Probes::rounds_done() const {
  return sampler_->done() && std::ranges::all_of(history_, [](const auto& pacer) { return pacer->done(); });
}

void Probes::sample(std::uint64_t index, Instant due) {
  const auto round = std::make_shared<Round>(*sampler_, alive_);
  http(Probe::readyz, due, round);
  http(Probe::control_ui, due, round);
  rpc(Probe::sessions_list, *crew_.sampler, "{}", due, round);
  if (crew_.subscriber != nullptr) subscribe(index, due, round);
  if (!options_.control_plane) return;
  for (const Probe probe : {Probe::tasks_list, Probe::cron_list, Probe::cron_status})
    rpc(probe, *crew_.sampler, "{}", due, round);
}

void Probes::ask_history(std::size_t client, std::uint64_t index, Instant due) {
  const auto round = std::make_shared<Round>(*history_[client], alive_);
  const std::uint64_t offset = (client + index) * options_.history_burst;
  for (std::uint64_t i = 0; i < options_.history_burst; ++i) {
    const json::Value params{{"sessionKey", session_key((offset + i) % options_.sessions())}};
    rpc(Probe::chat_history, *crew_.history[client], json::line(params), due, round);
  }
}

void Probes::patch(std::size_t client, Instant due) {
  if (next_update_ == options_.session_updates) {
    updates_[client]->stop();
    return;
  }
  const json::Value params{{"key", session_key(next_update_ % options_.sessions())},
                           {"label", fmt::format("Benchmark update {}", next_update_ + 1)}};
  // One that is left out is made at another start: all that were asked for are made.
  const bool sent = rpc(Probe::sessions_patch, *crew_.updates[client], json::line(params), due,
                        std::make_shared<Round>(*updates_[client], alive_));
  if (sent) ++next_update_;
}

void Probes::http(Probe probe, Instant due, const std::shared_ptr<Round>& round) {
  of(probe).due();
  const std::string_view accept = probe == Probe::readyz ? "application/json" : "text/html";
  const auto answered = [this, probe, due, round, alive = alive_](const load::HttpAnswer& answer) {
    if (!*alive) return;
    if (probe == Probe::readyz) read_event_loop(answer);
    add(probe, {due, answer.sent, answer.ended, answer.outcome}, fault_of(probe, answer));
  };
  const bool sent = crew_.http->get(name_of(probe), accept, answered);
  if (sent) {
    open_ += 1;
  } else {
    of(probe).unsent();
  }
}

bool Probes::rpc(Probe probe, lab_gateway::Client& client, const std::string& params, Instant due,
                 const std::shared_ptr<Round>& round) {
  if (!may_start(probe, client)) return false;
  client.ask(name_of(probe), params, probe == Probe::sessions_list ? probe_limit : lab_gateway::rpc_limit,
             [this, probe, due, round, alive = alive_](const lab_gateway::Answer& answer) {
               if (*alive) take(probe, due, answer);
             });
  return true;
}

bool Probes::may_start(Probe probe, const lab_gateway::Client& client) {
  of(probe).due();
  if (client.is_open() && client.open() < most_open) {
    open_ += 1;
    return true;
  }
  of(probe).unsent();
  return false;
}

bool Probes::take(Probe probe, Instant due, const lab_gateway::Answer& answer) {
  std::optional<Fault> fault = fault_of(probe, answer);
  const bool ok = !fault;
  if (probe == Probe::sessions_patch && answer.outcome != Outcome::censored) {
    if (fault) fail(fault->text);
    end_update();
  }
  add(probe, {due, answer.sent, answer.at, answer.outcome}, std::move(fault));
  return ok;
}

void Probes::end_update() {
  updated_ += 1;
  wakeup_.notify();
}

void Probes::fail(std::string_view why) {
  if (!failure_) failure_ = fmt::format("a load probe failed: {}", why);
  wakeup_.notify();
}

/// A subscription to the messages of a session, which ends again once it is there.
void Probes::subscribe(std::uint64_t index, Instant due, const std::shared_ptr<Round>& round) {
  if (!may_start(Probe::messages_subscribe, *crew_.subscriber)) return;
  const std::uint64_t first = options_.sessions() - options_.concurrency;
  const json::Value params{{"key", session_key(first + index % options_.concurrency)}};
  crew_.subscriber->ask(name_of(Probe::messages_subscribe), json::line(params), lab_gateway::rpc_limit,
                        [this, params, due, round, alive = alive_](const lab_gateway::Answer& answer) {
                          if (*alive && take(Probe::messages_subscribe, due, answer))
                            unsubscribe(json::line(params), round);
                        });
}

void Probes::unsubscribe(const std::string& params, const std::shared_ptr<Round>& round) {
  open_ += 1;
  crew_.subscriber->ask("sessions.messages.unsubscribe", params, lab_gateway::rpc_limit,
                        [this, round, alive = alive_](const lab_gateway::Answer& answer) {
                          if (!*alive) return;
                          open_ -= 1;
                          wakeup_.notify();
                          const bool ended =
                              answer.outcome == Outcome::ok || answer.outcome == Outcome::censored;
                          if (!ended) fail(answer.error);
                        });
}

boost::asio::awaitable<void> Probes::connect_afresh(Instant due) {
  const std::shared_ptr<bool> alive = alive_;
  const auto dialled = std::make_shared<Dialled>(due, std::chrono::steady_clock::now());
  dialled_.push_back(dialled);
  open_ += 1;
  Outcome outcome = Outcome::ok;
  std::optional<Fault> fault;
  std::shared_ptr<lab_gateway::Client> client;
  lab_gateway::Address address = crew_.address;
  try {
    client = co_await lab_gateway::Client::connect(io_, std::move(address), lab_gateway::handshake_limit);
  } catch (const Error& error) {
    outcome = error.code() == ErrorCode::timeout ? Outcome::timeout : Outcome::failed;
    fault = Fault{Fault::Kind::failed,
                  error.why().empty() ? error.what() : fmt::format("{} ({})", error.what(), error.why())};
  } catch (const std::exception& error) {
    outcome = Outcome::failed;
    fault = Fault{Fault::Kind::failed, error.what()};
  }
  if (client) client->drop();
  if (!*alive || std::erase(dialled_, dialled) == 0) co_return;  // it was given up
  add(Probe::fresh_connection, {due, dialled->sent, std::chrono::steady_clock::now(), outcome},
      std::move(fault));
}

void Probes::give_up() {
  crew_.http->close(Outcome::censored);
  const Instant now = std::chrono::steady_clock::now();
  for (const auto& dialled : std::exchange(dialled_, {})) {
    add(Probe::fresh_connection, {dialled->due, dialled->sent, now, Outcome::censored},
        Fault{Fault::Kind::failed, "no answer when the load ended"});
  }
  if (crew_.sampler != nullptr) crew_.sampler->drop();
  if (crew_.subscriber != nullptr) crew_.subscriber->drop();
  for (lab_gateway::Client* client : crew_.history) client->drop();
  for (lab_gateway::Client* client : crew_.updates) client->drop();
}

void Probes::add(Probe probe, load::Sample sample, std::optional<Fault> fault) {
  open_ -= 1;
  if (sample.outcome == Outcome::ok || sample.outcome == Outcome::failed) {
    const bool is_wrong = fault && fault->kind == Fault::Kind::wrong;
    checks_[static_cast<std::size_t>(probe)].check(
        "right_answer", !is_wrong, [] { return "what was asked for"; }, [&] { return fault->text; });
  }
  if (fault) {
    if (sample.outcome == Outcome::ok) sample.outcome = Outcome::failed;
    sample.error = text::escape_bad_utf8(text::cut(fault->text, error_bytes));
  }
  of(probe).add(std::move(sample));
  wakeup_.notify();
}

void Probes::read_event_loop(const load::HttpAnswer& answer) {
  if (answer.outcome != Outcome::ok || answer.status != 200) return;
  const std::string_view found = lab_gateway::member(answer.body, "eventLoop");
  if (found.empty()) return;
  if (lab_gateway::member(found, "degraded") == "true") degraded_ += 1;
  if (found == last_event_loop_ || event_loop_.size() == max_samples_per_run) return;
  last_event_loop_ = found;
  const auto number = [&](std::string_view name) {
    return lab_gateway::number_of(lab_gateway::member(found, name));
  };
  const EventLoopReading reading{answer.ended, number("delayP99Ms"), number("delayMaxMs"),
                                 number("utilization"), number("cpuCoreRatio")};
  const bool says =
      reading.delay_p99_ms || reading.delay_max_ms || reading.utilization || reading.cpu_core_ratio;
  if (says) event_loop_.push_back(reading);
}

}  // namespace tare::gateway_bench
