#include "lab/bench/common/recorder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lab/bench/common/defects.hpp"
#include "lab/report/metric.hpp"

namespace tare::bench {
namespace {

report::Outcome outcome_of(driver::Outcome outcome) {
  switch (outcome) {
    case driver::Outcome::ok:
      return report::Outcome::ok;
    case driver::Outcome::failed:
      return report::Outcome::failed;
    case driver::Outcome::timeout:
      return report::Outcome::timeout;
    case driver::Outcome::refused:
      return report::Outcome::refused;
  }
  return report::Outcome::failed;
}

std::string name_of(report::Outcome outcome) {
  return boost::describe::enum_to_string(outcome, "?");
}

}  // namespace

std::optional<Share> share_of(const driver::Workload& workload) {
  const auto size = static_cast<double>(workload.size);
  switch (workload.work) {
    case driver::Work::fanout:
      return Share{"wait_reap_per_process", "wait_reap_batch", size};
    case driver::Work::sweep_scale:
    case driver::Work::dedupe_scale:
    case driver::Work::restart_scale:
      return Share{"per_row", "total", size};
    case driver::Work::memory:
      return Share{"per_guest", "live_guests", size, "vm"};
    case driver::Work::growth:
      return Share{"growth", "after", 1, "before"};
    default:
      return std::nullopt;
  }
}

Recorder::Recorder(report::Row& row, const driver::Workload& workload, std::set<std::string> excused)
    : row_(row), metrics_(workload.metrics), share_(share_of(workload)), excused_(std::move(excused)) {
  for (const std::string& name : metrics_) row_.metrics[name].unit = "ms";
  for (const std::string& name : workload.sizes) {
    row_.metrics[name].unit = "bytes";
    metrics_.push_back(name);
  }
  if (!share_) return;
  row_.metrics[share_->name].unit = row_.metrics.at(share_->of).unit;
  metrics_.push_back(share_->name);
}

/// A size in bytes, or a time in milliseconds.
std::optional<double> Recorder::value_of(const driver::Sample& sample, const std::string& metric) const {
  if (share_ && metric == share_->name) return share_in(sample);
  if (const auto size = sample.bytes.find(metric); size != sample.bytes.end()) return size->second;
  const std::optional<double> ns = sample.metric(metric);
  return ns ? std::optional(*ns / 1e6) : std::nullopt;
}

std::optional<double> Recorder::share_in(const driver::Sample& sample) const {
  const auto whole = value_of(sample, share_->of);
  const auto off = share_->minus.empty() ? std::optional(0.0) : value_of(sample, share_->minus);
  if (!whole || !off) return std::nullopt;
  return (*whole - *off) / share_->parts;
}

/// The first condition that does not hold, in words; "" when all do.
std::string Recorder::first_broken(std::span<const driver::Judgement> judgements) const {
  const auto found = std::ranges::find_if(
      judgements, [&](const auto& one) { return !one.ok && !excused_.contains(one.id); });
  return found == judgements.end() ? "" : driver::describe(*found);
}

void Recorder::add(const driver::Sample& sample, std::span<const driver::Judgement> judgements,
                   Position position) {
  // A wrong answer is no measurement: however fast it was, it stays out of the distribution.
  const std::string broken = first_broken(judgements);
  const report::Outcome outcome = broken.empty() ? outcome_of(sample.outcome) : report::Outcome::failed;
  const std::optional<std::string> error = broken.empty() ? sample.error : broken;
  for (const std::string& name : metrics_) {
    report::Metric& metric = row_.metrics[name];
    metric.samples.push_back(value_of(sample, name));
    metric.round.push_back(position.round);
    metric.process.push_back(position.process);
    metric.at_ms.push_back(to_ms(position.at));
    metric.outcome.push_back(outcome);
    metric.error.push_back(error);
  }
  for (const auto& [name, value] : sample.counters) {
    if (value) row_.counters[name] += *value;
  }
  row_.outcomes[name_of(outcome)] += 1;
  timeouts_in_a_row_ = outcome == report::Outcome::timeout ? timeouts_in_a_row_ + 1 : 0;
  judge(outcome_of(sample.outcome), sample.error.value_or(""), judgements);
}

void Recorder::warm_up(const driver::Sample& sample, std::span<const driver::Judgement> judgements) {
  for (const std::string& name : metrics_) {
    row_.metrics[name].warmup.push_back(value_of(sample, name));
  }
  judge(outcome_of(sample.outcome), sample.error.value_or(""), judgements);
}

void Recorder::judge(report::Outcome outcome, const std::string& error,
                     std::span<const driver::Judgement> judgements) {
  const std::string actual =
      error.empty() ? name_of(outcome) : fmt::format("{}: {}", name_of(outcome), error);
  check("completed", outcome == report::Outcome::ok, "ok", actual);
  for (const driver::Judgement& judgement : judgements) {
    if (!excused_.contains(judgement.id)) {
      check(judgement.id, judgement.ok, judgement.expected, judgement.actual);
    } else if (!judgement.ok) {
      row_.counters[defect_counter(judgement.id)] += 1;
    }
  }
}

void Recorder::check(const std::string& id, bool ok, const std::string& expected, const std::string& actual) {
  auto found =
      std::find_if(row_.invariants.begin(), row_.invariants.end(), [&](const auto& i) { return i.id == id; });
  if (found == row_.invariants.end()) {
    found = row_.invariants.insert(row_.invariants.end(), report::Invariant{});
    found->id = id;
    found->expected = expected;
  }
  found->checked += 1;
  if (ok) return;
  if (found->broken == 0) {
    found->expected = expected;
    found->actual = actual;
  }
  found->broken += 1;
  found->ok = false;
}

void Recorder::fail(const std::string& reason) {
  ended_early_ = true;
  row_.status = report::RowStatus::failed;
  row_.reason = reason;
}

void Recorder::finish() {
  for (auto& [name, metric] : row_.metrics) metric.summary = report::summary_of(metric);
  if (!ended_early_) fail_if_broken(row_);
}

void fail_if_broken(report::Row& row) {
  const auto broken = std::ranges::find(row.invariants, false, &report::Invariant::ok);
  if (broken == row.invariants.end()) return;
  row.status = report::RowStatus::failed;
  row.reason = fmt::format("{}: expected {}, got {} ({} of {} times)", broken->id, broken->expected,
                           broken->actual.value_or("nothing"), broken->broken, broken->checked);
}

}  // namespace tare::bench
