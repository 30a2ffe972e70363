#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.hpp"
#include "protocol/frame.hpp"
#include "protocol/messages.hpp"
#include "protocol/socket.hpp"

namespace tare::guest {
namespace {

TEST(Frame, is_length_kind_id_payload_in_little_endian) {
  const std::string bytes = encode(Kind::spawn, 0x01020304, "{}");
  EXPECT_EQ(bytes, std::string("\x07\0\0\0\x03\x04\x03\x02\x01{}", 11));
}

TEST(Frame, comes_back_whatever_the_pieces) {
  const std::string stream =
      encode(Kind::create_vm, 1, "") + encode(Kind::exited, 0xffffffff, std::string(70'000, 'x'));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    Decoder decoder;
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      decoder.append(std::string_view(stream).substr(at, piece));
      while (auto frame = decoder.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].kind, Kind::create_vm);
    EXPECT_EQ(frames[1].id, 0xffffffffU);
    EXPECT_EQ(frames[1].payload.size(), 70'000U);
    EXPECT_TRUE(decoder.empty());
  }
}

TEST(Frame, of_a_length_that_none_has_is_an_error) {
  for (const char* length : {"\x04\0\0\0", "\xff\xff\xff\xff"}) {
    Decoder decoder;
    decoder.append(std::string_view(length, 4));
    EXPECT_THROW(decoder.next(), Error);
  }
  EXPECT_THROW(encode(Kind::log, 0, std::string(payload_limit + 1, ' ')), Error);
}

TEST(Frame, stdio_headers_come_back) {
  const auto header = decode_stdio_header(encode_stdio_header(Stream::standard_error, 0x10203));
  EXPECT_EQ(header.stream, Stream::standard_error);
  EXPECT_EQ(header.length, 0x10203U);
  EXPECT_THROW(decode_stdio_header(std::string_view("\x03\0\0\0\0", 5)), Error);
}

TEST(Messages, spawn_is_written_as_the_contract_has_it) {
  Spawn spawn;
  spawn.vm = 1;
  spawn.argv = {"node", "-e", "0"};
  spawn.stdio = Stdio::pipe;
  EXPECT_EQ(
      json::line(spawn),
      R"({"vm":1,"context":null,"argv":["node","-e","0"],"cwd":null,"env":null,"stdio":"pipe","timeoutMs":null,"profiles":null})");
  const auto back = parse<Spawn>(R"({"vm":1,"argv":["node"],"stdio":"ignore","timeoutMs":5,"unknown":1})");
  EXPECT_EQ(back.timeout_ms, 5U);
  EXPECT_EQ(back.stdio, Stdio::ignore);
}

TEST(Messages, denied_is_the_default_of_every_permission) {
  EXPECT_EQ(json::line(Permissions{}),
            R"({"fs":"deny","network":"deny","childProcess":"deny","env":"deny"})");
}

TEST(Messages, an_exit_may_have_neither_code_nor_signal) {
  const auto exited = parse<Exited>(
      R"({"code":null,"signal":null,"reason":"refused","detail":"EAGAIN","sync":"skipped","filesLost":0,"syncProblems":[],"cpuNs":null})");
  EXPECT_FALSE(exited.code);
  EXPECT_EQ(exited.reason, reason::refused);
}

TEST(Messages, a_file_keeps_every_byte) {
  const std::string content("\n\0\xff{}", 5);
  const std::string payload = encode_write_file({"/root/a\nb", 0755}, content);
  const auto parts = decode_write_file(payload);
  EXPECT_EQ(parts.file.path, "/root/a\nb");
  EXPECT_EQ(parts.file.mode, 0755U);
  EXPECT_EQ(parts.content, content);
  EXPECT_THROW(decode_write_file("{}"), Error);
}

TEST(Messages, a_part_of_a_profile_keeps_every_byte) {
  const std::string payload = encode_profile({.kind = ProfileKind::heap, .last = true, .error = {}}, "{\n}");
  const ProfileFrame frame = decode_profile(payload);
  EXPECT_EQ(frame.part.kind, ProfileKind::heap);
  EXPECT_TRUE(frame.part.last);
  EXPECT_EQ(frame.bytes, "{\n}");
  EXPECT_THROW(decode_profile("{}"), Error);
  EXPECT_THROW(decode_profile("{\"kind\":\"wall\"}\n"), Error);
}

TEST(Messages, signals_have_names) {
  EXPECT_EQ(signal_name(9), "SIGKILL");
  EXPECT_EQ(signal_number("SIGTERM"), 15);
  EXPECT_FALSE(signal_name(0));
  EXPECT_FALSE(signal_number("KILL"));
}

TEST(Socket, a_descriptor_is_there_with_the_frame_that_it_rode_on) {
  const SocketPair pair = make_socket_pair();
  // More data than a buffer in front of it, none between the two that carry one.
  const SocketPair first = make_socket_pair();
  const SocketPair second = make_socket_pair();
  ASSERT_TRUE(send_all(pair.ours.get(), encode(Kind::stats, 1, std::string(100, ' '))));
  ASSERT_TRUE(send_all(pair.ours.get(), encode(Kind::spawn, 2, "{}"), first.theirs.get()));
  ASSERT_TRUE(send_all(pair.ours.get(), encode(Kind::spawn, 3, "{}"), second.theirs.get()));
  ASSERT_EQ(::shutdown(pair.ours.get(), SHUT_WR), 0);

  Receiver receiver(pair.theirs.get());
  EXPECT_TRUE(receiver.has_more());
  EXPECT_FALSE(Receiver(pair.ours.get()).has_more());
  Decoder decoder;
  std::vector<std::uint32_t> ids;
  std::vector<Fd> descriptors;
  for (std::string_view bytes = receiver.receive(); !bytes.empty(); bytes = receiver.receive()) {
    decoder.append(bytes);
    while (const auto frame = decoder.next()) {
      ids.push_back(frame->id);
      if (frame->kind != Kind::spawn) continue;
      Fd descriptor = receiver.take_descriptor();
      ASSERT_TRUE(descriptor);
      EXPECT_TRUE(::fcntl(descriptor.get(), F_GETFD) & FD_CLOEXEC);
      descriptors.push_back(std::move(descriptor));
    }
  }
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_FALSE(receiver.take_descriptor());

  ASSERT_TRUE(send_all(descriptors[1].get(), "2"));
  char byte = 0;
  ASSERT_EQ(::read(second.ours.get(), &byte, 1), 1);
  EXPECT_EQ(byte, '2');
}

TEST(Socket, sending_to_one_that_is_gone_is_no_signal) {
  SocketPair pair = make_socket_pair();
  pair.theirs.reset();
  EXPECT_FALSE(send_all(pair.ours.get(), "x"));
}

}  // namespace
}  // namespace tare::guest
