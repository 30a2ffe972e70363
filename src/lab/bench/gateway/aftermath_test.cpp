#include "lab/bench/gateway/aftermath.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::gateway_bench {
namespace {

class Aftermath : public testing::Test {
 protected:
  std::filesystem::path write(std::string_view text) const {
    file::write_atomically(folder_.path() / "file.jsonl", text);
    return folder_.path() / "file.jsonl";
  }
  std::string failure(std::string_view text) const {
    try {
      read_timeline(write(text), {0, 9e15});
      return "read";
    } catch (const Error& error) {
      return error.why();
    }
  }
  file::TemporaryFolder folder_{"tare-aftermath"};
};

TEST_F(Aftermath, CountsRequestsForRepliesOfTheLoad) {
  const ModelRequests requests = read_request_log(
      write(R"({"path":"/v1/responses","marker":"warm-1","arrivedNs":5,"lastChunkNs":6})"
            "\n"
            R"({"path":"/v1/responses","marker":"load-1","arrivedNs":100,"lastChunkNs":350})"
            "\n"
            R"({"path":"/v1/chat/completions","marker":"load-1","arrivedNs":400,"lastChunkNs":450})"
            "\n"
            R"({"path":"/v1/responses","marker":null,"arrivedNs":1,"lastChunkNs":null})"
            "\n"
            R"({"path":"/v1/models","marker":null,"arrivedNs":1,"lastChunkNs":null})"
            "\n"));
  EXPECT_EQ(requests.all, 4U);
  EXPECT_EQ(requests.load, 2U);
  EXPECT_EQ(requests.times.at("load-1"), Nanoseconds(300));
}

TEST_F(Aftermath, NoLogIsNoRequest) {
  EXPECT_EQ(read_request_log(folder_.path() / "none").all, 0U);
}

TEST_F(Aftermath, ADamagedLogIsNamed) {
  EXPECT_THROW(read_request_log(write("{\"path\":")), Error);
}

constexpr std::string_view scan =
    R"({"schemaVersion":"openclaw.diagnostics.v1","type":"span.end","timestamp":"2026-11-30T10:00:00.500Z","name":"plugins.metadata.scan","durationMs":2.5})"
    "\n";
constexpr double at_ms = 1796032800500.0;

TEST_F(Aftermath, SumsTheScansOfTheWindowWithBothEnds) {
  const std::string text = std::string(scan) + std::string(scan);
  EXPECT_EQ(read_timeline(write(text), {at_ms, at_ms}).count, 2U);
  EXPECT_EQ(read_timeline(write(text), {at_ms, at_ms}).total_duration_ms, 5.0);
  EXPECT_EQ(read_timeline(write(text), {at_ms + 1, at_ms + 2}).count, 0U);
  EXPECT_EQ(read_timeline(write(text), {at_ms - 2, at_ms - 1}).count, 0U);
}

TEST_F(Aftermath, RefusesWhatIsNoWholeTimeline) {
  EXPECT_EQ(failure(""), "it is empty");
  EXPECT_EQ(failure(scan.substr(0, scan.size() - 1)), "its last line is not whole");
  EXPECT_NE(failure("{}\n").find("line 1"), std::string::npos);
  EXPECT_NE(
      failure(R"({"schemaVersion":"openclaw.diagnostics.v2","type":"a","timestamp":"2026-11-30T10:00:00Z"})"
              "\n"),
      "read");
  EXPECT_NE(
      failure(
          R"({"schemaVersion":"openclaw.diagnostics.v1","type":"span.end","timestamp":"2026-11-30T10:00:00Z","name":"a"})"
          "\n"),
      "read");
  EXPECT_EQ(
      failure(
          R"({"schemaVersion":"openclaw.diagnostics.v1","type":"mark","timestamp":"2026-11-30T10:00:00Z"})"
          "\n"),
      "read");
}

}  // namespace
}  // namespace tare::gateway_bench
