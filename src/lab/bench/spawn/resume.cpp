#include "lab/bench/spawn/resume.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/version.hpp"
#include "lab/bench/spawn/run.hpp"
#include "lab/measure/host.hpp"

namespace tare::spawn {
namespace {

template <class T>
std::string shown(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}

Error refusal(std::string_view source, const std::string& why) {
  return Error(ErrorCode::input, fmt::format("cannot resume {}", source), why,
               "start a new run with --output");
}

template <class T>
void same(std::string_view source, std::string_view what, const std::optional<T>& before,
          const std::optional<T>& now) {
  if (before != now) {
    throw refusal(source,
                  fmt::format("it was measured on another {}: {}, now {}", what, shown(before), shown(now)));
  }
}

void check_host(const measure::HostFacts& before, std::string_view source) {
  const measure::HostFacts now = measure::read_host();
  same(source, "cpu", before.cpu, now.cpu);
  same(source, "number of CPUs", before.logical_cpus, now.logical_cpus);
  same(source, "memory size", before.memory_bytes, now.memory_bytes);
  same(source, "kernel", before.kernel, now.kernel);
  same(source, "system", before.os, now.os);
}

}  // namespace

report::Tool this_tool() {
  return {std::string(version()), std::string(commit()), std::string(build())};
}

Options resumed_options(const report::Document& before, const RawOptions& raw, std::string_view source) {
  if (before.complete) throw refusal(source, "it is complete");
  const report::Tool now = this_tool();
  const auto named = [](const report::Tool& tool) {
    return fmt::format("{} ({}, {})", tool.version, tool.commit, tool.build);
  };
  if (named(before.tool) != named(now)) {
    throw refusal(source,
                  fmt::format("it was written by tare {}, this is {}", named(before.tool), named(now)));
  }
  const auto options = json::read<Options>(before.config, fmt::format("{}: config", source));
  if (options.bench != Options{}.bench)
    throw refusal(source, fmt::format("it is a run of bench '{}'", options.bench));
  check_host(before.host, source);
  return resume(options, raw, source);
}

void check_targets(const report::Document& before, const std::vector<Lane>& lanes) {
  for (const Lane& lane : lanes) {
    const auto found = std::find_if(before.targets.begin(), before.targets.end(),
                                    [&](const report::Target& target) { return target.id == lane.facts.id; });
    if (found == before.targets.end() || found->version != lane.facts.version ||
        found->sha256 != lane.facts.sha256 || found->driver != lane.facts.driver) {
      throw Error(ErrorCode::input, "cannot resume the run",
                  fmt::format("target '{}' is another program now", lane.facts.id),
                  "start a new run with --output");
    }
  }
}

Nanoseconds measured_so_far(const report::Document& before) {
  double last = 0;
  for (const report::Row& row : before.rows) {
    for (const auto& [name, metric] : row.metrics) {
      if (!metric.at_ms.empty()) last = std::max(last, metric.at_ms.back());
    }
  }
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double, std::milli>(last));
}

}  // namespace tare::spawn
