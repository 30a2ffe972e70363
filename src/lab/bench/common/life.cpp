#include "lab/bench/common/life.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lab/bench/common/findings.hpp"
#include "lab/bench/common/resume.hpp"
#include "lab/measure/host.hpp"

namespace tare::bench {
namespace {

using report::FindingLevel;

constexpr std::chrono::seconds save_every{10};

/// Whether the n of a row is its size.
bool has_size(const driver::Workload& workload) {
  switch (workload.work) {
    case driver::Work::fanout:
    case driver::Work::storm:
    case driver::Work::nested:
    case driver::Work::memory:
    case driver::Work::growth:
    case driver::Work::transport:
      return true;
    default:
      return workload.bench == driver::agents_bench;
  }
}

}  // namespace

Life::Life(const Order& order, const Surroundings& around)
    : order_(order),
      around_(around),
      noise_before_(measure::read_noise()),
      start_(around.clock.now()),
      saved_(start_ - save_every) {  // the first samples are kept at once
  if (order.before) document_ = *order.before;
  document_.complete = false;
  driver_options_.interrupt_fd = around.interrupt.fd();
  driver_options_.roster = std::make_shared<driver::Roster>();
}

void Life::begin(std::uint64_t seed, json::Value config) {
  if (!order_.before) {
    document_.tool = this_tool();
    document_.command = order_.command;
    document_.started_at = rfc3339(around_.clock.wall());
    document_.seed = seed;
    document_.config = std::move(config);
  }
  document_.host = measure::with_noise(measure::read_host(), noise_before_, noise_before_);
}

void Life::prepare(const LaneRequest& request) {
  try {
    lanes_ = prepare_lanes(request, driver_options_, scratch_.path());
  } catch (const driver::DriverFailure& failure) {
    if (failure.kind() == driver::FailureKind::interrupted) throw Interrupted{};
    throw;
  }
  if (!order_.before) {
    for (const Lane& lane : lanes_) document_.targets.push_back(lane.facts);
    return;
  }
  check_targets(document_, lanes_);
  start_ -= measured_so_far(document_);
  document_.findings = {
      {FindingLevel::note, {}, {}, "this run had been interrupted, and went on with fresh drivers"}};
}

void Life::complete() {
  document_.complete = true;
  document_.finished_at = rfc3339(around_.clock.wall());
}

void Life::interrupted() {
  document_.findings.push_back({FindingLevel::warn, {}, {}, fmt::format("interrupted {}", position_)});
}

void Life::seal() {
  const measure::NoiseFacts after = measure::read_noise();
  document_.host = measure::with_noise(std::move(document_.host), noise_before_, after);
  document_.invariants = broken_invariants(document_);
  const measure::Noise noise = measure::judge(noise_before_, after, measure::usable_cpus(document_.host));
  for (report::Finding& finding : findings(document_, lanes_, noise))
    document_.findings.push_back(std::move(finding));
}

report::Row& Life::row_of(const driver::Workload& workload, const Lane& lane) {
  const auto found = std::ranges::find_if(document_.rows, [&](const report::Row& known) {
    return known.row == workload.row && known.target == lane.spec.id;
  });
  if (found != document_.rows.end()) return *found;
  report::Row& row = document_.rows.emplace_back();
  row.bench = workload.bench;
  row.row = workload.row;
  row.target = lane.spec.id;
  if (has_size(workload)) row.size = static_cast<std::uint64_t>(workload.size);
  return row;
}

std::vector<Life::Entry> Life::entries_of(const driver::Workload& workload, Lacking lacking) {
  std::vector<const Lane*> offering;
  for (const Lane& lane : lanes_) {
    std::optional<std::string> why = why_unavailable(lane.defects, workload.row);
    const bool offered = lane.hello.offers(workload.row);
    if (!why && offered) {
      offering.push_back(&lane);
      row_of(workload, lane);
      continue;
    }
    if (!why && lacking == Lacking::is_silent) continue;
    report::Row& row = row_of(workload, lane);
    row.status = report::RowStatus::unavailable;
    row.reason = why ? why : lane.hello.why_not(workload.row);
  }
  // Entries point into the document, so every row is made before the first entry.
  std::vector<Entry> entries;
  entries.reserve(offering.size());
  for (const Lane* lane : offering) entries.push_back({lane, &row_of(workload, *lane)});
  return entries;
}

bool Life::is_offered(std::string_view row) const {
  return std::ranges::any_of(lanes_, [&](const Lane& lane) { return lane.hello.offers(row); });
}

void Life::stop_if_told() const {
  if (around_.interrupt.signal()) throw Interrupted{};
}

bool Life::is_due() const {
  return around_.clock.now() - saved_ >= save_every;
}

void Life::save() {
  saved_ = around_.clock.now();
  try {
    order_.save(document_);
  } catch (const Error& error) {
    // The disk may have room again at the end; measuring does not depend on it.
    if (save_failed_) return;
    save_failed_ = true;
    document_.findings.push_back(
        {FindingLevel::warn, {}, {}, fmt::format("{} ({})", error.what(), error.why())});
  }
}

Result Life::result(std::optional<std::string> failure) {
  const auto signal = document_.complete ? std::nullopt : around_.interrupt.signal();
  return {std::move(document_), signal, std::move(failure), position_};
}

}  // namespace tare::bench
