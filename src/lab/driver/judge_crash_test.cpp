#include "lab/driver/judge_crash.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "lab/driver/agents.hpp"

namespace tare::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Five runs, of which the first three were acknowledged before the kill; the fourth was in flight.
class CrashJudge : public testing::Test {
 protected:
  CrashJudge() {
    for (std::int64_t k = 0; k < 3; ++k) acknowledged_.push_back(crash_label(nonce_, k));
    for (std::int64_t k = 0; k < 4; ++k) lines_.push_back(line(k));
  }

  std::string line(std::int64_t k, std::string_view status = "interrupted") const {
    return fmt::format("{} {} {}", crash_label(nonce_, k), status, crash_task(k));
  }

  Sample sample() const {
    Sample recovered;
    recovered.output = "";
    for (const std::string& line : lines_) *recovered.output += line + "\n";
    const auto runs = static_cast<std::int64_t>(lines_.size());
    recovered.counters = {{"restoredRuns", runs}, {"interruptedRuns", runs}};
    return recovered;
  }

  std::vector<Judgement> judged() const { return judge_crash(params_, acknowledged_, sample()); }

  std::vector<std::string> broken() const {
    std::vector<std::string> ids;
    for (const Judgement& judgement : judged()) {
      if (!judgement.ok) ids.push_back(judgement.id);
    }
    return ids;
  }

  const file::TemporaryFolder folder_;
  const Workload workload_ = agents_workload("durableCrash", 5).value();
  const json::Object params_ = register_params(workload_, 0xfeed, folder_.path(), "/acks");
  const std::string nonce_ = std::string(params_.at("nonce").as_string());
  std::vector<std::string> acknowledged_;
  std::vector<std::string> lines_;
};

TEST_F(CrashJudge, takes_what_was_acknowledged_and_some_that_were_in_flight) {
  EXPECT_THAT(broken(), IsEmpty());
  lines_.pop_back();
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CrashJudge, misses_every_run_that_was_acknowledged) {
  lines_.erase(lines_.begin() + 1);
  EXPECT_THAT(broken(), ElementsAre("acknowledged_present"));
  EXPECT_EQ(judged().front().actual, fmt::format("1 of 3 lost, the first: '{}'", crash_label(nonce_, 1)));
  lines_.clear();
  EXPECT_THAT(broken(), ElementsAre("acknowledged_present"));
}

TEST_F(CrashJudge, misses_everything_when_there_is_no_output) {
  EXPECT_THAT(judge_crash(params_, acknowledged_, Sample{}).front().actual, HasSubstr("3 of 3 lost"));
}

TEST_F(CrashJudge, wants_no_run_that_was_never_submitted) {
  const auto good = lines_;
  const std::string rest = " interrupted " + crash_task(0);
  for (const std::string& label : {crash_label(nonce_, 5), crash_label("000000000000beef", 0), nonce_ + "-",
                                   nonce_ + "-01", nonce_ + "--1", nonce_ + "x0", nonce_, std::string("x")}) {
    lines_ = good;
    lines_.push_back(label + rest);
    EXPECT_THAT(broken(), ElementsAre("nothing_else")) << label;
  }
}

TEST_F(CrashJudge, wants_each_run_as_it_was_submitted) {
  const auto good = lines_;
  for (const std::string& task :
       {crash_task(1).substr(1), crash_task(1) + "b", crash_task(2), std::string()}) {
    lines_ = good;
    lines_[1] = crash_label(nonce_, 1) + " interrupted " + task;
    EXPECT_THAT(broken(), ElementsAre("intact")) << task;
  }
}

TEST_F(CrashJudge, wants_each_run_interrupted) {
  for (const char* status : {"running", "queued", "terminal", "interrupte"}) {
    lines_[1] = line(1, status);
    EXPECT_THAT(broken(), ElementsAre("interrupted")) << status;
  }
}

TEST_F(CrashJudge, wants_no_run_twice) {
  lines_.push_back(lines_[1]);
  EXPECT_THAT(broken(), ElementsAre("once"));
}

TEST_F(CrashJudge, wants_no_more_than_were_in_flight) {
  const Workload crash = agents_workload("durableCrash", crash_runs).value();
  const json::Object params = register_params(crash, 0xfeed, folder_.path(), "/acks");
  const auto bound = [&](std::int64_t runs) {
    lines_.clear();
    for (std::int64_t k = 0; k < runs; ++k) lines_.push_back(line(k));
    return judge_crash(params, acknowledged_, sample()).back();
  };
  EXPECT_TRUE(bound(3 + crash_in_flight).ok);
  EXPECT_FALSE(bound(3 + crash_in_flight + 1).ok);
  EXPECT_EQ(bound(3).id, "in_flight_bound");
}

TEST_F(CrashJudge, takes_a_half_line_for_what_it_is) {
  lines_.back() = crash_label(nonce_, 3) + " interrup";
  EXPECT_THAT(broken(), ElementsAre("intact", "interrupted"));
}

TEST_F(CrashJudge, says_the_same_expectation_in_every_sample) {
  const auto first = judged();
  lines_.clear();
  const auto second = judged();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].expected, second[i].expected);
}

TEST_F(CrashJudge, has_nothing_to_say_of_a_sample_that_is_not_ok) {
  Sample failed;
  failed.outcome = Outcome::failed;
  EXPECT_THAT(judge_crash(params_, acknowledged_, failed), IsEmpty());
}

TEST_F(CrashJudge, lets_the_registration_leave_its_state) {
  std::ofstream(folder_.path() / "runs.db") << "x";
  Sample registered;
  registered.counters = {{"registeredRuns", 5}};
  const auto judgements = judge(workload_, params_, registered);
  ASSERT_EQ(judgements.size(), 1u);
  EXPECT_TRUE(judgements.front().ok);
  registered.counters = {{"registeredRuns", 4}};
  EXPECT_FALSE(judge(workload_, params_, registered).front().ok);
}

TEST_F(CrashJudge, holds_the_counts_of_a_recovery_against_its_output) {
  const auto broken_ids = [&](const Sample& recovered) {
    std::vector<std::string> ids;
    for (const Judgement& one : judge(workload_, recover_params(workload_, 2, folder_.path()), recovered)) {
      if (!one.ok) ids.push_back(one.id);
    }
    return ids;
  };
  EXPECT_THAT(broken_ids(sample()), IsEmpty());
  Sample wrong = sample();
  wrong.counters["restoredRuns"] = 5;
  EXPECT_THAT(broken_ids(wrong), ElementsAre("restoredRuns"));
  wrong = sample();
  wrong.counters["interruptedRuns"] = std::nullopt;
  EXPECT_THAT(broken_ids(wrong), ElementsAre("interruptedRuns"));
  lines_[2] = line(2, "terminal");
  EXPECT_THAT(broken_ids(sample()), ElementsAre("interruptedRuns"));
  std::ofstream(folder_.path() / "runs.db") << "x";
  lines_[2] = line(2);
  EXPECT_THAT(broken_ids(sample()), ElementsAre("nothing_left"));
}

}  // namespace
}  // namespace tare::driver
