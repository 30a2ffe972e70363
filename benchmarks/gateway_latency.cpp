#include <charconv>

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "gateway_load.hpp"
#include "lab/measure/summary.hpp"
#include "net/http_client.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto latency_delay = std::chrono::milliseconds(20);
constexpr unsigned latency_chunks = 20;
constexpr auto latency_warmup = std::chrono::seconds(1);
constexpr auto latency_time = std::chrono::seconds(12);

/// What is said anew in an event of the assistant's stream; nothing in any other event.
std::string_view delta_of(std::string_view frame) {
  constexpr std::string_view name = R"(,"delta":")";
  if (!frame.starts_with(R"({"type":"event","event":"agent")")) return {};
  const std::size_t at = frame.rfind(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size();
  return frame.substr(begin, frame.find('"', begin) - begin);
}

/// Milliseconds since each chunk of a delta was sent.
std::vector<double> latencies_of(std::string_view delta, Instant at) {
  std::vector<double> ms;
  for (std::size_t stamp = delta.find("{@"); stamp != std::string_view::npos;
       stamp = delta.find("{@", stamp + 2)) {
    std::int64_t sent = 0;
    std::from_chars(delta.data() + stamp + 2, delta.data() + delta.size(), sent);
    ms.push_back(to_ms(at.time_since_epoch() - Nanoseconds(sent)));
  }
  return ms;
}

/// The same without a gateway: replies that this process asks the model server for itself, one after the
/// other, until it ends.
class DirectReader {
 public:
  explicit DirectReader(GatewayWorld& world)
      : world_(world), http_(world.io(), {"http", "127.0.0.1", world.provider().port(), "/"}, {}) {}

  boost::asio::awaitable<void> read_replies() {
    const net::Headers headers{{"Content-Type", "application/json"}};
    const net::Request request(
        "POST", "/v1/chat/completions", headers,
        R"({"model":"m","stream":true,"messages":[{"role":"user","content":"[[marker:direct]]"}]})");
    while (!ending_) {
      world_.next_turn();
      const auto reply = co_await http_.stream(request);
      for (std::string_view piece = co_await reply->read(); !piece.empty(); piece = co_await reply->read()) {
        const Instant at = SystemClock().now();
        for (const double latency : latencies_of(piece, at)) ms_.push_back(latency);
      }
    }
    ended_ = true;
  }

  void end() {
    ending_ = true;
    world_.run_until([&] { return ended_; });
  }
  const std::vector<double>& ms() const { return ms_; }

 private:
  GatewayWorld& world_;
  net::HttpClient http_;
  std::vector<double> ms_;
  bool ending_ = false;
  bool ended_ = false;
};

Measurement measure_latency() {
  GatewayWorld world({.provider = {"--chunk-delay-ms", "20", "--chunks", "20", "--stamp", "text"}});
  world.start_gateway();
  const auto client = world.connect();
  Turns turns(world, *client, {.sessions = 8, .chunks = latency_chunks, .delay = latency_delay});
  std::vector<double> ms;
  client->on_event([&](std::string_view frame, Instant at) {
    for (const double latency : latencies_of(delta_of(frame), at)) ms.push_back(latency);
  });
  DirectReader direct(world);
  turns.begin();
  boost::asio::co_spawn(world.io(), direct.read_replies(), [&](const std::exception_ptr& failure) {
    if (failure) world.fail(failure);
  });
  world.run_for(latency_warmup);
  const std::size_t warmed = ms.size();
  world.run_for(latency_time);
  turns.end();
  direct.end();
  world.finish();
  if (ms.size() != turns.ended() * latency_chunks)
    throw Broken(fmt::format("{} turns of {} chunks gave {}", turns.ended(), latency_chunks, ms.size()));
  ms.erase(ms.begin(), ms.begin() + static_cast<std::ptrdiff_t>(warmed));
  const measure::Summary summary = measure::summarise(std::move(ms));
  const measure::Summary floor = measure::summarise(direct.ms());
  const std::string note = fmt::format("{} chunks; without a gateway {:.3f} and {:.2f} ms, {} chunks",
                                       summary.count, floor.p50.value(), floor.p99.value(), floor.count);
  return worst_of({{"p50", {summary.p50, floor.p50, {}, summary.p50_interval, {}, {}, floor.p50}, 0.2},
                   {"p99", {summary.p99, floor.p99, {}, summary.p99_interval, note, {}, floor.p99}, 2.0}},
                  "ms");
}

}  // namespace

Benchmark gateway_added_latency() {
  return {{"gateway.added_latency",
           "from when the model server sent a chunk until the client has read its event, p50 and p99",
           "ms",
           Judged::time,
           {{}, 0.2}},
          measure_latency};
}

}  // namespace tare::benchmarks
