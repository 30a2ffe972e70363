#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "gateway_load.hpp"
#include "lab/measure/summary.hpp"

namespace tare::benchmarks {
namespace {

namespace asio = boost::asio;

constexpr std::size_t streaming = 64;
constexpr auto chunk_delay = std::chrono::milliseconds(50);
constexpr std::size_t messages_each = 10;
constexpr std::size_t connections_probed = 600;

/// A gateway with sessions, the first of which stream.
class ProbedGateway {
 public:
  explicit ProbedGateway(std::size_t sessions)
      : world_({.max_concurrent = streaming, .provider = {"--chunk-delay-ms", "50", "--chunks", "20"}}),
        sessions_(sessions) {
    world_.start_gateway();
    load_client_ = world_.connect();
    seed_sessions(world_, *load_client_, 0, sessions, messages_each);
    turns_.emplace(world_, *load_client_,
                   TurnsShape{.sessions = streaming, .chunks = 20, .delay = chunk_delay});
    probe_client_ = world_.connect();
    turns_->begin();
  }

  /// Milliseconds of each request.
  std::vector<double> probe(std::string_view method, const Request& params, const Check& check) {
    open_loop(world_, *probe_client_, {.count = 100}, method, params, check);  // to warm up
    return open_loop(world_, *probe_client_, {}, method, params, check);
  }

  void finish() {
    turns_->end();
    world_.finish();
  }

  GatewayWorld& world() { return world_; }
  std::size_t sessions() const { return sessions_; }
  /// The i-th of all sessions, over and over, in steps that leave none out.
  std::size_t session(std::size_t i) const { return (i * 7919) % sessions_; }

 private:
  GatewayWorld world_;
  std::size_t sessions_;
  std::shared_ptr<GatewayClient> load_client_;
  std::shared_ptr<GatewayClient> probe_client_;
  std::optional<Turns> turns_;
};

Measurement p99_of(std::vector<double> ms) {
  const measure::Summary summary = measure::summarise(std::move(ms));
  Measurement measurement{summary.p99, {}, {}, summary.p99_interval, {}, {}};
  measurement.note = fmt::format("p50 {:.2f} ms, {} requests", summary.p50.value(), summary.count);
  return measurement;
}

std::vector<double> list_ms(ProbedGateway& gateway) {
  const std::string total = fmt::format(R"("count":100,"totalCount":{},)", gateway.sessions());
  return gateway.probe(
      "sessions.list", [](std::size_t) { return "{}"; },
      [&](std::string_view frame, std::size_t) { return frame.find(total) != std::string_view::npos; });
}

/// The history of each session in turn; sessions that stream have more messages with every turn.
std::vector<double> history_ms(ProbedGateway& gateway) {
  const std::string total = fmt::format(R"("totalMessages":{},)", messages_each);
  return gateway.probe(
      "chat.history",
      [&](std::size_t i) { return fmt::format(R"({{"sessionKey":"{}"}})", session_key(gateway.session(i))); },
      [&](std::string_view frame, std::size_t i) {
        const std::size_t session = gateway.session(i);
        if (session >= streaming && frame.find(total) == std::string_view::npos) return false;
        for (std::size_t message = 0; message < messages_each; ++message) {
          if (frame.find(seeded_message(session, message)) == std::string_view::npos) return false;
        }
        return true;
      });
}

Measurement measure_at_both_sizes(std::vector<double> (*probe)(ProbedGateway&)) {
  std::vector<GatewayPart> parts;
  for (const std::size_t sessions : {std::size_t{1000}, std::size_t{10'000}}) {
    ProbedGateway gateway(sessions);
    Measurement measurement = p99_of(probe(gateway));
    gateway.finish();
    parts.push_back({fmt::format("{} sessions", sessions), std::move(measurement), 5.0});
  }
  return worst_of(parts, "ms");
}

Measurement measure_list() {
  return measure_at_both_sizes(list_ms);
}

Measurement measure_history() {
  return measure_at_both_sizes(history_ms);
}

/// From before the connection is made until the client was told that it is in. One at a time, each closed
/// before the next.
asio::awaitable<void> dial_again(GatewayWorld& world, std::vector<double>& ms) {
  const SystemClock clock;
  asio::steady_timer timer(world.io());
  for (std::size_t i = 0; i < connections_probed; ++i) {
    const Instant begin = clock.now();
    const auto client = co_await world.dial();
    ms.push_back(to_ms(clock.now() - begin));
    co_await client->close();
    timer.expires_at(begin + std::chrono::milliseconds(10));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

Measurement measure_handshake() {
  ProbedGateway gateway(1000);
  std::vector<double> ms;
  gateway.world().run(dial_again(gateway.world(), ms));
  gateway.finish();
  const measure::Summary summary = measure::summarise(std::move(ms));
  Measurement measurement{summary.p50, {}, {}, summary.p50_interval, {}, {}};
  measurement.note = fmt::format("{} connections, p99 {:.2f} ms", summary.count, summary.p99.value());
  return measurement;
}

}  // namespace

Benchmark gateway_sessions_list() {
  return {{"gateway.sessions_list",
           "sessions.list p99 under 64 streaming turns, with 1,000 and 10,000 sessions",
           "ms",
           Judged::time,
           {{}, 5.0}},
          measure_list};
}

Benchmark gateway_history() {
  return {{"gateway.history",
           "chat.history p99 under 64 streaming turns, with 1,000 and 10,000 sessions",
           "ms",
           Judged::time,
           {{}, 5.0}},
          measure_history};
}

Benchmark gateway_handshake() {
  return {{"gateway.handshake",
           "a fresh authenticated connection p50 under 64 streaming turns",
           "ms",
           Judged::time,
           {{}, 2.0}},
          measure_handshake};
}

}  // namespace tare::benchmarks
