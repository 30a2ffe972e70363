#include "lab/bench/gateway/script.hpp"

#include <set>

#include <gtest/gtest.h>

#include "lab/bench/gateway/seeding.hpp"

namespace tare::gateway_bench {
namespace {

TEST(Script, AReplyIsTheMarkerAndItsChunks) {
  const Options options;
  const Line line = Script(options, 255).line(2, 0, Phase::load);
  EXPECT_EQ(line.marker, "load-ff-3-1");
  EXPECT_EQ(line.message, "Reply with benchmark stream 3. [[marker:load-ff-3-1]]");
  EXPECT_EQ(line.reply, "load-ff-3-1 2 3 4 5 6 7 8");
}

TEST(Script, NoTwoTurnsHaveAMarkerInCommon) {
  const Options options;
  std::set<std::string> markers;
  for (const std::uint64_t nonce : {1, 2}) {
    for (std::uint64_t session = 0; session < 12; ++session) {
      for (std::uint64_t turn = 0; turn < 12; ++turn) {
        for (const Phase phase : {Phase::warm, Phase::load})
          markers.insert(Script(options, nonce).line(session, turn, phase).marker);
      }
    }
  }
  EXPECT_EQ(markers.size(), 2U * 12 * 12 * 2);
}

TEST(Script, WarmTurnsNeitherWaitNorCallTools) {
  Options options;
  options.tool_events = true;
  options.subagents = 3;
  const Script script(options, 1);
  EXPECT_EQ(script.line(0, 0, Phase::warm).message,
            "Reply with benchmark stream 1. [[marker:warm-1-1-1]] [[delay:0]]");
  EXPECT_EQ(script.line(0, 0, Phase::load).message,
            "Reply with benchmark stream 1. [[marker:load-1-1-1]] [[tool:exec {\"command\":\"true\"}]] "
            "[[subagents:3]]");
}

TEST(SyntheticMessage, HasItsSizeAndSaysWhoseItIs) {
  EXPECT_EQ(synthetic_message(4, 1, 10), "Synthetic ");
  EXPECT_EQ(synthetic_message(4, 1, 30), "Synthetic history 5/2. Synthet");
}

}  // namespace
}  // namespace tare::gateway_bench
