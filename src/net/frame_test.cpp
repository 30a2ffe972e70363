#include "net/frame.hpp"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::net {
namespace {

using testing::ElementsAre;
using Kind = FrameReader::Kind;

constexpr MaskKey key{0x37, 0xFA, 0x21, 0x3D};

/// A frame of a client, as it likes: first byte (FIN, RSV, opcode) and payload.
std::string masked(unsigned first, std::string payload) {
  std::string out;
  append_frame(out, Opcode::text, payload, {}, key);
  out[0] = static_cast<char>(first);
  return out;
}

/// Everything a server reads from these pieces, as "kind:data"; the last is "broken:CODE" when it is refused.
std::vector<std::string> read_all(const std::vector<std::string>& pieces, std::size_t limit = 1000,
                                  Role role = Role::server) {
  static constexpr const char* names[] = {"nothing", "text", "binary", "ping", "pong", "close"};
  FrameReader reader(role, limit);
  std::vector<std::string> all;
  try {
    for (std::string piece : pieces) {
      for (std::span<char> left = piece; !left.empty();) {
        const FrameReader::Result result = reader.read(left);
        left = left.subspan(result.used);
        if (result.kind == Kind::nothing) {
          EXPECT_TRUE(left.empty());
          continue;
        }
        std::string text = names[static_cast<int>(result.kind)] + (":" + result.data);
        if (result.kind == Kind::close) text += "/" + std::to_string(static_cast<unsigned>(result.code));
        all.push_back(text);
      }
    }
  } catch (const Closed& closed) {
    all.push_back("broken:" + std::to_string(static_cast<unsigned>(closed.close_code())));
  }
  return all;
}

TEST(Frame, is_written_as_in_the_examples_of_the_standard) {  // RFC 6455, 5.7
  std::string out;
  append_frame(out, Opcode::text, "Hel", "lo", std::nullopt);
  EXPECT_EQ(out, "\x81\x05Hello");
  out.clear();
  append_frame(out, Opcode::text, "Hello", {}, key);
  EXPECT_EQ(out, "\x81\x85\x37\xFA\x21\x3D\x7F\x9F\x4D\x51\x58");
  out.clear();
  append_frame(out, Opcode::binary, std::string(256, 'x'), {}, std::nullopt);
  EXPECT_EQ(out.substr(0, 4), std::string("\x82\x7E\x01\x00", 4));
  out.clear();
  append_frame(out, Opcode::binary, std::string(65536, 'x'), {}, std::nullopt);
  EXPECT_EQ(out.substr(0, 10), std::string("\x82\x7F\0\0\0\0\0\x01\0\0", 10));
}

TEST(Frame, every_length_comes_back) {
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 125U, 126U, 127U, 65535U, 65536U, 200'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(read_all({masked(0x81, text)}, 200'000), std::vector<std::string>{"text:" + text}) << size;
    std::string plain;
    append_frame(plain, Opcode::binary, text, {}, std::nullopt);
    EXPECT_EQ(read_all({plain}, 200'000, Role::client), std::vector<std::string>{"binary:" + text}) << size;
  }
}

TEST(Frame, a_mask_is_the_same_wherever_a_piece_starts) {
  std::string whole = "The quick brown fox jumps over the lazy dog";
  std::string pieces = whole;
  apply_mask(whole, key, 0);
  for (std::size_t at = 0, step = 1; at < pieces.size(); at += step++) {
    const std::size_t size = std::min(step, pieces.size() - at);
    apply_mask(std::span(pieces).subspan(at, size), key, at);
  }
  EXPECT_EQ(pieces, whole);
}

TEST(Frame, control_frames_come_between_fragments) {
  EXPECT_THAT(
      read_all({masked(0x01, "Hel") + masked(0x89, "are you there") + masked(0x00, "l") + masked(0x8A, "") +
                masked(0x00, "") + masked(0x80, "o") + masked(0x88, std::string("\x03\xE8", 2) + "bye")}),
      ElementsAre("ping:are you there", "pong:", "text:Hello", "close:bye/1000"));
}

TEST(Frame, every_split_gives_the_same_messages) {
  const std::string stream = masked(0x01, "gr\xC3\xBC\xC3") + masked(0x89, "p") + masked(0x80, "\xA9") +
                             masked(0x82, std::string(130, 'b')) + masked(0x81, "") +
                             masked(0x88, "\x0F\xA0\xC3\xA9");
  const std::vector<std::string> whole = read_all({stream});
  EXPECT_THAT(whole, ElementsAre("ping:p", "text:gr\xC3\xBC\xC3\xA9", "binary:" + std::string(130, 'b'),
                                 "text:", "close:\xC3\xA9/4000"));
  for (std::size_t i = 0; i <= stream.size(); ++i) {
    for (std::size_t j = i; j <= stream.size(); ++j) {
      ASSERT_EQ(read_all({stream.substr(0, i), stream.substr(i, j - i), stream.substr(j)}), whole)
          << i << " " << j;
    }
  }
  std::vector<std::string> bytes;
  for (const char byte : stream) bytes.emplace_back(1, byte);
  EXPECT_EQ(read_all(bytes), whole);
}

TEST(Frame, what_breaks_the_protocol_is_1002) {
  const auto protocol_error = ElementsAre("broken:1002");
  EXPECT_THAT(read_all({masked(0xC1, "rsv1")}), protocol_error);
  EXPECT_THAT(read_all({masked(0xA1, "rsv2")}), protocol_error);
  EXPECT_THAT(read_all({masked(0x91, "rsv3")}), protocol_error);
  for (const unsigned opcode : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U}) {
    EXPECT_THAT(read_all({masked(0x80 | opcode, "")}), protocol_error) << opcode;
  }
  EXPECT_THAT(read_all({masked(0x09, "a fragmented ping")}), protocol_error);
  EXPECT_THAT(read_all({masked(0x89, std::string(126, 'x'))}), protocol_error);
  EXPECT_THAT(read_all({masked(0x80, "a continuation of nothing")}), protocol_error);
  EXPECT_THAT(read_all({masked(0x01, "a") + masked(0x81, "b")}), protocol_error);
  EXPECT_THAT(read_all({"\x81\x05Hello"}), protocol_error);                            // a client must mask
  EXPECT_THAT(read_all({masked(0x81, "Hello")}, 1000, Role::client), protocol_error);  // a server must not
  EXPECT_THAT(read_all({std::string("\x81\xFE\x00\x05", 4) + "mask12345"}), protocol_error);
  EXPECT_THAT(read_all({std::string("\x81\xFF\0\0\0\0\0\0\xFF\xFF", 10) + "mask"}), protocol_error);
  EXPECT_THAT(read_all({std::string("\x81\xFF\x80\0\0\0\0\0\0\x01", 10) + "mask"}), protocol_error);
}

TEST(Frame, bad_headers_are_refused_before_their_payload_comes) {
  EXPECT_THAT(read_all({"\xC1\x85"}), ElementsAre("broken:1002"));
  EXPECT_THAT(read_all({"\x81\x05"}), ElementsAre("broken:1002"));
}

TEST(Frame, close_codes_are_checked) {
  const auto close_with = [](unsigned code) {
    return read_all({masked(0x88, {static_cast<char>(code >> 8U), static_cast<char>(code & 0xFFU)})}).front();
  };
  for (const unsigned good : {1000U, 1001U, 1002U, 1003U, 1007U, 1011U, 1014U, 3000U, 4999U}) {
    EXPECT_EQ(close_with(good), "close:/" + std::to_string(good));
  }
  for (const unsigned bad : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 2000U, 2999U, 5000U, 65535U}) {
    EXPECT_EQ(close_with(bad), "broken:1002") << bad;
  }
  EXPECT_THAT(read_all({masked(0x88, "")}), ElementsAre("close:/1005"));
  EXPECT_THAT(read_all({masked(0x88, "\x03")}), ElementsAre("broken:1002"));
  EXPECT_THAT(read_all({masked(0x88, "\x03\xE8\xFF")}), ElementsAre("broken:1007"));
}

TEST(Frame, a_reason_is_cut_at_a_character) {
  EXPECT_EQ(close_payload(CloseCode::none, "nothing"), "");
  EXPECT_EQ(close_payload(CloseCode::normal, "bye"),
            "\x03\xE8"
            "bye");
  const std::string cut = close_payload(CloseCode::normal, std::string(122, 'x') + "\xC3\xA9");
  EXPECT_EQ(cut, "\x03\xE8" + std::string(122, 'x'));
  EXPECT_EQ(close_payload(CloseCode::normal, std::string(123, 'x')).size(), 125U);
}

TEST(Frame, text_that_is_not_utf8_is_1007_as_soon_as_it_is_seen) {
  EXPECT_THAT(read_all({masked(0x81, "\xFF")}), ElementsAre("broken:1007"));
  EXPECT_THAT(read_all({masked(0x81, "cut \xC3")}), ElementsAre("broken:1007"));
  EXPECT_THAT(read_all({masked(0x01, "surrogate \xED") + masked(0x80, "\xA0\x80")}),
              ElementsAre("broken:1007"));
  EXPECT_THAT(read_all({masked(0x81, "bad \xFF and much more").substr(0, 11)}), ElementsAre("broken:1007"));
  EXPECT_THAT(read_all({masked(0x82, "\xFF")}), ElementsAre("binary:\xFF"));
}

TEST(Frame, a_message_beyond_the_limit_is_1009_by_its_length_alone) {
  EXPECT_THAT(read_all({masked(0x81, std::string(1000, 'x'))}),
              ElementsAre("text:" + std::string(1000, 'x')));
  EXPECT_THAT(read_all({masked(0x81, std::string(1001, 'x')).substr(0, 8)}), ElementsAre("broken:1009"));
  EXPECT_THAT(
      read_all({masked(0x01, std::string(600, 'x')) + masked(0x80, std::string(401, 'x')).substr(0, 8)}),
      ElementsAre("broken:1009"));
  EXPECT_THAT(read_all({std::string("\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 10) + "mask"}),
              ElementsAre("broken:1009"));
  EXPECT_THAT(read_all({masked(0x82, std::string(1001, 'x'))}, 0), ElementsAre("broken:1009"));
}

TEST(Frame, the_limit_may_change_between_and_within_messages) {
  FrameReader reader(Role::server, 10);
  std::string small = masked(0x81, std::string(10, 'x'));
  EXPECT_EQ(reader.read(small).kind, Kind::text);
  reader.set_limit(1000);
  std::string begun = masked(0x01, std::string(900, 'x'));
  EXPECT_EQ(reader.read(begun).kind, Kind::nothing);
  reader.set_limit(10);
  std::string end = masked(0x80, "");
  EXPECT_THROW(reader.read(end), Closed);
}

/// A random conversation is read back as it was written, whatever its fragments and pieces are.
TEST(Frame, random_messages_come_back) {
  std::mt19937 random(6455);
  for (int round = 0; round < 200; ++round) {
    std::string stream;
    std::vector<std::string> expected;
    for (unsigned message = random() % 5; message-- > 0;) {
      std::string text(random() % 400, '\0');
      for (char& c : text) c = static_cast<char>('a' + random() % 26);
      const unsigned fragments = 1 + random() % 4;
      for (unsigned i = 0, at = 0; i < fragments; ++i) {
        const std::size_t end = i + 1 == fragments ? text.size() : at + random() % (text.size() - at + 1);
        stream += masked((i + 1 == fragments ? 0x80U : 0U) | (i == 0 ? 1U : 0U), text.substr(at, end - at));
        at = static_cast<unsigned>(end);
        if (i + 1 < fragments && random() % 3 == 0) {
          stream += masked(0x89, "p");
          expected.emplace_back("ping:p");
        }
      }
      expected.push_back("text:" + text);
    }
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 100, stream.size() - at);
      pieces.push_back(stream.substr(at, size));
      at += size;
    }
    ASSERT_EQ(read_all(pieces), expected) << "round " << round;
  }
}

TEST(Frame, survives_any_bytes_alike_in_every_split) {
  std::mt19937 random(17);
  for (int round = 0; round < 2000; ++round) {
    std::string stream =
        masked(0x80U | random() % 16, std::string(random() % 130, 'x')) + masked(random() % 256, "abc");
    for (unsigned flips = random() % 4; flips-- > 0;)
      stream[random() % stream.size()] = static_cast<char>(random());
    const std::size_t cut = random() % stream.size();
    ASSERT_EQ(read_all({stream.substr(0, cut), stream.substr(cut)}), read_all({stream})) << "round " << round;
  }
}

}  // namespace
}  // namespace tare::net
