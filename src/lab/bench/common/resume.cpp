#include "lab/bench/common/resume.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/version.hpp"
#include "lab/measure/host.hpp"

namespace tare::bench {
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

/// A sample above this, in milliseconds or bytes, is no measurement; sums of such could pass the largest
/// number.
constexpr double largest_sample = 1e15;

/// `all`: rounds that the whole row has.
void check_row(const report::Row& row, std::uint64_t all, const std::string& place) {
  const auto refuse = [&](const std::string& metric, const std::string& why) {
    throw Error(ErrorCode::input, fmt::format("{}.metrics.{}", place, metric), why,
                "start a new run with --output");
  };
  std::optional<std::size_t> rounds;
  for (const auto& [name, metric] : row.metrics) {
    if (rounds.value_or(metric.round.size()) != metric.round.size())
      refuse(name, "has another number of rounds");
    rounds = metric.round.size();
    if (*rounds > all) refuse(name, fmt::format("has {} rounds of {}", *rounds, all));
    for (std::size_t i = 0; i < metric.round.size(); ++i) {
      if (metric.round[i] != i) refuse(name, fmt::format("round[{}] is {}", i, metric.round[i]));
      const double value = metric.samples[i].value_or(0);
      if (value < 0 || value > largest_sample)
        refuse(name, fmt::format("samples[{}] is {} {}", i, value, metric.unit));
    }
  }
}

}  // namespace

report::Tool this_tool() {
  return {std::string(version()), std::string(commit()), std::string(build())};
}

void check_resumable(const report::Document& before, std::string_view bench, std::string_view source) {
  if (before.complete) throw refusal(source, "it is complete");
  const report::Tool now = this_tool();
  const auto named = [](const report::Tool& tool) {
    return fmt::format("{} ({}, {})", tool.version, tool.commit, tool.build);
  };
  if (named(before.tool) != named(now)) {
    throw refusal(source,
                  fmt::format("it was written by tare {}, this is {}", named(before.tool), named(now)));
  }
  const json::Object* config = before.config.if_object();
  const json::Value* name = config != nullptr ? config->if_contains("bench") : nullptr;
  const std::string said(name != nullptr && name->is_string() ? std::string_view(name->get_string()) : "");
  if (said != bench) throw refusal(source, fmt::format("it is a run of bench '{}'", text::one_line(said)));
  check_host(before.host, source);
}

void check_rows(const report::Document& before, std::span<const std::string> rows, std::string_view source,
                const std::function<std::uint64_t(const std::string& row)>& rounds_of) {
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    const report::Row& row = before.rows[i];
    const std::string place = fmt::format("{}: rows[{}]", source, i);
    const auto is_target = [&](const report::Target& target) { return target.id == row.target; };
    if (std::find(rows.begin(), rows.end(), row.row) == rows.end() ||
        std::none_of(before.targets.begin(), before.targets.end(), is_target)) {
      throw Error(ErrorCode::input, place,
                  fmt::format("{} on {} is not part of this run", row.row, row.target));
    }
    if (!seen.insert({row.row, row.target}).second) {
      throw Error(ErrorCode::input, place, fmt::format("{} on {} is there twice", row.row, row.target));
    }
    check_row(row, rounds_of(row.row), place);
  }
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

}  // namespace tare::bench
