#include "runtime/guest_driver/import_rows.hpp"

#include <gmock/gmock.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "runtime/guest/world_for_tests.hpp"
#include "runtime/guest_driver/driver.hpp"
#include "runtime/guest_driver/transport.hpp"

namespace tare::guest_driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ImportRows : public testing::Test {
 protected:
  ImportRows() { std::filesystem::create_directories(dir() / "bench"); }

  std::filesystem::path dir() const { return folder_.path(); }

  std::string ask(std::string_view row, const std::string& params, int iterations = 1) {
    const std::string line = fmt::format(
        R"({{"id":1,"op":"sample","row":"{}","params":{{{}}},"iterations":{}}})", row, params, iterations);
    return serve::answer(handlers_, line).line;
  }

  json::Array samples(std::string_view row, const std::string& params, int iterations = 1) {
    const std::string line = ask(row, params, iterations);
    const json::Value answer = json::parse(line, "answer");
    EXPECT_TRUE(answer.at("ok").as_bool()) << line;
    return answer.as_object().contains("samples") ? answer.at("samples").as_array() : json::Array();
  }

  std::string params(std::string_view entry, std::string_view reuse, const std::string& more = "") const {
    return fmt::format(
        R"("timeoutMs":30000,"dir":"{}","entry":"bench/{}.mjs","reuse":"{}","cache":"disabled"{})",
        dir().string(), entry, reuse, more);
  }

  std::string primed(std::string_view reuse) const {
    std::filesystem::create_directories(dir() / "cache" / "one");
    file::write_atomically(dir() / "cache" / "one" / "code", "x");
    return fmt::format(
        R"("timeoutMs":30000,"dir":"{0}","entry":"bench/a.mjs","reuse":"{1}","cache":"primed","cacheDir":"{0}/cache")",
        dir().string(), reuse);
  }

  std::string round_trip(std::string_view entry, int bytes, int timeout_ms = 30'000) const {
    return fmt::format(R"("timeoutMs":{},"dir":"{}","entry":"bench/{}.mjs","bytes":{},"nonce":"ab")",
                       timeout_ms, dir().string(), entry, bytes);
  }

  guest::World world_;
  file::TemporaryFolder folder_{"tare-import-test"};
  serve::Handlers handlers_ = handlers(world_.options());
};

std::int64_t ns(const json::Value& sample, std::string_view name) {
  return sample.at("ns").at(name).as_int64();
}

bool has_ns(const json::Value& sample, std::string_view name) {
  return sample.at("ns").as_object().contains(name);
}

std::int64_t import_counter(const json::Value& sample, std::string_view name) {
  return sample.at("counters").at(name).as_int64();
}

TEST_F(ImportRows, are_offered_with_those_of_the_transport) {
  const std::string hello =
      serve::answer(handlers_, R"({"id":0,"op":"hello","protocol":"tare.driver.v1"})").line;
  EXPECT_EQ(import_rows().size(), 21U);
  EXPECT_THAT(hello, HasSubstr(R"("transport_<n>")"));
  for (const std::string& row : import_rows()) EXPECT_THAT(hello, HasSubstr('"' + row + '"'));
}

TEST_F(ImportRows, a_sample_is_the_sum_of_its_phases_without_the_start_of_the_engine) {
  const json::Array two = samples("isolate-startup", params("isolate-startup", "fresh-per-sample"), 2);
  ASSERT_EQ(two.size(), 2U);
  for (const json::Value& one : two) {
    EXPECT_EQ(one.at("outcome").as_string(), "ok") << one;
    EXPECT_EQ(import_counter(one, "exitCode"), 0);
    EXPECT_EQ(one.at("output").as_string(), "loaded bench/isolate-startup.mjs\n");
    EXPECT_EQ(ns(one, "total"), ns(one, "context_setup") + ns(one, "startup") + ns(one, "wait"));
    EXPECT_FALSE(has_ns(one, "fresh_process"));
  }
  EXPECT_GT(ns(two[0], "engine_start"), 0);
  EXPECT_FALSE(has_ns(two[1], "engine_start"));
}

TEST_F(ImportRows, each_kind_of_reuse_has_an_engine_of_its_own) {
  for (const char* reuse : {"fresh-per-sample", "shared-across-scenario"})
    EXPECT_TRUE(has_ns(samples("cold-local-import", params("a", reuse)).at(0), "engine_start")) << reuse;
  const json::Array same =
      samples("same-context-local-import", params("a", "shared-context-across-scenario"), 2);
  EXPECT_EQ(import_counter(same.at(1), "exitCode"), 0);
  EXPECT_FALSE(has_ns(same.at(1), "engine_start"));
}

TEST_F(ImportRows, a_whole_life_in_a_fresh_process_is_a_time_of_its_own) {
  const json::Array two =
      samples("cold-local-import", params("a", "fresh-per-sample", R"(,"freshProcess":true)"), 2);
  for (const json::Value& one : two) EXPECT_GT(ns(one, "fresh_process"), 0) << one;
  EXPECT_FALSE(has_ns(two[1], "engine_start"));
}

TEST_F(ImportRows, compiled_code_comes_out_of_its_folder_or_from_nowhere) {
  const json::Value warm = samples("warm-local-import", primed("fresh-per-sample")).at(0);
  EXPECT_EQ(import_counter(warm, "cacheFiles"), 1);
  EXPECT_EQ(import_counter(warm, "cacheAccepted"), 1);
  EXPECT_EQ(import_counter(warm, "cacheRejected"), 0);
  EXPECT_EQ(import_counter(warm, "cacheMissed"), 2);
  const json::Value cold = samples("cold-local-import", params("a", "fresh-per-sample")).at(0);
  EXPECT_EQ(import_counter(cold, "cacheAccepted"), 0);
  EXPECT_EQ(import_counter(cold, "cacheMissed"), 3);
  EXPECT_FALSE(cold.at("counters").as_object().contains("cacheFiles"));
}

TEST_F(ImportRows, only_samples_that_share_an_engine_have_prepared_isolates) {
  const auto pooled = [&](std::string_view reuse) {
    return import_counter(samples("isolate-startup", params("a", reuse)).at(0), "pooled");
  };
  EXPECT_EQ(pooled("fresh-per-sample"), 0);
  EXPECT_EQ(pooled("shared-across-scenario"), 1);
  EXPECT_EQ(pooled("shared-context-across-scenario"), 1);
}

TEST_F(ImportRows, a_context_that_cannot_be_made_fails_the_sample) {
  world_.set_mode("no contexts");
  handlers_ = handlers(world_.options());
  const json::Value one = samples("isolate-startup", params("a", "fresh-per-sample")).at(0);
  EXPECT_EQ(one.at("outcome").as_string(), "failed");
  EXPECT_THAT(std::string(one.at("error").as_string()), HasSubstr("no room"));
}

TEST_F(ImportRows, a_program_that_fails_is_told_by_its_code) {
  const json::Value one = samples("pdf-lib-startup", params("fails", "fresh-per-sample")).at(0);
  EXPECT_EQ(one.at("outcome").as_string(), "ok");
  EXPECT_EQ(import_counter(one, "exitCode"), 3);
}

TEST_F(ImportRows, one_that_is_late_is_a_timeout_and_the_next_is_not) {
  world_.set_mode("slow");
  handlers_ = handlers(world_.options());
  const std::string late = fmt::format(
      R"("timeoutMs":1,"dir":"{}","entry":"bench/a.mjs","reuse":"fresh-per-sample","cache":"disabled")",
      dir().string());
  const json::Value one = samples("isolate-startup", late).at(0);
  EXPECT_EQ(one.at("outcome").as_string(), "timeout");
  EXPECT_EQ(one.at("error").as_string(), "not done after 1 ms");
  world_.set_mode("");
  EXPECT_EQ(samples("isolate-startup", params("a", "fresh-per-sample")).at(0).at("outcome").as_string(),
            "ok");
}

TEST_F(ImportRows, rows_of_both_benches_take_turns) {
  EXPECT_EQ(samples("node_exit_1", R"("timeoutMs":30000)").at(0).at("outcome").as_string(), "ok");
  EXPECT_EQ(samples("isolate-startup", params("a", "fresh-per-sample")).at(0).at("outcome").as_string(),
            "ok");
  EXPECT_EQ(samples("node_exit_1", R"("timeoutMs":30000)").at(0).at("outcome").as_string(), "ok");
}

TEST_F(ImportRows, what_makes_no_sense_is_refused) {
  EXPECT_THAT(ask("isolate-startup", R"("timeoutMs":1)"), HasSubstr("params.reuse is missing"));
  EXPECT_THAT(ask("isolate-startup", params("a", "never")), HasSubstr("params.reuse is 'never'"));
  EXPECT_THAT(ask("isolate-startup", params("a", "fresh-per-sample", R"(,"nodeModules":"/none")")),
              HasSubstr("params.nodeModules is no folder: /none"));
  EXPECT_THAT(ask("isolate-startup",
                  R"("timeoutMs":1,"reuse":"fresh-per-sample","cache":"primed","dir":"/none","entry":"a")"),
              HasSubstr("params.cacheDir is missing"));
  EXPECT_THAT(ask("isolate-startup",
                  R"("timeoutMs":1,"reuse":"fresh-per-sample","cache":"disabled","dir":"/none","entry":"a")"),
              HasSubstr("params.dir is no folder: /none/bench"));
  EXPECT_THAT(ask("transport_70000", round_trip("transport", 70'000)),
              HasSubstr("params.bytes must be 1 to 65536, got 70000"));
  EXPECT_THAT(ask("transport_0", round_trip("transport", 32)), HasSubstr("no row"));
}

TEST_F(ImportRows, lines_come_back_byte_by_byte_over_one_guest) {
  for (const int bytes : {32, 65'536}) {
    const json::Array trips = samples(fmt::format("transport_{}", bytes), round_trip("transport", bytes), 3);
    ASSERT_EQ(trips.size(), 3U);
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::string line = transport_line({"ab", static_cast<std::uint64_t>(bytes), {}}, k);
      EXPECT_EQ(line.size(), static_cast<std::size_t>(bytes) + 1);
      EXPECT_EQ(trips[k].at("output").as_string(), line);
      EXPECT_EQ(import_counter(trips[k], "exitCode"), 0);
      EXPECT_GT(ns(trips[k], "total"), 0);
    }
  }
}

TEST_F(ImportRows, a_line_is_never_shorter_than_its_header) {
  EXPECT_EQ(transport_line({"ab", 1, {}}, 12), "transport:ab-12:\n");
  EXPECT_EQ(transport_line({"ab", 20, {}}, 1), "transport:ab-1:xxxxx\n");
}

TEST_F(ImportRows, a_wrong_echo_is_reported_as_it_is) {
  const json::Value one = samples("transport_32", round_trip("transport-wrong", 32)).at(0);
  EXPECT_EQ(one.at("outcome").as_string(), "ok");
  EXPECT_EQ(one.at("output").as_string(), "TRANSPORT:AB-0:XXXXXXXXXXXXXXXXX\n");
}

TEST_F(ImportRows, an_unclean_end_is_seen_in_every_sample) {
  for (const json::Value& one : samples("transport_32", round_trip("transport-unclean", 32), 2)) {
    EXPECT_EQ(one.at("outcome").as_string(), "ok");
    EXPECT_EQ(import_counter(one, "exitCode"), 7);
  }
}

TEST_F(ImportRows, a_guest_that_leaves_early_fails_what_comes_after) {
  std::vector<std::string> outcomes;
  for (const json::Value& one : samples("transport_32", round_trip("transport-early", 32), 3)) {
    outcomes.emplace_back(one.at("outcome").as_string());
    EXPECT_EQ(import_counter(one, "exitCode"), 5);
    if (outcomes.back() != "ok") {
      EXPECT_EQ(one.at("error").as_string(), "before the line was back: it exited with code 5");
    }
  }
  EXPECT_THAT(outcomes, ElementsAre("ok", "failed", "failed"));
}

TEST_F(ImportRows, a_round_trip_that_is_late_is_a_timeout_and_ends_the_guest) {
  const json::Array trips = samples("transport_32", round_trip("transport-mute", 32, 50), 2);
  EXPECT_EQ(trips.at(0).at("outcome").as_string(), "timeout");
  EXPECT_EQ(trips.at(0).at("error").as_string(), "not done after 50 ms");
  EXPECT_GE(ns(trips.at(0), "total"), 50'000'000);
  EXPECT_EQ(trips.at(1).at("outcome").as_string(), "failed");
  EXPECT_EQ(samples("transport_32", round_trip("transport", 32)).at(0).at("outcome").as_string(), "ok");
}

}  // namespace
}  // namespace tare::guest_driver
