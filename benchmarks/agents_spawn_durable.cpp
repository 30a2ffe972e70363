#include "bare_commits.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

const char* const row = "spawnPipelineDurable_64";

/// Node's registry as it is, with a commit for each registration, is what the bar is about. Most of the
/// distance is group commit: what is left of it when the peer has that too stands in the note.
Measurement measure_against_node() {
  Registry embedded("embedded");
  Registry node("node");
  Registry grouped("node", {"--group-commit"});
  const auto figures =
      interleave({[&] { return embedded.median_ns(row) / 1e6; }, [&] { return node.median_ns(row) / 1e6; },
                  [&] { return grouped.median_ns(row) / 1e6; }},
                 {});
  Measurement measurement = compared(figures[0], figures[1]);
  measurement.note +=
      "; " + beside("against Node with --group-commit", compared(figures[0], figures[2]), "ms");
  return measurement;
}

/// A process of its own a round, too, with as many samples.
Measurement measure_against_commit() {
  Registry embedded("embedded");
  const auto figures = interleave(
      {[&] { return embedded.median_ns(row) / 1e6; }, [&] { return bare_commit_ns(64, {}) / 1e6; }}, {});
  return compared(figures[0], figures[1]);
}

}  // namespace

Benchmark agents_spawn_durable() {
  return {{"agents.spawn_durable",
           "spawnPipelineDurable_64, against the registry in Node",
           "ms",
           Judged::ratio,
           {{}, 0.2}},
          measure_against_node};
}

Benchmark agents_spawn_durable_floor() {
  return {{"agents.spawn_durable_floor",
           "spawnPipelineDurable_64, against one bare SQLite FULL commit of 64 rows",
           "ms",
           Judged::ratio,
           {{}, 3.0}},
          measure_against_commit};
}

}  // namespace tare::benchmarks
