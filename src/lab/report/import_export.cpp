#include "lab/report/import_export.hpp"

#include <algorithm>
#include <cmath>
#include <time.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/moments.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/import_hotspots.hpp"
#include "lab/report/import_lines.hpp"
#include "lab/report/provenance.hpp"

namespace tare::report {
namespace {

constexpr std::int64_t artifact_version = 5;
constexpr const char* host_node = "host-node";

/// "2026-01-31T12:00:00Z" as the seed counts time; 0 when it is no such text.
std::int64_t unix_ms(const std::string& rfc3339) {
  std::tm time{};
  const char* end = ::strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (end == nullptr) return 0;
  return static_cast<std::int64_t>(::timegm(&time)) * 1000;
}

json::Array strings(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

json::Array numbers(const std::vector<double>& values) {
  json::Array array;
  for (const double value : values) array.emplace_back(value);
  return array;
}

/// The seed gives every quantile, however few the samples. `suffix` is "_ms" for times.
json::Object stats_of(std::vector<double> values, const std::string& suffix = "_ms") {
  const measure::Moments moments(values);
  std::ranges::sort(values);
  const auto quantile = [&](double q) {
    return values.empty() ? 0.0 : measure::quantile_of_sorted(values, q);
  };
  return {{"mean" + suffix, moments.mean().value_or(0)},
          {"p50" + suffix, quantile(0.5)},
          {"p95" + suffix, quantile(0.95)},
          {"min" + suffix, moments.min().value_or(0)},
          {"max" + suffix, moments.max().value_or(0)},
          {"stddev" + suffix, moments.stddev().value_or(0)}};
}

struct ExportedLine {
  ImportLine line;
  std::string runtime;
};

enum class Phases { samples, statistics };

/// What an entry does about figures that there are none of.
enum class Absent { left_out, null };

class Exporter {
 public:
  Exporter(const Document& document, const ImportBaseline* baseline, const ExportFacts& facts)
      : document_(document), baseline_(baseline), facts_(facts) {
    for (const Target& target : document.targets) {
      std::string& lane = target.kind == Lane::reference ? reference_ : native_;
      if (lane.empty()) lane = target.id;
    }
    choose_lines();
  }

  json::Object build() const {
    json::Object all{{"artifact_version", artifact_version},
                     {"generated_at_unix_ms", facts_.generated_at_unix_ms},
                     {"command", command_text(document_)},
                     {"config", config()},
                     {"host", host()},
                     {"repo_root", facts_.root},
                     {"summary", summary()}};
    if (baseline_ != nullptr) all["comparison"] = comparison(*baseline_);
    all["transport_rtt"] = transport();
    json::Array scenarios;
    for (const ExportedLine& one : lines_) scenarios.push_back(scenario(one, Absent::left_out));
    all["scenarios"] = std::move(scenarios);
    return all;
  }

 private:
  void choose_lines();
  std::string runtime_of(const std::string& target) const {
    return target == reference_ ? host_node : "native-execution";
  }
  std::int64_t option(std::string_view name) const { return config_number(document_, name).value_or(0); }
  json::Object config() const {
    return {{"iterations", option("iterations")}, {"warmup_iterations", option("warmup")}};
  }
  json::Object host() const;
  json::Object summary() const;
  json::Array rankings() const;
  json::Array transport() const;
  json::Object scenario(const ExportedLine& one, Absent absent) const;
  json::Object comparison(const ImportBaseline& baseline) const;
  json::Object phases(const ExportedLine& one, Phases kind) const;
  std::vector<ImportLine> plain_lines() const;
  template <class F>
  const ExportedLine* most(F figure) const;

  const Document& document_;
  const ImportBaseline* baseline_;
  const ExportFacts& facts_;
  std::string reference_;
  std::string native_;
  std::vector<ExportedLine> lines_;
};

void Exporter::choose_lines() {
  const std::vector<ImportLine> all = import_lines(document_);
  for (const ImportLine& line : all) {
    const std::string& wanted = line.scenario.runtime == host_node ? reference_ : native_;
    const auto same = [&](const ImportLine& one) { return one.scenario.id == line.scenario.id; };
    const auto best =
        std::ranges::find_if(all, [&](const ImportLine& one) { return same(one) && one.target == wanted; });
    const auto first = std::ranges::find_if(all, same);
    const ImportLine& chosen = best != all.end() ? *best : *first;
    if (&chosen == &line) lines_.push_back({line, runtime_of(line.target)});
  }
}

std::vector<ImportLine> Exporter::plain_lines() const {
  std::vector<ImportLine> lines;
  for (const ExportedLine& one : lines_) {
    lines.push_back(one.line);
    lines.back().target = one.runtime;
  }
  return lines;
}

json::Object Exporter::host() const {
  const auto node = std::ranges::find(document_.targets, reference_, &Target::id);
  const bool known = node != document_.targets.end();
  const std::string version = known ? node->version.value_or("") : "";
  return {{"node_binary", known ? node->path.value_or("") : ""},
          {"node_version", version.empty() || version.starts_with("v") ? version : "v" + version},
          {"os", "linux"},
          {"arch", facts_.arch},
          {"logical_cpus", document_.host.logical_cpus.value_or(1)}};
}

template <class F>
const ExportedLine* Exporter::most(F figure) const {
  const ExportedLine* found = nullptr;
  for (const ExportedLine& one : lines_) {
    const std::optional<double> value = figure(one.line);
    if (value && (found == nullptr || *value >= *figure(found->line))) found = &one;
  }
  return found;
}

json::Object Exporter::summary() const {
  json::Array matrix;
  for (const ControlRow& row : control_matrix(plain_lines())) {
    matrix.push_back(json::Object{{"workload", row.workload},
                                  {"runtimes", strings(row.targets)},
                                  {"modes", strings(row.modes)},
                                  {"scenario_ids", strings(row.scenarios)}});
  }
  json::Object summary{{"scenario_count", lines_.size()},
                       {"recorded_samples_per_scenario", option("iterations")},
                       {"warmup_iterations", option("warmup")},
                       {"control_matrix", std::move(matrix)}};
  const auto add = [&](const char* name, const ExportedLine* one) {
    if (one != nullptr) summary[name] = scenario(*one, Absent::null);
  };
  add("slowest_wall_scenario", most([](const ImportLine& line) { return line.mean("total"); }));
  add("slowest_guest_import_scenario",
      most([](const ImportLine& line) { return line.mean("guest_execution"); }));
  add("highest_startup_share_scenario", most(startup_share));
  summary["hotspot_rankings"] = rankings();
  summary["guidance_lines"] = strings(document_.guidance);
  return summary;
}

json::Array Exporter::rankings() const {
  json::Array all;
  for (const HotspotRanking& ranking : hotspot_rankings(plain_lines())) {
    json::Array ranked;
    for (const Hotspot& spot : ranking.ranked) {
      ranked.push_back(json::Object{{"rank", spot.rank},
                                    {"id", spot.scenario},
                                    {"workload", spot.workload},
                                    {"runtime", spot.target},
                                    {"mode", spot.mode},
                                    {"value", spot.value}});
    }
    json::Object one{{"metric", ranking.metric},
                     {"label", ranking.label},
                     {"dimension", ranking.dimension},
                     {"unit", ranking.unit},
                     {"ranked_scenarios", std::move(ranked)}};
    if (!ranking.without.empty()) one["scenarios_without_metric"] = strings(ranking.without);
    all.push_back(std::move(one));
  }
  return all;
}

json::Array Exporter::transport() const {
  const std::vector<TransportLine> all = transport_lines(document_);
  const bool native = std::ranges::find(all, native_, &TransportLine::target) != all.end();
  json::Array reports;
  for (const TransportLine& line : all) {
    if (line.target != (native ? native_ : reference_)) continue;
    const std::vector<double> samples = good_values(*line.total);
    reports.push_back(json::Object{{"channel", transport_channel_name},
                                   {"payload_bytes", line.bytes},
                                   {"samples_ms", numbers(samples)},
                                   {"stats", stats_of(samples)}});
  }
  return reports;
}

/// Phases that a lane does not have are 0 in every sample.
json::Object Exporter::phases(const ExportedLine& one, Phases kind) const {
  const std::size_t n = good_values(*one.line.metric("total")).size();
  json::Object phases;
  const auto put = [&](const std::string& name, std::vector<double> values) {
    if (kind == Phases::statistics) {
      phases[name] = stats_of(std::move(values));
    } else {
      phases[name] = numbers(values);
    }
  };
  const auto values_of = [&](const char* metric) {
    const Metric* found = one.line.metric(metric);
    return found != nullptr ? good_values(*found) : std::vector<double>(n, 0.0);
  };
  put("context_setup_ms", values_of("context_setup"));
  put("startup_ms", values_of("startup"));
  if (one.line.metric("guest_execution") != nullptr) put("guest_execution_ms", values_of("guest_execution"));
  put("completion_ms", values_of("completion"));
  return phases;
}

/// As the seed has it among its scenarios, where what is absent is left out, and in its summary, where it is
/// null and the share of startup is not told.
json::Object Exporter::scenario(const ExportedLine& one, Absent absent) const {
  const ImportScenario& facts = one.line.scenario;
  const bool artifact = absent == Absent::left_out;
  const std::vector<double> wall = good_values(*one.line.metric("total"));
  json::Object out{{"id", facts.id},
                   {"workload", facts.workload},
                   {"runtime", one.runtime},
                   {"mode", facts.mode},
                   {"description", facts.description},
                   {"fixture", facts.fixture},
                   {"compile_cache", facts.compile_cache},
                   {"wall_samples_ms", numbers(wall)},
                   {"wall_stats", stats_of(wall)}};
  for (const auto& [metric, name] :
       {std::pair("guest_execution", "guest_import"), std::pair("startup_overhead", "startup_overhead")}) {
    const Metric* found = one.line.metric(metric);
    const std::string samples = fmt::format("{}_samples_ms", name);
    const std::string stats = fmt::format("{}_stats", name);
    if (found != nullptr) {
      out[samples] = numbers(good_values(*found));
      out[stats] = stats_of(good_values(*found));
    } else if (!artifact) {
      out[samples] = nullptr;
      out[stats] = nullptr;
    }
  }
  const auto share = startup_share(one.line);
  if (artifact && share) out["mean_startup_share_pct"] = *share;
  out["phase_samples_ms"] = phases(one, Phases::samples);
  out["phase_stats"] = phases(one, Phases::statistics);
  json::Object samples;
  json::Object stats;
  struct Usage {
    const char* metric;
    const char* name;
    double factor;
  };
  for (const Usage& usage : {Usage{"rss", "rss_bytes", 1}, Usage{"heap_used", "heap_used_bytes", 1},
                             Usage{"cpu_user", "cpu_user_us", 1e3}, Usage{"cpu_system", "cpu_system_us", 1e3},
                             Usage{"cpu_total", "cpu_total_us", 1e3}}) {
    const Metric* found = one.line.metric(usage.metric);
    if (found == nullptr) continue;
    std::vector<double> values = good_values(*found);
    for (double& value : values) value *= usage.factor;
    samples[usage.name] = numbers(values);
    stats[usage.name] = stats_of(std::move(values), "");
  }
  if (!samples.empty()) {
    out["resource_usage_samples"] = std::move(samples);
    out["resource_usage_stats"] = std::move(stats);
  }
  return out;
}

json::Object delta_object(const MeanDelta& delta) {
  return {{"baseline_ms", delta.base},
          {"current_ms", delta.now},
          {"delta_ms", delta.delta},
          {"delta_pct", delta.percent}};
}

json::Object highlight_object(const ImportDelta& delta) {
  return {{"id", delta.scenario}, {"delta_ms", delta.wall.delta}, {"delta_pct", delta.wall.percent}};
}

/// Of the lines that are exported alone: the seed knows one of each scenario.
json::Object Exporter::comparison(const ImportBaseline& baseline) const {
  ImportBaseline own = baseline;
  const auto exported = [&](const std::string& scenario, const std::string& target) {
    return std::ranges::any_of(lines_, [&](const ExportedLine& one) {
      return one.line.scenario.id == scenario && one.line.target == target;
    });
  };
  std::erase_if(own.deltas,
                [&](const ImportDelta& delta) { return !exported(delta.scenario, delta.target); });
  const MeanDelta none;
  json::Array deltas;
  for (const ImportDelta& delta : own.deltas) {
    json::Object one{{"id", delta.scenario},
                     {"description", delta.description},
                     {"wall_mean_ms", delta_object(delta.wall)}};
    if (delta.guest_import) one["guest_import_mean_ms"] = delta_object(*delta.guest_import);
    if (delta.startup_overhead) one["startup_overhead_mean_ms"] = delta_object(*delta.startup_overhead);
    json::Object phases{{"context_setup_ms", delta_object(delta.context_setup.value_or(none))},
                        {"startup_ms", delta_object(delta.startup.value_or(none))}};
    if (delta.guest_import) phases["guest_execution_ms"] = delta_object(*delta.guest_import);
    phases["completion_ms"] = delta_object(delta.completion.value_or(none));
    one["phase_mean_ms"] = std::move(phases);
    deltas.push_back(std::move(one));
  }
  json::Object summary{{"compared_scenario_count", own.deltas.size()}};
  if (const ImportDelta* best = own.largest_improvement())
    summary["largest_wall_improvement"] = highlight_object(*best);
  if (const ImportDelta* worst = own.largest_regression())
    summary["largest_wall_regression"] = highlight_object(*worst);
  const auto ids = [](const std::vector<std::string>& places) {
    std::vector<std::string> names;
    for (const std::string& place : places) {
      const std::string name = place.substr(0, place.find(" on "));
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
  };
  return {{"baseline", json::Object{{"artifact_version", artifact_version},
                                    {"generated_at_unix_ms", unix_ms(baseline.started_at)},
                                    {"path", baseline.source}}},
          {"summary", std::move(summary)},
          {"scenario_deltas", std::move(deltas)},
          {"scenarios_missing_from_baseline", strings(ids(baseline.missing))},
          {"baseline_only_scenarios", strings(ids(baseline.baseline_only))}};
}

}  // namespace

json::Object import_export(const Document& document, const ImportBaseline* baseline,
                           const ExportFacts& facts) {
  return Exporter(document, baseline, facts).build();
}

}  // namespace tare::report
