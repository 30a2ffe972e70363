#include "net/sse.hpp"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::net {
namespace {

using testing::ElementsAre;

/// Each event as "name|data|id", from a stream that comes in these pieces.
std::vector<std::string> events(const std::vector<std::string_view>& pieces) {
  SseParser parser;
  std::vector<std::string> all;
  for (const std::string_view piece : pieces) {
    parser.feed(piece, [&](const ServerEvent& e) { all.push_back(e.name + "|" + e.data + "|" + e.id); });
  }
  return all;
}

TEST(Sse, reads_names_data_and_ids) {
  EXPECT_THAT(events({"data: one\n\nevent: delta\nid: 7\ndata: two\ndata:  three\n\ndata\n\n"}),
              ElementsAre("message|one|", "delta|two\n three|7", "message||7"));
}

TEST(Sse, an_event_without_data_is_none) {
  EXPECT_THAT(events({"event: ping\n\ndata: x\n\n"}), ElementsAre("message|x|"));
}

TEST(Sse, comments_and_unknown_fields_are_skipped) {
  EXPECT_THAT(events({": keep-alive\n\nretry: 3\nwhat: ever\ndata: x\n: y\n\n"}), ElementsAre("message|x|"));
}

TEST(Sse, takes_every_line_end_and_a_byte_order_mark) {
  EXPECT_THAT(events({"\xEF\xBB\xBF"
                      "data: a\r\n\r\ndata: b\r\rdata: c\n\n"}),
              ElementsAre("message|a|", "message|b|", "message|c|"));
}

TEST(Sse, an_event_that_the_end_cuts_is_not_reported) {
  EXPECT_THAT(events({"data: a\n\ndata: b\n"}), ElementsAre("message|a|"));
}

TEST(Sse, every_split_gives_the_same_events) {
  const std::string stream =
      "\xEF\xBB\xBF: hi\r\ndata: {\"text\":\"\xC3\xA9\xF0\x9F\x98\x80\"}\r\n\r\nevent: x\rid: 1\rdata: "
      "a\r\rdata:b\ndata: c\n\n"
      "data: [DONE]\r\n\r\n";
  const std::vector<std::string> whole = events({stream});
  ASSERT_EQ(whole.size(), 4U);
  const std::string_view view = stream;
  for (std::size_t i = 0; i <= stream.size(); ++i) {
    for (std::size_t j = i; j <= stream.size(); ++j) {
      ASSERT_EQ(events({view.substr(0, i), view.substr(i, j - i), view.substr(j)}), whole) << i << " " << j;
    }
  }
}

TEST(Sse, survives_any_bytes) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::string stream;
    for (int i = 0; i < 200; ++i) stream += "data:eidvnt \r\n\r\n\n\0\xEF\xBB\xBF\xFF"[random() % 22];
    const std::string_view view = stream;
    const std::size_t cut = random() % stream.size();
    ASSERT_EQ(events({view.substr(0, cut), view.substr(cut)}), events({view}));
  }
}

TEST(Sse, an_event_beyond_the_limit_is_refused) {
  const auto ignore = [](const ServerEvent&) {};
  SseParser small(100);
  for (int i = 0; i < 50; ++i) small.feed(": a comment each second\n", ignore);
  for (int i = 0; i < 50; ++i) small.feed("data: an event each second\n\n", ignore);
  EXPECT_THROW(small.feed("data: " + std::string(100, 'x'), ignore), Error);
  SseParser lines(100);
  EXPECT_THROW(for (int i = 0; i < 50; ++i) lines.feed("data: x\n", ignore), Error);
}

TEST(Sse, data_is_written_line_by_line) {
  EXPECT_EQ(sse_data("{}"), "data: {}\n\n");
  EXPECT_EQ(sse_data(""), "data: \n\n");
  EXPECT_EQ(sse_data("a\nb\r\nc"), "data: a\ndata: b\ndata: c\n\n");
}

}  // namespace
}  // namespace tare::net
