#include <charconv>

#include <fmt/format.h>

#include "gateway_load.hpp"
#include "lab/measure/summary.hpp"

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

Measurement measure_latency() {
  GatewayWorld world({.provider = {"--chunk-delay-ms", "20", "--chunks", "20", "--stamp", "text"}});
  world.start_gateway();
  const auto client = world.connect();
  Turns turns(world, *client, {.sessions = 8, .chunks = latency_chunks, .delay = latency_delay});
  std::vector<double> ms;
  client->on_event([&](std::string_view frame, Instant at) {
    for (const double latency : latencies_of(delta_of(frame), at)) ms.push_back(latency);
  });
  turns.begin();
  world.run_for(latency_warmup);
  const std::size_t warmed = ms.size();
  world.run_for(latency_time);
  turns.end();
  world.finish();
  if (ms.size() != turns.ended() * latency_chunks)
    throw Broken(fmt::format("{} turns of {} chunks gave {}", turns.ended(), latency_chunks, ms.size()));
  ms.erase(ms.begin(), ms.begin() + static_cast<std::ptrdiff_t>(warmed));
  const measure::Summary summary = measure::summarise(std::move(ms));
  const std::string note = fmt::format("{} chunks", summary.count);
  return worst_of({{"p50", {summary.p50, {}, {}, summary.p50_interval, {}, {}}, 0.2},
                   {"p99", {summary.p99, {}, {}, summary.p99_interval, note, {}}, 2.0}},
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
