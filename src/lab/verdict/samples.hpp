#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "lab/report/document.hpp"

/// Made-up measurements for tests and benchmarks of verdicts: log-normal samples whose noise is known.
namespace tare::verdict {

/// How samples scatter. The defaults are those of a calm machine with what measurements really have: samples
/// that depend on the one before, and processes that each have an offset of their own.
struct Scatter {
  double median = 100;
  double sigma = 0.05;   ///< of the logarithm, around the process's own level
  double lag1 = 0.3;     ///< correlation of a sample with the next of its process
  double offset = 0.01;  ///< standard deviation of the levels of processes
};

/// A draw of the standard normal distribution (G. Box, M. Muller, 1958).
inline double normal(measure::Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform());
}

/// One more good sample of a metric whose samples follow each other without a pause.
inline void add_sample(report::Metric& metric, double value, std::uint32_t round, std::uint32_t process) {
  metric.at_ms.push_back(metric.at_ms.empty() ? 0 : metric.at_ms.back() + value);
  metric.samples.emplace_back(value);
  metric.round.push_back(round);
  metric.process.push_back(process);
  metric.outcome.push_back(report::Outcome::ok);
  metric.error.emplace_back();
}

/// What comes after `last` when neighbours have this correlation and all have the variance 1.
inline double next_noise(double last, double lag1, measure::Random& random) {
  return lag1 * last + std::sqrt(1 - lag1 * lag1) * normal(random);
}

inline report::Metric made_metric(const Scatter& scatter, std::uint32_t processes, std::uint32_t rounds,
                                  measure::Random& random) {
  report::Metric metric;
  metric.unit = "ms";
  for (std::uint32_t process = 0; process < processes; ++process) {
    const double level = scatter.offset * normal(random);
    double noise = normal(random);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      noise = next_noise(noise, scatter.lag1, random);
      add_sample(metric, scatter.median * std::exp(level + scatter.sigma * noise), process * rounds + round,
                 process);
    }
  }
  return metric;
}

/// Two lanes that take turns.
struct MadeLanes {
  report::Metric base;
  report::Metric now;
};

/// The same rounds on two lanes, a process each, of which `now` takes `ratio` times as long. Half of the
/// variance of a sample is the machine's own at that time: both lanes have it, and it is correlated by `lag1`
/// with that of the next round. The other half is each sample's own. So the logarithm of a sample scatters by
/// `sigma`, and so does the logarithm of a round's ratio. The offset is not used.
inline MadeLanes made_lanes(const Scatter& scatter, double ratio, std::uint32_t rounds,
                            measure::Random& random) {
  MadeLanes lanes;
  lanes.base.unit = lanes.now.unit = "ms";
  const double half = scatter.sigma * std::sqrt(0.5);
  double machine = normal(random);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    machine = next_noise(machine, scatter.lag1, random);
    const auto sample = [&](double median) { return median * std::exp(half * (machine + normal(random))); };
    add_sample(lanes.base, sample(scatter.median), round, 0);
    add_sample(lanes.now, sample(scatter.median * ratio), round, 0);
  }
  return lanes;
}

/// Brings the summary up to date, as a run would.
inline void summarise(report::Metric& metric) {
  std::vector<double> good;
  for (const auto& sample : metric.samples) good.push_back(sample.value());
  metric.summary = measure::summarise(std::move(good));
}

inline report::Row made_row(const std::string& row, const std::string& target, report::Metric metric) {
  report::Row made;
  made.bench = "spawn";
  made.row = row;
  made.target = target;
  made.outcomes["ok"] = metric.samples.size();
  summarise(metric);
  made.metrics["total"] = std::move(metric);
  return made;
}

inline report::Document made_document(std::vector<report::Row> rows) {
  report::Document document;
  document.complete = true;
  document.started_at = "2026-01-31T12:00:00Z";
  document.host.cpu = "Example CPU";
  document.host.logical_cpus = 2;
  document.host.memory_bytes = std::uint64_t{4} << 30;
  for (const report::Row& row : rows) {
    bool known = false;
    for (const report::Target& target : document.targets) known = known || target.id == row.target;
    if (known) continue;
    report::Target target;
    target.id = row.target;
    document.targets.push_back(target);
  }
  document.rows = std::move(rows);
  return document;
}

}  // namespace tare::verdict
