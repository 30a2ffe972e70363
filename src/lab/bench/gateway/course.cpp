#include "lab/bench/gateway/course.hpp"

#include <algorithm>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/bench/gateway/preflight.hpp"
#include "lab/gateway/frame.hpp"

namespace tare::gateway_bench {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using load::Outcome;
using process::TreeFields;

/// How long what is still open when the load is over may take, before it counts as never answered.
constexpr std::chrono::milliseconds drain_limit{5'000};
constexpr std::chrono::milliseconds memory_limit{5'000};
constexpr std::size_t most_version_bytes = 100;
constexpr double mib = 1024.0 * 1024.0;

Instant now() {
  return std::chrono::steady_clock::now();
}

std::uint64_t micros(Instant at) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count());
}

double wall_now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

std::chrono::milliseconds left_until(Instant deadline, std::chrono::milliseconds most) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now());
  return std::clamp(left, std::chrono::milliseconds(1), most);
}

std::optional<double> megabytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? std::optional(static_cast<double>(*bytes) / mib) : std::nullopt;
}

std::optional<double> megabytes(std::string_view payload, std::string_view path) {
  const auto bytes = lab_gateway::number_of(lab_gateway::member(payload, path));
  return bytes && *bytes >= 0 ? std::optional(*bytes / mib) : std::nullopt;
}

std::optional<std::int64_t> whole(std::string_view payload, std::string_view path) {
  const auto number = lab_gateway::number_of(lab_gateway::member(payload, path));
  return number && *number >= 0 ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

report::CpuMs cpu_between(const lab_gateway::CpuTime& before, const lab_gateway::CpuTime& after) {
  return {to_ms(after.user - before.user), to_ms(after.system - before.system),
          to_ms(after.total() - before.total())};
}

[[noreturn]] void timed_out(std::string doing, const std::string& how_far, std::chrono::milliseconds limit) {
  throw Error(ErrorCode::timeout, "benchmark timed out while " + std::move(doing), how_far,
              fmt::format("the limit is {} ms, --timeout-ms raises it", limit.count()));
}

}  // namespace

Course::Course(asio::io_context& io, const AttemptRequest& request, Attempt& attempt)
    : io_(io),
      request_(request),
      options_(request.options),
      attempt_(attempt),
      script_(request.options, request.nonce),
      wakeup_(io),
      begun_(now()) {
  report::ProbeWorkload& workload = attempt_.record.probe_workload;
  workload.mode = options_.probe_rounds ? "fixed-rounds" : "adaptive";
  workload.pace = options_.closed_loop ? "closed-loop" : "open-loop";
  workload.sampler_rounds_per_run = options_.probe_rounds;
  if (options_.probe_rounds)
    workload.history_requests_per_run =
        *options_.probe_rounds * options_.history_clients * options_.history_burst;
}

Course::~Course() = default;

void Course::enter(std::string phase) {
  phase_ = std::move(phase);
  attempt_.position = "while " + phase_;
}

asio::awaitable<void> Course::measure() {
  co_await start_servers();
  co_await connect_operators();
  co_await warm_probes();
  co_await set_up();
  co_await load();
  co_await collect();
}

asio::awaitable<void> Course::start_servers() {
  const Instant deadline = now() + options_.timeout();
  lab_gateway::GatewaySetup setup;
  setup.root = root_.path();
  if (scripted()) {
    enter("starting the model server");
    lab_gateway::ProviderSetup mock;
    mock.log = root_.path() / "requests.jsonl";
    mock.chunks = reply_chunks;
    mock.chunk_delay_ms = options_.stream_chunk_delay_ms;
    provider_ = co_await lab_gateway::start_provider(io_, std::move(mock), deadline);
    setup.provider_url = provider_->url;
  } else if (options_.provider_url) {
    setup.provider_url = *options_.provider_url;
    setup.provider_key = request_.provider_key;
  }
  setup.max_concurrent = options_.concurrency;
  setup.provider_connections = options_.concurrency;
  setup.utility_model = options_.utility_model;
  setup.tools = options_.tool_events || options_.subagents > 0;
  setup.plugins = options_.plugin_count;
  if (options_.diagnostics_timeline && request_.target.kind != lab_gateway::TargetKind::url)
    setup.timeline = root_.path() / "timeline.jsonl";
  enter(request_.target.kind == lab_gateway::TargetKind::url ? "connecting" : "starting the gateway");
  gateway_ = lab_gateway::make_gateway(io_, request_.target, std::move(setup));
  const Instant started = now();
  co_await gateway_->start(deadline);
  if (server() == nullptr) co_return;
  attempt_.record.ready_ms = to_ms(now() - started);
  server()->on_exit([this](const std::string& how) {
    lost_ = fmt::format("the gateway ended by itself, {} ({})", phase_, how);
    wakeup_.notify();
  });
}

asio::awaitable<std::shared_ptr<lab_gateway::Client>> Course::connect(Instant deadline) {
  lab_gateway::Address address = gateway_->address();
  const std::chrono::milliseconds limit = left_until(deadline, lab_gateway::handshake_limit);
  std::shared_ptr<Client> client = co_await Client::connect(io_, std::move(address), limit);
  client->on_lost([this](const std::string& why) {
    if (!lost_) lost_ = fmt::format("a connection to the gateway was lost, {} ({})", phase_, why);
    wakeup_.notify();
  });
  co_return client;
}

asio::awaitable<void> Course::connect_operators() {
  enter("connecting");
  const Instant deadline = now() + options_.timeout();
  const std::size_t count = operator_connections(options_.concurrency);
  for (std::size_t i = 0; i < count; ++i) {
    operators_.push_back(co_await connect(deadline));
    operators_.back()->on_event([this, i](const lab_gateway::Event& event) {
      if (turns_) return turns_->take_event(i, event);
      if (warm_) warm_->take_event(i, event);
    });
  }
  Client& first = *operators_.front();
  if (const auto version = lab_gateway::text_of(lab_gateway::member(first.hello(), "server.version")))
    attempt_.version = text::one_line(text::cut(*version, most_version_bytes));
  co_await first.request("sessions.subscribe", "{}", left_until(deadline, lab_gateway::rpc_limit));
  if (options_.visible_observer)
    co_await first.request("sessions.observer.visibility", R"({"visible":true})",
                           left_until(deadline, lab_gateway::rpc_limit));
  http_ = std::make_unique<load::HttpRequests>(io_, gateway_->http());
}

asio::awaitable<void> Course::warm_probes() {
  enter("warming probes");
  warm_up_.emplace(io_, *http_, *operators_.front(), wakeup_);
  const bool is_open = co_await warm_up_->pass([this] { return lost_.has_value(); });
  if (!is_open) co_await fail_with(*lost_);
}

std::vector<std::uint64_t> Course::turn_sessions() const {
  std::vector<std::uint64_t> sessions;
  for (std::uint64_t i = options_.sessions() - options_.concurrency; i < options_.sessions(); ++i)
    sessions.push_back(i);
  return sessions;
}

asio::awaitable<void> Course::set_up() {
  const Instant start = now();
  const Instant deadline = start + options_.timeout();
  if (options_.prepares_sessions()) co_await seed();
  co_await subscribe(deadline);
  enter("connecting clients");
  for (std::uint64_t i = 0; i < options_.history_clients; ++i) history_.push_back(co_await connect(deadline));
  for (std::uint64_t i = 0; options_.session_updates > 0 && i < options_.session_update_clients; ++i)
    updates_.push_back(co_await connect(deadline));
  if (options_.subscribers > 0) subscription_probe_ = co_await connect(deadline);
  co_await warm_turns(deadline);
  attempt_.record.memory.before = co_await read_memory();
  connections_before_ = connections_;
  active_runs_before_ = active_runs_;
  if (server() != nullptr) usage_before_ = server()->usage(TreeFields::fds);
  clients_before_ = clients().size() + http_->connections();
  attempt_.record.setup_duration_ms = to_ms(now() - start);
}

asio::awaitable<void> Course::seed() {
  enter("seeding sessions");
  const Instant start = now();
  seeding_ = std::make_unique<Seeding>(*operators_.front(), options_, root_.path(), wakeup_);
  const bool done =
      co_await wakeup_.until([&] { return seeding_->done() || lost_; }, start + options_.timeout());
  if (lost_ || seeding_->failure()) co_await fail_with(lost_ ? *lost_ : *seeding_->failure());
  if (!done)
    timed_out(phase_, fmt::format("{} of {} were made", seeding_->seeded(), options_.sessions()),
              options_.timeout());
  attempt_.record.session_seed_duration_ms = to_ms(now() - start);
}

asio::awaitable<void> Course::subscribe(Instant deadline) {
  enter("subscribing");
  const std::vector<std::uint64_t> sessions = turn_sessions();
  for (std::uint64_t i = 0; i < options_.subscribers; ++i) {
    subscribers_.push_back(co_await connect(deadline));
    Client& client = *subscribers_.back();
    const std::chrono::milliseconds limit = left_until(deadline, lab_gateway::rpc_limit);
    if (options_.visible_observer)
      co_await client.request("sessions.observer.visibility", R"({"visible":true})", limit);
    const json::Value params{{"key", session_key(sessions[i % sessions.size()])}};
    std::string text = json::line(params);
    const Instant sent = now();
    attempt_.setup_subscriptions.due();
    co_await client.request("sessions.messages.subscribe", std::move(text), limit);
    attempt_.setup_subscriptions.add({sent, sent, now()});
  }
}

std::unique_ptr<Turns> Course::make_turns(Turns::Plan plan) {
  std::vector<Client*> clients;
  for (const auto& client : operators_) clients.push_back(client.get());
  plan.sessions = turn_sessions();
  plan.exact = scripted();
  plan.exclusive = options_.subagents == 0;
  return std::make_unique<Turns>(std::move(clients), options_, script_, wakeup_, std::move(plan));
}

asio::awaitable<void> Course::warm_turns(Instant deadline) {
  if (options_.warm_turns == 0) co_return;
  enter("warming turns");
  Turns::Plan plan;
  plan.phase = Phase::warm;
  plan.turns_per_session = options_.warm_turns;
  plan.deadline = deadline;
  warm_ = make_turns(std::move(plan));
  warm_->begin();
  const bool done = co_await wakeup_.until([&] { return warm_->done() || lost_; }, deadline);
  if (lost_ || warm_->failure()) co_await fail_with(lost_ ? *lost_ : *warm_->failure());
  if (!done)
    timed_out(phase_, fmt::format("{} of {} are completed", warm_->completed(), warm_->expected()),
              options_.timeout());
  // What has not come by then is missing, and is said of the run at its end.
  co_await wakeup_.until([&] { return warm_->settled() || lost_; }, std::min(deadline, now() + drain_limit));
}

asio::awaitable<void> Course::load() {
  enter("under load");
  // The time limit starts anew: what the set-up took is not taken from the load.
  const Instant deadline = now() + options_.timeout();
  Turns::Plan plan;
  plan.turns_per_session = options_.turns_per_session;
  plan.deadline = deadline;
  turns_ = make_turns(std::move(plan));
  ProbeCrew crew;
  crew.sampler = operators_.front().get();
  crew.subscriber = subscription_probe_.get();
  for (const auto& client : history_) crew.history.push_back(client.get());
  for (const auto& client : updates_) crew.updates.push_back(client.get());
  crew.http = http_.get();
  crew.address = gateway_->address();
  probes_ = std::make_unique<Probes>(io_, options_, std::move(crew), wakeup_);
  attempt_.record.memory.peak_rss_mb = attempt_.record.memory.before.rss_mb;
  if (server() != nullptr) {
    cpu_before_ = server()->tree_cpu();
    main_cpu_before_ = server()->main_thread_cpu();
  }
  co_await run_load(deadline);
  co_await drain(deadline);
  attempt_.loaded = true;
}

asio::awaitable<void> Course::run_load(Instant deadline) {
  window_ = WallWindow{wall_now_ms(), 0};
  attempt_.load_start = now();
  turns_->begin();
  probes_->begin();
  const auto broken = [&] { return lost_ || turns_->failure() || probes_->failure(); };
  const bool worked = co_await wakeup_.until(
      [&] {
        if (turns_->all_started()) probes_->begin_fresh_connections();
        return broken() || (turns_->done() && probes_->updates_done());
      },
      deadline);
  if (worked && !broken()) probes_->wind_down();
  const bool done =
      worked && co_await wakeup_.until(
                    [&] { return broken() || (probes_->rounds_done() && probes_->has_dialled()); }, deadline);
  const Instant end = now();
  window_->through_ms = wall_now_ms();
  attempt_.record.load_window = {micros(attempt_.load_start), micros(end)};
  attempt_.record.cpu_usage.wall_ms = to_ms(end - attempt_.load_start);
  if (cpu_before_) {
    if (const auto after = server()->tree_cpu())
      attempt_.record.cpu_usage.process = cpu_between(*cpu_before_, *after);
    if (const auto after = server()->main_thread_cpu(); after && main_cpu_before_)
      attempt_.record.cpu_usage.main_thread = cpu_between(*main_cpu_before_, *after);
  }
  probes_->stop();
  if (broken()) {
    const std::string why = lost_ ? *lost_ : turns_->failure() ? *turns_->failure() : *probes_->failure();
    co_await fail_with(why);
  }
  if (!done)
    timed_out("under load",
              fmt::format("{} of {} turns are completed", turns_->completed(), turns_->expected()),
              options_.timeout());
}

asio::awaitable<void> Course::drain(Instant deadline) {
  enter("waiting for the last answers");
  const Instant end = std::min(deadline, now() + drain_limit);
  const auto broken = [&] { return lost_ || probes_->failure(); };
  co_await wakeup_.until([&] { return broken() || (probes_->open() == 0 && turns_->settled()); }, end);
  if (broken()) co_await fail_with(lost_ ? *lost_ : *probes_->failure());
}

/// A lost connection or a failed turn is what shows first of a gateway that died: that is said, if so.
asio::awaitable<void> Course::fail_with(std::string what) {
  co_await wakeup_.until([&] { return server() == nullptr || !server()->running(); }, now() + 200ms);
  if (server() != nullptr && !server()->running() && lost_) what = *lost_;
  throw Error(ErrorCode::failed, std::move(what));
}

asio::awaitable<report::GatewayMemory> Course::read_memory() {
  report::GatewayMemory memory;
  connections_.reset();
  active_runs_.reset();
  if (server() != nullptr) {
    if (const auto usage = server()->usage(TreeFields::rss | TreeFields::pss)) {
      memory.rss_mb = megabytes(usage->rss_bytes);
      memory.pss_mb = megabytes(usage->pss_bytes);
    }
  }
  std::string status;
  try {
    status =
        co_await operators_.front()->request("status", R"({"includeChannelSummary":false})", memory_limit);
  } catch (const Error&) {
    co_return memory;  // a gateway that does not say it is measured from outside alone
  }
  if (!memory.rss_mb) memory.rss_mb = megabytes(status, "processMemory.rssBytes");
  memory.heap_used_mb = megabytes(status, "processMemory.heapUsedBytes");
  memory.external_mb = megabytes(status, "processMemory.externalBytes");
  memory.array_buffers_mb = megabytes(status, "processMemory.arrayBuffersBytes");
  connections_ = whole(status, "connections");
  active_runs_ = whole(status, "tasks.running");
  co_return memory;
}

asio::awaitable<void> Course::collect() {
  enter("collecting");
  report::GatewayMemories& memory = attempt_.record.memory;
  take_look();
  memory.after = co_await read_memory();
  if (active_runs_ && active_runs_before_)
    attempt_.record.leaks.active_runs = *active_runs_ - *active_runs_before_;
  if (connections_ && connections_before_)
    attempt_.record.leaks.connections = *connections_ - *connections_before_;
  if (memory.after.rss_mb)
    memory.peak_rss_mb = std::max(memory.peak_rss_mb.value_or(0), *memory.after.rss_mb);
  const load::Series& history = probes_->series(Probe::chat_history);
  if (options_.history_clients > 0 && history.count(Outcome::ok) == 0) {
    const std::string why = history.samples().empty() ? "no requests completed before turns finished"
                                                      : history.samples().front().error;
    throw Error(ErrorCode::failed, "all configured chat.history load probes failed", why);
  }
}

std::vector<lab_gateway::Client*> Course::clients() const {
  std::vector<Client*> all;
  for (const auto* group : {&operators_, &subscribers_, &history_, &updates_}) {
    for (const auto& client : *group) all.push_back(client.get());
  }
  if (subscription_probe_) all.push_back(subscription_probe_.get());
  return all;
}

/// By a thread of its own: it looks at every process of the machine, and what is due meanwhile would be late.
void Course::look() {
  if (!turns_ || attempt_.loaded || server() == nullptr || !server()->running()) return;
  if (looking_.valid() && looking_.wait_for(0s) != std::future_status::ready) return;
  take_look();
  looking_ = std::async(std::launch::async,
                        [pid = server()->pid()] { return process::read_tree(pid, TreeFields::rss); });
}

void Course::take_look() {
  if (!looking_.valid()) return;
  const auto usage = looking_.get();
  if (!usage || !usage->rss_bytes) return;
  double& peak = attempt_.record.memory.peak_rss_mb.emplace(attempt_.record.memory.peak_rss_mb.value_or(0));
  peak = std::max(peak, static_cast<double>(*usage->rss_bytes) / mib);
}

Pulse Course::pulse() const {
  Pulse pulse{phase_, 0, 0};
  if (probes_) {
    const double seconds = std::chrono::duration<double>(now() - attempt_.load_start).count();
    pulse.label = fmt::format("{}, {:.0f} s: {} running, {} turns/s", phase_, seconds, turns_->running(),
                              text::significant(static_cast<double>(turns_->completed()) / seconds));
    if (const auto p99 = probes_->series(Probe::sessions_list).latency().quantile(0.99))
      pulse.label += fmt::format(", sessions.list p99 {} ms", text::significant(to_ms(*p99)));
    pulse.done = turns_->completed();
    pulse.total = turns_->expected();
  } else if (warm_) {
    pulse.done = warm_->completed();
    pulse.total = warm_->expected();
  } else if (seeding_) {
    pulse.done = seeding_->seeded();
    pulse.total = options_.sessions();
  }
  return pulse;
}

}  // namespace tare::gateway_bench
