#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/driver/workload.hpp"
#include "lab/report/document.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr double bytes_per_mb = 1024 * 1024;

constexpr std::size_t iterations = 200;

/// Throws unless every row is there, right and whole: all of them on the three lanes of the instant driver,
/// exec_true and spawn_exit on sh. Returns what there was, in words.
std::string check(const report::Document& document) {
  std::size_t rows = 0;
  std::size_t whole = 0;
  for (const report::Row& row : document.rows) {
    const auto total = row.metrics.find("total");
    if (total == row.metrics.end()) continue;
    ++rows;
    if (total->second.samples.size() == iterations) ++whole;
  }
  const std::size_t expected =
      3 * driver::all_workloads({.fanouts = {1, 8, 32}, .guests = {}, .processes = {}}).size() + 2;
  if (!document.complete || !document.invariants.ok || rows != expected || whole != expected) {
    throw Error(ErrorCode::failed, "the run whose memory was to be measured is not right",
                document.invariants.failures.empty() ? fmt::format("{} of {} rows are whole", whole, expected)
                                                     : document.invariants.failures.front());
  }
  return fmt::format("peak of one run of {} samples", text::count(rows * iterations));
}

/// A whole `tare spawn` with as many samples as a real one, of drivers that answer at once. It is run by
/// tare-spawner, because a process starts with the peak memory of the one that starts it.
Measurement measure_rss() {
  const file::TemporaryFolder folder;
  const std::filesystem::path output = folder.path() / "run.json";
  const std::string instant = fmt::format("=driver:'{}'", helper("instant_driver").string());
  driver::Driver runner(
      spawner({"--lane", "cmd", "--", tare_path(), "spawn", "--iterations", std::to_string(iterations),
               "--targets", "sh", "--target", "floor" + instant, "--target", "reference" + instant,
               "--target", "subject" + instant, "--output", output.string()}));
  driver::SampleRequest request;
  request.row = "command_exit";
  request.timeout = std::chrono::seconds(50);
  const driver::Sample sample = runner.sample(request).front();
  runner.bye();
  if (sample.outcome != driver::Outcome::ok || sample.counter("exitCode") != 0 || !sample.resources)
    throw Error(ErrorCode::failed, "the run whose memory was to be measured failed",
                sample.error.value_or(fmt::format("exit code {}", sample.counter("exitCode").value_or(-1))));
  return {static_cast<double>(sample.resources->max_rss_bytes.value()) / bytes_per_mb,
          {},
          {},
          {},
          check(report::load(output)),
          {}};
}

}  // namespace

Benchmark lab_rss() {
  return {{"lab.rss",
           "peak memory of tare spawn, 200 iterations of all rows on four lanes",
           "MB",
           Judged::size,
           {{}, 25.0}},
          measure_rss};
}

}  // namespace tare::benchmarks
