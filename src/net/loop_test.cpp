#include "net/loop.hpp"

#include <set>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/loopback_for_tests.hpp"
#include "net/stream.hpp"

namespace tare::net {
namespace {

using testing::ElementsAre;

TEST(Deadline, is_called_in_its_order_and_once) {
  Loopback loop;
  std::vector<int> called;
  Deadline late(Loop::of(loop.io), [&] { called.push_back(2); });
  Deadline early(Loop::of(loop.io), [&] { called.push_back(1); });
  Deadline never(Loop::of(loop.io), [&] { called.push_back(3); });
  late.after(50ms);
  early.after(2ms);
  never.after(3ms);
  never.clear();
  loop.io.run();  // it ends, as nothing is left to wait for
  EXPECT_THAT(called, ElementsAre(1, 2));
}

TEST(Deadline, can_be_moved_either_way) {
  Loopback loop;
  const auto start = std::chrono::steady_clock::now();
  std::vector<int> called;
  Deadline later(Loop::of(loop.io), [&] { called.push_back(2); });
  later.after(1ms);
  later.after(50ms);
  Deadline sooner(Loop::of(loop.io), [&] { called.push_back(1); });
  sooner.after(1h);
  sooner.after(2ms);
  loop.io.run();
  EXPECT_THAT(called, ElementsAre(1, 2));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 50ms);
}

TEST(Deadline, may_destroy_itself_and_set_others) {
  Loopback loop;
  int called = 0;
  std::optional<Deadline> self;
  Deadline other(Loop::of(loop.io), [&] { ++called; });
  self.emplace(Loop::of(loop.io), [&] {
    ++called;
    other.after(1ms);
    self.reset();
  });
  self->after(1ms);
  loop.io.run();
  EXPECT_EQ(called, 2);
}

TEST(Loop, masks_differ) {
  asio::io_context io;
  std::set<std::array<unsigned char, 4>> seen;
  for (int i = 0; i < 3000; ++i) seen.insert(Loop::of(io).mask());  // several refills
  EXPECT_GT(seen.size(), 2990U);
}

/// Two ends of a connection.
struct Pair : Loopback {
  Pair() {
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::socket dialled(io);
    dialled.connect(acceptor.local_endpoint());
    near = std::make_shared<Stream>(io, std::move(dialled));
    far = std::make_shared<Stream>(io, acceptor.accept());
  }
  std::string read_far() {
    EXPECT_TRUE(run(far->fill()));
    std::string text(far->input().data(), far->input().size());
    far->consume(text.size());
    return text;
  }
  std::shared_ptr<Stream> near;
  std::shared_ptr<Stream> far;
};

TEST(Stream, what_is_written_in_one_turn_goes_out_at_once) {
  Pair pair;
  asio::post(pair.io, [&] {
    for (int i = 0; i < 10; ++i) pair.near->write("0123456789");
    EXPECT_EQ(pair.near->queued(), 100U);
    EXPECT_EQ(pair.near->bytes_out(), 0U);
  });
  EXPECT_EQ(pair.read_far().size(), 100U);
  EXPECT_EQ(pair.near->queued(), 0U);
}

TEST(Stream, carries_more_than_the_kernel_takes) {
  Pair pair;
  std::string sent;
  for (int i = 0; sent.size() < 20'000'000; ++i) sent += std::to_string(i);
  pair.near->write(sent);
  std::string got;
  while (got.size() < sent.size()) got += pair.read_far();
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(pair.near->bytes_out(), sent.size());
  EXPECT_EQ(pair.far->bytes_in(), sent.size());
}

TEST(Stream, what_is_not_consumed_stays_while_it_waits) {
  Pair pair;
  pair.near->write("half");
  EXPECT_TRUE(pair.run(pair.far->fill()));
  pair.far->consume(1);
  bool filled = false;
  asio::co_spawn(pair.io, pair.far->fill(), [&](const std::exception_ptr&, bool) { filled = true; });
  asio::post(pair.io, [&] { pair.near->write(" whole"); });
  pair.run_until([&] { return filled; });
  EXPECT_EQ(std::string(pair.far->input().data(), pair.far->input().size()), "alf whole");
}

TEST(Stream, finishing_sends_the_rest_and_waits_for_the_peer) {
  Pair pair;
  const std::string rest(5'000'000, 'x');
  pair.near->write(rest);
  pair.near->finish();
  std::string got;
  while (got.size() < rest.size()) got += pair.read_far();
  EXPECT_FALSE(pair.run(pair.far->fill()));
  EXPECT_FALSE(pair.near->closed());
  pair.far->close();
  pair.run_until([&] { return pair.near->closed(); });
}

TEST(Stream, closing_wakes_who_waits) {
  Pair pair;
  int woken = 0;
  pair.near->on_close([&] { ++woken; });
  asio::co_spawn(pair.io, pair.near->fill(), [&](const std::exception_ptr& failure, bool more) {
    EXPECT_FALSE(failure);
    EXPECT_FALSE(more);
    ++woken;
  });
  asio::post(pair.io, [&] { pair.near->close(); });
  pair.run_until([&] { return woken == 2; });
  pair.near->write("into the void");  // harmless
}

TEST(Stream, lets_others_have_a_turn_between_two_full_reads) {
  Loopback loop;
  using asio::ip::tcp;
  tcp::acceptor acceptor(loop.io, {asio::ip::address_v4::loopback(), 0});
  tcp::socket sender(loop.io);
  sender.connect(acceptor.local_endpoint());
  sender.set_option(asio::socket_base::send_buffer_size(4 * Loop::block_bytes));
  tcp::socket socket = acceptor.accept();
  socket.set_option(asio::socket_base::receive_buffer_size(4 * Loop::block_bytes));
  asio::write(sender, asio::buffer(std::string(2 * Loop::block_bytes, 'x')));
  loop.run_until([&] { return socket.available() == 2 * Loop::block_bytes; });

  const auto stream = std::make_shared<Stream>(loop.io, std::move(socket));
  bool had_turn = false;
  loop.run([&]() -> asio::awaitable<void> {
    co_await stream->fill();
    EXPECT_EQ(stream->input().size(), Loop::block_bytes);
    stream->consume(Loop::block_bytes);
    asio::post(loop.io, [&] { had_turn = true; });
    co_await stream->fill();
    EXPECT_TRUE(had_turn);
    EXPECT_EQ(stream->input().size(), Loop::block_bytes);
  }());
}

}  // namespace
}  // namespace tare::net
