#include "lab/gateway/frame.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tare::lab_gateway {
namespace {

TEST(ReadFrame, Response) {
  const std::string text = R"({"type":"res","id":"17","ok":true,"payload":{"a":[1,{"b":"}"}],"c":null}})";
  const auto frame = read_frame(text);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::response);
  EXPECT_EQ(frame->id, "17");
  EXPECT_TRUE(frame->ok);
  EXPECT_EQ(frame->body, R"({"a":[1,{"b":"}"}],"c":null})");
}

TEST(ReadFrame, MembersInAnyOrderAndSpaces) {
  const auto frame = read_frame(
      " {\n\"payload\" : \"x\\\"]\" ,\"error\":{ \"code\" : \"UNAVAILABLE\" },\"extra\":[[]],\"ok\": false "
      ",\"id\":\"a\\\\\",\"type\":\"res\"}\r\n ");
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->ok);
  EXPECT_EQ(frame->id, "a\\\\");
  EXPECT_EQ(frame->body, R"({ "code" : "UNAVAILABLE" })");
}

TEST(ReadFrame, Event) {
  const auto frame = read_frame(R"({"seq":12,"payload":{"deep":{"seq":1}},"event":"agent","type":"event"})");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::event);
  EXPECT_EQ(frame->event, "agent");
  EXPECT_EQ(frame->body, R"({"deep":{"seq":1}})");
  EXPECT_EQ(frame->seq, 12);
  const auto bare = read_frame(R"({"type":"event","event":"tick"})");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->body, "null");
  EXPECT_FALSE(bare->seq);
}

TEST(ReadFrame, RefusesWhatIsNone) {
  for (const std::string_view text : {
           "",
           " ",
           "null",
           "[]",
           "{",
           "{}",
           "hello",
           R"("x")",
           R"({"type":"event","event":"a"}x)",                            // something follows
           R"({"type":"event","event":"a"}{})",                           //
           R"({"type":"event","event":"a",})",                            //
           R"({"type":"event","event":"a","payload":[1,2})",              // cut
           R"({"type":"event","event":"a","payload":"x)",                 //
           R"({"type":"event","event":"a","payload":"x\)",                //
           R"({"type":"event" "event":"a"})",                             //
           R"({"type":"event","event"})",                                 //
           R"({"type":"event","event":})",                                //
           R"({"type":"event","event":"a","type":"event"})",              // twice
           R"({"type":"res","id":"1","ok":true,"payload":1,"id":"2"})",   //
           R"({"type":"event","event":7})",                               //
           R"({"type":"event","event":"a","seq":-1})",                    //
           R"({"type":"event","event":"a","seq":1.5})",                   //
           R"({"type":"event","event":"a","seq":99999999999999999999})",  //
           R"({"type":"event","event":"a","payload":nul})",               //
           R"({"type":"event"})",                                         //
           R"({"type":"req","id":"1","method":"m"})",                     //
           R"({"type":"res","id":1,"ok":true})",                          //
           R"({"type":"res","id":"1"})",                                  //
           R"({"type":"res","id":"1","ok":"true"})",                      //
       }) {
    EXPECT_FALSE(read_frame(text)) << text;
  }
}

TEST(ReadFrame, DeepNestingNeedsNoStack) {
  constexpr std::size_t depth = 5'000'000;
  const std::string head = R"({"type":"event","event":"a","payload":)";
  EXPECT_TRUE(read_frame(head + std::string(depth, '[') + std::string(depth, ']') + "}"));
  EXPECT_FALSE(read_frame(head + std::string(depth, '[') + std::string(depth - 1, ']') + "}"));
  EXPECT_FALSE(read_frame(head + std::string(depth, '{')));
}

/// Strings of every length around the width that is looked at in one step, with the end in every place.
TEST(ReadFrame, FindsTheEndOfStringsOfAnyLength) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (std::size_t at = 0; at <= length; ++at) {
      std::string value(length, 'x');
      value.insert(at, R"(\")");
      std::string text = R"({"type":"event","payload":")";
      text.append(value).append(R"(","event":"a"})");
      const auto frame = read_frame(text);
      ASSERT_TRUE(frame) << text;
      EXPECT_EQ(frame->body, '"' + value + '"');
    }
  }
}

/// Bytes that are changed, cut and inserted at random: nothing reads beyond the text, which the sanitizers
/// see as each text has a block of its own, and what is handed on is a part of it.
TEST(ReadFrame, SurvivesAnyBytes) {
  const std::string seed =
      R"({"type":"event","event":"agent","payload":{"text":"a\"\\é\u00e9","n":[1,-2.5e3,true,null]},"seq":7})";
  std::mt19937 random(20260101);
  const std::string alphabet = "{}[]\":,\\tfn0-9 eu\xff";
  std::size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<char> text(seed.begin(), seed.end());
    for (unsigned change = random() % 4; change > 0; --change) {
      const auto at = static_cast<std::ptrdiff_t>(random() % text.size());
      const char with = alphabet[random() % alphabet.size()];
      if (random() % 2 == 0) text.insert(text.begin() + at, with);
      if (random() % 2 == 0) text[static_cast<std::size_t>(at)] = with;
      if (random() % 8 == 0) text.resize(static_cast<std::size_t>(at) + 1);
    }
    text.shrink_to_fit();
    const std::string_view view(text.data(), text.size());
    const auto frame = read_frame(view);
    if (!frame) continue;
    ++read;
    EXPECT_NE(view.find(frame->body == "null" ? "" : frame->body), std::string_view::npos);
    text_of(member(frame->body, "text"));
    member(frame->body, "n.x");
  }
  EXPECT_GT(read, 2'000U);
  EXPECT_LT(read, 18'000U);
}

TEST(Member, WalksDown) {
  const std::string_view object = R"({"a":{"b":{"c":"x"},"b":2},"d":[1],"a.b":3})";
  EXPECT_EQ(member(object, "a.b.c"), R"("x")");
  EXPECT_EQ(member(object, "a.b"), R"({"c":"x"})");
  EXPECT_EQ(member(object, "d"), "[1]");
  EXPECT_EQ(member(object, "d.0"), "");
  EXPECT_EQ(member(object, "e"), "");
  EXPECT_EQ(member(object, "a.e"), "");
  EXPECT_EQ(member("7", "a"), "");
  EXPECT_EQ(member("", "a"), "");
}

TEST(TextOf, ReadsEscapes) {
  EXPECT_EQ(text_of(R"("")"), "");
  EXPECT_EQ(text_of(R"("plain é")"), "plain é");
  EXPECT_EQ(text_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text_of(R"("\u0041\u00e9\u20ac\ud83d\ude00")"), "Aé€😀");
  EXPECT_EQ(text_of(R"("\ud83dx\ude00\ud83d\u0041")"), "\uFFFDx\uFFFD\uFFFDA");
}

TEST(TextOf, RefusesWhatIsNoString) {
  for (const std::string_view value :
       {"", "\"", "7", "null", "{}", R"("\x")", R"("\u12")", R"("\u+123")", R"("a"b")", "\"a\nb\"", "\"ab"})
    EXPECT_FALSE(text_of(value)) << value;
}

TEST(NumberOf, ReadsWhatCanBeCalculatedWith) {
  EXPECT_EQ(number_of("0"), 0);
  EXPECT_EQ(number_of("-2.5e3"), -2500);
  EXPECT_EQ(number_of("9007199254740992"), 9007199254740992.0);
  for (const std::string_view value :
       {"", "null", "\"5\"", "{}", "[1]", "1e400", "1e17", "-1e17", "1-", "+1"})
    EXPECT_FALSE(number_of(value)) << value;
}

}  // namespace
}  // namespace tare::lab_gateway
