#include "lab/driver/judge_agents.hpp"

#include <algorithm>
#include <filesystem>

#include <system_error>

#include "base/text.hpp"
#include "lab/driver/judge_crash.hpp"
#include "lab/driver/judge_words.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

/// Judges the counters of one sample, each by its own name.
class Counters {
 public:
  explicit Counters(const Sample& sample) : sample_(sample) {}

  void equal(std::string name, std::int64_t expected) {
    const auto actual = sample_.counter(name);
    out_.push_back({std::move(name), actual == expected, std::to_string(expected), number(actual)});
  }

  void at_least(std::string name, std::int64_t least) {
    const auto actual = sample_.counter(name);
    out_.push_back(
        {std::move(name), actual && *actual >= least, fmt::format("at least {}", least), number(actual)});
  }

  void same_as(std::string name, const std::string& other) {
    const auto actual = sample_.counter(name);
    const auto wanted = sample_.counter(other);
    const bool ok = actual && actual == wanted;
    out_.push_back(
        {std::move(name), ok, "as many as " + other,
         ok ? number(actual) : fmt::format("{}, and {} {}", number(actual), number(wanted), other)});
  }

  void matches_output(std::string name, std::size_t lines, std::string_view what) {
    const auto actual = sample_.counter(name);
    const bool ok = actual == static_cast<std::int64_t>(lines);
    out_.push_back({std::move(name), ok, fmt::format("as many as the output has {}", what),
                    ok ? number(actual) : fmt::format("{}, and {} in the output", number(actual), lines)});
  }

  void push(Judgement judgement) { out_.push_back(std::move(judgement)); }
  std::vector<Judgement> take() { return std::move(out_); }

 private:
  const Sample& sample_;
  std::vector<Judgement> out_;
};

void torn_down(Counters& judge) {
  judge.equal("postTeardownRegistryRows", 0);
  judge.equal("postTeardownTaskRows", 0);
  judge.equal("postTeardownDurableSubagentRows", 0);
  judge.equal("postTeardownDurableTaskRows", 0);
  judge.equal("postTeardownActiveRootWork", 0);
}

void judge_pipeline(Counters& judge, std::int64_t n, Work work) {
  const bool durable = work == Work::spawn_pipeline_durable;
  for (const char* name : {"registeredRuns", "uniqueRunIds", "reservationsReleased", "blockedWaits",
                           "settledRuns", "settledTasks"})
    judge.equal(name, n);
  judge.equal("outstandingWaits", 0);
  judge.equal("durableSubagentRows", durable ? n : 0);
  judge.equal("durableTaskRows", durable ? n : 0);
  judge.equal("durableStateFile", durable ? 1 : 0);
  torn_down(judge);
}

void judge_admission(Counters& judge, std::int64_t n) {
  judge.equal("admissionCap", n);
  judge.equal("overflowRejected", 1);
  judge.equal("released", n);
  judge.equal("doubleReleaseHarmless", 1);
  judge.equal("slotReused", 1);
}

void judge_sweep(Counters& judge, std::int64_t children) {
  judge.equal("seededRows", 3 * children);
  judge.equal("removedRows", 2 * children);
  judge.equal("retainedCurrent", children);
  judge.equal("sessionEffects", 0);
  judge.equal("recoveryProjections", children);
  judge.equal("lostContextCompletions", 0);
  judge.equal("repeatedProjections", 0);
}

void judge_dedupe(Counters& judge, std::int64_t children) {
  judge.equal("inputRowsPerOrdering", 3 * children);
  for (const char* name : {"newestFirstSelectedRows", "oldestFirstSelectedRows", "newestFirstSelectedNewest",
                           "oldestFirstSelectedNewest"})
    judge.equal(name, children);
}

void judge_settle(Counters& judge, std::int64_t n) {
  for (const char* name : {"registeredRuns", "waitersNotified", "settledRuns", "settledTasks"})
    judge.equal(name, n);
  judge.equal("outstandingWaits", 0);
  judge.equal("durableEndedRows", n);
  torn_down(judge);
}

void judge_mixed(Counters& judge) {
  judge.at_least("cycles", 1);
  for (const char* name : {"spawns", "waits", "settles"}) judge.same_as(name, "cycles");
  judge.at_least("sweeps", 1);
  judge.equal("outstandingWaits", 0);
  judge.equal("lostRuns", 0);
  torn_down(judge);
}

void judge_recovery(Counters& judge, const Sample& sample) {
  const auto runs = restored_runs(sample);
  const auto interrupted = std::count_if(runs.begin(), runs.end(),
                                         [](const Restored& run) { return run.status == "interrupted"; });
  judge.matches_output("restoredRuns", runs.size(), "runs");
  judge.matches_output("interruptedRuns", static_cast<std::size_t>(interrupted), "interrupted runs");
}

/// Whether the folder of the state is as empty as it was given to the driver.
Judgement nothing_left(const json::Object& params) {
  Judgement judgement{"nothing_left", false, "an empty folder", "no folder"};
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(member(params, "dir"), error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) {
    judgement.actual = error.message();
    return judgement;
  }
  judgement.ok = names.empty();
  if (judgement.ok) {
    judgement.actual = judgement.expected;
    return judgement;
  }
  constexpr std::size_t most = 3;
  std::sort(names.begin(), names.end());
  const std::size_t others = names.size() - std::min(most, names.size());
  names.resize(names.size() - others);
  judgement.actual = text::one_line(text::join(names, ", ")) +
                     (others > 0 ? fmt::format(" and {} more", others) : std::string());
  return judgement;
}

}  // namespace

std::vector<Judgement> judge_agents(const Workload& workload, const json::Object& params,
                                    const Sample& sample) {
  if (sample.outcome != Outcome::ok) return {};
  Counters judge(sample);
  const std::int64_t n = workload.size;
  bool keeps_state = false;
  switch (workload.work) {
    case Work::spawn_pipeline_memory:
    case Work::spawn_pipeline_durable:
      judge_pipeline(judge, n, workload.work);
      break;
    case Work::admission:
      judge_admission(judge, n);
      break;
    case Work::recovery_sweep:
      judge_sweep(judge, n);
      break;
    case Work::duplicate_suppression:
      judge_dedupe(judge, n);
      break;
    case Work::spawn_settle:
      judge_settle(judge, n);
      break;
    case Work::mixed_load:
      judge_mixed(judge);
      break;
    case Work::durable_crash:
      keeps_state = member(params, "phase") == "register";
      if (keeps_state) {
        judge.equal("registeredRuns", n);
      } else {
        judge_recovery(judge, sample);
      }
      break;
    case Work::sweep_scale:
      judge_sweep(judge, n / 3);
      break;
    case Work::dedupe_scale:
      judge_dedupe(judge, n / 3);
      break;
    case Work::restart_scale:
      judge.equal("restoredRuns", n);
      judge.equal("interruptedRuns", n);
      break;
    default:
      return {};
  }
  if (!keeps_state) judge.push(nothing_left(params));
  return judge.take();
}

}  // namespace tare::driver
