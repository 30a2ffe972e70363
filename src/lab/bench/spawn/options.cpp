#include "lab/bench/spawn/options.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/flag.hpp"
#include "base/text.hpp"
#include "lab/driver/workload.hpp"

namespace tare::spawn {
namespace {

constexpr std::uint64_t quick_iterations = 20;
constexpr std::uint64_t quick_warmup = 2;
constexpr std::uint64_t quick_fanout = 8;

constexpr WholeRange iterations_range{1, 100'000};
constexpr WholeRange warmup_range{0, 100'000};
constexpr WholeRange processes_range{1, 1'000};
constexpr WholeRange fanout_range{1, 1'000};
constexpr WholeRange timeout_range{1, 3'600};
constexpr WholeRange pin_range{0, 4'095};

/// None of the ranges has negative numbers.
std::uint64_t number(std::string_view flag, std::string_view text, WholeRange range) {
  return static_cast<std::uint64_t>(whole_number(flag, text, range));
}

std::vector<std::string> list(std::string_view flag, std::string_view text) {
  std::vector<std::string> items;
  for (const std::string& part : text::split(text, ',')) {
    const std::string item(text::trim(part));
    if (item.empty()) throw Error(ErrorCode::usage, fmt::format("{} has an empty item in '{}'", flag, text));
    if (std::find(items.begin(), items.end(), item) != items.end()) {
      throw Error(ErrorCode::usage, fmt::format("{} names '{}' twice", flag, item));
    }
    items.push_back(item);
  }
  return items;
}

std::vector<std::uint64_t> fanout_list(std::string_view text) {
  std::vector<std::uint64_t> values;
  for (const std::string& item : list("--fanout", text)) {
    const std::uint64_t value = number("--fanout", item, fanout_range);
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      throw Error(ErrorCode::usage, fmt::format("--fanout names '{}' twice", value));
    }
    values.push_back(value);
  }
  return values;
}

std::string name_of(std::string_view target) {
  return std::string(target.substr(0, target.find('=')));
}

std::vector<std::string> target_list(const RawOptions& raw) {
  std::vector<std::string> targets =
      raw.targets ? list("--targets", *raw.targets) : std::vector<std::string>{"native", "sh", "node"};
  for (const std::string& target : targets) {
    if (target.find('=') != std::string::npos) {
      throw Error(ErrorCode::usage, fmt::format("--targets takes names, got '{}'", target), "",
                  fmt::format("add it with --target '{}'", target));
    }
  }
  for (const std::string& extra : raw.extra_targets) {
    if (extra.find('=') == std::string::npos) {
      throw Error(
          ErrorCode::usage,
          fmt::format("--target must be name=driver:COMMAND, name=cmd:COMMAND or name=copy:TARGET, got '{}'",
                      extra));
    }
    targets.push_back(extra);
  }
  std::set<std::string> names;
  for (const std::string& target : targets) {
    if (!names.insert(name_of(target)).second) {
      throw Error(ErrorCode::usage, fmt::format("target '{}' is named twice", name_of(target)));
    }
  }
  return targets;
}

std::vector<std::string> row_list(std::string_view text, const std::vector<std::uint64_t>& fanout) {
  const std::vector<std::string> known = all_rows(fanout);
  std::vector<std::string> rows = list("--rows", text);
  for (const std::string& row : rows) {
    if (driver::find_workload(row)) continue;
    const auto near = text::did_you_mean(row, known);
    throw Error(ErrorCode::usage, fmt::format("no row named '{}'", row),
                fmt::format("known: {}; a fan-out has 1 to 1000 processes", text::join(known, ", ")),
                near ? fmt::format("did you mean '{}'?", *near) : "");
  }
  return rows;
}

/// The rows that the environment can leave out: all but node_exit_1, fanout_8 and the plain ones.
bool is_extra(const std::string& row) {
  const auto workload = driver::find_workload(row);
  return row != "fanout_8" && workload &&
         (workload->work == driver::Work::fanout || workload->work == driver::Work::nested ||
          workload->work == driver::Work::root_folder || workload->work == driver::Work::host_folder ||
          workload->work == driver::Work::host_write);
}

/// For a quick run, in which no row starts more than a few processes at once.
bool starts_too_many(const std::string& row) {
  const auto workload = driver::find_workload(row);
  return workload && workload->work == driver::Work::storm &&
         static_cast<std::uint64_t>(workload->size) > quick_fanout;
}

bool is_set(const Environment& environment, std::string_view name) {
  return environment(name) == "1";
}

/// The limits of the flags, for options that come from a file.
void check_ranges(const Options& options, std::string_view source) {
  const auto check = [&](std::string_view name, std::uint64_t value, WholeRange range) {
    if (value >= static_cast<std::uint64_t>(range.low) && value <= static_cast<std::uint64_t>(range.high))
      return;
    throw Error(ErrorCode::input, fmt::format("{}: config.{}", source, name),
                fmt::format("must be {} to {}, got {}", range.low, range.high, value));
  };
  check("iterations", options.iterations, iterations_range);
  check("warmup", options.warmup, warmup_range);
  check("processes", options.processes, processes_range);
  check("timeoutMs", options.timeout_ms, {1000, timeout_range.high * 1000});
  if (options.pin) check("pin", *options.pin, pin_range);
  for (const std::string& row : options.rows) {
    if (!driver::find_workload(row)) {
      throw Error(ErrorCode::input, fmt::format("{}: config.rows", source),
                  fmt::format("there is no row '{}'", row));
    }
  }
}

}  // namespace

Rounds rounds_of(const Options& options, const driver::Workload& workload) {
  if (!workload.is_cold()) return {options.iterations, options.warmup};
  constexpr std::uint64_t fewest = 6;
  return {std::min(options.iterations, std::max(fewest, options.iterations / 10)),
          std::min<std::uint64_t>(options.warmup, 1)};
}

std::vector<std::string> all_rows(const std::vector<std::uint64_t>& fanout) {
  std::vector<std::string> rows;
  for (const driver::Workload& workload : driver::all_workloads({fanout.begin(), fanout.end()}))
    rows.push_back(workload.row);
  return rows;
}

Options resolve(const RawOptions& raw, const Environment& environment) {
  Options options;
  options.quick = raw.quick;
  options.trace = raw.trace || is_set(environment, "BENCH_PROCESS_LIFECYCLE_TRACE");
  options.skip_extra_rows = is_set(environment, "BENCH_PROCESS_LIFECYCLE_SKIP_EXTRA_ROWS");
  options.targets = target_list(raw);

  // A flag beats the environment, and --quick is a flag.
  const auto count = [&](const std::optional<std::string>& flag, std::string_view flag_name,
                         std::uint64_t quick, std::string_view variable, std::uint64_t fallback,
                         WholeRange range) {
    if (flag) return number(flag_name, *flag, range);
    if (raw.quick) return quick;
    const auto value = environment(variable);
    return value ? number(variable, *value, range) : fallback;
  };
  options.iterations = count(raw.iterations, "--iterations", quick_iterations, "BENCH_ITERATIONS",
                             options.iterations, iterations_range);
  options.warmup = count(raw.warmup, "--warmup", quick_warmup, "BENCH_WARMUP", options.warmup, warmup_range);

  if (raw.processes) options.processes = number("--processes", *raw.processes, processes_range);
  if (raw.timeout) options.timeout_ms = number("--timeout", *raw.timeout, timeout_range) * 1000;
  if (raw.pin) options.pin = number("--pin", *raw.pin, pin_range);
  if (raw.seed) options.seed = number("--seed", *raw.seed, {0, std::numeric_limits<std::int64_t>::max()});
  if (raw.node) options.node = *raw.node;

  if (raw.fanout) {
    options.fanout = fanout_list(*raw.fanout);
  } else if (raw.quick) {
    std::erase_if(options.fanout, [](std::uint64_t n) { return n > quick_fanout; });
  }
  if (raw.rows) {
    options.rows = row_list(*raw.rows, options.fanout);
    options.rows_named = true;
  } else {
    options.rows = all_rows(options.fanout);
    if (options.skip_extra_rows) std::erase_if(options.rows, is_extra);
    if (raw.quick) std::erase_if(options.rows, starts_too_many);
  }
  return options;
}

Options resume(const Options& before, const RawOptions& raw, std::string_view source) {
  check_ranges(before, source);
  const auto none = [](std::string_view) -> std::optional<std::string> { return std::nullopt; };
  const Options now = resolve(raw, none);
  const auto same = [&](bool given, bool equal, std::string_view flag) {
    if (given && !equal) {
      throw Error(ErrorCode::input, fmt::format("cannot resume {}", source),
                  fmt::format("it was run with another {}", flag),
                  "leave the flag out, or start a new run with --output");
    }
  };
  same(raw.targets || !raw.extra_targets.empty(), now.targets == before.targets, "--targets");
  same(raw.rows.has_value(), now.rows == before.rows, "--rows");
  same(raw.iterations.has_value(), now.iterations == before.iterations, "--iterations");
  same(raw.warmup.has_value(), now.warmup == before.warmup, "--warmup");
  same(raw.processes.has_value(), now.processes == before.processes, "--processes");
  same(raw.fanout.has_value(), now.fanout == before.fanout, "--fanout");
  same(raw.pin.has_value(), now.pin == before.pin, "--pin");
  same(raw.seed.has_value(), now.seed == before.seed, "--seed");
  same(raw.timeout.has_value(), now.timeout_ms == before.timeout_ms, "--timeout");
  same(raw.node.has_value(), now.node == before.node, "--node");
  same(raw.quick, before.quick, "--quick");
  same(raw.trace, before.trace, "--trace");
  return before;
}

}  // namespace tare::spawn
