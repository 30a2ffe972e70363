#include "lab/load/answer_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::load {
namespace {

using State = AnswerReader::State;

constexpr std::size_t most_body = 100;

struct Read {
  State state;
  int status;
  std::string body;
  bool keep_alive;
  std::string error;
  std::size_t used;
};

/// Feeds it in pieces of this size; then the peer ends, if it does.
enum class Then { goes_on, ends };
Read read(std::string_view text, std::size_t piece, Then then = Then::goes_on) {
  AnswerReader reader(most_body);
  std::size_t used = 0;
  while (used < text.size() && reader.state() == State::more) used += reader.feed(text.substr(used, piece));
  if (then == Then::ends) reader.feed_end();
  return {reader.state(),
          reader.status(),
          std::string(reader.body()),
          reader.keep_alive(),
          std::string(reader.error()),
          used};
}

/// The same whatever the pieces are.
Read read_all_ways(std::string_view text, Then then = Then::goes_on) {
  Read whole = read(text, text.size() + 1, then);
  for (std::size_t piece = 1; piece <= 64; ++piece) {
    const Read split = read(text, piece, then);
    EXPECT_EQ(split.state, whole.state) << piece;
    EXPECT_EQ(split.status, whole.status) << piece;
    EXPECT_EQ(split.body, whole.body) << piece;
    EXPECT_EQ(split.keep_alive, whole.keep_alive) << piece;
    EXPECT_EQ(split.error, whole.error) << piece;
  }
  return whole;
}

TEST(AnswerReader, a_body_with_a_length) {
  const Read got = read_all_ways("HTTP/1.1 200 OK\r\nX: y\r\ncOnTent-LENGTH: 5 \r\n\r\nhello");
  EXPECT_EQ(got.state, State::done);
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hello");
  EXPECT_TRUE(got.keep_alive);
}

TEST(AnswerReader, a_body_in_chunks_with_extensions_and_trailers) {
  const Read got = read_all_ways(
      "HTTP/1.1 503 \r\nTransfer-Encoding: Chunked\r\n\r\n"
      "5;a=b\r\nhello\r\n00A \r\n, world 12\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n");
  EXPECT_EQ(got.state, State::done);
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "hello, world 12");
  EXPECT_TRUE(got.keep_alive);
}

TEST(AnswerReader, no_body_where_there_is_none) {
  for (const char* const text :
       {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304\r\nContent-Length: 9\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
    const Read got = read_all_ways(text);
    EXPECT_EQ(got.state, State::done) << text;
    EXPECT_EQ(got.body, "") << text;
    EXPECT_TRUE(got.keep_alive) << text;
  }
}

TEST(AnswerReader, interim_answers_are_skipped) {
  const Read got = read_all_ways(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "ok");
  EXPECT_TRUE(got.keep_alive);
}

TEST(AnswerReader, what_comes_after_an_answer_is_left_for_the_next) {
  const std::string one = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
  const std::string two = "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n";
  AnswerReader reader(most_body);
  const std::string text = one + two + one;
  EXPECT_EQ(reader.feed(text), one.size());
  EXPECT_EQ(reader.body(), "one");
  EXPECT_EQ(reader.feed(std::string_view(text).substr(one.size())), two.size());
  EXPECT_EQ(reader.status(), 404);
  EXPECT_EQ(reader.body(), "two");
  EXPECT_EQ(reader.feed(one), one.size());
  EXPECT_EQ(reader.status(), 200);
  EXPECT_EQ(reader.body(), "one");
}

TEST(AnswerReader, a_connection_is_kept_when_both_keep_it) {
  const auto kept = [](std::string_view version, std::string_view header) {
    std::string text("HTTP/");
    text.append(version).append(" 200 OK\r\nContent-Length: 0\r\n").append(header).append("\r\n");
    return read_all_ways(text).keep_alive;
  };
  EXPECT_TRUE(kept("1.1", ""));
  EXPECT_FALSE(kept("1.1", "Connection: x, Close\r\n"));
  EXPECT_FALSE(kept("1.1", "Connection: keep-alive,close\r\n"));
  EXPECT_FALSE(kept("1.0", ""));
  EXPECT_TRUE(kept("1.0", "connection:Keep-Alive\r\n"));
}

TEST(AnswerReader, with_a_length_and_chunks_the_chunks_count_and_the_connection_ends) {
  const Read got = read_all_ways(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(got.body, "abc");
  EXPECT_FALSE(got.keep_alive);
}

TEST(AnswerReader, a_body_without_a_length_ends_with_the_connection) {
  const char* const text = "HTTP/1.1 200 OK\r\n\r\nall of it";
  EXPECT_EQ(read_all_ways(text).state, State::more);
  const Read got = read_all_ways(text, Then::ends);
  EXPECT_EQ(got.state, State::done);
  EXPECT_EQ(got.body, "all of it");
  EXPECT_FALSE(got.keep_alive);
}

TEST(AnswerReader, an_answer_that_is_cut_fails) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n";
  EXPECT_EQ(read("", 1, Then::ends).error, "the connection ended without an answer");
  for (std::size_t n = 1; n < text.size(); ++n) {
    const Read got = read(text.substr(0, n), n, Then::ends);
    EXPECT_EQ(got.state, State::failed) << n;
    EXPECT_EQ(got.error, "the connection ended in the middle of the answer") << n;
  }
  EXPECT_EQ(read_all_ways("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Then::ends).state,
            State::failed);
}

TEST(AnswerReader, garbage_fails) {
  const struct {
    std::string text;
    std::string error;
  } cases[] = {
      {"SSH-2.0-x", "the answer is not HTTP/1.x"},
      {std::string("\0\xFF\r\n\r\n", 6), "the answer is not HTTP/1.x"},
      {"HTTP/2 200\r\n\r\n", "the answer is not HTTP/1.x"},
      {"HTTP/1.2 200 OK\r\n\r\n", "bad status line"},
      {"HTTP/1.1\r\n\r\n", "bad status line"},
      {"HTTP/1.1 20\r\n\r\n", "bad status line"},
      {"HTTP/1.1 -20 x\r\n\r\n", "bad status line"},
      {"HTTP/1.1 2000\r\n\r\n", "bad status line"},
      {"HTTP/1.1 099 x\r\n\r\n", "bad status line"},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "the server changes to another protocol"},
      {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "bad header"},
      {"HTTP/1.1 200 OK\r\n: x\r\n\r\n", "bad header"},
      {"HTTP/1.1 200 OK\r\nA : x\r\n\r\n", "bad header"},
      {"HTTP/1.1 200 OK\r\nA: x\r\n folded: y\r\n\r\n", "bad header"},
      {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "bad Content-Length"},
      {"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "bad Content-Length"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", "bad Content-Length"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "bad Content-Length"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "unknown transfer encoding"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "bad chunk"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", "bad chunk"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "bad chunk"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", "bad chunk"},
  };
  for (const auto& it : cases) {
    const Read got = read_all_ways(it.text);
    EXPECT_EQ(got.state, State::failed) << it.text;
    EXPECT_EQ(got.error, it.error) << it.text;
  }
}

TEST(AnswerReader, a_body_beyond_the_limit_fails_however_it_is_said) {
  const std::string body(most_body + 1, 'x');
  for (const std::string& text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + body,
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" + body.substr(1) + "\r\n1\r\nx\r\n",
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"),
        "HTTP/1.1 200 OK\r\n\r\n" + body}) {
    const Read got = read_all_ways(text);
    EXPECT_EQ(got.error, "the body is too long") << text;
    EXPECT_EQ(got.status, 200);
  }
  EXPECT_EQ(read_all_ways("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + body.substr(1)).state,
            State::done);
}

TEST(AnswerReader, headers_are_bounded) {
  const std::string begin = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  const std::string longest(AnswerReader::most_head_bytes - begin.size(), 'x');
  for (const std::size_t piece : {7, 4096, 100'000}) {
    EXPECT_EQ(read(begin + longest + "\r\n\r\n", piece).state, State::done);
    EXPECT_EQ(read(begin + longest + "x\r\n\r\n", piece).error, "the headers are too long");
    EXPECT_EQ(read(begin + std::string(1'000'000, 'x'), piece).error, "the headers are too long");
    std::string trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    for (int i = 0; i < 10'000; ++i) trailers += "X: y\r\n";
    EXPECT_EQ(read(trailers, piece).error, "the headers are too long");
  }
}

}  // namespace
}  // namespace tare::load
