#include "lab/driver/workload.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "lab/driver/agents.hpp"
#include "lab/driver/import.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string_view name;
  Work work;
  std::int64_t size;
};

/// In the order of a report. Rows of many sizes come where their placeholder is; its size is the largest.
constexpr std::string_view any_size = "<n>";
constexpr std::array<Row, 18> rows{{{"node_exit_1", Work::exit, 1},
                                    {"fanout_<n>", Work::fanout, 1000},
                                    {"nested_8", Work::nested, 8},
                                    {"capture_2b", Work::capture, 2},
                                    {"capture_256k", Work::capture, 256 << 10},
                                    {"stdin_roundtrip_4k", Work::round_trip, 4096},
                                    {"exit_code_7", Work::exit_code, 1},
                                    {"signal_kill", Work::signal, 1},
                                    {"root_cwd_no_write", Work::root_folder, 1},
                                    {"host_cwd_no_write", Work::host_folder, 1},
                                    {"host_cwd_write_1file", Work::host_write, 1},
                                    {"reap_storm_32", Work::storm, 32},
                                    {"cold_start", Work::cold_start, 1},
                                    {"memory_<n>", Work::memory, 1000},
                                    {"growth_<n>", Work::growth, 100'000},
                                    {"exec_true", Work::exit, 1},
                                    {"spawn_exit", Work::exit, 1},
                                    {"command_exit", Work::exit, 1}}};

std::vector<std::string> metrics_of(Work work) {
  if (work == Work::exit) return {"total", "spawn", "wait_reap"};
  if (work == Work::fanout) return {"total", "spawn_batch", "wait_reap_batch"};
  if (work == Work::cold_start) return {"total", "create", "first_exec", "warm_exec", "dispose"};
  return {"total"};
}

std::vector<std::string> sizes_of(Work work) {
  if (work == Work::memory) return {"idle", "vm", "live_guests", "after_kill", "after_dispose"};
  if (work == Work::growth) return {"before", "after"};
  return {};
}

Workload workload(std::string row, Work work, std::int64_t size) {
  return {std::move(row), work, size, metrics_of(work), sizes_of(work), std::string(spawn_bench)};
}

/// "fanout_" of "fanout_<n>"; nothing of a row that has one size.
std::optional<std::string_view> sized_prefix(const Row& row) {
  if (!row.name.ends_with(any_size)) return std::nullopt;
  return row.name.substr(0, row.name.size() - any_size.size());
}

Workload sized(const Row& row, std::int64_t n) {
  return workload(fmt::format("{}{}", *sized_prefix(row), n), row.work, n);
}

const std::vector<std::int64_t>& sizes_for(Work work, const Sizes& sizes) {
  if (work == Work::fanout) return sizes.fanouts;
  return work == Work::memory ? sizes.guests : sizes.processes;
}

/// The growth of a runtime is looked at once what it makes for its first processes is there.
std::int64_t warm_up_of(std::int64_t processes) {
  constexpr std::int64_t enough = 200;
  return std::min(processes, enough);
}

/// A number as a row's name has it: there is one way to write it.
std::optional<std::int64_t> number_of(std::string_view digits) {
  const auto n = text::to_int(digits);
  return n && digits == std::to_string(*n) ? n : std::nullopt;
}

/// Two letters or digits out of the nonce: 36 × 36 of them.
std::string tag(std::uint64_t nonce) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return {letters[nonce % 36], letters[nonce / 36 % 36]};
}

/// `size` bytes of ASCII that are those of no other nonce.
std::string text_of(std::uint64_t nonce, std::int64_t size) {
  const std::string unit = fmt::format("tare-{:016x}.", nonce);
  std::string text;
  while (static_cast<std::int64_t>(text.size()) < size) text += unit;
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace

std::vector<std::string> row_names(std::string_view bench) {
  std::vector<std::string> names;
  if (bench == spawn_bench) {
    for (const Row& row : rows) names.emplace_back(row.name);
  } else if (bench == agents_bench) {
    for (const AgentScenario& scenario : agent_scenarios()) names.push_back(scenario.name + "_<n>");
  } else if (bench == import_bench) {
    names = import_rows();
  }
  return names;
}

std::optional<Workload> find_workload(std::string_view name) {
  if (auto import = import_workload(name)) return import;
  if (const auto scenario = scenario_of(name)) {
    const auto n = number_of(name.substr(scenario->name.size() + 1));
    return n ? agents_workload(scenario->name, *n) : std::nullopt;
  }
  for (const Row& row : rows) {
    const auto prefix = sized_prefix(row);
    if (!prefix && row.name == name) return workload(std::string(name), row.work, row.size);
    if (!prefix || !name.starts_with(*prefix)) continue;
    const auto n = number_of(name.substr(prefix->size()));
    if (n && *n >= 1 && *n <= row.size) return sized(row, *n);
  }
  return std::nullopt;
}

std::optional<Workload> find_workload(std::string_view name, std::string_view bench) {
  auto found = find_workload(name);
  if (found && found->bench != bench) return std::nullopt;
  return found;
}

std::vector<Workload> all_workloads(const Sizes& sizes) {
  std::vector<Workload> all;
  for (const Row& row : rows) {
    if (sized_prefix(row)) {
      for (const std::int64_t n : sizes_for(row.work, sizes)) all.push_back(sized(row, n));
    } else {
      all.push_back(workload(std::string(row.name), row.work, row.size));
    }
  }
  return all;
}

json::Object make_params(const Workload& workload, std::uint64_t nonce, const fs::path& folder) {
  if (workload.bench == import_bench)
    return import_params(workload, nonce, {folder, folder / "cache" / workload.row, std::nullopt});
  if (workload.bench == agents_bench) {
    json::Object params{
        {"size", workload.size}, {"nonce", fmt::format("{:016x}", nonce)}, {"dir", folder.string()}};
    if (workload.work == Work::mixed_load) params["durationMs"] = mixed_duration.count();
    return params;
  }
  switch (workload.work) {
    case Work::fanout:
    case Work::nested:
    case Work::storm:
      return {{"fanout", workload.size}};
    case Work::memory:
      return {{"guests", workload.size}};
    case Work::growth:
      return {{"processes", workload.size}, {"warmup", warm_up_of(workload.size)}};
    case Work::capture:
      return {{"nonce", tag(nonce)}, {"bytes", workload.size}};
    case Work::round_trip:
      return {{"input", text_of(nonce, workload.size)}};
    case Work::root_folder:
      return {{"cwd", "/"}};
    case Work::host_folder:
      return {{"dir", folder.string()}};
    case Work::host_write:
      return {{"dir", folder.string()},
              {"file", fmt::format("written-{:016x}", nonce)},
              {"content", fmt::format("tare {:016x}\n", nonce)}};
    case Work::exit:
    case Work::exit_code:
    case Work::signal:
    case Work::cold_start:
    default:
      return {};
  }
}

}  // namespace tare::driver
