#include "lab/bench/import/worker.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/driver/judge_import.hpp"
#include "lab/measure/random.hpp"

namespace tare::import_bench {
namespace {

using bench::Judged;
using bench::Taken;
using driver::Judgement;

constexpr const char* engine_start = "engine_start";

enum class Cache { is_empty, as_the_row_says };

driver::SampleRequest request_of(const Job& job, json::Object params) {
  driver::SampleRequest request;
  request.row = job.workload.row;
  request.params = std::move(params);
  request.timeout = job.options.timeout();
  request.metrics = job.workload.metrics;
  request.sizes = job.workload.sizes;
  // Two lives in one sample, each with the whole budget.
  if (request.params.contains("freshProcess"))
    request.deadline = 2 * job.options.timeout() + job.life.driver_options().grace;
  return request;
}

/// A program that threw says on stderr why, which its driver passes on.
void add_stderr(std::vector<Judgement>& judgements, const std::string& said) {
  const auto ended = std::ranges::find(judgements, "exit_code", &Judgement::id);
  if (ended == judgements.end() || ended->ok) return;
  constexpr std::size_t lines = 8;
  constexpr std::size_t enough = 300;
  if (const std::string tail = text::tail(said, lines, enough); !tail.empty())
    ended->actual += "; stderr ends: " + tail;
}

/// One sample of a scenario.
Judged ask(const Job& job, bench::Worker& worker, Cache cache) {
  const driver::SampleRequest request =
      request_of(job, driver::import_params(job.workload, job.seed, job.place));
  const Nanoseconds at = job.life.now();
  const driver::Sample sample = worker.sample(request).front();
  std::vector<Judgement> judgements = driver::judge(job.workload, request.params, sample);
  add_stderr(judgements, worker.stderr_tail());
  if (cache == Cache::is_empty)
    std::erase_if(judgements, [](const Judgement& one) { return one.id == "cache_used"; });
  return {driver::derive_import(job.workload, sample), std::move(judgements), at};
}

/// Adds a sample; false when the worker is to end with it.
bool add(Taken& taken, std::vector<Judged>& to, Judged one) {
  const bool late = one.sample.outcome == driver::Outcome::timeout;
  if (late) taken.failure = fmt::format("a sample took too long: {}", one.sample.error.value_or("timeout"));
  to.push_back(std::move(one));
  return !late;
}

void take_scenario(const Job& job, bench::Worker& worker, Taken& taken) {
  const driver::ImportScenario* scenario = driver::import_scenario(job.workload.row);
  const bool primed = scenario != nullptr && scenario->compile_cache == driver::cache_primed;
  if (primed && !add(taken, taken.warmups, ask(job, worker, Cache::is_empty))) return;
  for (std::uint64_t i = 0; i < job.options.warmup; ++i) {
    job.life.stop_if_told();
    if (!add(taken, taken.warmups, ask(job, worker, Cache::as_the_row_says))) return;
  }
  for (std::uint64_t i = 0; i < job.options.iterations; ++i) {
    job.life.stop_if_told();
    if (!add(taken, taken.samples, ask(job, worker, Cache::as_the_row_says))) return;
  }
}

/// Some round trips in one execution; the first of them is the `first`-th of the worker.
void take_round_trips(const Job& job, bench::Worker& worker, std::uint64_t first, std::uint64_t count,
                      Taken& taken) {
  const std::uint64_t seed = first == 0 ? job.seed : measure::mix(job.seed, first);
  driver::SampleRequest request = request_of(job, driver::import_params(job.workload, seed, job.place));
  request.timeout = std::min<Nanoseconds>(request.timeout, driver::transport_limit);
  request.iterations = static_cast<std::int64_t>(count);
  Nanoseconds at = job.life.now();
  const std::vector<driver::Sample> samples = worker.sample(request);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    json::Object params = request.params;
    params[driver::sample_index] = i;
    Judged one{samples[i], driver::judge(job.workload, params, samples[i]), at};
    at += Nanoseconds(static_cast<std::int64_t>(samples[i].metric("total").value_or(0)));
    one.sample.output.reset();
    std::vector<Judged>& to = first + i < job.options.warmup ? taken.warmups : taken.samples;
    to.push_back(std::move(one));
  }
}

/// As many in one execution as an answer has room for: each comes with the line that came back.
void take_all_round_trips(const Job& job, bench::Worker& worker, Taken& taken) {
  constexpr std::uint64_t room = std::uint64_t{8} << 20;
  const std::uint64_t at_once =
      std::max<std::uint64_t>(1, room / static_cast<std::uint64_t>(job.workload.size));
  const std::uint64_t all = job.options.warmup + job.options.iterations;
  for (std::uint64_t first = 0; first < all; first += at_once) {
    job.life.stop_if_told();
    take_round_trips(job, worker, first, std::min(at_once, all - first), taken);
  }
}

}  // namespace

void keep_engine_start(Taken& taken) {
  std::optional<double> first;
  for (std::vector<Judged>* some : {&taken.warmups, &taken.samples}) {
    for (Judged& one : *some) {
      if (!first) first = one.sample.metric(engine_start);
      one.sample.ns.erase(engine_start);
    }
  }
  if (first && !taken.samples.empty()) taken.samples.front().sample.ns[engine_start] = *first;
}

Taken take_samples(const Job& job) {
  Taken taken = bench::guarded([&](Taken& some) {
    bench::Worker worker(job.lane, job.life, job.options.timeout());
    // What was taken stays, whatever happens to the worker later.
    try {
      if (job.workload.work == driver::Work::transport) {
        take_all_round_trips(job, worker, some);
      } else {
        take_scenario(job, worker, some);
      }
    } catch (const driver::DriverFailure& failure) {
      if (failure.kind() == driver::FailureKind::interrupted) throw;
      some.failure = bench::sentence_of(failure);
      return;
    }
    const std::optional<std::string> left = worker.see_off();
    if (!some.failure) some.failure = left;
  });
  keep_engine_start(taken);
  return taken;
}

}  // namespace tare::import_bench
