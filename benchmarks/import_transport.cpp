#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "echoes.hpp"
#include "import_lanes.hpp"
#include "lab/driver/import.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"
#include "runtime/guest_driver/import_context.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::int64_t small_line = 32;
constexpr std::int64_t large_line = std::int64_t{64} << 10;

constexpr std::size_t transport_warmup = 300;
constexpr std::size_t transport_trips = 500;

/// The figures of fresh pairs, in µs.
struct Trips {
  std::int64_t bytes;
  std::vector<double> guest_us;
  std::vector<double> bare_us;
};

double p50_us(std::vector<double> figures) {
  return measure::summarise(std::move(figures)).p50.value();
}

/// Lines of one size to and fro, trip by trip in turns; adds the median of each side.
void take_turns(GuestEcho& guest, BareEcho& bare, const std::string& nonce, Trips& trips) {
  std::uint64_t k = 0;
  const auto line = [&] { return driver::transport_line(nonce, k++, trips.bytes) + "\n"; };
  const std::vector<Lane> lanes{[&] { return round_trip_us(guest, line()); },
                                [&] { return round_trip_us(bare, line()); }};
  for (std::size_t i = 0; i < transport_warmup; ++i) {
    for (const Lane& lane : lanes) lane();
  }
  auto figures = interleave(
      lanes, {.fewest = transport_trips, .most = transport_trips, .limit = std::chrono::seconds(30)});
  trips.guest_us.push_back(p50_us(std::move(figures[0])));
  trips.bare_us.push_back(p50_us(std::move(figures[1])));
}

/// An engine, the program of the row in it, and an echo, all of them fresh: see guest.stdio_roundtrip.
void add_pair(const driver::ImportWorkspace& workspace, std::uint64_t number, std::vector<Trips>& sizes) {
  guest_driver::ImportPlace place;
  place.bench = std::filesystem::canonical(workspace.path() / "bench");
  guest::Engine engine = guest::Engine::start(guest_driver::import_engine({}, place, 0));
  guest_driver::ImportContext context(engine, place);
  GuestEcho guest(context.spawn("bench/transport-echo.mjs"));
  BareEcho bare;
  const std::string nonce = fmt::format("{:016x}", measure::mix(seed, number));
  for (Trips& trips : sizes) take_turns(guest, bare, nonce, trips);
  guest.leave();
  bare.leave();
}

std::string range(const std::vector<double>& figures) {
  const auto [low, high] = std::minmax_element(figures.begin(), figures.end());
  return fmt::format("{:.0f} to {:.0f} µs", *low, *high);
}

Measurement measure_transport() {
  const driver::ImportWorkspace workspace;
  std::vector<Trips> sizes{{small_line, {}, {}}, {large_line, {}, {}}};
  repeat(12, 40, std::chrono::seconds(30), [&](std::size_t pair) { add_pair(workspace, pair, sizes); });
  std::vector<Measurement> judged;
  for (const Trips& trips : sizes) {
    Measurement measurement = compared(trips.guest_us, trips.bare_us);
    measurement.note =
        fmt::format("{} fresh pairs, {} round trips each; guest {}, bare {}", trips.guest_us.size(),
                    transport_trips, range(trips.guest_us), range(trips.bare_us));
    judged.push_back(std::move(measurement));
  }
  return worse_of(judged[0], "32 B", judged[1], "64 KiB");
}

}  // namespace

Benchmark import_transport() {
  return {{"import.transport",
           "a line of 32 B and one of 64 KiB to a guest and back p50, against a bare C echo over the same "
           "kind of socket: the worse ratio",
           "µs",
           Judged::ratio,
           {{}, 2.0}},
          measure_transport};
}

}  // namespace tare::benchmarks
