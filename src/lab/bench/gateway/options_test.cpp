#include "lab/bench/gateway/options.hpp"

#include <ostream>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::gateway_bench {
namespace {

std::string refusal(const RawOptions& raw) {
  try {
    resolve(raw);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
}

TEST(GatewayOptions, HasTheDefaultsOfTheSeed) {
  const Options options = resolve({});
  EXPECT_EQ(options.targets, std::vector<std::string>{"embedded"});
  EXPECT_EQ(options.concurrency, 8U);
  EXPECT_EQ(options.turns_per_session, 1U);
  EXPECT_EQ(options.stream_chunk_delay_ms, 1000);
  EXPECT_EQ(options.cadence_ms, 100);
  EXPECT_EQ(options.timeout_ms, 120'000U);
  EXPECT_EQ(options.runs, 1U);
  EXPECT_EQ(options.warmup, 0U);
  EXPECT_EQ(options.history_burst, 5U);
  EXPECT_EQ(options.history_message_chars, 1'024U);
  EXPECT_EQ(options.session_update_clients, 4U);
  EXPECT_EQ(options.warm_turns, 3U);
  for (const std::uint64_t none : {options.session_count, options.history_messages, options.history_clients,
                                   options.session_updates, options.subscribers, options.plugin_count})
    EXPECT_EQ(none, 0U);
  for (const bool on : {options.control_plane, options.tool_events, options.visible_observer,
                        options.workspace_fanout, options.utility_model})
    EXPECT_FALSE(on);
  EXPECT_FALSE(options.max_control_ms || options.max_handshake_ms);
  EXPECT_FALSE(options.probe_rounds);
  EXPECT_FALSE(options.closed_loop);
  EXPECT_TRUE(options.diagnostics_timeline);
}

struct Bound {
  std::optional<std::string> RawOptions::* flag;
  const char* good;
  const char* bad;
  const char* refusal;
};

void PrintTo(const Bound& bound, std::ostream* out) {
  *out << bound.refusal;
}

class GatewayBounds : public testing::TestWithParam<Bound> {};

TEST_P(GatewayBounds, AreThoseOfTheFlag) {
  RawOptions raw;
  raw.*GetParam().flag = GetParam().good;
  EXPECT_NO_THROW(resolve(raw));
  raw.*GetParam().flag = GetParam().bad;
  EXPECT_EQ(refusal(raw), GetParam().refusal);
}

INSTANTIATE_TEST_SUITE_P(
    Each, GatewayBounds,
    testing::Values(
        Bound{&RawOptions::concurrency, "10000", "0", "--concurrency must be 1 to 10000, got 0"},
        Bound{&RawOptions::concurrency, "1", "10001", "--concurrency must be 1 to 10000, got 10001"},
        Bound{&RawOptions::turns_per_session, "100", "101", "--turns-per-session must be 1 to 100, got 101"},
        Bound{&RawOptions::turns_per_session, "1", "0", "--turns-per-session must be 1 to 100, got 0"},
        Bound{&RawOptions::warm_turns, "0", "101", "--warm-turns must be 0 to 100, got 101"},
        Bound{&RawOptions::session_count, "10000", "10001", "--session-count must be 0 to 10000, got 10001"},
        Bound{&RawOptions::history_messages, "500", "501", "--history-messages must be 0 to 500, got 501"},
        Bound{&RawOptions::history_message_chars, "65536", "65537",
              "--history-message-chars must be 1 to 65536, got 65537"},
        Bound{&RawOptions::history_message_chars, "1", "0",
              "--history-message-chars must be 1 to 65536, got 0"},
        Bound{&RawOptions::history_clients, "64", "65", "--history-clients must be 0 to 64, got 65"},
        Bound{&RawOptions::history_burst, "32", "33", "--history-burst must be 1 to 32, got 33"},
        Bound{&RawOptions::history_burst, "1", "0", "--history-burst must be 1 to 32, got 0"},
        Bound{&RawOptions::session_updates, "100000", "100001",
              "--session-updates must be 0 to 100000, got 100001"},
        Bound{&RawOptions::session_update_clients, "64", "0",
              "--session-update-clients must be 1 to 64, got 0"},
        Bound{&RawOptions::session_update_clients, "1", "65",
              "--session-update-clients must be 1 to 64, got 65"},
        Bound{&RawOptions::subscribers, "64", "65", "--subscribers must be 0 to 64, got 65"},
        Bound{&RawOptions::runs, "1", "0", "--runs must be 1 to 20, got 0"},
        Bound{&RawOptions::runs, "20", "21", "--runs must be 1 to 20, got 21"},
        Bound{&RawOptions::warmup, "10", "11", "--warmup must be 0 to 10, got 11"},
        Bound{&RawOptions::timeout_ms, "600000", "600001", "--timeout-ms must be 1 to 600000, got 600001"},
        Bound{&RawOptions::timeout_ms, "1", "0", "--timeout-ms must be 1 to 600000, got 0"},
        Bound{&RawOptions::probe_rounds, "1", "0", "--probe-rounds must be 1 to 2048, got 0"},
        Bound{&RawOptions::slo_ms, "600000", "0", "--slo-ms must be 1 to 600000, got 0"},
        Bound{&RawOptions::max_control_ms, "1", "0", "--max-control-ms must be 1 to 30000, got 0"},
        Bound{&RawOptions::max_handshake_ms, "1", "30001",
              "--max-handshake-ms must be 1 to 30000, got 30001"},
        Bound{&RawOptions::probe_rounds, "2048", "2049", "--probe-rounds must be 1 to 2048, got 2049"},
        Bound{&RawOptions::max_control_ms, "30000", "30001",
              "--max-control-ms must be 1 to 30000, got 30001"},
        Bound{&RawOptions::max_handshake_ms, "30000", "x", "--max-handshake-ms must be 1 to 30000, got x"},
        Bound{&RawOptions::stream_chunk_delay_ms, "0", "30001",
              "--stream-chunk-delay-ms must be 0 to 30000, got 30001"},
        Bound{&RawOptions::cadence_ms, "0.1", "0.09", "--cadence-ms must be 0.1 to 5000, got 0.09"},
        Bound{&RawOptions::cadence_ms, "5000", "nan", "--cadence-ms must be 0.1 to 5000, got nan"}));

TEST(GatewayOptions, OpenClawHasTheSeedsBoundOfSessions) {
  RawOptions raw;
  raw.targets = "embedded,openclaw";
  raw.concurrency = "64";
  EXPECT_EQ(resolve(raw).concurrency, 64U);
  raw.concurrency = "65";
  EXPECT_EQ(refusal(raw), "--concurrency must be 1 to 64, got 65");
}

TEST(GatewayOptions, OnlyOpenClawHasPlugins) {
  RawOptions raw;
  raw.targets = "openclaw";
  raw.plugin_count = "100";
  EXPECT_EQ(resolve(raw).plugin_count, 100U);
  raw.plugin_count = "101";
  EXPECT_EQ(refusal(raw), "--plugin-count must be 0 to 100, got 101");
}

TEST(GatewayOptions, SessionsAreMadeBeforehandWhereSomethingNeedsThem) {
  EXPECT_FALSE(resolve({}).prepares_sessions());
  for (const auto flag :
       {&RawOptions::session_count, &RawOptions::history_clients, &RawOptions::history_messages,
        &RawOptions::session_updates, &RawOptions::subscribers}) {
    RawOptions raw;
    raw.*flag = "1";
    EXPECT_TRUE(resolve(raw).prepares_sessions());
  }
  RawOptions raw;
  raw.workspace_fanout = true;
  EXPECT_TRUE(resolve(raw).prepares_sessions());
  raw.session_count = "3";  // there are never fewer than have turns
  EXPECT_EQ(resolve(raw).sessions(), 8U);
}

TEST(GatewayOptions, TargetsFollowFromWhatIsGiven) {
  RawOptions raw;
  raw.url = "ws://127.0.0.1:1";
  EXPECT_EQ(resolve(raw).targets, std::vector<std::string>{"url"});
  raw = {};
  raw.extra_targets = {"openclaw"};
  EXPECT_EQ(resolve(raw).targets, std::vector<std::string>{"openclaw"});
  raw = {};
  raw.targets = "opnclaw";
  EXPECT_EQ(refusal(raw), "no gateway named 'opnclaw'");
}

TEST(GatewayOptions, WhatAGatewayLacksIsRefused) {
  RawOptions raw;
  raw.tool_events = true;
  EXPECT_EQ(refusal(raw), "--tool-events is not for the target embedded");
  raw = {};
  raw.subagents = "2";
  EXPECT_EQ(refusal(raw), "--subagents is not for the target embedded");
  raw = {};
  raw.plugin_count = "2";
  EXPECT_EQ(refusal(raw), "--plugin-count is for the target openclaw, which is not part of this run");
  raw = {};
  raw.targets = "url";
  EXPECT_EQ(refusal(raw), "the target url needs --url");
  raw.url = "ws://127.0.0.1:1";
  raw.provider_url = "http://127.0.0.1:2/v1";
  EXPECT_EQ(refusal(raw), "--provider-url and the target url exclude each other");
}

TEST(GatewayOptions, SyntheticHistoryIsBounded) {
  RawOptions raw;
  raw.session_count = "1000";
  raw.history_messages = "100";
  EXPECT_EQ(resolve(raw).history_messages, 100U);
  raw.history_messages = "101";
  EXPECT_EQ(refusal(raw), "synthetic history must not exceed 100000 messages or 256 MiB");
  raw.history_messages = "100";
  raw.history_message_chars = "2685";
  EXPECT_EQ(refusal(raw), "synthetic history must not exceed 100000 messages or 256 MiB");
  raw = {};
  raw.probe_rounds = "103";
  raw.history_clients = "4";
  EXPECT_EQ(refusal(raw), "fixed history workload must not exceed 2048 requests per run");
  raw.probe_rounds = "102";
  EXPECT_EQ(resolve(raw).probe_rounds, 102U);
}

TEST(GatewayOptions, ColdMeansNoWarmTurns) {
  RawOptions raw;
  raw.cold = true;
  EXPECT_EQ(resolve(raw).warm_turns, 0U);
  raw.warm_turns = "2";
  EXPECT_EQ(refusal(raw), "--cold and --warm-turns exclude each other");
}

TEST(GatewayOptions, AFractionalCadenceIsKeptWhole) {
  RawOptions raw;
  raw.cadence_ms = "0.1";
  EXPECT_EQ(resolve(raw).cadence(), std::chrono::microseconds(100));
}

TEST(SessionKey, GoesBothWays) {
  EXPECT_EQ(session_key(0), "agent:main:gateway-concurrency-1");
  EXPECT_EQ(session_of(session_key(9'999)), 9'999U);
  for (const char* other : {"agent:main:gateway-concurrency-", "agent:main:gateway-concurrency-0",
                            "agent:main:gateway-concurrency-1x", "agent:main:me", ""})
    EXPECT_FALSE(session_of(other)) << other;
}

}  // namespace
}  // namespace tare::gateway_bench
