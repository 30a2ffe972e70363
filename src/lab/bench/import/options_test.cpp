#include "lab/bench/import/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/bench/import/worker.hpp"

namespace tare::import_bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string import_refusal(const RawOptions& raw) {
  try {
    resolve(raw);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.line();
  }
  return "";
}

TEST(ImportOptions, defaults) {
  const Options options = resolve({});
  EXPECT_EQ(options.iterations, 10U);
  EXPECT_EQ(options.warmup, 1U);
  EXPECT_EQ(options.processes, 1U);
  EXPECT_EQ(options.timeout().count(), 60'000);
  EXPECT_THAT(options.targets, ElementsAre("node", "guest"));
  EXPECT_EQ(options.rows, driver::import_rows());
  EXPECT_EQ(options.scenarios.size(), 21U);
  EXPECT_EQ(workloads(options).size(), 24U);
}

TEST(ImportOptions, a_quick_run_is_small_and_flags_lie_over_it) {
  RawOptions raw;
  raw.quick = true;
  EXPECT_EQ(resolve(raw).iterations, 3U);
  EXPECT_EQ(resolve(raw).rows.size(), 9U);
  EXPECT_EQ(resolve(raw).scenarios.size(), 7U);
  raw.iterations = "5";
  raw.scenarios = "transport,builtin-import";
  EXPECT_EQ(resolve(raw).iterations, 5U);
  EXPECT_THAT(resolve(raw).rows,
              ElementsAre("transport_32", "transport_4096", "transport_65536", "builtin-import"));
}

TEST(ImportOptions, limits_are_the_seeds) {
  RawOptions raw;
  for (const char* good : {"1", "1000"}) {
    raw.iterations = good;
    EXPECT_EQ(import_refusal(raw), "");
  }
  for (const char* bad : {"0", "1001", "-1", "", "ten"}) {
    raw.iterations = bad;
    EXPECT_THAT(import_refusal(raw), HasSubstr("--iterations must be 1 to 1000, got "));
  }
  raw.iterations.reset();
  raw.warmup = "0";
  EXPECT_EQ(resolve(raw).warmup, 0U);
  raw.warmup = "1001";
  EXPECT_THAT(import_refusal(raw), HasSubstr("--warmup must be 0 to 1000, got 1001"));
}

TEST(ImportOptions, scenarios_are_known_and_named_once) {
  RawOptions raw;
  raw.scenarios = "cold-local-impor";
  EXPECT_THAT(import_refusal(raw), HasSubstr("did you mean 'cold-local-import'?"));
  raw.scenarios = "transport_32,transport";
  EXPECT_THAT(import_refusal(raw), HasSubstr("names 'transport_32' twice"));
}

bench::Judged started(double ns) {
  bench::Judged one;
  if (ns > 0) one.sample.ns["engine_start"] = ns;
  return one;
}

TEST(EngineStart, is_kept_once_a_worker_wherever_it_was_seen) {
  bench::Taken taken;
  taken.warmups = {started(5), started(0)};
  taken.samples = {started(0), started(9)};
  keep_engine_start(taken);
  EXPECT_FALSE(taken.warmups[0].sample.metric("engine_start"));
  EXPECT_EQ(taken.samples[0].sample.metric("engine_start"), 5);
  EXPECT_FALSE(taken.samples[1].sample.metric("engine_start"));
  bench::Taken none;
  none.warmups = {started(5)};
  keep_engine_start(none);  // the worker failed before its first sample
  EXPECT_TRUE(none.samples.empty());
}

}  // namespace
}  // namespace tare::import_bench
