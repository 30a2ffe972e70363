#include "runtime/gateway/transcripts.hpp"

#include "runtime/gateway/world_for_tests.hpp"

namespace tare::gateway {
namespace {

class TranscriptsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t end = 1'000'000;
  boost::asio::io_context io{1};
  MemoryStore store{io};
  Transcripts small{store, TranscriptLimits{.tail = 4, .bytes = 8 * sizeof(Message)}};

  static std::unique_ptr<Session> session(SessionId id) {
    SessionRecord record;
    record.id = id;
    record.uuid = "u";
    return std::make_unique<Session>(record);
  }
  /// As it comes to be: on disk first.
  void say(Session& session, const std::string& text) {
    const Message message{small.take_seq(session), Role::user, 1, text, Outcome::ok};
    store.write({AddMessage{session.record.id, message, 1}},
                [&](const std::exception_ptr&) { small.add(session, message); });
    io.restart();
    io.poll();
  }
  static std::string texts(const std::vector<Message>& messages) {
    std::string all;
    for (const Message& message : messages) all += message.text;
    return all;
  }
};

TEST_F(TranscriptsTest, the_latest_messages_are_in_memory_and_the_others_on_disk) {
  const auto s = session(1);
  for (const char* text : {"a", "b", "c", "d", "e", "f"}) say(*s, text);
  EXPECT_EQ(small.latest(*s, {3}).size(), 3u);
  const int reads = store.reads;
  EXPECT_EQ(texts(small.page(*s, end, {4})), "cdef");
  EXPECT_EQ(texts(small.page(*s, 6, {2})), "de");
  EXPECT_EQ(store.reads, reads);
  EXPECT_EQ(texts(small.page(*s, end, {5})), "bcdef");
  EXPECT_EQ(texts(small.page(*s, 3, {5})), "ab");
  EXPECT_EQ(store.reads, reads + 2);
  EXPECT_EQ(small.count(*s), 6u);
}

TEST_F(TranscriptsTest, sessions_that_were_not_used_for_longest_are_let_go) {
  std::vector<std::unique_ptr<Session>> all;
  for (SessionId id = 1; id <= 5; ++id) {
    all.push_back(session(id));
    for (const char* text : {"1", "2", "3"}) say(*all.back(), text);
    small.latest(*all.back(), {10});
  }
  EXPECT_LE(small.bytes(), 8 * sizeof(Message));
  EXPECT_FALSE(all[0]->tail);
  EXPECT_TRUE(all[4]->tail);
  EXPECT_EQ(texts(small.page(*all[0], end, {10})), "123");
  for (const auto& s : all) small.forget(*s);
  EXPECT_EQ(small.bytes(), 0u);
}

TEST_F(TranscriptsTest, a_message_that_was_read_from_the_disk_is_not_added_again) {
  const auto s = session(1);
  const Message message{small.take_seq(*s), Role::user, 1, "a", Outcome::ok};
  store.write({AddMessage{1, message, 1}}, [](const std::exception_ptr&) {});
  io.poll();
  EXPECT_EQ(small.count(*s), 1u);  // it is on disk, and its writer does not know yet
  small.latest(*s, {4});
  small.add(*s, message);
  EXPECT_EQ(small.count(*s), 1u);
  EXPECT_EQ(small.latest(*s, {4}).size(), 1u);
}

TEST_F(TranscriptsTest, what_is_told_is_bounded_in_bytes_but_never_nothing) {
  const auto s = session(1);
  for (const char* text : {"aaaa", "bbbb", "cccccccccc"}) say(*s, text);
  EXPECT_EQ(small.latest(*s, {4, 15}).size(), 2u);
  EXPECT_EQ(small.latest(*s, {4, 1}).size(), 1u);
}

TEST_F(TranscriptsTest, a_message_says_who_said_it_and_when) {
  std::string out;
  append_message(out, session(1)->record, {3, Role::assistant, 7, "hi", Outcome::aborted});
  EXPECT_EQ(
      out,
      R"({"role":"assistant","content":[{"type":"text","text":"hi"}],"timestamp":7,"stopReason":"aborted",)"
      R"("__openclaw":{"id":"u-3","seq":3}})");
}

}  // namespace
}  // namespace tare::gateway
