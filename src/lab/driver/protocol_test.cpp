#include "lab/driver/protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::driver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::string_view good_hello =
    R"({"id":0,"ok":true,"protocol":"tare.driver.v1","name":"n","version":"1","engine":"e","pid":4,)"
    R"("rows":["node_exit_1","fanout_<n>"],"unavailable":{"nested_8":"no child_process"}})";

/// The violation that a piece of code throws.
template <class Code>
Violation violation_of(Code&& code) {
  try {
    code();
  } catch (const Violation& violation) {
    return violation;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Violation(FailureKind::failed, "");
}

std::vector<Sample> samples_of(const std::string& samples, SampleRequest request = {}) {
  return parse_samples(parse_reply(R"({"id":1,"ok":true,"samples":)" + samples + "}"), request, seconds(1));
}

Violation bad_samples(const std::string& samples, SampleRequest request = {}) {
  const Violation violation = violation_of([&] { samples_of(samples, request); });
  EXPECT_EQ(violation.kind(), FailureKind::invalid_sample) << samples;
  return violation;
}

TEST(Requests, are_one_line_of_json) {
  EXPECT_EQ(hello_request(0), R"({"id":0,"op":"hello","protocol":"tare.driver.v1"})");
  EXPECT_EQ(bye_request(9), R"({"id":9,"op":"bye"})");
  SampleRequest request;
  request.row = "fanout_8";
  request.params = {{"fanout", 8}};
  request.timeout = seconds(30);
  EXPECT_EQ(
      sample_request(7, request),
      R"({"id":7,"op":"sample","row":"fanout_8","params":{"fanout":8,"timeoutMs":30000},"iterations":1})");
}

TEST(Requests, round_a_budget_up_to_whole_milliseconds) {
  SampleRequest request;
  request.timeout = std::chrono::microseconds(1);
  EXPECT_THAT(sample_request(1, request), HasSubstr(R"("timeoutMs":1})"));
}

TEST(Reply, is_a_json_object_with_id_and_ok) {
  const Reply reply = parse_reply(R"({"id":7,"ok":true,"more":[1]})");
  EXPECT_EQ(reply.id, 7);
  EXPECT_TRUE(reply.ok);
  EXPECT_EQ(parse_reply(R"({"id":null,"ok":false,"error":{"code":"invalid","message":"m"}})").id,
            std::nullopt);
}

class Garbage : public testing::TestWithParam<std::string_view> {};

TEST_P(Garbage, is_named_as_such_on_one_line) {
  const Violation violation = violation_of([] { parse_reply(GetParam()); });
  EXPECT_EQ(violation.kind(), FailureKind::garbage);
  EXPECT_FALSE(violation.why().empty());
  EXPECT_EQ(violation.line().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Garbage,
    testing::Values("", " ", "Segmentation fault", "[1]", "7", "null", "{}", R"({"id":1})", R"({"ok":true})",
                    R"({"id":"1","ok":true})", R"({"id":1.5,"ok":true})", R"({"id":1,"ok":1})",
                    R"({"id":1,"ok":false})", R"({"id":1,"ok":false,"error":"x"})",
                    R"({"id":1,"ok":false,"error":{"code":"failed"}})", R"({"id":1,"ok":true,"ns":NaN})",
                    R"({"id":1,"ok":true} {"id":2,"ok":true})", R"({"id":1,"ok":true)",
                    "{\"id\":1,\"ok\":true,\"x\":\"\xff\"}", "{\"id\":1,\"ok\":true,\"x\":\"\x1b[2J\"}"));

TEST(Reply, of_garbage_shows_only_its_beginning) {
  const Violation violation = violation_of([] { parse_reply(std::string(100000, 'x')); });
  EXPECT_LT(violation.line().size(), 250u);
}

TEST(Hello, says_which_rows_a_driver_has) {
  const Hello hello = parse_hello(parse_reply(good_hello));
  EXPECT_EQ(hello.name, "n");
  EXPECT_TRUE(hello.offers("node_exit_1"));
  EXPECT_TRUE(hello.offers("fanout_1"));
  EXPECT_TRUE(hello.offers("fanout_32"));
  EXPECT_FALSE(hello.offers("fanout_x"));
  EXPECT_FALSE(hello.offers("fanout_0"));
  EXPECT_FALSE(hello.offers("nested_8"));
  EXPECT_EQ(hello.why_not("nested_8"), "no child_process");
  EXPECT_EQ(hello.why_not("capture_2b"), "the driver does not offer it");
}

TEST(Hello, offers_every_number_of_a_name_with_a_placeholder) {
  Hello hello;
  hello.rows = {"admission_<n>", "recoverySweep_8"};
  hello.unavailable.emplace()["spawnPipelineDurable_<n>"] = "no disk";
  EXPECT_TRUE(hello.offers("admission_1"));
  EXPECT_TRUE(hello.offers("admission_64"));
  EXPECT_FALSE(hello.offers("admission_0"));
  EXPECT_FALSE(hello.offers("admission_-1"));
  EXPECT_FALSE(hello.offers("admission_"));
  EXPECT_FALSE(hello.offers("admission"));
  EXPECT_FALSE(hello.offers("fanout_8"));
  EXPECT_TRUE(hello.offers("recoverySweep_8"));
  EXPECT_FALSE(hello.offers("recoverySweep_9"));
  EXPECT_EQ(hello.why_not("spawnPipelineDurable_8"), "no disk");
  EXPECT_EQ(hello.why_not("mixedLoad_8"), "the driver does not offer it");
}

TEST(Hello, without_what_is_required_is_bad_and_says_what) {
  const auto bad = [](std::string_view from, std::string_view to) {
    std::string text(good_hello);
    text.replace(text.find(from), from.size(), to);
    const Violation violation = violation_of([&] { parse_hello(parse_reply(text)); });
    EXPECT_EQ(violation.kind(), FailureKind::bad_hello) << text;
    return violation.why();
  };
  EXPECT_EQ(bad(R"("engine":"e",)", ""), "engine: missing");
  EXPECT_EQ(bad(R"("name":"n")", R"("name":"")"), "name: empty");
  EXPECT_EQ(bad(R"("pid":4)", R"("pid":0)"), "pid: 0 is no process");
  EXPECT_EQ(bad(R"("pid":4)", R"("pid":"4")"), "pid: expected a whole number, got a string");
  EXPECT_EQ(bad("fanout_<n>", "node_exit_1"), "rows: 'node_exit_1' twice");
  EXPECT_EQ(bad(R"("protocol":"tare.driver.v1",)", ""), "protocol: missing");
}

TEST(Hello, of_another_protocol_is_a_mismatch_whatever_else_it_says) {
  const auto mismatch = [](std::string_view line) {
    return violation_of([&] { parse_hello(parse_reply(line)); });
  };
  const Violation other = mismatch(R"({"id":0,"ok":true,"protocol":"tare.driver.v9"})");
  EXPECT_EQ(other.kind(), FailureKind::protocol_mismatch);
  EXPECT_EQ(other.why(), "it speaks 'tare.driver.v9'");
  EXPECT_EQ(mismatch(R"({"id":0,"ok":false,"error":{"code":"unsupported","message":"v2 only"}})").kind(),
            FailureKind::protocol_mismatch);
}

TEST(Samples, keep_times_counters_output_and_resources) {
  const Sample sample =
      samples_of(R"([{"ns":{"total":5000,"spawn":0},"outcome":"ok","counters":{"exitCode":0,"signal":null},)"
                 R"("output":"q7","resources":{"cpuUserUs":3},"unknown":true}])")
          .front();
  EXPECT_EQ(sample.metric("total"), 5000.0);
  EXPECT_EQ(sample.metric("spawn"), 0.0);
  EXPECT_EQ(sample.metric("wait_reap"), std::nullopt);
  EXPECT_EQ(sample.counter("exitCode"), 0);
  EXPECT_EQ(sample.counter("signal"), std::nullopt);
  EXPECT_EQ(sample.output, "q7");
  EXPECT_EQ(sample.resources->cpu_user_us, 3);
  EXPECT_EQ(sample.resources->max_rss_bytes, std::nullopt);
}

TEST(Samples, that_are_not_ok_need_no_times_and_always_have_a_reason) {
  const Sample refused = samples_of(R"([{"outcome":"refused","error":"64 processes"}])").front();
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_EQ(refused.error, "64 processes");
  EXPECT_EQ(samples_of(R"([{"outcome":"failed"}])").front().error, "no reason given");
}

TEST(Samples, with_impossible_times_are_invalid) {
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok"}])").why(), "samples[0].ns.total: missing");
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok","ns":{"spawn":1}}])").why(), "samples[0].ns.total: missing");
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok","ns":{"total":-5}}])").why(),
            "samples[0].ns.total: negative time -5");
  EXPECT_THAT(bad_samples(R"([{"outcome":"ok","ns":{"total":null}}])").why(), HasSubstr("expected a number"));
  EXPECT_THAT(bad_samples(R"([{"outcome":"ok","ns":{"total":"5"}}])").why(), HasSubstr("expected a number"));
  EXPECT_THAT(bad_samples(R"([{"outcome":"ok","ns":{"total":1e999}}])").why(),
              HasSubstr("not a finite number"));
  EXPECT_THAT(bad_samples(R"([{"outcome":"timeout","ns":{"total":-1}}])").why(), HasSubstr("negative"));
}

TEST(Samples, cannot_take_longer_than_their_request) {
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok","ns":{"total":18446744073709551615}}])").why(),
            "samples[0].ns.total: 18,446,744,073,710 ms, but the whole request took 1,000 ms");
  EXPECT_EQ(samples_of(R"([{"outcome":"ok","ns":{"total":1000000000}}])").size(), 1u);
}

TEST(Samples, must_have_every_metric_that_was_asked_for) {
  SampleRequest request;
  request.metrics = {"total", "spawn"};
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok","ns":{"total":1}}])", request).why(),
            "samples[0].ns.spawn: missing");
}

TEST(Samples, are_as_many_as_asked_for) {
  SampleRequest request;
  request.iterations = 2;
  EXPECT_EQ(bad_samples(R"([{"outcome":"failed"}])", request).why(), "1 samples instead of 2");
  EXPECT_EQ(bad_samples(R"([])").why(), "0 samples instead of 1");
  EXPECT_EQ(bad_samples(R"({})").why(), "samples: expected an array, got an object");
}

TEST(Samples, with_an_outcome_or_counter_of_another_kind_are_invalid) {
  EXPECT_EQ(bad_samples(R"([{"ns":{"total":1}}])").why(), "samples[0].outcome: missing");
  EXPECT_EQ(bad_samples(R"([{"outcome":"fine"}])").why(), "samples[0].outcome: unknown name 'fine'");
  EXPECT_THAT(bad_samples(R"([{"outcome":"failed","counters":{"exitCode":0.5}}])").why(),
              HasSubstr("samples[0].counters.exitCode: expected a whole number"));
}

TEST(Samples, of_memory_rows_have_every_size_or_say_null) {
  SampleRequest request;
  request.sizes = {"idle", "vm"};
  const auto samples =
      samples_of(R"([{"outcome":"ok","ns":{"total":1},"bytes":{"idle":null,"vm":4096}}])", request);
  EXPECT_EQ(samples.front().bytes.at("vm"), 4096.0);
  EXPECT_EQ(samples.front().bytes.at("idle"), std::nullopt);
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok","ns":{"total":1},"bytes":{"idle":1}}])", request).why(),
            "samples[0].bytes.vm: missing");
  EXPECT_EQ(bad_samples(R"([{"outcome":"ok","ns":{"total":1},"bytes":{"idle":-1,"vm":1}}])", request).why(),
            "samples[0].bytes.idle: no size in bytes");
  EXPECT_EQ(
      bad_samples(R"([{"outcome":"ok","ns":{"total":1},"bytes":{"idle":1e999,"vm":1}}])", request).why(),
      "samples[0].bytes.idle: no size in bytes");
}

TEST(Samples, of_a_traced_run_have_lives) {
  const auto samples = [](std::string_view life) {
    return fmt::format(R"([{{"outcome":"ok","ns":{{"total":1}},"lifecycle":[{}]}}])", life);
  };
  const auto good = parse_samples(
      parse_reply(fmt::format(
          R"({{"id":1,"ok":true,"samples":{}}})",
          samples(
              R"({"route":"own_read","firstWaiter":"wait","waiters":{"wait":2},"ns":{"ts_wait_total":5}})"))),
      {}, std::chrono::seconds(1));
  ASSERT_EQ(good.at(0).lifecycle.size(), 1U);
  EXPECT_EQ(good[0].lifecycle[0].route, "own_read");
  EXPECT_EQ(good[0].lifecycle[0].waiters.at("wait"), 2U);
  EXPECT_EQ(good[0].lifecycle[0].ns.at("ts_wait_total"), 5);
  EXPECT_EQ(bad_samples(samples(R"({"route":"a","firstWaiter":"b","waiters":{},"ns":{"ts_x":-1}})")).why(),
            "samples[0].lifecycle.ns.ts_x: no time");
  EXPECT_THAT(bad_samples(samples(R"({"route":"a"})")).why(), HasSubstr("missing"));
}

TEST(Stages, are_counts_and_reasons) {
  const Stages stages = parse_stages(parse_reply(
      R"({"id":1,"ok":true,"stages":{"kernel_spawn_process":{"calls":3,"totalUs":12.5,"maxUs":9}},"absent":{"x":"why"}})"));
  EXPECT_EQ(stages.stages.at("kernel_spawn_process").calls, 3U);
  EXPECT_EQ(stages.stages.at("kernel_spawn_process").total_us, 12.5);
  EXPECT_EQ(stages.absent->at("x"), "why");
  const auto refused = [](std::string_view line) {
    try {
      parse_stages(parse_reply(line));
    } catch (const Violation& violation) {
      return std::string(violation.why());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(R"({"id":1,"ok":true})"), "stages: missing");
  EXPECT_EQ(refused(R"({"id":1,"ok":true,"stages":{"a":{"calls":1,"totalUs":-1,"maxUs":0}}})"),
            "stages.a: no time");
  EXPECT_THAT(refused(R"({"id":1,"ok":true,"stages":{"a":{"calls":-1,"totalUs":1,"maxUs":0}}})"),
              HasSubstr("whole number"));
}

TEST(ErrorReply, keeps_its_code_as_the_kind) {
  const auto kind = [](std::string_view code) {
    return error_of(parse_reply(
                        fmt::format(R"({{"id":1,"ok":false,"error":{{"code":"{}","message":"m"}}}})", code)))
        .kind();
  };
  EXPECT_EQ(kind("unsupported"), FailureKind::unsupported);
  EXPECT_EQ(kind("invalid"), FailureKind::invalid);
  EXPECT_EQ(kind("timeout"), FailureKind::timeout);
  EXPECT_EQ(kind("failed"), FailureKind::failed);
  EXPECT_EQ(kind("whatever"), FailureKind::failed);
}

}  // namespace
}  // namespace tare::driver
