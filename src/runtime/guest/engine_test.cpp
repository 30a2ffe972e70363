#include "runtime/guest/engine.hpp"

#include <csignal>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "runtime/guest/world_for_tests.hpp"

namespace tare::guest {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

SpawnOptions guest(std::string verb, std::string argument = "", Stdio stdio = Stdio::ignore) {
  SpawnOptions options;
  options.argv = {"node", std::move(verb), std::move(argument)};
  options.stdio = stdio;
  return options;
}

Instant in(std::chrono::milliseconds time) {
  return SystemClock().now() + time;
}

struct Output {
  std::string out;
  std::string err;
  Exit exit;
};

Output read_all(Execution& execution) {
  Output all;
  for (;;) {
    const auto event = execution.poll_event();
    if (const auto* ended = std::get_if<Ended>(&*event)) {
      all.exit = ended->exit;
      return all;
    }
    if (const auto* out = std::get_if<Stdout>(&*event)) all.out += out->bytes;
    if (const auto* err = std::get_if<Stderr>(&*event)) all.err += err->bytes;
  }
}

class GuestEngine : public testing::Test {
 protected:
  World world_;
  Engine engine_ = Engine::start(world_.options());
  Vm vm_ = engine_.create_vm();
};

TEST_F(GuestEngine, an_exit_code_comes_back) {
  Execution execution = vm_.spawn(guest("exit", "7"));
  const Exit exit = execution.wait();
  EXPECT_EQ(exit.code, 7);
  EXPECT_FALSE(exit.signal);
  EXPECT_FALSE(exit.reason);
  EXPECT_FALSE(exit.files_synced);
  EXPECT_EQ(exit.cpu, Nanoseconds(1000));
  EXPECT_TRUE(execution.pid());
  EXPECT_EQ(execution.wait().code, 7) << "and again, when asked again";
}

TEST_F(GuestEngine, the_streams_are_kept_apart_and_whole) {
  Execution execution = vm_.spawn(guest("both", "", Stdio::pipe));
  const Output all = read_all(execution);
  EXPECT_EQ(all.out, "out0out1out2");
  EXPECT_EQ(all.err, std::string("err0\xff\0err1\xff\0err2\xff\0", 18));
  EXPECT_EQ(all.exit.code, 0);
}

TEST_F(GuestEngine, output_larger_than_all_buffers_waits_for_its_reader) {
  Execution execution = vm_.spawn(guest("write", "8388608", Stdio::pipe));
  EXPECT_FALSE(execution.poll_event(in(std::chrono::milliseconds(0))) &&
               engine_.stats().at("liveGuests") == 0);
  const Output all = read_all(execution);
  EXPECT_EQ(all.err, "done");
  EXPECT_EQ(all.exit.code, 0);
}

TEST_F(GuestEngine, stdin_goes_in_and_its_end_too) {
  Execution execution = vm_.spawn(guest("echo", "", Stdio::pipe));
  const std::string input = "every\0byte\xff";
  EXPECT_TRUE(execution.write_stdin(input));
  execution.close_stdin();
  EXPECT_EQ(read_all(execution).out, input);
  EXPECT_FALSE(execution.write_stdin("more")) << "nobody reads it";
}

TEST_F(GuestEngine, a_deadline_passes_and_the_guest_stays) {
  Execution execution = vm_.spawn(guest("stay", "", Stdio::pipe));
  ASSERT_TRUE(std::holds_alternative<Stdout>(*execution.poll_event()));
  EXPECT_FALSE(execution.poll_event(in(std::chrono::milliseconds(5))));
  Execution quiet = vm_.spawn(guest("stay"));
  EXPECT_FALSE(quiet.wait(in(std::chrono::milliseconds(5))));
  quiet.kill("SIGTERM");
  const Exit exit = quiet.wait();
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_EQ(exit.shell_code(), 143);
  execution.kill();
  EXPECT_EQ(describe(execution.wait()), "killed by SIGKILL");
}

TEST_F(GuestEngine, a_refusal_is_no_exit_code) {
  Execution execution = vm_.spawn(guest("refuse"));
  const Exit exit = execution.wait();
  EXPECT_TRUE(exit.is(reason::refused));
  EXPECT_FALSE(exit.code);
  EXPECT_EQ(describe(exit), "refused (EAGAIN: too many processes)");
  EXPECT_FALSE(execution.pid());
}

TEST_F(GuestEngine, a_limit_is_named) {
  EXPECT_EQ(describe(vm_.spawn(guest("limit", "memory")).wait()), "killed by SIGKILL (memory)");
}

TEST_F(GuestEngine, many_threads_wait_each_for_its_own) {
  std::vector<std::future<Exit>> exits;
  for (int i = 0; i < 16; ++i) {
    exits.push_back(std::async(std::launch::async, [&, i] {
      Exit exit;
      for (int turn = 0; turn < 10; ++turn) exit = vm_.spawn(guest("exit", std::to_string(i))).wait();
      return exit;
    }));
  }
  for (int i = 0; i < 16; ++i) EXPECT_EQ(exits[static_cast<std::size_t>(i)].get().code, i);
}

TEST_F(GuestEngine, hundreds_that_nobody_waits_for_block_nobody) {
  std::vector<Execution> all;
  for (int i = 0; i < 2000; ++i)
    all.push_back(vm_.spawn(guest("exit", std::to_string(i % 256) + std::string(200, ' '))));
  EXPECT_EQ(engine_.stats().at("spawned"), 2000);
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].wait().code, i % 256);
}

TEST_F(GuestEngine, an_execution_that_goes_takes_its_guest_along) {
  {
    Execution gone = vm_.spawn(guest("stay"));
  }
  Execution other = vm_.spawn(guest("stay"));
  EXPECT_EQ(vm_.dispose().killed, 1U) << "of two, one was killed before";
  EXPECT_EQ(other.wait().signal, SIGKILL);
  EXPECT_EQ(vm_.dispose().killed, 0U);
  EXPECT_THAT(line_of([&] { vm_.spawn(guest("exit", "0")); }), HasSubstr("disposed"));
}

TEST_F(GuestEngine, files_reach_the_machine) {
  const std::string content(300'000, '\n');
  vm_.write_file("/root/a", content);
  Execution execution = vm_.spawn(guest("cat", "/root/a", Stdio::pipe));
  EXPECT_EQ(read_all(execution).out, content);
  EXPECT_EQ(line_of([&] { vm_.write_file("/dev/x", ""); }),
            "tare: cannot write /dev/x in the virtual machine (EACCES: permission denied)");
}

TEST_F(GuestEngine, code_is_kept_only_in_a_folder_that_the_engine_was_given) {
  ContextOptions kept;
  kept.code_cache = CodeCacheMode::folder;
  EXPECT_EQ(line_of([&] { vm_.create_context(kept); }), "tare: cannot keep code (no folder is named)");
  kept.compile_cache_dir = "/tmp";
  EXPECT_EQ(line_of([&] { vm_.create_context(kept); }),
            "tare: cannot keep code in /tmp (it is not beneath a cache root of the engine)");
}

TEST_F(GuestEngine, an_engine_that_dies_names_its_guests_and_is_replaced) {
  Execution neighbour = vm_.spawn(guest("stay", "there"));
  Execution piped = vm_.spawn(guest("stay", "here", Stdio::pipe));
  Execution killer = vm_.spawn(guest("die"));
  const Exit exit = neighbour.wait();
  EXPECT_TRUE(exit.is(reason::lost));
  EXPECT_EQ(exit.detail,
            "the guest engine was lost (killed by SIGKILL: out of luck), and with it: node stay there");
  EXPECT_TRUE(piped.wait().is(reason::lost));
  EXPECT_TRUE(killer.wait().is(reason::lost));
  EXPECT_EQ(
      line_of([&] { vm_.spawn(guest("exit", "0")); }),
      "tare: the guest engine was lost (killed by SIGKILL: out of luck); create the virtual machine again");

  Vm again = engine_.create_vm();
  EXPECT_EQ(again.spawn(guest("exit", "3")).wait().code, 3);
  EXPECT_THAT(world_.log(), Contains(HasSubstr("starting another")));
}

TEST_F(GuestEngine, a_file_too_large_to_be_sent_leaves_the_next_request_its_answer) {
  const std::string too_large(std::size_t{17} << 20, 'x');
  EXPECT_THAT(line_of([&] { vm_.write_file("/root/a", too_large); }), HasSubstr("at most 16 MB fit"));
  EXPECT_EQ(line_of([&] { vm_.write_file("/root/a", "small"); }), "no error");
}

TEST_F(GuestEngine, who_exited_before_the_engine_died_has_exited) {
  Execution early = vm_.spawn(guest("exit", "5"));
  engine_.stats();
  while (engine_.stats().at("liveGuests") != 0) std::this_thread::yield();
  ::kill(engine_.pids().front(), SIGKILL);
  EXPECT_EQ(early.wait().code, 5);
}

TEST_F(GuestEngine, one_that_keeps_dying_is_given_up) {
  for (int i = 0; i < 3; ++i) {
    vm_.spawn(guest("die")).wait();
    vm_ = engine_.create_vm();
  }
  vm_.spawn(guest("die")).wait();
  EXPECT_THAT(
      line_of([&] { engine_.create_vm(); }),
      HasSubstr("the guest engine keeps failing (4 times within 10 s; last it was lost: killed by SIGKILL"));
}

TEST_F(GuestEngine, one_that_talks_nonsense_is_lost) {
  Execution execution = vm_.spawn(guest("garbage"));
  const Exit exit = execution.wait();
  EXPECT_TRUE(exit.is(reason::lost));
  EXPECT_THAT(exit.detail.value_or(""), HasSubstr("a frame of 4294967295 bytes"));
}

TEST_F(GuestEngine, stopping_is_bounded_and_says_what_it_stopped) {
  Execution stays = vm_.spawn(guest("stay", "on"));
  const int pid = engine_.pids().front();
  const auto stopped = engine_.stop();
  EXPECT_THAT(stopped.guests, ElementsAre("node stay on"));
  EXPECT_FALSE(stopped.forced);
  EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_TRUE(stays.wait().is(reason::lost));
}

TEST_F(GuestEngine, one_that_is_stuck_is_killed) {
  vm_.spawn(guest("stuck")).wait();
  Execution never_read = vm_.spawn(guest("exit", "0"));
  EXPECT_FALSE(never_read.wait(in(std::chrono::milliseconds(20))));
  EXPECT_TRUE(engine_.stop().forced);
  EXPECT_TRUE(never_read.wait().is(reason::lost));
}

TEST_F(GuestEngine, a_profile_comes_in_parts_and_only_if_it_was_asked_for) {
  SpawnOptions options = guest("exit", "7");
  options.profiles = {ProfileKind::cpu, ProfileKind::heap};
  Execution execution = vm_.spawn(options);
  EXPECT_EQ(execution.take_profile(ProfileKind::cpu).whole, false);
  EXPECT_EQ(execution.wait().code, 7);
  const Profile cpu = execution.take_profile(ProfileKind::cpu);
  EXPECT_TRUE(cpu.whole);
  EXPECT_EQ(cpu.json, R"({"nodes":[]})");
  EXPECT_EQ(execution.take_profile(ProfileKind::heap).json, R"({"nodes":[]})");
  Execution plain = vm_.spawn(guest("exit", "0"));
  plain.wait();
  EXPECT_FALSE(plain.take_profile(ProfileKind::cpu).whole);
}

TEST_F(GuestEngine, a_profile_that_is_not_there_says_why) {
  for (const auto& [argument, why] : std::map<std::string, std::string>{
           {"no profile", "V8 has none"}, {"half a profile", "the guest ended without one"}}) {
    SpawnOptions options = guest("profiled", argument);
    options.profiles = {ProfileKind::cpu};
    Execution execution = vm_.spawn(options);
    execution.wait();
    const Profile profile = execution.take_profile(ProfileKind::cpu);
    EXPECT_FALSE(profile.whole);
    EXPECT_EQ(profile.error, why);
  }
}

TEST_F(GuestEngine, stages_are_those_of_an_engine_that_traces) {
  EXPECT_THAT(line_of([&] { engine_.stages(); }), HasSubstr("counts no stages"));
  EXPECT_FALSE(vm_.spawn(guest("exit", "0")).life());
  EngineOptions options = world_.options();
  options.trace = true;
  Engine traced = Engine::start(options);
  Vm vm = traced.create_vm();
  Execution execution = vm.spawn(guest("exit", "0"));
  execution.wait();
  const StageReport report = traced.stages();
  EXPECT_EQ(report.stages.at("execute_total").calls, 1U);
  EXPECT_EQ(report.stages.at("execute_total").total_us, 10.5);
  EXPECT_EQ(report.absent.at("js_event_turn"), "no loop");
}

TEST_F(GuestEngine, a_life_has_its_moments_in_order) {
  EngineOptions options = world_.options();
  options.trace = true;
  Engine traced = Engine::start(options);
  Vm vm = traced.create_vm();
  Execution first = vm.spawn(guest("exit", "0"));
  Execution second = vm.spawn(guest("exit", "0"));
  first.wait();
  const Life life = first.life().value();
  EXPECT_EQ(life.first_waiter, "poll_event");
  EXPECT_EQ(life.waiters.at("poll_event"), 1U);
  EXPECT_EQ(life.route, Route::own_read);
  EXPECT_LE(life.spawned, life.sent);
  EXPECT_LE(life.exit_received.value(), life.exit_known.value());
  EXPECT_LE(life.exit_known.value(), life.observed.value());
  EXPECT_LE(life.observed.value(), life.returned.value());
  const auto found = phases(life);
  EXPECT_LE(found.at("ts_wait_blocked_on_start"), found.at("ts_wait_total"));
  for (const auto& [name, ns] : found) EXPECT_FALSE(absent_phases().contains(name)) << name;
  second.wait();
  EXPECT_TRUE(second.life()->route.has_value());
}

TEST_F(GuestEngine, what_it_says_reaches_the_log) {
  EXPECT_THAT(world_.log(), Contains("here I am"));
  EXPECT_EQ(engine_.about().node, "24.22.3");
}

TEST(GuestEngineStart, past_its_threshold_the_next_machine_gets_a_fresh_process) {
  World world;
  EngineOptions options = world.options();
  options.recycle_bytes = 1;
  Engine engine = Engine::start(std::move(options));
  const int first = engine.pids().front();
  Vm vm = engine.create_vm();
  const int second = engine.pids().front();
  EXPECT_NE(first, second);
  EXPECT_NE(::kill(first, 0), 0) << "nothing lived in it";
  Vm other = engine.create_vm();
  EXPECT_THAT(engine.pids(), testing::SizeIs(2));
  EXPECT_EQ(vm.spawn(guest("exit", "1")).wait().code, 1) << "the older one serves its machine";
  EXPECT_EQ(other.spawn(guest("exit", "2")).wait().code, 2);
}

TEST(GuestEngineStart, what_fails_is_quoted_in_one_line) {
  World world("start fails");
  EXPECT_EQ(line_of([&] { Engine::start(world.options()); }),
            "tare: the guest engine did not start (exited with code 1: cannot find the addon)");
}

TEST(GuestEngineStart, a_snapshot_that_the_engine_refuses_is_made_again) {
  World world;
  {
    const Engine engine = Engine::start(world.options());
  }
  // Damaged, and yet as the receipt has it.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(world.installation().cache)) {
    if (entry.path().filename() != "snapshot.blob") continue;
    const auto time = std::filesystem::last_write_time(entry.path());
    file::write_atomically(entry.path(), "damaged!");
    std::filesystem::last_write_time(entry.path(), time);
  }
  Engine engine = Engine::start(world.options());
  EXPECT_EQ(engine.create_vm().spawn(guest("exit", "0")).wait().code, 0);
}

}  // namespace
}  // namespace tare::guest
