#include "lab/bench/import/options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/bench/common/flags.hpp"

namespace tare::import_bench {
namespace {

constexpr WholeRange iterations_range{1, 1'000};
constexpr WholeRange warmup_range{0, 1'000};
constexpr WholeRange processes_range{1, 1'000};
constexpr WholeRange timeout_range{1, 3'600};

constexpr std::uint64_t quick_iterations = 3;
constexpr std::string_view round_trips = "transport";  ///< stands for the three of them

/// A row of each kind: empty isolates, cold and warm code, built-in modules, a large package, round trips.
const std::vector<std::string>& quick_rows() {
  static const std::vector<std::string> rows{
      "transport_32",        "transport_65536",   "isolate-startup", "prewarmed-isolate-startup",
      "cold-local-import",   "warm-local-import", "builtin-import",  "hot-builtin-crypto-import",
      "large-package-import"};
  return rows;
}

bool is_round_trip(const std::string& row) {
  return driver::import_scenario(row) == nullptr;
}

std::vector<std::string> row_list(std::string_view text) {
  const std::vector<std::string> known = driver::import_rows();
  std::vector<std::string> rows;
  for (const std::string& name : bench::list("--scenarios", text)) {
    if (name == round_trips) {
      std::ranges::copy_if(known, std::back_inserter(rows), is_round_trip);
      continue;
    }
    if (std::ranges::find(known, name) == known.end()) {
      std::vector<std::string> names = known;
      names.emplace_back(round_trips);
      const auto near = text::did_you_mean(name, names);
      throw Error(ErrorCode::usage, fmt::format("no scenario named '{}'", text::one_line(name)),
                  "known: " + text::join(names, ", "), near ? fmt::format("did you mean '{}'?", *near) : "");
    }
    rows.push_back(name);
  }
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (std::find(rows.begin(), row, *row) != row)
      throw Error(ErrorCode::usage, fmt::format("--scenarios names '{}' twice", *row));
  }
  return rows;
}

}  // namespace

Options resolve(const RawOptions& raw) {
  Options options;
  options.quick = raw.quick;
  options.targets = bench::target_list(raw.targets, raw.extra_targets, {"node", "guest"});
  if (raw.quick) options.iterations = quick_iterations;
  if (raw.iterations) options.iterations = bench::number("--iterations", *raw.iterations, iterations_range);
  if (raw.warmup) options.warmup = bench::number("--warmup", *raw.warmup, warmup_range);
  if (raw.processes) options.processes = bench::number("--processes", *raw.processes, processes_range);
  if (raw.timeout) options.timeout_ms = bench::number("--timeout", *raw.timeout, timeout_range) * 1000;
  if (raw.seed) options.seed = bench::seed_number(*raw.seed);
  if (raw.node) options.node = *raw.node;
  options.rows = raw.scenarios ? row_list(*raw.scenarios) : raw.quick ? quick_rows() : driver::import_rows();
  for (const std::string& row : options.rows) {
    if (const driver::ImportScenario* scenario = driver::import_scenario(row))
      options.scenarios.push_back(*scenario);
  }
  return options;
}

std::vector<driver::Workload> workloads(const Options& options) {
  std::vector<driver::Workload> all;
  for (const std::string& row : options.rows) all.push_back(driver::import_workload(row).value());
  return all;
}

}  // namespace tare::import_bench
