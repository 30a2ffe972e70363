// Processes on real threads: kills, bombs, disposals, churn.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <latch>

#include <gtest/gtest.h>

#include "engine/kernel/kernel_testing.hpp"
#include "engine/kernel/pipe.hpp"

namespace tare::kernel {
namespace {

using testing::bytes;
using testing::command;
using testing::read_all;
using testing::soon;
using testing::stream;
using testing::Threads;
using Block = ProcessTable::Block;

class Races : public ::testing::Test {
 protected:
  ~Races() override { runner->join(); }
  Exit run(std::vector<std::string> argv) {
    std::optional<Exit> seen;
    SpawnRequest request = command(std::move(argv));
    request.on_exit = [&](int, const Exit& exit) { seen = exit; };
    EXPECT_TRUE(vm->processes().create(nullptr, std::move(request)).ok());
    EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
    return seen.value_or(Exit::with_code(255));
  }

  SystemClock clock;
  std::shared_ptr<Threads> runner = std::make_shared<Threads>();
  std::shared_ptr<Vm> vm = Vm::create({.permissions = allow_all}, clock, runner);
};

TEST_F(Races, parent_waits_for_its_children) {
  runner->add("child", [](const auto& me) { return Exit::with_code(std::stoi(me->argv()[2])); });
  runner->add("parent", [](const auto& me) {
    auto& table = me->vm()->processes();
    int sum = 0;
    for (int i = 1; i <= 8; ++i) (void)table.create(me, command({"node", "child", std::to_string(i)}));
    for (int i = 1; i <= 8; ++i) sum += *(*table.wait(*me, std::nullopt, Block::yes))->exit.code;
    return Exit::with_code(sum);
  });
  EXPECT_EQ(run({"node", "parent"}), Exit::with_code(36));
}

TEST_F(Races, bytes_cross_a_chain_of_processes_without_loss) {
  runner->add("cat", [](const auto& me) {
    const auto in = *me->fds().get(0);
    const auto out = *me->fds().get(1);
    std::array<std::byte, 1000> part;
    for (;;) {
      const auto count = read_blocking(me->wait(), *in, part);
      if (!count.ok() || *count == 0) return Exit::with_code(count.error());
      (void)write_blocking(me->wait(), *out, std::span(part).first(*count));
    }
  });
  auto first = make_pipe(nullptr);
  auto from = first.reader;
  first.reader.reset();
  for (int i = 0; i < 4; ++i) {
    auto next = make_pipe(nullptr);
    SpawnRequest request = command({"node", "cat"});
    request.stdio = {stream(std::move(from)), stream(std::move(next.writer))};
    ASSERT_TRUE(vm->processes().create(nullptr, std::move(request)).ok());
    from = std::move(next.reader);
  }
  std::string sent(3'000'000, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 + i / 1000);
  std::thread writer([&, out = std::move(first.writer)]() mutable {
    EXPECT_TRUE(write_blocking(std::make_shared<Wait>(), *out, bytes(sent)).ok());
    out.reset();
  });
  EXPECT_TRUE(read_all(*from) == sent);
  writer.join();
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
}

TEST_F(Races, kill_ends_a_write_to_a_full_pipe) {
  runner->add("flood", [](const auto& me) {
    const std::string much(1 << 20, 'x');
    const auto written = write_blocking(me->wait(), **me->fds().get(1), bytes(much));
    EXPECT_EQ(written.error(), EINTR);
    return Exit::with_code(0);
  });
  auto ends = make_pipe(nullptr);
  SpawnRequest request = command({"node", "flood"});
  request.stdio = {{}, stream(std::move(ends.writer))};
  const auto process = *vm->processes().create(nullptr, std::move(request));
  std::array<std::byte, 1> one;
  ASSERT_TRUE(read_blocking(std::make_shared<Wait>(), *ends.reader, one).ok());  // it has begun
  EXPECT_TRUE(vm->processes().kill(process->pid(), SIGKILL).ok());
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
  EXPECT_EQ(process->exit(), Exit::by_signal(SIGKILL));
}

TEST_F(Races, kill_ends_a_wait_for_a_child) {
  std::latch waiting(1);
  runner->add("child", [](const auto& me) {
    const auto ticket = me->wait()->ticket();
    EXPECT_EQ(me->wait()->block(ticket).error(), EINTR);
    return Exit::with_code(0);
  });
  runner->add("parent", [&](const auto& me) {
    EXPECT_TRUE(me->vm()->processes().create(me, command({"node", "child"})).ok());
    waiting.count_down();
    EXPECT_EQ(me->vm()->processes().wait(*me, std::nullopt, Block::yes).error(), EINTR);
    return Exit::with_code(0);
  });
  const auto parent = *vm->processes().create(nullptr, command({"node", "parent"}));
  waiting.wait();
  EXPECT_EQ(vm->processes().kill_tree(parent->pid(), "test"), 2u);
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
}

TEST_F(Races, fork_bomb_stays_below_the_limit_and_is_killed_whole) {
  std::atomic<int> refused{0};
  runner->add("bomb", [&](const auto& me) {
    auto& table = me->vm()->processes();
    while (!me->kill_requested()) {
      if (table.create(me, command({"node", "bomb"})).error() == EAGAIN) ++refused;
      while (table.wait(*me, std::nullopt, Block::no).ok() && !me->kill_requested() && refused < 100) {
        std::this_thread::yield();
      }
      if (refused >= 100) break;
    }
    return Exit::with_code(0);
  });
  const auto top = *vm->processes().create(nullptr, command({"node", "bomb"}));
  while (refused < 50) std::this_thread::yield();
  EXPECT_LE(vm->processes().count(), 64u);
  vm->processes().kill_tree(top->pid(), "bomb");
  vm->dispose();
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
  EXPECT_EQ(vm->processes().count(), 0u);
}

TEST_F(Races, creating_while_disposing_leaves_nobody) {
  for (int round = 0; round < 20; ++round) {
    vm = Vm::create({.permissions = allow_all}, clock, runner);
    runner->add("child", [](const auto&) { return Exit::with_code(0); });
    std::latch begun(3);
    std::vector<std::thread> creators;
    for (int t = 0; t < 2; ++t) {
      creators.emplace_back([&] {
        begun.arrive_and_wait();
        int error = 0;
        while (error != EPERM) {
          error = vm->processes().create(nullptr, command({"node", "child"})).error();
        }
      });
    }
    begun.arrive_and_wait();
    vm->dispose();
    for (auto& creator : creators) creator.join();
    EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
    EXPECT_EQ(vm->processes().count(), 0u);
    EXPECT_EQ(vm->counters().processes_started, vm->counters().processes_ended);
    runner->join();
  }
}

TEST_F(Races, kill_and_exit_at_once_give_one_of_both) {
  runner->add("quick", [](const auto&) { return Exit::with_code(3); });
  for (int round = 0; round < 200; ++round) {
    std::optional<Exit> seen;
    SpawnRequest request = command({"node", "quick"});
    request.on_exit = [&](int, const Exit& exit) { seen = exit; };
    const auto process = *vm->processes().create(nullptr, std::move(request));
    (void)vm->processes().kill(process->pid(), SIGKILL);
    ASSERT_TRUE(vm->processes().wait_until_empty(soon()));
    ASSERT_TRUE(seen == Exit::with_code(3) || seen == Exit::by_signal(SIGKILL));
    ASSERT_EQ(process->exit(), seen);
  }
}

TEST_F(Races, ten_thousand_processes_leave_no_trace) {
  // Each thread plays those of its processes: starting ten thousand threads is not what is tested.
  const auto idle = std::make_shared<testing::Idle>();
  vm = Vm::create({.permissions = allow_all}, clock, idle);
  const auto before = vm->files().statfs();
  const auto live = [&](const std::shared_ptr<Process>& me) {
    SpawnRequest request = command({"node"});
    request.stdio = std::vector<StdioEntry>(3);
    const auto child = vm->processes().create(me, std::move(request));
    ASSERT_TRUE(child.ok());
    const std::string path = "/tmp/" + std::to_string(me->pid());
    EXPECT_TRUE(me->open(path, O_WRONLY | O_CREAT).ok());
    EXPECT_TRUE(me->pipe().ok());
    EXPECT_TRUE(vm->files().unlink(me->origin(), path).ok());
    (*child)->post_exit(Exit::with_code(0));  // whom nobody waits for
    me->post_exit(Exit::with_code(0));
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'250; ++i) live(*vm->processes().create(nullptr, command({"node"})));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(vm->counters().processes_ended, 10'000u);
  EXPECT_EQ(vm->processes().count(), 0u);
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
  EXPECT_EQ(vm->files().statfs().bfree, before.bfree);
  EXPECT_EQ(vm->files().statfs().ffree, before.ffree);
  const std::weak_ptr<Vm> gone = vm;
  vm.reset();
  EXPECT_TRUE(gone.expired());
}

}  // namespace
}  // namespace tare::kernel
