#include "engine/kernel/pipe.hpp"

#include <atomic>
#include <cerrno>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "engine/kernel/kernel_testing.hpp"

namespace tare::kernel {
namespace {

using testing::bytes;
using testing::Count;
using testing::read_all;
using testing::read_some;
using Direction = Description::Direction;

TEST(Pipe, gives_bytes_in_the_order_they_came) {
  const auto ends = make_pipe(nullptr);
  EXPECT_EQ(*ends.writer->write(bytes("abc")), 3u);
  EXPECT_EQ(*ends.writer->write(bytes("def")), 3u);
  EXPECT_EQ(read_some(*ends.reader, 4), "abcd");
  EXPECT_EQ(read_some(*ends.reader), "ef");
}

TEST(Pipe, is_eagain_when_empty_and_the_end_when_the_writer_is_gone) {
  auto ends = make_pipe(nullptr);
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(ends.reader->read(buffer).error(), EAGAIN);
  EXPECT_FALSE(ends.reader->readable());
  EXPECT_TRUE(ends.writer->write(bytes("last")).ok());
  ends.writer.reset();
  EXPECT_EQ(read_some(*ends.reader), "last");
  EXPECT_EQ(*ends.reader->read(buffer), 0u);
}

TEST(Pipe, holds_64_KiB_and_is_then_eagain) {
  const auto ends = make_pipe(nullptr);
  const std::string much(100'000, 'x');
  EXPECT_EQ(*ends.writer->write(bytes(much)), pipe_capacity);
  EXPECT_EQ(ends.writer->write(bytes("y")).error(), EAGAIN);
  EXPECT_FALSE(ends.writer->writable());
}

TEST(Pipe, writes_up_to_4096_bytes_in_whole_or_not_at_all) {
  const auto ends = make_pipe(nullptr);
  EXPECT_TRUE(ends.writer->write(bytes(std::string(pipe_capacity - 100, 'x'))).ok());
  EXPECT_EQ(ends.writer->write(bytes(std::string(4096, 'y'))).error(), EAGAIN);
  EXPECT_EQ(*ends.writer->write(bytes(std::string(4097, 'z'))), 100u);
}

TEST(Pipe, is_epipe_when_the_reader_is_gone) {
  auto ends = make_pipe(nullptr);
  ends.reader.reset();
  EXPECT_TRUE(ends.writer->writable());
  EXPECT_EQ(ends.writer->write(bytes("x")).error(), EPIPE);
}

TEST(Pipe, refuses_the_wrong_direction_and_seeking) {
  const auto ends = make_pipe(nullptr);
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(ends.writer->read(buffer).error(), EBADF);
  EXPECT_EQ(ends.reader->write(bytes("x")).error(), EBADF);
  EXPECT_EQ(ends.reader->seek(0, Description::Whence::set).error(), ESPIPE);
  EXPECT_EQ(ends.reader->pread(buffer, 0).error(), ESPIPE);
  EXPECT_EQ(ends.reader->truncate(0).error(), EINVAL);
  EXPECT_EQ(ends.reader->stat()->mode & S_IFMT, static_cast<unsigned>(S_IFIFO));
}

TEST(Pipe, wakes_readers_for_the_first_bytes_and_for_the_end) {
  auto ends = make_pipe(nullptr);
  const auto waker = std::make_shared<Count>();
  ends.reader->watch(waker, Direction::read);
  EXPECT_TRUE(ends.writer->write(bytes("a")).ok());
  EXPECT_EQ(waker->times, 1);
  EXPECT_TRUE(ends.writer->write(bytes("b")).ok());  // there were bytes already
  EXPECT_EQ(waker->times, 1);
  ends.writer.reset();
  EXPECT_EQ(waker->times, 2);
}

TEST(Pipe, wakes_writers_for_room_and_when_the_reader_goes) {
  auto ends = make_pipe(nullptr);
  const auto waker = std::make_shared<Count>();
  EXPECT_TRUE(ends.writer->write(bytes(std::string(pipe_capacity, 'x'))).ok());
  ends.writer->watch(waker, Direction::write);
  (void)read_some(*ends.reader, 4095);
  EXPECT_EQ(waker->times, 0);
  (void)read_some(*ends.reader, 1);
  EXPECT_EQ(waker->times, 1);
  ends.reader.reset();
  EXPECT_EQ(waker->times, 2);
}

TEST(Pipe, wakes_nobody_who_stopped_watching) {
  const auto ends = make_pipe(nullptr);
  const auto waker = std::make_shared<Count>();
  ends.reader->watch(waker, Direction::read);
  ends.reader->unwatch(waker, Direction::read);
  EXPECT_TRUE(ends.writer->write(bytes("a")).ok());
  EXPECT_EQ(waker->times, 0);
}

TEST(Pipe, loses_no_byte_between_threads_and_counts_them) {
  const auto counters = std::make_shared<Counters>();
  auto ends = make_pipe(counters);
  std::thread writer([out = std::move(ends.writer)]() mutable {
    const auto wait = std::make_shared<Wait>();
    std::string part;
    for (int i = 0; i < 3'000; ++i) {
      part.assign(static_cast<std::size_t>(i * 37 % 5'000 + 1), static_cast<char>('a' + i % 26));
      ASSERT_TRUE(write_blocking(wait, *out, bytes(part)).ok());
    }
    out.reset();
  });
  const std::string all = read_all(*ends.reader);
  writer.join();
  std::size_t at = 0;
  for (int i = 0; i < 3'000; ++i) {
    const auto size = static_cast<std::size_t>(i * 37 % 5'000 + 1);
    ASSERT_EQ(all.substr(at, size), std::string(size, static_cast<char>('a' + i % 26))) << i;
    at += size;
  }
  EXPECT_EQ(at, all.size());
  EXPECT_EQ(counters->pipe_bytes_written, at);
  EXPECT_EQ(counters->pipe_bytes_read, at);
}

TEST(Pipe, many_pipes_hold_less_each) {
  const auto counters = std::make_shared<Counters>();
  std::vector<PipeEnds> pipes;
  for (std::size_t i = 0; i < full_pipes; ++i) pipes.push_back(make_pipe(counters));
  EXPECT_EQ(*pipes.back().writer->write(bytes(std::string(100'000, 'x'))), pipe_capacity);
  const auto small = make_pipe(counters);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*small.writer->write(bytes(std::string(100'000, 'y'))), pipe_atomic);
    EXPECT_EQ(read_some(*small.reader), std::string(pipe_atomic, 'y'));
  }
  pipes.clear();
  EXPECT_EQ(counters->pipes_open, 1u);
}

TEST(Pipe, closed_while_being_read_is_the_end) {
  auto ends = make_pipe(nullptr);
  std::thread closer([out = std::move(ends.writer)]() mutable { out.reset(); });
  EXPECT_EQ(read_all(*ends.reader), "");
  closer.join();
}

TEST(Pipe, reader_gone_while_being_written_is_epipe) {
  auto ends = make_pipe(nullptr);
  std::thread closer([in = std::move(ends.reader)]() mutable { in.reset(); });
  const std::string much(10 * pipe_capacity, 'x');
  EXPECT_EQ(write_blocking(std::make_shared<Wait>(), *ends.writer, bytes(much)).error(), EPIPE);
  closer.join();
}

TEST(Pipe, interrupted_while_writing_is_eintr) {
  const auto ends = make_pipe(nullptr);
  const auto wait = std::make_shared<Wait>();
  std::thread killer([wait] { wait->interrupt(); });
  const std::string much(10 * pipe_capacity, 'x');
  EXPECT_EQ(write_blocking(wait, *ends.writer, bytes(much)).error(), EINTR);
  killer.join();
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(read_blocking(wait, *ends.reader, buffer).error(), EINTR);  // it stays so
}

TEST(Duplex, gives_each_end_what_the_other_wrote) {
  auto ends = make_duplex(nullptr);
  EXPECT_TRUE(ends.first->write(bytes("ping")).ok());
  EXPECT_TRUE(ends.second->write(bytes("pong")).ok());
  EXPECT_EQ(read_some(*ends.second), "ping");
  EXPECT_EQ(read_some(*ends.first), "pong");
  EXPECT_TRUE(shutdown_write(*ends.first).ok());
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(*ends.second->read(buffer), 0u);
  EXPECT_TRUE(ends.second->write(bytes("still")).ok());
  EXPECT_EQ(read_some(*ends.first), "still");
  EXPECT_EQ(ends.first->write(bytes("x")).error(), EPIPE);
  EXPECT_EQ(shutdown_write(*make_pipe(nullptr).writer).error(), ENOTSOCK);
}

TEST(WaitFor, wake_before_the_sleep_is_not_lost) {
  Wait wait;
  const auto ticket = wait.ticket();
  wait.wake();
  EXPECT_TRUE(wait.block(ticket).ok());
}

TEST(WaitFor, deadline_that_passed_is_etimedout) {
  Wait wait;
  EXPECT_EQ(wait.block_until(wait.ticket(), SystemClock().now()).error(), ETIMEDOUT);
}

TEST(WaitFor, event_fd_is_readable_after_a_wake) {
  Wait wait;
  const auto fd = wait.event_fd();
  ASSERT_TRUE(fd.ok());
  std::uint64_t count = 0;
  EXPECT_EQ(::read(*fd, &count, sizeof count), -1);
  wait.wake();
  EXPECT_EQ(::read(*fd, &count, sizeof count), 8);
  wait.wake();
  wait.drain_event_fd();
  EXPECT_EQ(::read(*fd, &count, sizeof count), -1);
  wait.interrupt();
  wait.drain_event_fd();
  EXPECT_EQ(::read(*fd, &count, sizeof count), 8);
}

}  // namespace
}  // namespace tare::kernel
