#include "net/http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "net/handshake.hpp"

namespace tare::net {
namespace {

using testing::HasSubstr;

TEST(Headers, are_found_whatever_their_case) {
  const Headers headers{{"Content-Type", "text/plain"}, {"connection", "keep-alive, Upgrade"}};
  EXPECT_EQ(find(headers, "content-type"), "text/plain");
  EXPECT_FALSE(find(headers, "content").has_value());
  EXPECT_TRUE(has_token(headers, "Connection", "upgrade"));
  EXPECT_FALSE(has_token(headers, "Connection", "grade"));
}

TEST(Headers, cannot_break_out_of_their_line) {
  std::string out;
  append_headers(out, {{"X-Run", "7"}});
  EXPECT_EQ(out, "X-Run: 7\r\n");
  EXPECT_THROW(append_headers(out, {{"X-Run", "7\r\nX-Evil: 1"}}), Error);
  EXPECT_THROW(append_headers(out, {{"X Run", "7"}}), Error);
  EXPECT_THROW(append_headers(out, {{"", "7"}}), Error);
}

TEST(Url, has_the_port_of_its_scheme_and_a_path) {
  const Url plain = parse_url("http://127.0.0.1", "--provider-url");
  EXPECT_EQ(plain.scheme, "http");
  EXPECT_EQ(plain.host, "127.0.0.1");
  EXPECT_EQ(plain.port, 80);
  EXPECT_EQ(plain.path, "/");
  const Url full = parse_url("WSS://example.org:8443/v1/x?y=/z#part", "--url");
  EXPECT_EQ(full.scheme, "wss");
  EXPECT_EQ(full.port, 8443);
  EXPECT_EQ(full.path, "/v1/x?y=/z");
  EXPECT_EQ(parse_url("https://a.b?q", "--url").path, "/?q");
  EXPECT_EQ(parse_url("https://a.b", "--url").port, 443);
  const Url v6 = parse_url("http://[::1]:8080/", "--url");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(authority(v6), "[::1]:8080");
}

TEST(Url, refuses_what_is_none_and_says_why) {
  const auto why = [](const char* text) {
    try {
      parse_url(text, "--provider-url");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      return error.line();
    }
    return std::string("taken");
  };
  EXPECT_EQ(why("http://"),
            "tare: --provider-url is not a URL (no host in 'http://'); http://HOST:PORT/PATH is one");
  EXPECT_THAT(why("127.0.0.1:80"), HasSubstr("no scheme"));
  EXPECT_THAT(why("ftp://a"), HasSubstr("an unknown scheme"));
  EXPECT_THAT(why("http://a:0"), HasSubstr("a bad port"));
  EXPECT_THAT(why("http://a:65536"), HasSubstr("a bad port"));
  EXPECT_THAT(why("http://a:8x"), HasSubstr("a bad port"));
  EXPECT_THAT(why("http://me:secret@a/"), HasSubstr("a user name"));
  EXPECT_THAT(why("http://[::1"), HasSubstr("no ']'"));
  EXPECT_THAT(why("http://[::1]80"), HasSubstr("no ':'"));
  EXPECT_THAT(why("http://a/b c"), HasSubstr("a space"));
  EXPECT_THAT(why("http://a/\r\nHost: b"), HasSubstr("a space or control character"));
}

TEST(Handshake, accepts_a_key_as_the_standard_does) {
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");  // RFC 6455, 1.3
  EXPECT_TRUE(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="));
  EXPECT_FALSE(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ"));
  EXPECT_FALSE(is_websocket_key("dGhlIHNhbXBsZSBub25j!Q=="));
}

TEST(Handshake, base64_pads) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

}  // namespace
}  // namespace tare::net
