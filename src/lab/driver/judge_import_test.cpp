#include "lab/driver/judge_import.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "lab/driver/import.hpp"

namespace tare::driver {
namespace {

const std::string prefix(import_marker);

/// A good sample of a lane with phases: 1 + 2 + 4 ms, of which 3 are imports.
Sample good_sample() {
  Sample sample;
  sample.ns = {{"total", 7e6}, {"context_setup", 1e6}, {"startup", 2e6}, {"wait", 4e6}};
  sample.counters = {{"exitCode", 0}, {"cacheAccepted", 0}, {"pooled", 0}};
  sample.output = "hello\n" + prefix +
                  R"({"import_ms":3,"resource_usage":{"rss_bytes":1000,"heap_used_bytes":10,)"
                  R"("cpu_user_us":4000,"cpu_system_us":500,"cpu_total_us":4500}})" +
                  "\nbye\n";
  return sample;
}

Workload row(const char* name) {
  return import_workload(name).value();
}

/// The first condition that does not hold.
std::string import_breaks(const char* name, const Sample& sample, const json::Object& params = {}) {
  for (const Judgement& one : judge(row(name), params, sample)) {
    if (!one.ok) return describe(one);
  }
  return "";
}

TEST(Marker, is_an_object_or_a_number_and_the_last_one_counts) {
  const auto ms = [](const std::string& text) {
    const ImportMarker marker = read_marker(text);
    return marker.metrics ? marker.metrics->import_ms : std::nullopt;
  };
  EXPECT_EQ(ms(prefix + "1.5\n"), 1.5);
  EXPECT_EQ(ms(prefix + " 1e1 \r\n"), 10);
  EXPECT_EQ(ms(prefix + R"({"import_ms":0,"more":[1]})"), 0);
  EXPECT_EQ(ms(prefix + "1\n" + prefix + "2\ntext\n"), 2);
  EXPECT_EQ(read_marker(prefix + "1\n" + prefix + "2\n").count, 2U);
  EXPECT_EQ(read_marker(" " + prefix + "1\nx" + prefix + "1\n").count, 0U);
  const ImportMarker usage = read_marker(prefix + R"({"import_ms":null,"resource_usage":{"rss_bytes":5}})");
  ASSERT_TRUE(usage.metrics);
  EXPECT_EQ(usage.metrics->rss_bytes, 5);
  EXPECT_FALSE(usage.metrics->import_ms);
}

TEST(Marker, that_cannot_be_read_is_none) {
  for (const char* text : {"",
                           "x",
                           "NaN",
                           "inf",
                           "-1",
                           "1ms",
                           "{",
                           "{}",
                           "[1]",
                           "null",
                           "\"1\"",
                           "1 2",
                           R"({"import_ms":"1"})",
                           R"({"import_ms":-1})",
                           R"({"import_ms":1e999})",
                           R"({"resource_usage":{}})",
                           R"({"import_ms":1,"resource_usage":[]})",
                           R"({"import_ms":1,"resource_usage":{"rss_bytes":"1"}})",
                           R"({"import_ms":1,"resource_usage":{"cpu_total_us":-1}})",
                           R"({"import_ms":1} 2)"}) {
    const ImportMarker marker = read_marker(prefix + text + "\n");
    EXPECT_EQ(marker.count, 1U) << text;
    EXPECT_FALSE(marker.metrics) << text;
  }
  // A bad last one is not made good by the one before.
  EXPECT_FALSE(read_marker(prefix + "1\n" + prefix + "x\n").metrics);
}

TEST(JudgeImport, holds_for_a_good_sample) {
  EXPECT_EQ(import_breaks("cold-local-import", good_sample()), "");
  Sample host = good_sample();
  host.ns = {{"total", 7e6}};
  host.counters = {{"exitCode", 0}};
  EXPECT_EQ(import_breaks("warm-local-import", host), "");
}

TEST(JudgeImport, names_what_does_not_hold) {
  Sample sample = good_sample();
  sample.counters["exitCode"] = 1;
  sample.output = "Error: wrong value\n";
  EXPECT_EQ(import_breaks("cold-local-import", sample),
            "exit_code: expected exit code 0, got exit code 1; its output ends: Error: wrong value");
  sample = good_sample();
  sample.output = "nothing\n";
  EXPECT_EQ(import_breaks("cold-local-import", sample),
            "marker: expected a marker with import_ms, got no marker");
  sample = good_sample();
  sample.output = prefix + R"({"resource_usage":{"rss_bytes":1}})";
  EXPECT_EQ(import_breaks("cold-local-import", sample),
            "marker: expected a marker with import_ms, got a marker without import_ms");
  EXPECT_EQ(import_breaks("isolate-startup", sample), "");
  sample = good_sample();
  sample.output = prefix + "9\n";
  EXPECT_EQ(import_breaks("cold-local-import", sample),
            "marker: expected a marker with import_ms, got 9.00 ms of imports in a sample of 7.00 ms");
}

TEST(JudgeImport, phases_make_up_the_total_within_a_twentieth) {
  Sample sample = good_sample();
  sample.ns["total"] = 7e6 / 1.049;
  EXPECT_EQ(import_breaks("cold-local-import", sample), "");
  sample.ns["total"] = 7e6 / 1.06;
  EXPECT_EQ(import_breaks("cold-local-import", sample).substr(0, 10), "phases_sum");
}

TEST(JudgeImport, cold_code_is_cold_and_primed_code_is_used_where_the_lane_counts_it) {
  Sample sample = good_sample();
  sample.counters["cacheAccepted"] = 1;
  EXPECT_EQ(import_breaks("cold-local-import", sample),
            "cache_used: expected no cached code accepted, got 1 accepted, not reported refused");
  EXPECT_EQ(import_breaks("warm-local-import", sample), "");
  sample.counters["cacheAccepted"] = 0;
  EXPECT_EQ(import_breaks("warm-local-import", sample),
            "cache_used: expected cached code accepted, got 0 accepted, not reported refused");
  sample.counters["pooled"] = 1;
  EXPECT_EQ(import_breaks("cold-local-import", sample),
            "cold: expected an isolate of its own, out of no pool, got out of a pool");
  sample.counters["cacheAccepted"] = 3;
  EXPECT_EQ(import_breaks("prewarmed-local-import", sample), "");
}

TEST(JudgeImport, a_round_trip_brings_back_every_byte_of_its_own_line) {
  const json::Object params{{"nonce", "ab"}, {sample_index, 2}};
  Sample sample;
  sample.counters = {{"exitCode", 0}};
  sample.output = transport_line("ab", 2, 32) + "\n";
  EXPECT_EQ(import_breaks("transport_32", sample, params), "");
  EXPECT_EQ(
      import_breaks("transport_32", sample, {{"nonce", "ab"}}),
      "echo_exact: expected its line of 32 bytes, byte for byte, got 33 bytes, the first wrong one at 13");
  sample.output->pop_back();
  EXPECT_EQ(import_breaks("transport_32", sample, params),
            "echo_exact: expected its line of 32 bytes, byte for byte, got 32 bytes");
  sample.output.reset();
  sample.counters = {{"signal", 9}};
  EXPECT_EQ(import_breaks("transport_32", sample, params), "exit_code: expected exit code 0, got signal 9");
}

TEST(DeriveImport, phases_divide_the_total_into_imports_and_overhead) {
  const Sample derived = derive_import(row("cold-local-import"), good_sample());
  EXPECT_EQ(derived.metric("guest_execution"), 3e6);
  EXPECT_EQ(derived.metric("completion"), 1e6);
  EXPECT_EQ(derived.metric("startup_overhead"), 4e6);
  EXPECT_EQ(derived.metric("cpu_user"), 4e6);
  EXPECT_EQ(derived.metric("cpu_total"), 4.5e6);
  EXPECT_EQ(derived.bytes.at("rss"), 1000);
  EXPECT_FALSE(derived.output);
  EXPECT_FALSE(derived.counter("extraMarkers"));
}

TEST(DeriveImport, completion_is_never_below_zero) {
  Sample sample = good_sample();
  sample.ns["wait"] = 2e6;
  EXPECT_EQ(derive_import(row("cold-local-import"), sample).metric("completion"), 0);
}

TEST(DeriveImport, a_lane_without_phases_has_startup_alone) {
  Sample sample = good_sample();
  sample.ns = {{"total", 7e6}};
  const Sample derived = derive_import(row("cold-local-import"), sample);
  EXPECT_EQ(derived.metric("startup"), 4e6);
  EXPECT_EQ(derived.metric("startup_overhead"), 4e6);
  EXPECT_FALSE(derived.metric("completion"));
  EXPECT_FALSE(derived.metric("context_setup"));
}

TEST(DeriveImport, what_a_process_of_all_samples_has_used_is_no_samples) {
  Sample sample = good_sample();
  sample.ns = {{"total", 7e6}};
  const Sample derived = derive_import(row("hot-builtin-url-import"), sample);
  EXPECT_FALSE(derived.metric("cpu_total"));
  EXPECT_FALSE(derived.bytes.contains("rss"));
  EXPECT_TRUE(derived.metric("guest_execution"));
}

TEST(DeriveImport, without_imports_there_is_no_overhead_beside_them) {
  Sample sample = good_sample();
  sample.output = prefix + R"({"resource_usage":{"rss_bytes":1}})";
  const Sample derived = derive_import(row("isolate-startup"), sample);
  EXPECT_FALSE(derived.metric("startup_overhead"));
  EXPECT_FALSE(derived.metric("guest_execution"));
  EXPECT_EQ(derived.metric("completion"), 4e6);
}

TEST(DeriveImport, markers_that_do_not_count_are_counted) {
  Sample sample = good_sample();
  sample.output = prefix + "1\n" + prefix + "1\n" + *sample.output;
  EXPECT_EQ(derive_import(row("cold-local-import"), sample).counter("extraMarkers"), 2);
}

}  // namespace
}  // namespace tare::driver
