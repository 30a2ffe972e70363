// The real program, driven over its pipes.

#include <csignal>
#include <cstring>
#include <elf.h>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "lab/process/child.hpp"
#include "lab/process/lines.hpp"
#include "lab/process/pidfd.hpp"
#include "lab/process/poll.hpp"
#include "lab/process/run.hpp"
#include "lab/process/tree.hpp"

namespace tare {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using process::Lines;
using Words = std::vector<std::string>;

Instant soon() {
  return std::chrono::steady_clock::now() + 40s;
}

Words spawner(const Words& arguments) {
  Words argv{TARE_SPAWNER};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

/// A spawner that answers.
class Driver {
 public:
  explicit Driver(const Words& arguments)
      : child_(process::spawn({.argv = spawner(arguments),
                               .in = process::Stdio::pipe(),
                               .out = process::Stdio::pipe(),
                               .err = process::Stdio::pipe()})),
        lines_(child_) {}

  json::Value ask(const std::string& request) {
    send(request);
    const Lines::Read read = lines_.read_line(soon());
    EXPECT_EQ(read.status, Lines::Status::ok) << lines_.stderr_tail();
    return read.status == Lines::Status::ok ? json::parse(read.text, "answer") : json::Value(json::Object{});
  }
  void send(const std::string& request) { EXPECT_EQ(lines_.write_line(request, soon()), Lines::Status::ok); }

  /// The one sample of a row; `params` is the inside of an object.
  json::Object sample(const std::string& row, const std::string& params = R"("timeoutMs":30000)") {
    const json::Value answer =
        ask(R"({"id":7,"op":"sample","row":")" + row + R"(","params":{)" + params + R"(},"iterations":1})");
    EXPECT_EQ(answer.at("id").as_int64(), 7);
    if (!answer.at("ok").as_bool()) {
      ADD_FAILURE() << json::line(answer);
      return {};
    }
    EXPECT_EQ(answer.at("samples").as_array().size(), 1U);
    return answer.at("samples").as_array().at(0).as_object();
  }

  /// The code and message of a refused request.
  std::string refusal(const std::string& request) {
    const json::Value answer = ask(request);
    EXPECT_FALSE(answer.at("ok").as_bool());
    const json::Value& error = answer.at("error");
    return std::string(error.at("code").as_string()) + ": " + std::string(error.at("message").as_string());
  }

  process::Exit leave() {
    lines_.close_input();
    return child_.wait(soon()).value_or(process::Exit{});
  }
  process::Child& child() { return child_; }

 private:
  process::Child child_;
  Lines lines_;
};

std::int64_t ns(const json::Object& sample, const char* metric) {
  return sample.at("ns").as_object().at(metric).as_int64();
}
std::int64_t counter(const json::Object& sample, const char* name) {
  return sample.at("counters").as_object().at(name).as_int64();
}

TEST(Spawner, is_static_and_under_one_and_a_half_megabytes) {
  const std::string program = file::read(TARE_SPAWNER);
  EXPECT_LT(program.size(), 1'500'000U);
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, program.data() + header.e_phoff + i * sizeof part, sizeof part);
    EXPECT_NE(part.p_type, static_cast<Elf64_Word>(PT_INTERP)) << "it needs a dynamic linker";
  }
}

TEST(Spawner, says_what_it_is) {
  Driver driver({"--lane", "sh"});
  const json::Value hello = driver.ask(R"({"id":0,"op":"hello","protocol":"tare.driver.v1","extra":[]})");
  EXPECT_TRUE(hello.at("ok").as_bool());
  EXPECT_EQ(hello.at("protocol").as_string(), "tare.driver.v1");
  EXPECT_EQ(hello.at("name").as_string(), "sh");
  EXPECT_EQ(hello.at("pid").as_int64(), driver.child().pid());
  EXPECT_EQ(hello.at("rows"), json::Value({"spawn_exit", "exec_true"}));
  EXPECT_EQ(hello.at("unavailable").at("node_exit_1").as_string(), "no JavaScript");
  EXPECT_FALSE(hello.at("asynchronousSpawn").as_bool());
  EXPECT_GT(hello.at("rssFloorBytes").as_int64(), 100'000);
  EXPECT_LT(hello.at("rssFloorBytes").as_int64(), 4'000'000);
  EXPECT_THAT(driver.refusal(R"({"id":1,"op":"hello","protocol":"other.v9"})"),
              testing::StartsWith("unsupported"));
  EXPECT_TRUE(driver.ask(R"({"id":9,"op":"bye"})").at("ok").as_bool());
  EXPECT_TRUE(driver.child().wait(soon())->ok());
}

TEST(Spawner, phases_add_up_to_the_total) {
  Driver driver({"--lane", "sh"});
  for (const char* row : {"exec_true", "spawn_exit"}) {
    const json::Object sample = driver.sample(row);
    EXPECT_EQ(sample.at("outcome").as_string(), "ok");
    EXPECT_EQ(counter(sample, "exitCode"), 0);
    EXPECT_GT(ns(sample, "spawn"), 0);
    EXPECT_GE(ns(sample, "wait_reap"), 0);
    EXPECT_EQ(ns(sample, "spawn") + ns(sample, "wait_reap"), ns(sample, "total"));
  }
  const json::Value many =
      driver.ask(R"({"id":3,"op":"sample","row":"exec_true","params":{"timeoutMs":30000},"iterations":5})");
  EXPECT_EQ(many.at("samples").as_array().size(), 5U);
}

TEST(Spawner, keeps_a_large_parent_out_of_its_childrens_peak) {
  const std::vector<char> large(std::size_t{96} << 20, 'x');
  Driver driver({"--lane", "sh"});
  const json::Object sample = driver.sample("exec_true");
  EXPECT_LT(sample.at("resources").as_object().at("maxRssBytes").as_int64(), 8'000'000);
  EXPECT_EQ(large.back(), 'x');
}

TEST(Spawner, a_command_runs_as_it_is_and_its_exit_code_is_reported_not_judged) {
  Driver driver({"--lane", "cmd", "--", "/bin/sh", "-c", "exit 3"});
  const json::Value hello = driver.ask(R"({"id":0,"op":"hello","protocol":"tare.driver.v1"})");
  EXPECT_EQ(hello.at("rows"), json::Value({"command_exit"}));
  const json::Object sample = driver.sample("command_exit");
  EXPECT_EQ(sample.at("outcome").as_string(), "ok");
  EXPECT_EQ(counter(sample, "exitCode"), 3);
}

// With the slot as the $0 of a shell, any script row runs the shell's own text.
Words shell_template(const std::string& text) {
  return {"--lane", "cmd", "/bin/sh", "-c", text, "{script}"};
}

TEST(Spawner, a_signal_is_no_exit_code) {
  Driver driver(shell_template("kill -KILL $$"));
  const json::Object sample = driver.sample("signal_kill");
  EXPECT_EQ(sample.at("outcome").as_string(), "ok");
  EXPECT_EQ(counter(sample, "signal"), SIGKILL);
  EXPECT_FALSE(sample.at("counters").as_object().contains("exitCode"));
  EXPECT_EQ(sample.at("ns").as_object().size(), 1U);
}

TEST(Spawner, every_process_of_a_fanout_is_counted_once) {
  Driver driver(shell_template("exit 5"));
  json::Object sample = driver.sample("fanout_8", R"("timeoutMs":30000,"fanout":8)");
  EXPECT_EQ(counter(sample, "exits"), 8);
  EXPECT_EQ(counter(sample, "nonZero"), 8);
  EXPECT_EQ(ns(sample, "spawn_batch") + ns(sample, "wait_reap_batch"), ns(sample, "total"));

  sample = driver.sample("reap_storm_32", R"("timeoutMs":30000,"fanout":32)");
  EXPECT_EQ(counter(sample, "exits"), 32);
  EXPECT_EQ(counter(sample, "zombies"), 0);
  EXPECT_EQ(counter(sample, "fdsAfter"), counter(sample, "fdsBefore"));
  EXPECT_EQ(counter(sample, "threadsAfter"), counter(sample, "threadsBefore"));
  EXPECT_EQ(sample.at("ns").as_object().size(), 1U);
}

TEST(Spawner, output_and_echo_are_returned_byte_for_byte) {
  Driver driver(shell_template("cat; printf 'q7\\n\\377'"));
  const std::string input(4096, 'i');
  const json::Object sample =
      driver.sample("stdin_roundtrip_4k", R"("timeoutMs":30000,"input":")" + input + "\"");
  EXPECT_EQ(sample.at("output").as_string(), input + "q7\n\\xff");
  EXPECT_EQ(
      driver.sample("capture_2b", R"("timeoutMs":30000,"nonce":"q7","bytes":2)").at("output").as_string(),
      "q7\n\\xff");
}

TEST(Spawner, works_in_the_folder_it_was_told) {
  const file::TemporaryFolder folder;
  Driver driver({"--lane", "native", "/bin/sh", "-c", "pwd > where", "{script}"});
  const json::Object sample =
      driver.sample("host_cwd_write_1file",
                    R"("timeoutMs":30000,"file":"f","content":"c","dir":")" + folder.path().string() + "\"");
  EXPECT_EQ(counter(sample, "exitCode"), 0);
  EXPECT_EQ(file::read(folder.path() / "where"), fs::canonical(folder.path()).string() + "\n");
}

TEST(Spawner, an_operation_past_its_budget_is_killed_and_reported_with_its_age) {
  Driver driver(shell_template("sleep 1000"));
  for (const char* row : {"node_exit_1", "fanout_3", "capture_2b"}) {
    const json::Object sample = driver.sample(row, R"("timeoutMs":50,"fanout":3,"nonce":"q7","bytes":2)");
    EXPECT_EQ(sample.at("outcome").as_string(), "timeout");
    EXPECT_GE(ns(sample, "total"), 50'000'000);
    EXPECT_EQ(sample.at("error").as_string(), "not done after 50 ms");
  }
  const auto tree = process::read_tree(driver.child().pid(), process::TreeFields::none);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->processes, 1U);
  EXPECT_EQ(tree->zombies, 0U);
}

TEST(Spawner, a_command_that_cannot_be_started_is_a_failed_sample) {
  Driver driver({"--lane", "cmd", "/nowhere/nod", "{script}"});
  for (const char* row : {"node_exit_1", "fanout_3", "capture_2b"}) {
    const json::Object sample = driver.sample(row, R"("timeoutMs":30000,"fanout":3,"nonce":"q7","bytes":2)");
    EXPECT_EQ(sample.at("outcome").as_string(), "failed");
    EXPECT_EQ(sample.at("error").as_string(), "cannot start '/nowhere/nod': No such file or directory");
  }
}

TEST(Spawner, a_system_that_says_no_is_a_refusal_of_its_own_kind) {
  // Descriptors for the driver and one process, but not for sixty.
  Words words{"/bin/sh", "-c", "ulimit -n 40; exec \"$0\" \"$@\""};
  for (const std::string& word : spawner(shell_template("sleep 0.2"))) words.push_back(word);
  const process::RunResult result =
      process::run({.argv = words},
                   R"({"id":1,"op":"sample","row":"fanout_60","params":{"timeoutMs":30000,"fanout":60}})"
                   "\n",
                   {.deadline = soon()});
  EXPECT_EQ(result.exit.code, 0);
  EXPECT_THAT(result.out, testing::HasSubstr(R"("outcome":"refused")"));
  EXPECT_THAT(result.out, testing::HasSubstr("Too many open files"));
}

TEST(Spawner, bad_requests_get_an_answer_and_the_next_one_is_served) {
  Driver driver({"--lane", "sh"});
  EXPECT_THAT(driver.refusal("not json"), testing::StartsWith("invalid: request: not JSON"));
  EXPECT_THAT(driver.refusal("[1]"), testing::StartsWith("invalid"));
  EXPECT_THAT(driver.refusal(R"({"op":"hello"})"), testing::StartsWith("invalid: request: id"));
  EXPECT_EQ(driver.refusal(R"({"id":1,"op":"dance"})"), "unsupported: no op 'dance'");
  EXPECT_EQ(driver.refusal(R"({"id":1,"op":"sample","row":"nested_8","params":{}})"),
            "unsupported: no JavaScript");
  EXPECT_EQ(driver.refusal(R"({"id":1,"op":"sample","row":"fanout_0","params":{}})"),
            "unsupported: no row 'fanout_0'");
  EXPECT_EQ(driver.refusal(R"({"id":1,"op":"sample","row":"exec_true","params":{}})"),
            "invalid: params.timeoutMs is missing");
  EXPECT_THAT(driver.refusal(R"({"id":1,"op":"sample","row":"exec_true","params":{"timeoutMs":-1}})"),
              testing::StartsWith("invalid"));
  EXPECT_THAT(
      driver.refusal(R"({"id":1,"op":"sample","row":"exec_true","params":{"timeoutMs":9},"iterations":0})"),
      testing::StartsWith("invalid: iterations"));
  EXPECT_THAT(driver.refusal(std::string((std::size_t{16} << 20) + 1, 'x')), testing::HasSubstr("16 MiB"));
  EXPECT_EQ(counter(driver.sample("exec_true"), "exitCode"), 0);
  EXPECT_TRUE(driver.leave().ok()) << "the end of stdin is a good-bye";
}

TEST(Spawner, a_lab_that_vanishes_takes_the_running_operation_with_it) {
  const file::TemporaryFolder folder;
  const fs::path fifo = folder.path() / "pid";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const char* row : {"node_exit_1", "capture_2b"}) {
    const Fd reader(::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    Driver driver(shell_template("echo $$ > " + fifo.string() + "; exec sleep 1000"));
    driver.send(std::string(R"({"id":1,"op":"sample","row":")") + row +
                R"(","params":{"timeoutMs":600000,"nonce":"q7","bytes":2}})");
    pollfd ready{reader.get(), POLLIN, 0};
    ASSERT_EQ(process::poll_until({&ready, 1}, soon()), 1);
    char text[32] = {};
    ASSERT_GT(::read(reader.get(), text, sizeof text - 1), 0);
    const Fd running = process::open_pidfd(std::atoi(text));
    ASSERT_TRUE(running);
    EXPECT_EQ(driver.leave().code, 1);
    pollfd gone{running.get(), POLLIN, 0};
    EXPECT_EQ(process::poll_until({&gone, 1}, soon()), 1);
  }
}

TEST(Spawner, a_bad_command_line_is_one_line_and_exit_2) {
  for (const Words& arguments : {Words{}, Words{"--lane"}, Words{"--lane", "nod"}, Words{"--lane", "sh", "x"},
                                 Words{"--lane", "native", "node"}, Words{"--lane", "cmd"},
                                 Words{"--lane", "sh", "--lane", "sh"}, Words{"--what"}}) {
    const process::RunResult result = process::run({.argv = spawner(arguments)}, {}, {.deadline = soon()});
    EXPECT_EQ(result.exit.code, 2);
    EXPECT_THAT(result.err, testing::MatchesRegex("tare: [^\n]+\n"));
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace tare
