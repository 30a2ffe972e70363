#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bare_commits.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/driver/ack_pipe.hpp"
#include "lab/driver/agents.hpp"
#include "lab/measure/summary.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

constexpr double wanted_rate = 20'000;
/// Half of what a disk would take if each of its commits held all that is in flight.
constexpr double share_of_disk = 0.5 * driver::crash_in_flight;

/// Registrations a second of one request. Everything that was acknowledged must be there afterwards, for
/// another process.
double register_all(Registry& registry, Worker& worker, const driver::Workload& workload) {
  const file::TemporaryFolder state("tare-state");
  const file::TemporaryFolder folder("tare-acks");
  driver::AckPipe acks(folder.path() / "acks");
  const std::uint64_t nonce = registry.nonce();
  const json::Object asked = driver::register_params(workload, nonce, state.path(), acks.path());
  const driver::Sample sample = worker.ask(workload, asked, 1).front();
  const std::vector<std::string> acknowledged = acks.finish();
  if (acknowledged.size() != static_cast<std::size_t>(workload.size))
    throw Broken(fmt::format("{} of {} registrations were acknowledged", acknowledged.size(), workload.size));

  Worker after(registry.command());
  const driver::Sample found =
      after.ask(workload, driver::recover_params(workload, nonce, state.path()), 1).front();
  for (const driver::Judgement& judgement : driver::judge_crash(asked, acknowledged, found)) {
    if (!judgement.ok) throw Broken(fmt::format("{}: {}", workload.row, describe(judgement)));
  }
  after.leave();
  return static_cast<double>(workload.size) * 1e9 / sample.metric("total").value();
}

double registrations_per_second(Registry& registry, const driver::Workload& workload) {
  Worker worker(registry.command());
  register_all(registry, worker, workload);  // warms it up
  const double rate = register_all(registry, worker, workload);
  worker.leave();
  return rate;
}

Measurement measure_rate() {
  const driver::Workload workload = workload_of("durableCrash_10000");
  Registry embedded("embedded");
  auto figures = interleave({[&] { return registrations_per_second(embedded, workload); }, bare_commit_rate},
                            {.fewest = 6, .most = 12, .limit = std::chrono::seconds(18)});
  Measurement measurement = alone(std::move(figures[0]));
  const double commits = measure::summarise(std::move(figures[1])).p50.value();
  measurement.against = share_of_disk * commits;
  measurement.limit = Limit{std::min(wanted_rate, share_of_disk * commits), {}};
  measurement.note += fmt::format("; the disk takes {} bare commits a second",
                                  text::count(static_cast<std::uint64_t>(commits)));
  return measurement;
}

}  // namespace

Benchmark agents_durable_rate() {
  return {{"agents.durable_rate",
           "durable registrations a second, 64 in flight, against half of 64 times the disk's bare commits",
           "/s",
           Judged::rate,
           {wanted_rate, {}}},
          measure_rate};
}

}  // namespace tare::benchmarks
