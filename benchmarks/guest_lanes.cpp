#include "guest_lanes.hpp"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "lab/measure/bootstrap.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"
#include "runtime/guest_driver/lane.hpp"
#include "runtime/guest_driver/processes.hpp"

namespace tare::benchmarks {
namespace {

constexpr double bytes_per_mb = 1024 * 1024;
constexpr auto exit_limit = std::chrono::seconds(30);
constexpr auto rest_limit = std::chrono::seconds(10);
constexpr auto rest_window = std::chrono::milliseconds(10);

driver::Workload spawn_row(const std::string& row) {
  auto workload = driver::find_workload(row, driver::spawn_bench);
  if (!workload) throw Error(ErrorCode::failed, "there is no row " + row);
  return std::move(*workload);
}

}  // namespace

SpawnLane::SpawnLane(const std::string& target, const std::string& row)
    : driver_(start_target(target)), workload_(spawn_row(row)) {}

driver::Sample SpawnLane::sample(Nanoseconds idle) {
  driver::SampleRequest request;
  request.row = workload_.row;
  request.params = driver::make_params(workload_, measure::mix(seed, taken_++), {});
  request.metrics = workload_.metrics;
  std::this_thread::sleep_for(idle);
  driver::Sample sample = std::move(driver_.sample(request).front());
  const std::string who = fmt::format("{}, {}", driver_.label(), workload_.row);
  if (sample.outcome != driver::Outcome::ok) throw Broken(who + " failed", sample.error.value_or(""));
  for (const driver::Judgement& judgement : driver::judge(workload_, request.params, sample)) {
    if (!judgement.ok) throw Broken(fmt::format("{}: {}", who, describe(judgement)));
  }
  return sample;
}

double SpawnLane::total_ms(Nanoseconds idle) {
  return sample(idle).metric("total").value() / 1e6;
}

Measurement p50_against(const std::vector<double>& ours, const std::vector<double>& theirs,
                        std::string_view what) {
  const measure::Comparison ratio = measure::quantile_ratio_paired(ours, theirs, 0.5, seed);
  return {measure::summarise(ours).p50,
          measure::summarise(theirs).p50,
          ratio.ratio,
          ratio.ratio_interval,
          fmt::format("{} rounds of {}", ours.size(), what),
          {}};
}

Guests::Guests(guest::EngineOptions options, const guest::VmOptions& machine)
    : pool_(options.pool),
      engine_(guest::Engine::start(std::move(options))),
      vm_(engine_.create_vm(machine)) {}

guest::VmOptions Guests::machine_options() {
  return guest_driver::vm_options();
}

guest::Execution Guests::start(const std::string& script, guest::Stdio stdio) {
  guest::SpawnOptions options;
  options.argv = {"node", "-e", script};
  options.stdio = stdio;
  return vm_.spawn(options);
}

std::map<std::string, std::int64_t> Guests::settle(std::int64_t living) {
  const SystemClock clock;
  const Instant deadline = clock.now() + rest_limit;
  for (;;) {
    std::map<std::string, std::int64_t> counters = engine_.stats();
    if (counters.at("liveGuests") == living && counters.at("poolReady") >= pool_) return counters;
    if (clock.now() > deadline)
      throw Broken(fmt::format("{} guests live where {} should, and {} of {} wait in the pool",
                               counters.at("liveGuests"), living, counters.at("poolReady"), pool_));
    std::this_thread::sleep_for(rest_window);
  }
}

double Guests::pss_mb() {
  const auto pss = guest_driver::pss_of(engine_.pids());
  if (!pss) throw Error(ErrorCode::failed, "cannot read the memory of the engine");
  return static_cast<double>(*pss) / bytes_per_mb;
}

void expect_success(guest::Execution& execution) {
  const auto exit = execution.wait(SystemClock().now() + exit_limit);
  if (!exit) throw Broken("a guest did not end");
  if (exit->code != 0) throw Broken("a guest did not end well: it " + guest::describe(*exit));
}

}  // namespace tare::benchmarks
