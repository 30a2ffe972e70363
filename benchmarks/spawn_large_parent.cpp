#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t large_parent_warmup = 30;
constexpr std::size_t held_mb = 1024;
/// /bin/true has 1 to 2 MB; a figure that was inherited from the lab would be 1 GB.
constexpr std::uint64_t plausible_rss = std::uint64_t{8} << 20;

/// A lab in a process of its own, and what it saw.
struct Lab {
  explicit Lab(std::size_t megabytes)
      : peer({helper("holding_lab"), spawner_path(), std::to_string(megabytes)}) {}

  double spawn_ms() {
    const std::string answer = peer.ask("");
    const std::vector<std::string> parts = text::split(answer, ' ');
    const auto ns = text::to_double(parts.at(0));
    const auto rss = parts.size() == 2 ? text::to_int(parts[1]) : std::nullopt;
    if (!ns || !rss) throw Error(ErrorCode::failed, "holding_lab answered '" + text::one_line(answer) + "'");
    largest_rss = std::max(largest_rss, static_cast<std::uint64_t>(*rss));
    return *ns / 1e6;
  }

  Peer peer;
  std::uint64_t largest_rss = 0;
};

Measurement measure_large_parent() {
  Lab fresh(0);
  Lab large(held_mb);
  std::vector<double> in_large;
  std::vector<double> in_fresh;
  const std::size_t rounds =
      repeat(300, 4000 + large_parent_warmup, std::chrono::seconds(30), [&](std::size_t round) {
        double large_ms = 0;
        double fresh_ms = 0;
        for (const std::size_t lane : measure::lane_order(seed, round, 2))
          (lane == 0 ? large_ms : fresh_ms) = (lane == 0 ? large : fresh).spawn_ms();
        if (round < large_parent_warmup) return;
        in_large.push_back(large_ms);
        in_fresh.push_back(fresh_ms);
      });
  const measure::Comparison ratio = measure::quantile_ratio_paired(in_large, in_fresh, 0.5, seed);
  Measurement measurement{
      measure::summarise(in_large).p50,
      measure::summarise(in_fresh).p50,
      ratio.ratio,
      ratio.ratio_interval,
      fmt::format("{} rounds of one spawn each; largest child {} beside {} in a fresh lab",
                  rounds - large_parent_warmup, text::bytes(large.largest_rss),
                  text::bytes(fresh.largest_rss)),
      std::nullopt};
  if (std::max(large.largest_rss, fresh.largest_rss) > plausible_rss)
    measurement.broken = "the child's memory is not the child's";
  return measurement;
}

}  // namespace

Benchmark spawn_large_parent() {
  return {{"spawn.large_parent",
           "exec_true p50 while the lab holds 1 GB of samples, against a fresh lab",
           "ms",
           Judged::ratio,
           {{}, 1.05}},
          measure_large_parent};
}

}  // namespace tare::benchmarks
