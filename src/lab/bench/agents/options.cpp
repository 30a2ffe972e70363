#include "lab/bench/agents/options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/bench/common/flags.hpp"
#include "lab/driver/agents.hpp"

namespace tare::agents_bench {
namespace {

using driver::AgentScenario;
using driver::SizeList;

constexpr WholeRange runs_range{1, 100};
constexpr WholeRange warmup_range{0, 20};
constexpr WholeRange fanout_range{1, 256};
constexpr WholeRange sweep_range{1, 4'096};
constexpr WholeRange scale_range{3, 1'000'000};
constexpr WholeRange processes_range{1, 1'000};
constexpr WholeRange timeout_range{1, 3'600};
constexpr WholeRange mixed_range{1, 60'000};

constexpr std::uint64_t quick_mixed_ms = 200;
constexpr std::uint64_t quick_crashes = 3;

std::vector<std::string> names(const std::vector<AgentScenario>& scenarios) {
  std::vector<std::string> all;
  for (const AgentScenario& scenario : scenarios) all.push_back(scenario.name);
  return all;
}

const AgentScenario* find(std::string_view name) {
  const auto& all = driver::agent_scenarios();
  const auto found = std::ranges::find(all, name, &AgentScenario::name);
  return found == all.end() ? nullptr : &*found;
}

/// Those that a run has when none are named.
std::vector<std::string> default_scenarios(const Options& options) {
  std::vector<AgentScenario> scenarios = driver::agent_scenarios();
  if (options.scale_rows.empty())
    std::erase_if(scenarios, [](const AgentScenario& s) { return s.sizes == SizeList::scale_rows; });
  return names(scenarios);
}

std::vector<std::string> scenario_list(std::string_view text, const Options& options) {
  const std::vector<std::string> known = names(driver::agent_scenarios());
  std::vector<std::string> scenarios = bench::list("--scenarios", text);
  for (const std::string& name : scenarios) {
    const AgentScenario* scenario = find(name);
    if (scenario == nullptr) {
      const auto near = text::did_you_mean(name, known);
      throw Error(ErrorCode::usage, fmt::format("no scenario named '{}'", name),
                  "known: " + text::join(known, ", "), near ? fmt::format("did you mean '{}'?", *near) : "");
    }
    if (scenario->sizes == SizeList::scale_rows && options.scale_rows.empty()) {
      throw Error(ErrorCode::usage, fmt::format("scenario '{}' has no sizes", name), "",
                  "say how many rows with --scale-rows, as 1000,1000000");
    }
  }
  return scenarios;
}

/// A folder as an absolute path, so that drivers in other folders mean the same one.
std::string state_folder(const std::string& text) {
  std::error_code error;
  if (text.empty() || !std::filesystem::is_directory(text, error))
    throw Error(ErrorCode::usage, fmt::format("--state: there is no folder '{}'", text::one_line(text)));
  return std::filesystem::absolute(text).string();
}

std::vector<std::int64_t> sizes_of(const AgentScenario& scenario, const Options& options) {
  const auto as_sizes = [](const std::vector<std::uint64_t>& list) {
    return std::vector<std::int64_t>(list.begin(), list.end());
  };
  switch (scenario.sizes) {
    case SizeList::fanout:
      return as_sizes(options.fanout);
    case SizeList::sweep_rows:
      return as_sizes(options.sweep_rows);
    case SizeList::scale_rows:
      return as_sizes(options.scale_rows);
    case SizeList::crash_runs:
      return {driver::crash_runs};
  }
  return {};
}

/// The limits of the flags, for options that come from a file.
void check_ranges(const Options& options, std::string_view source) {
  const auto check = [&](std::string_view name, std::uint64_t value, WholeRange range) {
    bench::check_range(source, name, value, range);
  };
  const auto check_all = [&](std::string_view name, const std::vector<std::uint64_t>& list,
                             WholeRange range) {
    for (const std::uint64_t value : list) check(name, value, range);
  };
  check("runs", options.runs, runs_range);
  check("warmup", options.warmup, warmup_range);
  check("processes", options.processes, processes_range);
  check("timeoutMs", options.timeout_ms, {1000, timeout_range.high * 1000});
  check("mixedMs", options.mixed_ms, mixed_range);
  check_all("fanout", options.fanout, fanout_range);
  check_all("sweepRows", options.sweep_rows, sweep_range);
  check_all("scaleRows", options.scale_rows, scale_range);
  for (const std::string& name : options.scenarios) {
    if (find(name) == nullptr) {
      throw Error(ErrorCode::input, fmt::format("{}: config.scenarios", source),
                  fmt::format("there is no scenario '{}'", text::one_line(name)));
    }
  }
}

}  // namespace

Options resolve(const RawOptions& raw) {
  Options options;
  options.quick = raw.quick;
  options.targets = bench::target_list(raw.targets, raw.extra_targets, {"embedded", "node"});
  if (raw.quick) {
    options.fanout = {1, 64};
    options.sweep_rows = {512};
    options.mixed_ms = quick_mixed_ms;
  }
  if (raw.runs) options.runs = bench::number("--runs", *raw.runs, runs_range);
  if (raw.warmup) options.warmup = bench::number("--warmup", *raw.warmup, warmup_range);
  if (raw.fanout) options.fanout = bench::number_list("--fanout", *raw.fanout, fanout_range);
  if (raw.sweep_rows) options.sweep_rows = bench::number_list("--sweep-rows", *raw.sweep_rows, sweep_range);
  if (raw.scale_rows) options.scale_rows = bench::number_list("--scale-rows", *raw.scale_rows, scale_range);
  if (raw.processes) options.processes = bench::number("--processes", *raw.processes, processes_range);
  if (raw.timeout) options.timeout_ms = bench::number("--timeout", *raw.timeout, timeout_range) * 1000;
  if (raw.seed) options.seed = bench::seed_number(*raw.seed);
  if (raw.state) options.state = state_folder(*raw.state);
  if (raw.node) options.node = *raw.node;
  options.scenarios_named = raw.scenarios.has_value();
  options.scenarios = raw.scenarios ? scenario_list(*raw.scenarios, options) : default_scenarios(options);
  return options;
}

Options resume(const Options& before, const RawOptions& raw, std::string_view source) {
  check_ranges(before, source);
  const Options now = resolve(raw);
  const auto same = [&](bool given, bool equal, std::string_view flag) {
    bench::check_same(source, flag, given, equal);
  };
  same(raw.targets || !raw.extra_targets.empty(), now.targets == before.targets, "--targets");
  same(raw.scenarios.has_value(), now.scenarios == before.scenarios, "--scenarios");
  same(raw.runs.has_value(), now.runs == before.runs, "--runs");
  same(raw.warmup.has_value(), now.warmup == before.warmup, "--warmup");
  same(raw.fanout.has_value(), now.fanout == before.fanout, "--fanout");
  same(raw.sweep_rows.has_value(), now.sweep_rows == before.sweep_rows, "--sweep-rows");
  same(raw.scale_rows.has_value(), now.scale_rows == before.scale_rows, "--scale-rows");
  same(raw.processes.has_value(), now.processes == before.processes, "--processes");
  same(raw.timeout.has_value(), now.timeout_ms == before.timeout_ms, "--timeout");
  same(raw.seed.has_value(), now.seed == before.seed, "--seed");
  same(raw.state.has_value(), now.state == before.state, "--state");
  same(raw.node.has_value(), now.node == before.node, "--node");
  same(raw.quick, before.quick, "--quick");
  return before;
}

Rounds rounds_of(const Options& options, const driver::Workload& workload) {
  if (workload.work != driver::Work::durable_crash) return {options.runs, options.warmup};
  return {options.quick ? std::min(options.runs, quick_crashes) : options.runs, 0};
}

std::vector<driver::Workload> workloads(const Options& options) {
  std::vector<driver::Workload> all;
  for (const std::string& name : options.scenarios) {
    for (const std::int64_t size : sizes_of(*find(name), options))
      all.push_back(driver::agents_workload(name, size).value());
  }
  return all;
}

}  // namespace tare::agents_bench
