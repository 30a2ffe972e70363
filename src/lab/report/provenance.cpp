#include "lab/report/provenance.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/detectable.hpp"
#include "lab/report/figures.hpp"

namespace tare::report {
namespace {

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

measure::Noise noise_of(const Document& document) {
  const measure::HostFacts& host = document.host;
  measure::NoiseFacts before;
  measure::NoiseFacts after;
  before.load = host.load;
  before.psi = host.psi.before.value_or(measure::Pressures{});
  after.psi = host.psi.after.value_or(measure::Pressures{});
  if (host.steal_ms) {
    before.steal_ms = 0;
    after.steal_ms = host.steal_ms;
  }
  // Until the run has ended, the document holds the count since the group was made.
  if (host.psi.after && host.cgroup.nr_throttled) {
    before.nr_throttled = 0;
    after.nr_throttled = host.cgroup.nr_throttled;
  }
  return measure::judge(before, after, measure::usable_cpus(host));
}

std::string host_line(const Document& document) {
  const measure::HostFacts& host = document.host;
  const std::string cpu = host.cpu.value_or("CPU unavailable");
  std::vector<std::string> parts;
  parts.push_back(host.logical_cpus ? fmt::format("{} × {}", *host.logical_cpus, cpu) : cpu);
  parts.push_back(host.kernel ? "Linux " + *host.kernel : "kernel unavailable");
  parts.push_back("governor " + host.governor.value_or("unavailable"));
  parts.push_back(host.load.empty() ? "load unavailable" : fmt::format("load {:.2f}", host.load[0]));
  parts.push_back(fmt::format("noise: {}", name_of(noise_of(document).level)));
  return text::join(parts, " · ");
}

namespace {

/// "1 row", "2 rows"
std::string many(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", text::count(n), what, n == 1 ? "" : "s");
}

std::string many(std::int64_t n, std::string_view what) {
  return many(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)), what);
}

/// "8 sessions × 1 turn · 2 gateways × 3 runs"
std::string gateway_plan(const Document& document) {
  std::string line;
  if (const auto sessions = config_number(document, "concurrency")) {
    line = many(*sessions, "session") + " × " +
           many(config_number(document, "turnsPerSession").value_or(1), "turn") + " · ";
  }
  return line + many(document.targets.size(), "gateway") + " × " + many(repetitions(document), "run");
}

}  // namespace

std::string repeated_unit(const Document& document) {
  const std::string_view bench = document.rows.empty() ? std::string_view() : document.rows.front().bench;
  if (bench == "gateway") return "run";
  return bench == "agents" || bench == "import" ? "worker" : "";
}

std::int64_t repetitions(const Document& document) {
  return config_number(document, repeated_unit(document) == "run" ? "runs" : "processes").value_or(1);
}

std::string plan_line(const Document& document) {
  std::set<std::string_view> rows;
  std::set<std::string_view> targets;
  for (const Target& target : document.targets) targets.insert(target.id);
  for (const Row& row : document.rows) {
    rows.insert(row.row);
    targets.insert(row.target);
  }
  const std::string unit = repeated_unit(document);
  const std::string turns = unit.empty() ? ", interleaved" : fmt::format(", interleaved {0} by {0}", unit);
  if (unit == "run") {
    return gateway_plan(document) + (targets.size() > 1 ? turns : "") +
           fmt::format(", seed {}", document.seed);
  }
  std::string line = many(rows.size(), "row") + " × " + many(targets.size(), "target");
  if (unit == "worker") {
    const auto samples =
        config_number(document, "runs").value_or(config_number(document, "iterations").value_or(0));
    line += " × " + many(repetitions(document), unit) + " × " + many(samples, "sample");
    return line + turns + fmt::format(", seed {}", document.seed);
  }
  if (const auto rounds = config_number(document, "iterations"); rounds && *rounds >= 0) {
    line += " × " + many(*rounds, "round");
    const auto processes = config_number(document, "processes");
    if (processes && *processes > 1) line += fmt::format(" in each of {} processes", *processes);
  }
  return line + turns + fmt::format(", seed {}", document.seed);
}

namespace {

/// By how much equal lanes differ, from the calmest row to the wildest.
std::string detectable_range(const std::vector<Calibration>& known, std::string_view target,
                             measure::Pairing pairing, std::uint64_t processes) {
  std::vector<std::pair<double, std::string>> effects;
  for (const Calibration& entry : known) {
    if (entry.target != target || entry.metric != "total" || entry.quantile != "p50") continue;
    const auto effect = measure::minimum_detectable(entry.first, entry.second, pairing, processes);
    if (effect) effects.emplace_back(*effect, entry.row);
  }
  if (effects.empty()) return {};
  const auto [low, high] = std::ranges::minmax(effects);
  const auto text = [](const auto& effect) {
    const double percent = effect.first * 100;
    constexpr double two_digits = 99.5;
    return percent < two_digits ? fmt::format("{:.2g} % ({})", percent, effect.second)
                                : fmt::format("{:.0f} % ({})", percent, effect.second);
  };
  return low == high ? text(low) : text(low) + " to " + text(high);
}

}  // namespace

std::vector<std::string> detectable_lines(const Document& document) {
  const std::vector<Calibration> known = document.calibrations.value_or(std::vector<Calibration>());
  const auto processes =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, config_number(document, "processes").value_or(1)));
  std::vector<std::string> lanes;
  std::vector<std::string> runs;
  for (const Target& target : document.targets) {
    const std::string paired = detectable_range(known, target.id, measure::Pairing::paired, processes);
    if (paired.empty()) continue;
    lanes.push_back(target.id + " " + paired);
    runs.push_back(target.id + " " +
                   detectable_range(known, target.id, measure::Pairing::unpaired, processes));
  }
  if (lanes.empty() && !repeated_unit(document).empty()) return {};  // only the spawn bench is calibrated
  if (lanes.empty())
    return {"unknown: `tare calibrate` finds out how small a change can be told from none here"};
  constexpr std::uint64_t fewest_processes = 4;
  return {"between lanes of this run: " + text::join(lanes, " · "),
          processes < fewest_processes
              ? fmt::format("between two such runs: nothing, it takes {} processes a side (--processes)",
                            fewest_processes)
              : "between two such runs: " + text::join(runs, " · ")};
}

std::vector<std::pair<std::string, std::string>> provenance(const Document& document) {
  const measure::HostFacts& host = document.host;
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string_view name, std::string_view key, std::optional<std::string> value) {
    const auto why = host.absent.find(std::string(key));
    std::string none = why == host.absent.end() ? "unavailable" : "unavailable: " + why->second;
    facts.emplace_back(name, value ? std::move(*value) : std::move(none));
  };
  const auto number = [](const auto& value) {
    return value ? std::optional(fmt::format("{}", *value)) : std::optional<std::string>();
  };
  const auto size = [](const auto& value) {
    return value ? std::optional(text::bytes(*value)) : std::optional<std::string>();
  };
  std::optional<std::string> load;
  if (!host.load.empty()) load = fmt::format("{:.2f}", fmt::join(host.load, " "));
  std::optional<std::string> steal;
  if (host.steal_ms) steal = text::significant(*host.steal_ms) + " ms";
  add("tool", "",
      fmt::format("tare {} ({}, {})", document.tool.version, document.tool.commit, document.tool.build));
  add("started", "", document.started_at);
  add("finished", "", document.finished_at.value_or("not finished"));
  add("seed", "", std::to_string(document.seed));
  add("CPU", "cpu", host.cpu);
  add("logical CPUs", "logicalCpus", number(host.logical_cpus));
  add("CPUs allowed", "cpusAllowed", host.cpus_allowed);
  add("kernel", "kernel", host.kernel);
  add("OS", "os", host.os);
  add("memory", "memoryBytes", size(host.memory_bytes));
  add("governor", "governor", host.governor);
  add("turbo", "turbo", host.turbo);
  add("SMT", "smt", host.smt);
  add("ASLR", "aslr", host.aslr);
  add("clock source", "clocksource", host.clocksource);
  add("cgroup version", "cgroup.version", number(host.cgroup.version));
  add("cgroup CPU quota", "cgroup.cpuQuota", number(host.cgroup.cpu_quota));
  add("cgroup memory limit", "cgroup.memoryLimit", size(host.cgroup.memory_limit));
  add("throttled periods", "cgroup.nrThrottled", number(host.cgroup.nr_throttled));
  add("open files allowed", "nofile", number(host.nofile));
  add("load before", "load", load);
  add("steal during the run", "stealMs", steal);
  return facts;
}

std::vector<std::string> provenance_lines(const Document& document) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : provenance(document)) lines.push_back(name + ": " + value);
  return lines;
}

std::string command_text(const Document& document) {
  std::vector<std::string> words;
  for (const std::string& word : document.command) words.push_back(shell_word(text::one_line(word)));
  return text::join(words, " ");
}

std::optional<std::int64_t> config_number(const Document& document, std::string_view name) {
  const json::Object* config = document.config.if_object();
  const json::Value* value = config != nullptr ? config->if_contains(name) : nullptr;
  if (value == nullptr) return std::nullopt;
  boost::json::error_code error;
  const auto number = value->is_number() ? value->to_number<std::int64_t>(error) : 0;
  return value->is_number() && !error ? std::optional(number) : std::nullopt;
}

}  // namespace tare::report
