#include "lab/driver/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/driver/workload.hpp"
#include "lab/process/tree.hpp"

namespace tare::driver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* interpreter = "/usr/bin/python3";

/// Starts tests/drivers/faulty_driver.py, and checks at the end that nothing of it is left.
class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    options_.roster = std::make_shared<Roster>();
    options_.grace = milliseconds(300);
    options_.bye_timeout = seconds(5);
  }

  void TearDown() override {
    for (const pid_t pid : pids()) EXPECT_FALSE(process::is_alive(pid)) << "process " << pid << " is left";
    EXPECT_EQ(process::read_tree(::getpid(), process::TreeFields::none)->processes, 1u);
    EXPECT_EQ(process::read_tree(::getpid(), process::TreeFields::none)->zombies, 0u);
  }

  DriverCommand command(const std::string& mode) const {
    return {"faulty",
            {interpreter, TARE_GOLDEN_DIR "/../drivers/faulty_driver.py", mode},
            {{"TARE_PID_FILE", pid_file()}},
            std::nullopt};
  }

  static SampleRequest exec_true() {
    const Workload workload = find_workload("exec_true").value();
    SampleRequest request;
    request.row = workload.row;
    request.metrics = workload.metrics;
    request.timeout = seconds(10);
    return request;
  }

  /// The failure of the first sample.
  DriverFailure sample_failure(const std::string& mode, SampleRequest request = exec_true()) {
    Driver driver(command(mode), options_);
    try {
      driver.sample(request);
    } catch (const DriverFailure& failure) {
      EXPECT_THAT(failure.line(), HasSubstr("driver 'faulty' "));
      EXPECT_EQ(failure.line().find('\n'), std::string::npos);
      alive_after_ = driver.alive();
      return failure;
    }
    ADD_FAILURE() << mode << " was taken";
    return DriverFailure(FailureKind::failed, "", "", "", "");
  }

  DriverFailure start_failure(const DriverCommand& command) {
    try {
      Driver driver(command, options_);
    } catch (const DriverFailure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it started";
    return DriverFailure(FailureKind::failed, "", "", "", "");
  }

  std::string pid_file() const { return (folder_.path() / "pids").string(); }

  /// Of the driver and of what it leaves behind.
  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    if (!std::filesystem::exists(pid_file())) return pids;
    for (const std::string& line : text::split(file::read(pid_file()), '\n')) {
      if (const auto pid = text::to_int(line)) pids.push_back(static_cast<pid_t>(*pid));
    }
    return pids;
  }

  const file::TemporaryFolder folder_;
  DriverOptions options_;
  bool alive_after_ = true;
};

TEST_F(DriverTest, greets_samples_and_says_goodbye) {
  Driver driver(command("good"), options_);
  EXPECT_EQ(driver.hello().name, "faulty");
  EXPECT_EQ(driver.hello().pid, driver.pid());
  SampleRequest request = exec_true();
  request.iterations = 3;
  const std::vector<Sample> samples = driver.sample(request);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2].metric("total"), 1200.0);
  EXPECT_EQ(samples[2].counter("exitCode"), 0);
  const Farewell farewell = driver.bye();
  EXPECT_TRUE(farewell.graceful) << farewell.note.value_or("");
  EXPECT_EQ(farewell.strays.killed, 0u);
  EXPECT_FALSE(driver.alive());
}

TEST_F(DriverTest, passes_outcomes_on_as_they_are) {
  for (const auto& [mode, outcome] : {std::pair{"failed_sample", Outcome::failed},
                                      {"timeout_sample", Outcome::timeout},
                                      {"refused_sample", Outcome::refused}}) {
    Driver driver(command(mode), options_);
    const Sample sample = driver.sample(exec_true()).front();
    EXPECT_EQ(sample.outcome, outcome);
    EXPECT_FALSE(sample.error->empty());
  }
}

TEST_F(DriverTest, leaves_wrong_results_to_the_judge) {
  Driver driver(command("wrong_code"), options_);
  const auto workload = find_workload("exec_true").value();
  const auto judgements = judge(workload, {}, driver.sample(exec_true()).front());
  EXPECT_EQ(describe(judgements.front()), "exit_code: expected exit code 0, got exit code 1");
}

TEST_F(DriverTest, cannot_start_what_is_not_there) {
  const DriverFailure failure = start_failure({"mine", {"/no/such/driver"}, {}, {}});
  EXPECT_EQ(failure.kind(), FailureKind::cannot_start);
  EXPECT_EQ(failure.exit_code(), exit_usage);
  EXPECT_THAT(failure.line(), HasSubstr("/no/such/driver"));
  EXPECT_THAT(failure.line(), HasSubstr("No such file or directory"));
}

TEST_F(DriverTest, wants_a_proper_hello) {
  EXPECT_EQ(start_failure(command("bad_hello")).kind(), FailureKind::bad_hello);
  EXPECT_EQ(start_failure(command("wrong_pid")).kind(), FailureKind::bad_hello);
  EXPECT_EQ(start_failure(command("other_protocol")).kind(), FailureKind::protocol_mismatch);
  EXPECT_EQ(start_failure(command("hello_refused")).kind(), FailureKind::protocol_mismatch);
  EXPECT_EQ(start_failure(command("hello_garbage")).kind(), FailureKind::garbage);
  EXPECT_EQ(start_failure(command("chatty")).kind(), FailureKind::garbage);
}

TEST_F(DriverTest, does_not_wait_for_a_hello_for_ever) {
  options_.hello_timeout = milliseconds(300);
  const DriverFailure failure = start_failure(command("hello_late"));
  EXPECT_EQ(failure.kind(), FailureKind::late);
  EXPECT_EQ(failure.code(), ErrorCode::timeout);
}

TEST_F(DriverTest, names_a_program_that_is_no_driver) {
  const DriverFailure failure = start_failure({"mine", {"/bin/true"}, {}, {}});
  EXPECT_EQ(failure.kind(), FailureKind::no_answer);
  EXPECT_EQ(start_failure({"mine", {"/bin/false"}, {}, {}}).kind(), FailureKind::died);
  // cat answers with the request itself.
  EXPECT_EQ(start_failure({"mine", {"/bin/cat"}, {}, {}}).kind(), FailureKind::garbage);
}

class Misbehaviour : public DriverTest,
                     public testing::WithParamInterface<std::pair<const char*, FailureKind>> {};

TEST_P(Misbehaviour, ends_the_driver_and_has_a_name) {
  const auto& [mode, kind] = GetParam();
  EXPECT_EQ(sample_failure(mode).kind(), kind);
  EXPECT_FALSE(alive_after_);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, Misbehaviour,
    testing::Values(
        std::pair{"garbage", FailureKind::garbage}, std::pair{"not_object", FailureKind::garbage},
        std::pair{"bad_utf8", FailureKind::garbage}, std::pair{"nan", FailureKind::garbage},
        std::pair{"long_line", FailureKind::too_long}, std::pair{"wrong_id", FailureKind::wrong_id},
        std::pair{"missing_id", FailureKind::wrong_id}, std::pair{"dies_exit_3", FailureKind::died},
        std::pair{"dies_sigkill", FailureKind::died}, std::pair{"dies_with_child", FailureKind::died},
        std::pair{"leaves", FailureKind::no_answer}, std::pair{"half_line", FailureKind::no_answer}),
    [](const auto& test) { return std::string(test.param.first); });

class InvalidSample : public DriverTest, public testing::WithParamInterface<const char*> {};

TEST_P(InvalidSample, is_refused_and_leaves_the_driver_in_step) {
  EXPECT_EQ(sample_failure(GetParam()).kind(), FailureKind::invalid_sample);
  EXPECT_TRUE(alive_after_);
}

INSTANTIATE_TEST_SUITE_P(Modes, InvalidSample,
                         testing::Values("negative", "missing_ns", "missing_total", "missing_phase",
                                         "text_time", "null_time", "infinite", "impossible_time",
                                         "unknown_outcome", "missing_outcome", "broken_counter",
                                         "few_samples", "many_samples"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(DriverTest, keeps_the_kind_of_an_error_and_the_driver) {
  for (const auto& [mode, kind] : {std::pair{"error_unsupported", FailureKind::unsupported},
                                   {"error_invalid", FailureKind::invalid},
                                   {"error_failed", FailureKind::failed},
                                   {"error_timeout", FailureKind::timeout}}) {
    const DriverFailure failure = sample_failure(mode);
    EXPECT_EQ(failure.kind(), kind);
    EXPECT_THAT(failure.line(), HasSubstr("it is like that"));
    EXPECT_TRUE(alive_after_);
  }
}

TEST_F(DriverTest, kills_a_late_driver_with_all_that_it_started) {
  SampleRequest request = exec_true();
  request.timeout = milliseconds(100);
  const DriverFailure failure = sample_failure("late_with_child", request);
  EXPECT_EQ(failure.kind(), FailureKind::late);
  EXPECT_EQ(pids().size(), 2u);  // TearDown looks for both
}

TEST_F(DriverTest, waits_no_longer_than_the_deadline_of_the_whole_request) {
  SampleRequest request = exec_true();
  request.timeout = std::chrono::hours(1);
  request.deadline = milliseconds(100);
  EXPECT_EQ(sample_failure("late", request).kind(), FailureKind::late);
}

TEST_F(DriverTest, tells_how_a_driver_died_and_what_it_said_last) {
  const DriverFailure failure = sample_failure("dies_exit_3");
  EXPECT_THAT(
      failure.line(),
      HasSubstr(
          "died instead of answering (exec_true: exit code 3); its stderr ends: Traceback: something broke"));
  EXPECT_THAT(sample_failure("dies_sigkill").line(), HasSubstr("killed by SIGKILL"));
  EXPECT_THAT(sample_failure("half_line").line(), HasSubstr("after half a line"));
}

TEST_F(DriverTest, notices_a_closed_stdout_of_a_driver_that_stays) {
  options_.bye_timeout = milliseconds(300);
  EXPECT_EQ(sample_failure("closes_stdout").kind(), FailureKind::no_answer);
}

TEST_F(DriverTest, notices_a_second_answer_before_the_next_request) {
  Driver driver(command("twice"), options_);
  driver.sample(exec_true());
  try {
    driver.sample(exec_true());
    ADD_FAILURE() << "it was taken";
  } catch (const DriverFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::twice);
    EXPECT_THAT(failure.line(), HasSubstr("a second answer to request 1"));
  }
}

TEST_F(DriverTest, is_not_held_up_by_a_talkative_stderr) {
  Driver driver(command("stderr_flood"), options_);
  driver.sample(exec_true());
  EXPECT_THAT(driver.stderr_tail(), HasSubstr("the last line of the log"));
  EXPECT_LT(driver.stderr_tail().size(), 100'000u);
}

TEST_F(DriverTest, kills_what_hangs_at_bye) {
  options_.bye_timeout = milliseconds(500);
  for (const char* mode : {"hangs_at_bye", "stays_after_bye"}) {
    Driver driver(command(mode), options_);
    const Farewell farewell = driver.bye();
    EXPECT_FALSE(farewell.graceful) << mode;
    EXPECT_TRUE(farewell.note);
    EXPECT_EQ(farewell.exit->signal, 9);
  }
}

TEST_F(DriverTest, finds_what_a_polite_driver_leaves_behind) {
  Driver driver(command("stray"), options_);
  const Farewell farewell = driver.bye();
  EXPECT_TRUE(farewell.graceful);
  EXPECT_EQ(farewell.strays.killed, 1u);
  EXPECT_EQ(pids().size(), 2u);
}

TEST_F(DriverTest, spares_the_other_drivers_of_its_roster) {
  Driver other(command("good"), options_);
  {
    Driver driver(command("dies_exit_3"), options_);
    EXPECT_THROW(driver.sample(exec_true()), DriverFailure);
  }
  EXPECT_EQ(other.sample(exec_true()).size(), 1u);
  EXPECT_TRUE(other.bye().graceful);
}

TEST_F(DriverTest, answers_nothing_after_it_was_stopped) {
  Driver driver(command("garbage"), options_);
  EXPECT_THROW(driver.sample(exec_true()), DriverFailure);
  EXPECT_THROW(driver.sample(exec_true()), DriverFailure);
  EXPECT_FALSE(driver.bye().graceful);
}

TEST_F(DriverTest, is_killed_when_it_is_dropped) {
  {
    Driver driver(command("late"), options_);
  }
  EXPECT_EQ(pids().size(), 1u);
}

TEST_F(DriverTest, stops_waiting_when_interrupted) {
  const Fd interrupt(::eventfd(0, EFD_CLOEXEC));
  options_.interrupt_fd = interrupt.get();
  Driver driver(command("late"), options_);
  ASSERT_EQ(::eventfd_write(interrupt.get(), 1), 0);
  SampleRequest request = exec_true();
  request.timeout = std::chrono::hours(1);
  try {
    driver.sample(request);
    ADD_FAILURE() << "it answered";
  } catch (const DriverFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::interrupted);
  }
}

}  // namespace
}  // namespace tare::driver
