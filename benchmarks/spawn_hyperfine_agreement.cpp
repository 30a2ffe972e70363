#include <numeric>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/random.hpp"
#include "lab/process/run.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

/// The first spawns of a block find cold caches on both sides and are left out on both.
constexpr std::size_t block = 100;
constexpr std::size_t block_warmup = 10;
const char* const command = "/bin/true";

struct HyperfineResult {
  std::vector<double> times;  ///< seconds
};
BOOST_DESCRIBE_STRUCT(HyperfineResult, (), (times))
struct HyperfineExport {
  std::vector<HyperfineResult> results;
};
BOOST_DESCRIBE_STRUCT(HyperfineExport, (), (results))

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Mean of one block in ms.
double hyperfine_block(const std::string& program, const std::filesystem::path& out) {
  process::RunOptions limits;
  limits.deadline = SystemClock().now() + std::chrono::seconds(30);
  process::SpawnOptions options;
  options.argv = {program,    "-N", "--style",       "none",       "--runs", std::to_string(block),
                  "--warmup", "10", "--export-json", out.string(), command};
  const process::RunResult result = process::run(options, {}, limits);
  if (!result.exit.ok())
    throw Error(ErrorCode::failed, "hyperfine ended with " + describe(result.exit),
                text::tail(result.err, 2, 200));
  const auto report = json::read<HyperfineExport>(json::parse(file::read(out), "hyperfine"), "hyperfine");
  if (report.results.size() != 1 || report.results[0].times.size() != block)
    throw Error(ErrorCode::failed, "hyperfine did not report every run");
  return mean(report.results[0].times) * 1e3;
}

double tare_block(driver::Driver& driver) {
  std::vector<double> ms;
  for (const driver::Sample& sample : take(driver, "command_exit", block_warmup + block))
    ms.push_back(sample.metric("total").value() / 1e6);
  ms.erase(ms.begin(), ms.begin() + block_warmup);
  return mean(ms);
}

/// Both start the next process as soon as they have noted the last one, so the cadence is the same.
Measurement measure_agreement() {
  const std::filesystem::path program = file::find_program("hyperfine");
  if (program.empty())
    throw Error(ErrorCode::unavailable, "hyperfine is not installed", "", "apt-get install hyperfine");
  const file::TemporaryFolder folder;
  driver::Driver driver(spawner({"--lane", "cmd", "--", command}));
  std::vector<double> ours;
  std::vector<double> theirs;
  repeat(10, 120, std::chrono::seconds(35), [&](std::size_t round) {
    double our_ms = 0;
    double their_ms = 0;
    for (const std::size_t lane : measure::lane_order(seed, round, 2)) {
      if (lane == 0) {
        our_ms = tare_block(driver);
      } else {
        their_ms = hyperfine_block(program, folder.path() / "hyperfine.json");
      }
    }
    ours.push_back(our_ms);
    theirs.push_back(their_ms);
  });
  driver.bye();
  const measure::Comparison ratio = measure::compare_paired(ours, theirs);
  return {mean(ours),
          mean(theirs),
          ratio.ratio,
          ratio.ratio_interval,
          fmt::format("{} pairs of blocks of {} runs of {}", ours.size(), block, command),
          std::nullopt};
}

}  // namespace

Benchmark spawn_hyperfine_agreement() {
  return {{"spawn.hyperfine_agreement",
           "mean of a command template, against hyperfine -N at the same cadence",
           "ms",
           Judged::ratio,
           {0.93, 1.03}},
          measure_agreement};
}

}  // namespace tare::benchmarks
