#include "lab/gateway/server.hpp"

#include <csignal>
#include <list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "net/loopback_for_tests.hpp"

namespace tare::lab_gateway {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

Instant in_a_while() {
  return std::chrono::steady_clock::now() + 8s;
}

struct ServerTest : testing::Test, net::Loopback {
  Launch shell(std::string script) { return {"the thing", {"/bin/sh", "-c", std::move(script)}, {}}; }
  Server& start(std::string script) { return servers.emplace_back(io, shell(std::move(script))); }
  Departure stop(Server& server, std::chrono::milliseconds grace = 8s) { return run(server.stop(grace)); }
  std::string first_line(Server& server, Instant deadline = in_a_while()) {
    return run(server.first_line("become ready", deadline));
  }
  std::string failure(asio::awaitable<void> work) {
    try {
      run(std::move(work));
      return "none";
    } catch (const Error& error) {
      return (error.code() == ErrorCode::timeout ? "timeout: " : "failed: ") + error.line();
    }
  }
  std::string first_line_failure(Server& server, Instant deadline = in_a_while()) {
    try {
      return first_line(server, deadline);
    } catch (const Error& error) {
      return (error.code() == ErrorCode::timeout ? "timeout: " : "failed: ") + error.line();
    }
  }
  bool gone(pid_t pid) { return !process::is_alive(pid); }

  std::list<Server> servers;
};

/// Says "ready", leaves with this code at SIGTERM.
std::string polite(int code) {
  return "trap 'echo bye >&2; exit " + std::to_string(code) +
         "' TERM; echo ready; while :; do sleep 0.01; done";
}

TEST_F(ServerTest, LeavesWhenItIsToldTo) {
  Server& server = start(polite(0));
  server.on_exit([](const std::string&) { ADD_FAILURE(); });
  EXPECT_EQ(first_line(server), "ready");
  EXPECT_TRUE(server.running());
  const Departure departure = stop(server);
  EXPECT_TRUE(departure.clean());
  EXPECT_GT(departure.took, 0ns);
  EXPECT_FALSE(server.running());
  EXPECT_EQ(server.output_tail(), "ready\nbye\n");
  EXPECT_EQ(server.stderr_tail(), "bye\n");
  EXPECT_FALSE(server.tree_cpu());
  const Departure again = stop(server);
  EXPECT_TRUE(again.clean());
  EXPECT_EQ(again.took, 0ns);
}

TEST_F(ServerTest, AnUncleanEndIsTold) {
  Server& server = start(polite(7));
  first_line(server);
  const Departure departure = stop(server);
  EXPECT_EQ(departure.exit.code, 7);
  EXPECT_FALSE(departure.killed);
  EXPECT_FALSE(departure.clean());
}

TEST_F(ServerTest, KillsWhatDoesNotLeave) {
  Server& server = start("trap '' TERM; sleep 1000 & echo ready; while :; do sleep 0.01; done");
  first_line(server);
  const Departure departure = stop(server, 1ms);
  EXPECT_TRUE(departure.killed);
  EXPECT_EQ(departure.exit.signal, SIGKILL);
  EXPECT_GE(departure.strays, 1U);
  EXPECT_TRUE(gone(server.pid()));
}

TEST_F(ServerTest, AnEndOfItsOwnIsReported) {
  Server& server = start("echo words; echo fault >&2; exit 7");
  std::string how;
  server.on_exit([&](const std::string& what) { how = what; });
  run_until([&] { return !how.empty(); });
  EXPECT_EQ(how, "exit code 7");
  EXPECT_FALSE(server.running());
  EXPECT_THAT(server.output_tail(), AllOf(HasSubstr("words\n"), HasSubstr("fault\n")));
  // One that asks later is told, too, but not within the call.
  how.clear();
  server.on_exit([&](const std::string& what) { how = what; });
  EXPECT_EQ(how, "");
  run_until([&] { return !how.empty(); });
  EXPECT_EQ(stop(server).exit.code, 7);
}

TEST_F(ServerTest, AKillByAnotherHandIsReported) {
  Server& server = start("echo ready; exec sleep 1000");
  first_line(server);
  std::string how;
  server.on_exit([&](const std::string& what) { how = what; });
  ::kill(server.pid(), SIGKILL);
  run_until([&] { return !how.empty(); });
  EXPECT_EQ(how, "killed by SIGKILL");
}

TEST_F(ServerTest, WhatItLeavesRunningIsKilled) {
  // One in its group, and one in a session of its own; both hold its output.
  Server& server = start("sleep 1000 & setsid sleep 1000 & echo $! ready; exit 0");
  const pid_t stray = std::stoi(first_line(server));
  std::string how;
  server.on_exit([&](const std::string& what) { how = what; });
  run_until([&] { return !how.empty(); });
  const Departure departure = stop(server);
  EXPECT_EQ(departure.strays, 2U);
  EXPECT_FALSE(departure.clean());
  EXPECT_TRUE(gone(stray));
}

TEST_F(ServerTest, ItsDestructorLeavesNothing) {
  Server& server = start("trap '' TERM; setsid sleep 1000 & echo $! ready; while :; do sleep 0.01; done");
  const pid_t stray = std::stoi(first_line(server));
  const pid_t pid = server.pid();
  std::string error = "none";
  asio::co_spawn(io, server.wait_for_output("never", "speak", in_a_while()),
                 [&](const std::exception_ptr& thrown) {
                   try {
                     std::rethrow_exception(thrown);
                   } catch (const Error& why) {
                     error = why.line();
                   }
                 });
  asio::post(io, [&] { servers.clear(); });
  run_until([&] { return error != "none"; });
  EXPECT_THAT(error, HasSubstr("the thing did not speak (it was stopped"));
  EXPECT_TRUE(gone(stray));
  EXPECT_TRUE(gone(pid));
}

TEST_F(ServerTest, ReadsAFlood) {
  Launch launch = shell("echo needle; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end");
  launch.watch = {"needle"};
  Server& server = servers.emplace_back(io, launch);
  run(server.wait_for_output("\nend\n", "end", in_a_while()));
  EXPECT_TRUE(server.has_said("needle"));
  EXPECT_EQ(server.output_tail().size(), 65536U);
  EXPECT_THAT(server.output_tail(), EndsWith("x\nend\n"));
}

TEST_F(ServerTest, ALineMayComeInTwoHalves) {
  Server& server = start("printf 'half '; read x < /dev/null; sleep 0.02; echo line; exec sleep 1000");
  run(server.wait_for_output("half line", "speak", in_a_while()));
  EXPECT_EQ(first_line(server), "half line");
}

TEST_F(ServerTest, NamesWhatDidNotBecomeReady) {
  EXPECT_THAT(
      first_line_failure(start("echo no port >&2; exit 3")),
      HasSubstr("failed: tare: the thing did not become ready (exit code 3; its last words: no port)"));
  EXPECT_THAT(first_line_failure(start("exec >&-; exec sleep 1000")),
              HasSubstr("failed: tare: the thing did not become ready (it closed its output)"));
  const Instant soon = std::chrono::steady_clock::now() + 5ms;
  EXPECT_THAT(first_line_failure(start("exec sleep 1000"), soon),
              HasSubstr("timeout: tare: the thing did not become ready in time"));
  Server& silent = start("exec >&- 2>&-; exec sleep 1000");
  EXPECT_THAT(failure(silent.wait_for_output("x", "speak", in_a_while())), HasSubstr("it closed its output"));
}

TEST_F(ServerTest, ItsEnvironmentAndFolderAreWhatIsAsked) {
  Launch launch = shell("echo $A $HOME $PWD; exec sleep 1000");
  launch.env = {{"A", "b"}};
  launch.env_base = process::EnvBase::empty;
  launch.cwd = "/usr";
  EXPECT_EQ(first_line(servers.emplace_back(io, launch)), "b /usr");
  EXPECT_THROW(Server(io, {"none", {"/no/such/program"}, {}}), process::SpawnError);
}

TEST_F(ServerTest, CpuTimeGrowsWithWork) {
  const std::string work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; ";
  Server& server = start("(" + work + "); echo child; " + work + "echo own; exec sleep 1000");
  run(server.wait_for_output("child", "work", in_a_while()));
  const auto of_child = server.tree_cpu();
  run(server.wait_for_output("own", "work", in_a_while()));
  const auto of_both = server.tree_cpu();
  const auto main_thread = server.main_thread_cpu();
  ASSERT_TRUE(of_child && of_both && main_thread);
  EXPECT_GE(of_child->total(), 10ms);  // of a child that was waited for
  EXPECT_GE(of_both->total() - of_child->total(), 5ms);
  EXPECT_GE(main_thread->total(), 5ms);
  EXPECT_LT(main_thread->total(), of_both->total());
  EXPECT_GE(of_both->user, 0ns);
  EXPECT_GE(of_both->system, 0ns);
  EXPECT_EQ(server.usage(process::TreeFields::rss)->processes, 1U);
}

}  // namespace
}  // namespace tare::lab_gateway
