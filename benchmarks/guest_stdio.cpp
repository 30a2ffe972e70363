#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "echoes.hpp"
#include "guest_lanes.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"
#include "registry_worker.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto stdio_answer_limit = std::chrono::seconds(30);

/// As large as the pieces that Node's own streams read from files.
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
constexpr std::size_t pieces = 4096;
constexpr std::size_t total_bytes = piece_bytes * pieces;
constexpr double total_mb = static_cast<double>(total_bytes) / (1024 * 1024);

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t stdio_warmup = 300;
constexpr std::size_t trips = 1000;

/// Writes the pieces as a stream wants it: as long as it takes them, and on when it has drained.
std::string writer_script() {
  return fmt::format(R"(
const piece = Buffer.alloc({}, 'What a guest writes, its client reads. ');
let left = {};
(function write() {{
  while (left > 0) {{
    left--;
    if (!process.stdout.write(piece)) return void process.stdout.once('drain', write);
  }}
}})();)",
                     piece_bytes, pieces);
}

/// What comes, whatever its pieces are.
std::string expected_piece() {
  constexpr std::string_view text = "What a guest writes, its client reads. ";
  std::string piece;
  while (piece.size() < piece_bytes) piece += text;
  piece.resize(piece_bytes);
  return piece;
}

/// Whether the bytes are those at this place of the output.
bool is_right(std::string_view bytes, std::size_t at, std::string_view piece) {
  while (!bytes.empty()) {
    const std::string_view rest = piece.substr(at % piece_bytes);
    const std::size_t size = std::min(rest.size(), bytes.size());
    if (bytes.substr(0, size) != rest.substr(0, size)) return false;
    bytes.remove_prefix(size);
    at += size;
  }
  return true;
}

/// MB a second from the first byte to the guest's end. Every byte is looked at.
double transfer_rate(Guests& guests, std::string_view piece) {
  const SystemClock clock;
  guest::Execution writer = guests.start(writer_script(), guest::Stdio::pipe);
  std::size_t got = 0;
  Instant begin{};
  for (;;) {
    const auto event = writer.poll_event(clock.now() + stdio_answer_limit);
    if (!event) throw Broken("a guest that writes got stuck");
    if (got == 0) begin = clock.now();
    if (const auto* ended = std::get_if<guest::Ended>(&*event)) {
      if (ended->exit.code != 0) throw Broken("a guest that writes " + guest::describe(ended->exit));
      break;
    }
    const auto* out = std::get_if<guest::Stdout>(&*event);
    if (out == nullptr) throw Broken("a guest that writes said something on stderr");
    if (!is_right(out->bytes, got, piece)) throw Broken(fmt::format("wrong bytes after {}", got));
    got += out->bytes.size();
  }
  const Nanoseconds took = clock.now() - begin;
  if (got != total_bytes) throw Broken(fmt::format("{} of {} bytes came", got, total_bytes));
  return total_mb * 1e9 / static_cast<double>(took.count());
}

Measurement measure_rate() {
  guest::VmOptions machine = Guests::machine_options();
  machine.limits.output_bytes = 2 * total_bytes;
  Guests guests({}, machine);
  const std::string piece = expected_piece();
  transfer_rate(guests, piece);
  auto figures = interleave({[&] { return transfer_rate(guests, piece); }},
                            {.fewest = 10, .most = 40, .limit = std::chrono::seconds(20)});
  const std::size_t transfers = figures[0].size();
  Measurement measurement = alone(std::move(figures[0]));
  measurement.note = fmt::format("p50 of {} transfers of {} MB in pieces of {} KiB", transfers, total_mb,
                                 piece_bytes / 1024);
  return measurement;
}

/// Another text each time.
std::string fresh_block(std::uint64_t round) {
  std::string block;
  for (std::uint64_t i = 0; block.size() < block_bytes; ++i)
    block += fmt::format("{:016x}", measure::mix(round, i));
  return block;
}

struct RoundTrips {
  double guest_us = 0;
  double bare_us = 0;
};

/// Medians of a fresh engine's guest and of a fresh echo, in turns.
RoundTrips fresh_pair(std::uint64_t nonce) {
  Guests guests;
  GuestEcho guest(guests.start(guest_driver::echo_script, guest::Stdio::pipe));
  guests.settle(1);  // or the filling of the pool would be in the first trips
  BareEcho bare;
  std::uint64_t trip = measure::mix(seed, nonce);
  const std::vector<Lane> lanes{[&] { return round_trip_us(guest, fresh_block(trip++)); },
                                [&] { return round_trip_us(bare, fresh_block(trip++)); }};
  for (std::size_t i = 0; i < stdio_warmup; ++i) {
    for (const Lane& lane : lanes) lane();
  }
  auto figures = interleave(lanes, {.fewest = trips, .most = trips, .limit = std::chrono::seconds(30)});
  guest.leave();
  bare.leave();
  return {measure::summarise(std::move(figures[0])).p50.value(),
          measure::summarise(std::move(figures[1])).p50.value()};
}

/// Which processor a process wakes up on, and beside whom, stays the same for long, and makes more of a
/// difference than anything else: so one figure is that of a process's life, as in a registry's worker.
Measurement measure_round_trip() {
  std::vector<double> ours;
  std::vector<double> theirs;
  repeat(12, 40, std::chrono::seconds(25), [&](std::size_t pair) {
    const RoundTrips medians = fresh_pair(pair);
    ours.push_back(medians.guest_us);
    theirs.push_back(medians.bare_us);
  });
  Measurement measurement = compared(ours, theirs);
  const auto [low, high] = std::minmax_element(ours.begin(), ours.end());
  const auto [bare_low, bare_high] = std::minmax_element(theirs.begin(), theirs.end());
  measurement.note = fmt::format(
      "{} fresh pairs, {} round trips each; guest {:.0f} to {:.0f} µs, bare {:.0f} "
      "to {:.0f} µs",
      ours.size(), trips, *low, *high, *bare_low, *bare_high);
  return measurement;
}

}  // namespace

Benchmark guest_stdio_rate() {
  return {{"guest.stdio_rate",
           "what a guest writes to stdout and its client reads, in a second",
           "MB/s",
           Judged::rate,
           {500.0, {}}},
          measure_rate};
}

Benchmark guest_stdio_roundtrip() {
  return {{"guest.stdio_roundtrip",
           "4 KiB to a guest and back p50, against a bare C echo over the same kind of socket",
           "µs",
           Judged::ratio,
           {{}, 2.0}},
          measure_round_trip};
}

}  // namespace tare::benchmarks
