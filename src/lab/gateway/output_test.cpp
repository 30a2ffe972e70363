#include "lab/gateway/output.hpp"

#include <gtest/gtest.h>

namespace tare::lab_gateway {
namespace {

TEST(Tail, KeepsTheEndFromTheStartOfACharacter) {
  Tail tail;
  tail.add("first");
  EXPECT_EQ(tail.text(), "first");
  std::string all;
  for (int i = 0; i < 100'000; ++i) {
    const std::string piece = std::to_string(i) + "é";
    all += piece;
    tail.add(piece);
  }
  EXPECT_TRUE(all.ends_with(tail.text()));
  EXPECT_GE(tail.text().size(), Tail::bytes - 3);
  EXPECT_LE(tail.text().size(), Tail::bytes);
  std::string flood(Tail::bytes, 'x');
  flood.insert(0, "é").back() = 'y';  // the cut goes through é's second byte
  flood.insert(0, 100'000, 'z');
  flood.erase(flood.size() - 1);
  Tail flooded;
  flooded.add("before");
  flooded.add(flood);
  EXPECT_EQ(flooded.text(), std::string(Tail::bytes - 1, 'x'));
}

TEST(Tail, LastLines) {
  Tail tail;
  EXPECT_EQ(tail.lines(2), "");
  tail.add("one\ntwo\nthree\n");
  EXPECT_EQ(tail.lines(2), "two\nthree\n");
  EXPECT_EQ(tail.lines(3), "one\ntwo\nthree\n");
  EXPECT_EQ(tail.lines(9), "one\ntwo\nthree\n");
  tail.add("four");
  EXPECT_EQ(tail.lines(2), "three\nfour");
  Tail empty_first;
  empty_first.add("\na\n");
  EXPECT_EQ(empty_first.lines(5), "\na\n");
  EXPECT_EQ(empty_first.lines(1), "a\n");
}

TEST(Output, NoticesWhatIsWatchedHoweverMuchFollows) {
  Output output;
  output.watch("needle");
  output.add(Output::From::out, "a nee");
  output.add(Output::From::err, "dle");
  EXPECT_FALSE(output.has_said("needle"));  // halves of two streams
  output.add(Output::From::out, "dle, and hay");
  EXPECT_TRUE(output.has_said("needle"));
  EXPECT_TRUE(output.has_said("and hay"));
  for (int i = 0; i < 5; ++i) output.add(Output::From::out, std::string(Tail::bytes, '.'));
  EXPECT_TRUE(output.has_said("needle"));
  EXPECT_FALSE(output.has_said("and hay"));
  output.add(Output::From::err, "said before it was watched");
  output.watch("said before");
  EXPECT_TRUE(output.has_said("said before"));
}

TEST(Output, TheFirstLineOfStdout) {
  Output output;
  output.add(Output::From::err, "log\n");
  output.add(Output::From::out, "read");
  EXPECT_EQ(output.first_line(), nullptr);
  output.add(Output::From::out, "y\r\nmore\n");
  ASSERT_NE(output.first_line(), nullptr);
  EXPECT_EQ(*output.first_line(), "ready");
  EXPECT_EQ(output.both().text(), "log\nready\r\nmore\n");
  Output endless;
  for (int i = 0; i < 3; ++i) endless.add(Output::From::out, std::string(Tail::bytes - 1, 'x'));
  endless.add(Output::From::out, "y\n");
  EXPECT_EQ(*endless.first_line(), std::string(Tail::bytes, 'x'));
}

}  // namespace
}  // namespace tare::lab_gateway
