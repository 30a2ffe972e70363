#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "benchmark.hpp"
#include "lab/measure/summary.hpp"
#include "lab/process/run.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t help_warmup = 5;
constexpr std::size_t runs = 50;

double help_ms() {
  process::RunOptions limits;
  limits.deadline = SystemClock().now() + std::chrono::seconds(10);
  process::SpawnOptions options;
  options.argv = {tare_path(), "--help"};
  const process::RunResult result = process::run(options, {}, limits);
  if (!result.exit.ok() || result.out.find("Examples:") == std::string::npos)
    throw Error(ErrorCode::failed, "tare --help did not print its help", describe(result.exit));
  return to_ms(result.elapsed);
}

Measurement measure_help() {
  for (std::size_t i = 0; i < help_warmup; ++i) help_ms();
  std::vector<double> ms;
  ms.reserve(runs);
  for (std::size_t i = 0; i < runs; ++i) ms.push_back(help_ms());
  const measure::Summary summary = measure::summarise(ms);
  return {summary.p50, {}, {}, summary.p50_interval, fmt::format("p50 of {} runs", runs), {}};
}

}  // namespace

Benchmark cli_help() {
  return {{"cli.help", "tare --help, from the start to its last byte", "ms", Judged::time, {{}, 10.0}},
          measure_help};
}

}  // namespace tare::benchmarks
