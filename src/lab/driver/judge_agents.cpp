#include "lab/driver/judge_agents.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <system_error>

#include "base/text.hpp"
#include "lab/driver/agents.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

std::string number(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "not reported";
}

std::string member(const json::Object& params, std::string_view name) {
  const json::Value* value = params.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// A run of `durableCrash` as it came back: `<label> <status> <task text>`.
struct Restored {
  std::string label;
  std::string status;
  std::string task;
};

/// A last line without its newline is one too: whether it is whole, its text says.
std::vector<Restored> restored_runs(const Sample& sample) {
  std::vector<Restored> runs;
  for (const std::string& line : text::split(sample.output.value_or(""), '\n')) {
    if (line.empty()) continue;
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string::npos ? first : line.find(' ', first + 1);
    Restored run;
    run.label = line.substr(0, first);
    if (first != std::string::npos) run.status = line.substr(first + 1, second - first - 1);
    if (second != std::string::npos) run.task = line.substr(second + 1);
    runs.push_back(std::move(run));
  }
  return runs;
}

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

/// A condition that holds for each of many things, with the first for which it does not.
class Each {
 public:
  Each(std::string id, std::string expected) : id_(std::move(id)), expected_(std::move(expected)) {}

  void expect(bool ok, std::string_view thing) {
    ++seen_;
    if (ok) return;
    if (broken_++ == 0) first_ = thing;
  }

  Judgement take(std::string_view fault) const {
    if (broken_ == 0) return {id_, true, expected_, fmt::format("all {}", seen_)};
    return {id_, false, expected_,
            fmt::format("{} of {} {}, the first: '{}'", broken_, seen_, fault,
                        text::one_line(std::string_view(first_).substr(0, 60)))};
  }

 private:
  std::string id_;
  std::string expected_;
  std::size_t seen_ = 0;
  std::size_t broken_ = 0;
  std::string first_;
};

/// The number of a label, or nothing when no such run was ever submitted.
std::optional<std::int64_t> submitted_number(std::string_view label, std::string_view nonce,
                                             std::int64_t runs) {
  if (!label.starts_with(nonce) || label.size() <= nonce.size() + 1) return std::nullopt;
  const auto k = text::to_int(label.substr(nonce.size() + 1));
  if (!k || *k < 0 || *k >= runs || label != crash_label(nonce, *k)) return std::nullopt;
  return k;
}

Judgement in_flight_bound(std::size_t present, std::size_t acknowledged) {
  const auto bound = static_cast<std::size_t>(crash_in_flight);
  return {"in_flight_bound", present <= acknowledged + bound,
          fmt::format("at most {} runs that were not acknowledged", bound),
          fmt::format("{} restored, {} acknowledged", present, acknowledged)};
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

std::vector<Judgement> judge_crash(const json::Object& params, const std::vector<std::string>& acknowledged,
                                   const Sample& recovered) {
  if (recovered.outcome != Outcome::ok) return {};
  const std::string nonce = member(params, "nonce");
  const json::Value* size = params.if_contains("size");
  const std::int64_t runs = size != nullptr && size->is_int64() ? size->get_int64() : 0;

  Each nothing_else("nothing_else", "runs that were submitted, and no others");
  Each intact("intact", "each run with the task text that it was given");
  Each interrupted("interrupted", "each run interrupted");
  Each once("once", "each run once");
  std::set<std::string> present;
  for (const Restored& run : restored_runs(recovered)) {
    const auto k = submitted_number(run.label, nonce, runs);
    nothing_else.expect(k.has_value(), run.label);
    if (!k) continue;
    once.expect(present.insert(run.label).second, run.label);
    intact.expect(run.task == crash_task(*k), run.label);
    interrupted.expect(run.status == "interrupted", fmt::format("{} {}", run.label, run.status));
  }
  Each acknowledged_present("acknowledged_present", "each run that was acknowledged");
  const std::set<std::string> labels(acknowledged.begin(), acknowledged.end());
  for (const std::string& label : labels) acknowledged_present.expect(present.contains(label), label);

  return {acknowledged_present.take("lost"), nothing_else.take("never submitted"),
          intact.take("with another text"),  interrupted.take("not interrupted"),
          once.take("there again"),          in_flight_bound(present.size(), labels.size())};
}

}  // namespace tare::driver
