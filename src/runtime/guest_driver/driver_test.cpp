#include "runtime/guest_driver/driver.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "base/json.hpp"
#include "runtime/guest/world_for_tests.hpp"
#include "runtime/guest_driver/processes.hpp"

namespace tare::guest_driver {
namespace {

using testing::HasSubstr;

class GuestDriver : public testing::Test {
 protected:
  std::string ask(std::string_view request) { return serve::answer(handlers_, request).line; }

  json::Value sample(std::string_view row, std::string_view params = "", int timeout_ms = 30'000) {
    const std::string line = ask(fmt::format(
        R"({{"id":1,"op":"sample","row":"{}","params":{{{}"timeoutMs":{}}}}})", row, params, timeout_ms));
    const json::Value answer = json::parse(line, "answer");
    EXPECT_TRUE(answer.at("ok").as_bool()) << line;
    return answer.as_object().contains("samples") ? answer.at("samples").at(0) : json::Value();
  }

  guest::World world_;
  serve::Handlers handlers_ = handlers(world_.options());
};

std::int64_t counter(const json::Value& sample, std::string_view name) {
  return sample.at("counters").at(name).as_int64();
}

TEST_F(GuestDriver, says_what_it_has_and_why_not_the_rest) {
  const std::string answer = ask(R"({"id":0,"op":"hello","protocol":"tare.driver.v1"})");
  EXPECT_THAT(answer, HasSubstr(R"("engine":"v8 13.6")"));
  for (const char* row : {R"("fanout_<n>")", R"("memory_<n>")", R"("growth_<n>")"})
    EXPECT_THAT(answer, HasSubstr(row));
  EXPECT_THAT(answer, HasSubstr(R"("asynchronousSpawn":true)"));
  EXPECT_THAT(answer, HasSubstr(R"("host_cwd_no_write":")"));
}

TEST_F(GuestDriver, a_process_has_its_phases_and_its_code) {
  const json::Value one = sample("node_exit_1");
  EXPECT_EQ(counter(one, "exitCode"), 0);
  const json::Value& ns = one.at("ns");
  EXPECT_EQ(ns.at("total").as_int64(), ns.at("spawn").as_int64() + ns.at("wait_reap").as_int64());
  EXPECT_EQ(counter(sample("exit_code_7"), "exitCode"), 7);
  const json::Value killed = sample("signal_kill");
  EXPECT_EQ(counter(killed, "signal"), 9);
  EXPECT_FALSE(killed.at("counters").as_object().contains("exitCode"));
}

TEST_F(GuestDriver, a_fan_out_counts_each_exit) {
  const json::Value many = sample("fanout_8", R"("fanout":8,)");
  EXPECT_EQ(counter(many, "exits"), 8);
  EXPECT_EQ(counter(many, "nonZero"), 0);
  EXPECT_TRUE(many.at("ns").as_object().contains("wait_reap_batch"));
}

TEST_F(GuestDriver, output_and_input_are_exact) {
  EXPECT_EQ(sample("capture_2b", R"("nonce":"q7","bytes":2,)").at("output").as_string(), "q7");
  const json::Value large = sample("capture_256k", R"("nonce":"q7","bytes":262144,)");
  EXPECT_EQ(large.at("output").as_string().size(), 262'144U);
  EXPECT_EQ(sample("stdin_roundtrip_4k", R"("input":"hello",)").at("output").as_string(), "hello");
  EXPECT_THAT(std::string(sample("nested_8", R"("fanout":8,)").at("output").as_string()),
              HasSubstr("__BENCH098__{"));
}

TEST_F(GuestDriver, a_clean_exit_in_the_root_folder_synced_nothing) {
  EXPECT_EQ(counter(sample("root_cwd_no_write"), "syncSkipped"), 1);
}

TEST_F(GuestDriver, a_storm_leaves_nothing) {
  const json::Value storm = sample("reap_storm_32", R"("fanout":32,)");
  EXPECT_EQ(counter(storm, "exits"), 32);
  EXPECT_EQ(counter(storm, "zombies"), 0);
  EXPECT_LE(counter(storm, "fdsAfter"), counter(storm, "fdsBefore"));
  EXPECT_LE(counter(storm, "threadsAfter"), counter(storm, "threadsBefore"));
}

TEST_F(GuestDriver, a_cold_start_is_the_sum_of_its_parts_and_leaves_nothing) {
  const json::Value cold = sample("cold_start");
  EXPECT_EQ(cold.at("outcome").as_string(), "ok") << cold;
  EXPECT_EQ(counter(cold, "leftRunning"), 0);
  const json::Value& ns = cold.at("ns");
  std::int64_t sum = 0;
  for (const char* part : {"create", "first_exec", "warm_exec", "dispose"}) sum += ns.at(part).as_int64();
  EXPECT_EQ(ns.at("total").as_int64(), sum);
}

TEST_F(GuestDriver, memory_is_weighed_with_guests_that_are_alive) {
  const json::Value memory = sample("memory_4", R"("guests":4,)");
  EXPECT_EQ(memory.at("outcome").as_string(), "ok") << memory;
  EXPECT_EQ(counter(memory, "guests"), 4);
  EXPECT_EQ(counter(memory, "exits"), 4);
  EXPECT_GT(memory.at("bytes").at("live_guests").as_int64(), 0);
}

TEST_F(GuestDriver, growth_is_weighed_around_guests_that_are_counted) {
  const json::Value growth = sample("growth_10", R"("processes":10,"warmup":3,)");
  EXPECT_EQ(growth.at("outcome").as_string(), "ok") << growth;
  EXPECT_EQ(counter(growth, "exits"), 10);
  EXPECT_EQ(counter(growth, "nonZero"), 0);
  EXPECT_GT(growth.at("bytes").at("before").as_int64(), 0);
  EXPECT_GT(growth.at("bytes").at("after").as_int64(), 0);
}

TEST_F(GuestDriver, memory_that_cannot_be_read_is_said_with_the_reason) {
  EXPECT_FALSE(why_no_memory({::getpid()}));
  EXPECT_THAT(why_no_memory({::getpid(), 0}).value_or(""), HasSubstr("smaps_rollup"));
}

TEST_F(GuestDriver, one_that_is_late_is_a_timeout_and_the_next_is_not) {
  world_.set_mode("slow");
  handlers_ = handlers(world_.options());
  const json::Value late = sample("node_exit_1", "", 1);
  EXPECT_EQ(late.at("outcome").as_string(), "timeout");
  EXPECT_EQ(late.at("error").as_string(), "not done after 1 ms");
  world_.set_mode("");
  EXPECT_EQ(sample("node_exit_1").at("outcome").as_string(), "ok");
}

TEST_F(GuestDriver, what_makes_no_sense_is_refused) {
  EXPECT_THAT(ask(R"({"id":1,"op":"sample","row":"dance","params":{"timeoutMs":1}})"),
              HasSubstr("unsupported"));
  EXPECT_THAT(ask(R"({"id":1,"op":"sample","row":"memory_4","params":{"timeoutMs":1,"guests":0}})"),
              HasSubstr("params.guests must be 1 to 1000, got 0"));
  EXPECT_THAT(ask(R"({"id":1,"op":"sample","row":"growth_9","params":{"timeoutMs":1,"processes":9}})"),
              HasSubstr("params.warmup is missing"));
  EXPECT_THAT(ask(R"({"id":1,"op":"sample","row":"fanout_8","params":{"timeoutMs":1}})"),
              HasSubstr("params.fanout is missing"));
  EXPECT_THAT(ask(R"({"id":1,"op":"sample","row":"node_exit_1","params":{}})"),
              HasSubstr("params.timeoutMs"));
}

TEST_F(GuestDriver, without_an_engine_it_says_why) {
  guest::EngineOptions options = world_.options();
  options.installation.node = "/nonexistent/node";
  handlers_ = handlers(options);
  EXPECT_THAT(ask(R"({"id":0,"op":"hello","protocol":"tare.driver.v1"})"),
              HasSubstr("the guest engine is unavailable: node 24.22.3 is not installed"));
}

}  // namespace
}  // namespace tare::guest_driver
