#include "lab/bench/spawn/options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/driver/workload.hpp"

namespace tare::spawn {
namespace {

constexpr std::uint64_t quick_iterations = 20;
constexpr std::uint64_t quick_warmup = 2;
constexpr std::uint64_t quick_fanout = 8;
constexpr std::uint64_t quick_guests = 4;

constexpr WholeRange iterations_range{1, 100'000};
constexpr WholeRange warmup_range{0, 100'000};
constexpr WholeRange processes_range{1, 1'000};
constexpr WholeRange fanout_range{1, 1'000};
constexpr WholeRange guests_range{1, 1'000};
constexpr WholeRange timeout_range{1, 3'600};
constexpr WholeRange pin_range{0, 4'095};

std::vector<std::string> row_list(std::string_view text, const Options& options) {
  const std::vector<std::string> known = all_rows(options.fanout, options.guests);
  std::vector<std::string> rows = bench::list("--rows", text);
  for (const std::string& row : rows) {
    if (driver::find_workload(row, driver::spawn_bench)) continue;
    const auto near = text::did_you_mean(row, known);
    throw Error(ErrorCode::usage, fmt::format("no row named '{}'", row),
                fmt::format("known: {}; a fan-out and a memory row have 1 to 1000 processes, growth has 1 to "
                            "100000",
                            text::join(known, ", ")),
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

/// For a quick run, in which no row starts more than a few processes.
bool starts_too_many(const std::string& row) {
  const auto workload = driver::find_workload(row);
  if (!workload) return false;
  return workload->work == driver::Work::growth ||
         (workload->work == driver::Work::storm && static_cast<std::uint64_t>(workload->size) > quick_fanout);
}

bool is_set(const bench::Environment& environment, std::string_view name) {
  return environment(name) == "1";
}

/// The limits of the flags, for options that come from a file.
void check_ranges(const Options& options, std::string_view source) {
  const auto check = [&](std::string_view name, std::uint64_t value, WholeRange range) {
    bench::check_range(source, name, value, range);
  };
  check("iterations", options.iterations, iterations_range);
  check("warmup", options.warmup, warmup_range);
  check("processes", options.processes, processes_range);
  check("timeoutMs", options.timeout_ms, {1000, timeout_range.high * 1000});
  if (options.pin) check("pin", *options.pin, pin_range);
  for (const std::string& row : options.rows) {
    if (!driver::find_workload(row, driver::spawn_bench)) {
      throw Error(ErrorCode::input, fmt::format("{}: config.rows", source),
                  fmt::format("there is no row '{}'", row));
    }
  }
}

}  // namespace

Rounds rounds_of(const Options& options, const driver::Workload& workload) {
  if (!workload.is_cold()) return {options.iterations, options.warmup};
  constexpr std::uint64_t fewest = 6;
  constexpr std::uint64_t few = 3;
  if (workload.work == driver::Work::growth) return {std::min(options.iterations, few), 0};
  if (workload.work == driver::Work::memory)
    return {std::min(options.iterations, fewest), std::min<std::uint64_t>(options.warmup, 1)};
  return {std::min(options.iterations, std::max(fewest, options.iterations / 10)),
          std::min<std::uint64_t>(options.warmup, 1)};
}

std::chrono::milliseconds timeout_of(const Options& options, const driver::Workload& workload) {
  return options.timeout() * (workload.work == driver::Work::growth ? 10 : 1);
}

std::vector<std::string> all_rows(const std::vector<std::uint64_t>& fanout,
                                  const std::vector<std::uint64_t>& guests) {
  std::vector<std::string> rows;
  driver::Sizes sizes;
  sizes.fanouts.assign(fanout.begin(), fanout.end());
  sizes.guests.assign(guests.begin(), guests.end());
  for (const driver::Workload& workload : driver::all_workloads(sizes)) rows.push_back(workload.row);
  return rows;
}

Options resolve(const RawOptions& raw, const bench::Environment& environment) {
  Options options;
  options.quick = raw.quick;
  options.trace = raw.trace || is_set(environment, "BENCH_PROCESS_LIFECYCLE_TRACE");
  options.skip_extra_rows = is_set(environment, "BENCH_PROCESS_LIFECYCLE_SKIP_EXTRA_ROWS");
  options.targets = bench::target_list(raw.targets, raw.extra_targets, raw.default_targets);

  // A flag beats the environment, and --quick is a flag.
  const auto count = [&](const std::optional<std::string>& flag, std::string_view flag_name,
                         std::uint64_t quick, std::string_view variable, std::uint64_t fallback,
                         WholeRange range) {
    if (flag) return bench::number(flag_name, *flag, range);
    if (raw.quick) return quick;
    const auto value = environment(variable);
    return value ? bench::number(variable, *value, range) : fallback;
  };
  options.iterations = count(raw.iterations, "--iterations", quick_iterations, "BENCH_ITERATIONS",
                             options.iterations, iterations_range);
  options.warmup = count(raw.warmup, "--warmup", quick_warmup, "BENCH_WARMUP", options.warmup, warmup_range);

  if (raw.processes) options.processes = bench::number("--processes", *raw.processes, processes_range);
  if (raw.timeout) options.timeout_ms = bench::number("--timeout", *raw.timeout, timeout_range) * 1000;
  if (raw.pin) options.pin = bench::number("--pin", *raw.pin, pin_range);
  if (raw.seed) options.seed = bench::seed_number(*raw.seed);
  if (raw.node) options.node = *raw.node;

  if (raw.fanout) {
    options.fanout = bench::number_list("--fanout", *raw.fanout, fanout_range);
  } else if (raw.quick) {
    std::erase_if(options.fanout, [](std::uint64_t n) { return n > quick_fanout; });
  }
  if (raw.guests) {
    options.guests = bench::number_list("--guests", *raw.guests, guests_range);
  } else if (raw.quick) {
    std::erase_if(options.guests, [](std::uint64_t n) { return n > quick_guests; });
  }
  if (raw.rows) {
    options.rows = row_list(*raw.rows, options);
    options.rows_named = true;
  } else {
    options.rows = all_rows(options.fanout, options.guests);
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
    bench::check_same(source, flag, given, equal);
  };
  same(raw.targets || !raw.extra_targets.empty(), now.targets == before.targets, "--targets");
  same(raw.rows.has_value(), now.rows == before.rows, "--rows");
  same(raw.iterations.has_value(), now.iterations == before.iterations, "--iterations");
  same(raw.warmup.has_value(), now.warmup == before.warmup, "--warmup");
  same(raw.processes.has_value(), now.processes == before.processes, "--processes");
  same(raw.fanout.has_value(), now.fanout == before.fanout, "--fanout");
  same(raw.guests.has_value(), now.guests == before.guests, "--guests");
  same(raw.pin.has_value(), now.pin == before.pin, "--pin");
  same(raw.seed.has_value(), now.seed == before.seed, "--seed");
  same(raw.timeout.has_value(), now.timeout_ms == before.timeout_ms, "--timeout");
  same(raw.node.has_value(), now.node == before.node, "--node");
  same(raw.quick, before.quick, "--quick");
  same(raw.trace, before.trace, "--trace");
  return before;
}

}  // namespace tare::spawn
