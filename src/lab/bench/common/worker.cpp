#include "lab/bench/common/worker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::bench {
namespace {

driver::DriverOptions options_of(const Life& life, Nanoseconds hello_limit) {
  driver::DriverOptions options = life.driver_options();
  options.hello_timeout = std::min<Nanoseconds>(options.hello_timeout, hello_limit);
  return options;
}

/// The end of what a driver wrote to stderr, as the end of a sentence.
std::string said(const std::string& stderr_tail) {
  const std::string tail = text::tail(stderr_tail, 2, 300);
  return tail.empty() ? "" : "; its stderr ends: " + tail;
}

}  // namespace

Worker::Worker(const Lane& lane, const Life& life, Nanoseconds hello_limit)
    : lane_(lane), life_(life), driver_(lane.command(), options_of(life, hello_limit)) {}

std::optional<std::string> Worker::see_off() {
  const driver::Farewell farewell = driver_.bye();
  life_.stop_if_told();  // then the farewell was cut short, too
  const std::size_t left = life_.driver_options().roster->take_left_by(lane_.spec.id);
  if (farewell.note) {
    return text::one_line(fmt::format("driver '{}' did not end well: {}{}", driver_.label(), *farewell.note,
                                      said(driver_.stderr_tail())));
  }
  if (left > 0)
    return fmt::format("driver '{}' left {} running, which had to be killed", driver_.label(), left);
  return std::nullopt;
}

Nanoseconds budget_within(Nanoseconds left) {
  constexpr Nanoseconds grace = std::chrono::seconds(2);
  return std::max(left - grace, left / 2);
}

std::string sentence_of(const driver::DriverFailure& failure) {
  return failure.sentence() + said(failure.stderr_tail());
}

std::uint64_t workers_done(const report::Row& row) {
  std::uint64_t done = 0;
  for (const auto& [name, metric] : row.metrics) {
    if (!metric.process.empty()) done = std::max(done, std::uint64_t{metric.process.back()} + 1);
  }
  return done;
}

void record(const Taken& taken, Recorder& recorder, Turn turn) {
  for (const Judged& one : taken.warmups) recorder.warm_up(one.sample, one.judgements);
  std::uint32_t round = turn.first_round;
  for (const Judged& one : taken.samples)
    recorder.add(one.sample, one.judgements, {round++, turn.process, one.at});
  if (taken.failure) recorder.fail(*taken.failure);
  recorder.finish();
}

}  // namespace tare::bench
