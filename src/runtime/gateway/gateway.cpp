#include "runtime/gateway/gateway.hpp"

#include <random>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/version.hpp"
#include "runtime/gateway/device.hpp"
#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {
namespace {

namespace asio = boost::asio;

Server server_facts(const Config& config) {
  Server server;
  server.version = version();
  server.build_id = commit();
  server.boot_id = random_uuid();
  server.max_payload = config.max_payload;
  server.max_buffered = config.max_buffered;
  server.features = Methods::features();
  server.auth = config.token ? "token" : "none";
  return server;
}

std::function<double()> random_numbers() {
  return [engine = std::mt19937_64(std::random_device()()),
          spread = std::uniform_real_distribution<double>(0, 1)]() mutable { return spread(engine); };
}

}  // namespace

Gateway::Gateway(asio::io_context& io, const Clock& clock, Config config,
                 std::function<void(std::string_view)> log)
    : io_(io),
      clock_(clock),
      started_(clock.now()),
      traced_(started_),
      config_(std::move(config)),
      log_(clock, config_.log_level, std::move(log)),
      timeline_(clock, config_.timeline, log_),
      monitor_(io, clock),
      sessions_(ModelName{"openai", config_.runner.model}),
      tick_timer_(io),
      drain_timer_(io) {
  check_exposure(config_);
  net::ServerLimits limits;
  limits.connections = config_.max_connections;
  http_ = std::make_unique<net::HttpServer>(io, config_.bind == "localhost" ? "127.0.0.1" : config_.bind,
                                            config_.port, limits,
                                            [this](net::Exchange& exchange) { return answer(exchange); });
  trace("http.bound");
  const std::filesystem::path database = config_.state / "gateway.sqlite";
  store_ = std::make_unique<SqliteStore>(io, sqlite::Options{database});
  transcripts_ = std::make_unique<Transcripts>(*store_, TranscriptLimits{});
  provider_ = std::make_unique<provider::Client>(io, config_.provider, clock, random_numbers());
  runner_ = std::make_unique<Runner>(
      Runner::Parts{io, clock, *store_, sessions_, *transcripts_, hub_, *provider_}, config_.runner);
  runner_->on_end = [this](const Run& run) {
    const auto time = std::chrono::milliseconds(run.record.ended.value_or(0) -
                                                run.record.started.value_or(run.record.accepted));
    timeline_.span("agent.turn", time);
    const bool is_fine = run.record.outcome == Outcome::ok || run.record.outcome == Outcome::aborted;
    const LogLevel level = is_fine ? LogLevel::debug : LogLevel::warn;
    if (!log_.takes(level)) return;
    log_.write(level, "run ended",
               {{"run", run.record.key},
                {"session", run.session->record.key},
                {"outcome", std::string(name_of(run.record.outcome))},
                {"durationMs", std::to_string(time.count())},
                {"error", run.record.error}});
  };
  methods_ = std::make_unique<Methods>(
      Methods::Parts{clock, *store_, sessions_, *transcripts_, hub_, *runner_, monitor_, database.string()},
      config_.methods);
  context_ = std::make_unique<ConnectionContext>(
      ConnectionContext{io, clock, log_, hub_, *methods_, connection_facts_, server_facts(config_),
                        config_.token, config_.max_payload, config_.handshake_time});
  trace("storage.loaded");
  recover(store_->take_kept());
}

Gateway::~Gateway() = default;

void Gateway::trace(std::string_view what) {
  const Instant now = clock_.now();
  trace_.push_back(fmt::format("startup trace: {} {:.1f}ms total={:.1f}ms", what, to_ms(now - traced_),
                               to_ms(now - started_)));
  timeline_.span(fmt::format("gateway.startup.{}", what), now - traced_);
  traced_ = now;
}

void Gateway::recover(Kept kept) {
  sessions_.restore(std::move(kept.sessions), kept.last_session);
  std::vector<Change> changes = runner_->restore(std::move(kept.runs), kept.last_run);
  trace("sessions.loaded");
  if (changes.empty()) {
    asio::post(io_, [this] { become_ready(); });
    return;
  }
  store_->write(std::move(changes), [this](const std::exception_ptr& failure) {
    // Without it those runs are open still, and are marked next time.
    if (failure)
      log_.write(LogLevel::error, "cannot mark interrupted runs", {{"why", storage_fault(failure).message}});
    become_ready();
  });
}

void Gateway::become_ready() {
  if (is_stopping_) return;
  context_->phase = HandshakePolicy::Phase::ready;
  monitor_.start();
  tick();
  trace("sidecars.ready");
  // Not before: a gateway that cannot start says why, in one line.
  for (const std::string& line : std::exchange(trace_, {})) log_.write(LogLevel::info, line);
  on_ready();
}

/// Clients take a gateway that says nothing for two of these for gone.
void Gateway::tick() {
  tick_timer_.expires_after(context_->server.tick);
  tick_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    std::string payload;
    ObjectText(payload).number("ts", clock_.wall().time_since_epoch().count()).close();
    hub_.to_operators(event_text("tick", payload));
    tick();
  });
}

void Gateway::stop(std::string_view why) {
  if (std::exchange(is_stopping_, true)) {
    close_all();
    return;
  }
  log_.write(LogLevel::info, "stopping", {{"why", std::string(why)}});
  std::string payload;
  ObjectText(payload).text("reason", why).null("restartExpectedMs").close();
  hub_.to_operators(event_text("shutdown", payload));
  drain_timer_.expires_after(config_.drain_time);
  drain_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    log_.write(LogLevel::warn, "runs did not end in time");
    close_all();
  });
  runner_->drain([this] { asio::post(io_, [this] { close_all(); }); });
}

void Gateway::close_all() {
  if (std::exchange(is_closed_, true)) return;
  drain_timer_.cancel();
  tick_timer_.cancel();
  monitor_.stop();
  http_->stop();
  runner_->halt();
  for (const auto& weak : connections_) {
    if (const auto connection = weak.lock())
      asio::co_spawn(io_, connection->close(net::CloseCode::going_away, "gateway is shutting down"),
                     asio::detached);
  }
  wait_for_the_end(0);
}

/// A peer that does not close, or does not read, is not waited for longer than three seconds.
void Gateway::wait_for_the_end(int turns) {
  constexpr std::chrono::milliseconds turn{10};
  constexpr int most_turns = 300;
  const bool is_over = http_->connections() == 0 && runner_->running() == 0 && store_->pending() == 0;
  if (is_over || turns == most_turns) {
    io_.stop();
    return;
  }
  drain_timer_.expires_after(turn);
  drain_timer_.async_wait([this, turns](const boost::system::error_code& error) {
    if (!error) wait_for_the_end(turns + 1);
  });
}

}  // namespace tare::gateway
