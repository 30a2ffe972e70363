#include "lab/bench/agents/worker.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/driver/ack_pipe.hpp"
#include "lab/driver/agents.hpp"
#include "lab/measure/random.hpp"

namespace tare::agents_bench {
namespace {

using bench::Judged;
using bench::Taken;
using driver::Judgement;

constexpr std::uint64_t warmup_stream = std::uint64_t{1} << 62;

/// One worker process and its time.
class TimedWorker {
 public:
  explicit TimedWorker(const Job& job)
      : job_(job),
        end_(SystemClock().now() + job.options.timeout()),
        worker_(job.lane, job.life, job.options.timeout()) {}

  pid_t pid() const { return worker_.pid(); }
  std::optional<std::string> see_off() { return worker_.see_off(); }

  std::vector<driver::Sample> sample(json::Object params, std::uint64_t iterations) {
    driver::SampleRequest request;
    request.row = job_.workload.row;
    request.params = std::move(params);
    if (request.params.contains("durationMs")) request.params["durationMs"] = job_.options.mixed_ms;
    request.iterations = static_cast<std::int64_t>(iterations);
    request.deadline = left();
    request.timeout = bench::budget_within(*request.deadline);
    request.metrics = job_.workload.metrics;
    request.sizes = job_.workload.sizes;
    return worker_.sample(request);
  }

 private:
  /// Never nothing: a deadline in the past would not be a request.
  Nanoseconds left() const {
    return std::max<Nanoseconds>(end_ - SystemClock().now(), std::chrono::milliseconds(1));
  }

  const Job& job_;
  Instant end_;
  bench::Worker worker_;
};

/// A worker must know how much memory it has.
Judgement memory_known(const driver::Workload& workload, const driver::Sample& sample) {
  Judgement judgement{"memory", true, "its memory before, after and at most", "known"};
  for (const std::string& name : workload.sizes) {
    const auto found = sample.bytes.find(name);
    if (found != sample.bytes.end() && found->second) continue;
    judgement.ok = false;
    judgement.actual = name + " not reported";
    break;
  }
  return judgement;
}

/// What a row shows, under the name that the bench has always had for it.
std::optional<std::string> check_of(driver::Work work) {
  switch (work) {
    case driver::Work::spawn_pipeline_memory:
      return "spawnPipelineInMemory";
    case driver::Work::spawn_pipeline_durable:
      return "spawnPipelineDurable";
    case driver::Work::admission:
      return "admissionCapOverflowRelease";
    case driver::Work::recovery_sweep:
      return "sweepRecoveryRowsWithoutSessionEffects";
    case driver::Work::duplicate_suppression:
      return "dedupeNewestPerChild";
    default:
      return std::nullopt;
  }
}

/// Each condition by itself, and then whether all of them hold.
std::vector<Judgement> judged(const driver::Workload& workload, const json::Object& params,
                              const driver::Sample& sample) {
  std::vector<Judgement> judgements = driver::judge(workload, params, sample);
  if (sample.outcome != driver::Outcome::ok) return judgements;
  judgements.push_back(memory_known(workload, sample));
  if (auto check = check_of(workload.work)) {
    const auto broken = std::ranges::count(judgements, false, &Judgement::ok);
    judgements.push_back(
        {std::move(*check), broken == 0, "every condition", fmt::format("{} broken", broken)});
  }
  return judgements;
}

/// The folder for what a row keeps on disk: the user's, or a fresh one.
class State {
 public:
  explicit State(const Options& options) {
    if (options.state) {
      path_ = *options.state;
      std::error_code error;
      empty_it_ = std::filesystem::is_empty(path_, error) && !error;
    } else {
      own_.emplace("tare-state");
      path_ = own_->path();
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  /// What a worker that was killed left in a folder that was empty before is nobody's.
  ~State() {
    if (!empty_it_) return;
    std::error_code ignored;
    for (std::filesystem::directory_iterator entry(path_, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
      std::filesystem::remove_all(entry->path(), ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<file::TemporaryFolder> own_;
  std::filesystem::path path_;
  bool empty_it_ = false;
};

std::vector<Judged> ask(const Job& job, TimedWorker& worker, const State& state, std::uint64_t count,
                        std::uint64_t nonce) {
  const json::Object params = driver::make_params(job.workload, nonce, state.path());
  const Nanoseconds start = job.life.now();
  std::vector<driver::Sample> samples = worker.sample(params, count);
  const Nanoseconds each = (job.life.now() - start) / static_cast<std::int64_t>(count);
  std::vector<Judged> result;
  for (driver::Sample& sample : samples) {
    const Nanoseconds at = start + each * static_cast<std::int64_t>(result.size());
    std::vector<Judgement> judgements = judged(job.workload, params, sample);
    result.push_back({std::move(sample), std::move(judgements), at});
  }
  return result;
}

/// Registers until the kill, and gives what was acknowledged. Throws DriverFailure, or the failure in words.
std::vector<std::string> register_and_kill(const Job& job, const json::Object& params, driver::AckPipe& acks,
                                           std::uint64_t kill_after) {
  {
    TimedWorker worker(job);
    acks.kill_after(kill_after, worker.pid());
    try {
      worker.sample(params, 1);  // answers only when the kill is as late as the answer
    } catch (const driver::DriverFailure& failure) {
      if (failure.kind() == driver::FailureKind::interrupted || !acks.killed()) throw;
    }
  }
  job.life.driver_options().roster->take_left_by(job.lane.spec.id);  // the kill is ours
  std::vector<std::string> lines = acks.finish();
  if (lines.size() < kill_after) {
    throw driver::DriverFailure(
        driver::FailureKind::invalid_sample, job.lane.spec.id, "answered before all was acknowledged",
        fmt::format("{} of {} acknowledgements after which it was to be killed", lines.size(), kill_after),
        {});
  }
  return lines;
}

/// One kill and one recovery.
Judged crash(const Job& job, std::uint64_t stream, std::optional<std::string>& failure) {
  const State state(job.options);
  const file::TemporaryFolder folder("tare-acks");
  driver::AckPipe acks(folder.path() / "acks");
  const std::uint64_t nonce = measure::mix(job.seed, stream);
  const json::Object asked = driver::register_params(job.workload, nonce, state.path(), acks.path());
  const std::uint64_t kill_after = kill_point(measure::mix(job.row_seed, stream), job.workload.size);
  const std::vector<std::string> acknowledged = register_and_kill(job, asked, acks, kill_after);

  const json::Object params = driver::recover_params(job.workload, nonce, state.path());
  TimedWorker worker(job);
  const Nanoseconds at = job.life.now();
  driver::Sample sample = worker.sample(params, 1).front();
  std::vector<Judgement> judgements = judged(job.workload, params, sample);
  if (sample.outcome == driver::Outcome::ok) {
    for (Judgement& one : driver::judge_crash(asked, acknowledged, sample))
      judgements.push_back(std::move(one));
  }
  failure = worker.see_off();
  return {std::move(sample), std::move(judgements), at};
}

}  // namespace

std::uint64_t kill_point(std::uint64_t seed, std::int64_t runs) {
  return 1 + measure::Random(seed).below(static_cast<std::uint64_t>(runs));
}

Taken take_samples(const Job& job) {
  return bench::guarded([&](Taken& taken) {
    const State state(job.options);
    TimedWorker worker(job);
    const Rounds rounds = rounds_of(job.options, job.workload);
    if (rounds.warmup > 0)
      taken.warmups = ask(job, worker, state, rounds.warmup, measure::mix(job.seed, warmup_stream));
    taken.samples = ask(job, worker, state, rounds.runs, measure::mix(job.seed, 0));
    taken.failure = worker.see_off();
  });
}

Taken take_crashes(const Job& job) {
  return bench::guarded([&](Taken& taken) {
    const std::uint64_t runs = rounds_of(job.options, job.workload).runs;
    for (std::uint64_t i = 0; i < runs && !taken.failure; ++i) {
      job.life.stop_if_told();
      taken.samples.push_back(crash(job, i, taken.failure));
    }
  });
}

}  // namespace tare::agents_bench
