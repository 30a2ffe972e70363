#include "lab/driver/judge_import.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "lab/driver/import.hpp"
#include "lab/driver/judge_words.hpp"

namespace tare::driver {
namespace {

constexpr double ns_per_ms = 1e6;

/// How far the phases of a sample may be from the whole.
constexpr double phase_share = 0.05;

/// How much longer a program may find its imports than the sample that they are a part of was: clocks of
/// guests may be coarse.
constexpr double coarse_clock_ms = 1;

/// A member that is a number, finite and not negative. Another kind of value makes the marker unreadable.
bool take_figure(const json::Object& object, std::string_view name, std::optional<double>& to) {
  const json::Value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return true;
  if (!value->is_number()) return false;
  to = value->to_number<double>();
  return std::isfinite(*to) && *to >= 0;
}

bool has_usage(const ImportMetrics& metrics) {
  return metrics.rss_bytes || metrics.heap_used_bytes || metrics.cpu_user_us || metrics.cpu_system_us ||
         metrics.cpu_total_us;
}

std::optional<ImportMetrics> metrics_of_object(const json::Object& object) {
  ImportMetrics metrics;
  if (!take_figure(object, "import_ms", metrics.import_ms)) return std::nullopt;
  const json::Value* usage = object.if_contains("resource_usage");
  if (usage != nullptr && !usage->is_null()) {
    const json::Object* figures = usage->if_object();
    if (figures == nullptr || !take_figure(*figures, "rss_bytes", metrics.rss_bytes) ||
        !take_figure(*figures, "heap_used_bytes", metrics.heap_used_bytes) ||
        !take_figure(*figures, "cpu_user_us", metrics.cpu_user_us) ||
        !take_figure(*figures, "cpu_system_us", metrics.cpu_system_us) ||
        !take_figure(*figures, "cpu_total_us", metrics.cpu_total_us))
      return std::nullopt;
  }
  if (!metrics.import_ms && !has_usage(metrics)) return std::nullopt;
  return metrics;
}

std::optional<ImportMetrics> metrics_of_text(std::string_view text) {
  if (const auto ms = text::to_double(text)) {
    if (!std::isfinite(*ms) || *ms < 0) return std::nullopt;
    ImportMetrics metrics;
    metrics.import_ms = *ms;
    return metrics;
  }
  boost::json::error_code error;
  const json::Value value = boost::json::parse(boost::json::string_view(text.data(), text.size()), error);
  const json::Object* object = error ? nullptr : value.if_object();
  return object != nullptr ? metrics_of_object(*object) : std::nullopt;
}

std::string how_it_ended(const Sample& sample) {
  const auto code = sample.counter("exitCode");
  const auto signal = sample.counter("signal");
  if (signal) return fmt::format("signal {}", *signal);
  return code ? fmt::format("exit code {}", *code) : "no exit status";
}

Judgement ended_well(const Sample& sample) {
  const bool ok = sample.counter("exitCode") == 0 && !sample.counter("signal");
  Judgement judgement{"exit_code", ok, "exit code 0", how_it_ended(sample)};
  if (!ok && sample.output && !sample.output->empty())
    judgement.actual += fmt::format("; its output ends: {}", text::tail(*sample.output, 2, 200));
  return judgement;
}

Judgement marker_read(const ImportScenario& scenario, const Sample& sample) {
  Judgement judgement{"marker", false,
                      scenario.expects_import ? "a marker with import_ms" : "a marker with resource usage",
                      ""};
  const ImportMarker marker = read_marker(sample.output.value_or(""));
  const double total_ms = sample.metric("total").value_or(0) / ns_per_ms;
  if (marker.count == 0) {
    judgement.actual = sample.output ? "no marker" : "no output";
  } else if (!marker.metrics) {
    judgement.actual = fmt::format("'{}'", text::one_line(marker.text.substr(0, 100)));
  } else if (scenario.expects_import && !marker.metrics->import_ms) {
    judgement.actual = "a marker without import_ms";
  } else if (marker.metrics->import_ms.value_or(0) > total_ms * (1 + phase_share) + coarse_clock_ms) {
    judgement.actual =
        fmt::format("{} ms of imports in a sample of {} ms", text::significant(*marker.metrics->import_ms),
                    text::significant(total_ms));
  } else {
    judgement.ok = true;
    judgement.actual = judgement.expected;
  }
  return judgement;
}

struct Phases {
  double context_setup;
  double startup;
  double wait;
};

/// In nanoseconds; nothing on a lane that has none.
std::optional<Phases> phases_of(const Sample& sample) {
  const auto context = sample.metric("context_setup");
  const auto startup = sample.metric("startup");
  const auto wait = sample.metric("wait");
  if (!context || !startup || !wait) return std::nullopt;
  return Phases{*context, *startup, *wait};
}

void judge_phases(const Sample& sample, std::vector<Judgement>& out) {
  const auto phases = phases_of(sample);
  const auto total = sample.metric("total");
  if (!phases || !total) return;
  const double sum = phases->context_setup + phases->startup + phases->wait;
  out.push_back({"phases_sum", std::abs(sum - *total) <= phase_share * *total,
                 "phases that make up the total, within 5 %",
                 fmt::format("phases of {} ms in a total of {} ms", text::significant(sum / ns_per_ms),
                             text::significant(*total / ns_per_ms))});
}

/// Of lanes that count what became of cached code.
void judge_cache(const ImportScenario& scenario, const Sample& sample, std::vector<Judgement>& out) {
  const auto accepted = sample.counter("cacheAccepted");
  if (!accepted) return;
  const bool primed = scenario.compile_cache == cache_primed;
  out.push_back({"cache_used", primed ? *accepted >= 1 : *accepted == 0,
                 primed ? "cached code accepted" : "no cached code accepted",
                 fmt::format("{} accepted, {} refused", *accepted, number(sample.counter("cacheRejected")))});
}

/// Of lanes that have a pool of prepared isolates.
void judge_cold(const ImportScenario& scenario, const Sample& sample, std::vector<Judgement>& out) {
  const auto pooled = sample.counter("pooled");
  if (!pooled || scenario.engine_reuse != fresh_per_sample) return;
  out.push_back({"cold", *pooled == 0, "an isolate of its own, out of no pool",
                 *pooled == 0 ? "out of no pool" : "out of a pool"});
}

Judgement echoed(const Workload& workload, const json::Object& params, const Sample& sample) {
  Judgement judgement{"echo_exact", false, fmt::format("its line of {} bytes, byte for byte", workload.size),
                      "no output"};
  if (!sample.output) return judgement;
  const json::Value* index = params.if_contains(sample_index);
  const std::uint64_t k = index != nullptr && index->is_number() ? index->to_number<std::uint64_t>() : 0;
  const std::string expected = transport_line(member(params, "nonce"), k, workload.size) + "\n";
  const std::string& actual = *sample.output;
  judgement.ok = actual == expected;
  judgement.actual = fmt::format("{} bytes", actual.size());
  const auto [left, right] = std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end());
  if (!judgement.ok && left != actual.end() && right != expected.end())
    judgement.actual += fmt::format(", the first wrong one at {}", left - actual.begin());
  return judgement;
}

/// On a lane without engines, the process that serves all samples of a row counts from its own start: its
/// time and memory are no sample's.
bool shares_its_process(const Workload& workload, const Sample& sample) {
  const ImportScenario* scenario = import_scenario(workload.row);
  return scenario != nullptr && scenario->engine_reuse != fresh_per_sample && !phases_of(sample);
}

void put(Sample& sample, const char* name, const std::optional<double>& value, double factor) {
  if (value) sample.ns[name] = *value * factor;
}

}  // namespace

ImportMarker read_marker(std::string_view output) {
  ImportMarker marker;
  for (const std::string& line : text::split(output, '\n')) {
    if (!line.starts_with(import_marker)) continue;
    marker.count += 1;
    marker.text = text::trim(std::string_view(line).substr(import_marker.size()));
  }
  if (marker.count > 0) marker.metrics = metrics_of_text(marker.text);
  return marker;
}

std::vector<Judgement> judge_import(const Workload& workload, const json::Object& params,
                                    const Sample& sample) {
  if (sample.outcome != Outcome::ok) return {};
  if (workload.work == Work::transport) return {ended_well(sample), echoed(workload, params, sample)};
  const ImportScenario* scenario = import_scenario(workload.row);
  if (scenario == nullptr) return {};
  std::vector<Judgement> out{ended_well(sample), marker_read(*scenario, sample)};
  judge_phases(sample, out);
  judge_cache(*scenario, sample, out);
  judge_cold(*scenario, sample, out);
  return out;
}

Workload import_metrics(const Workload& workload) {
  Workload recorded = workload;
  if (workload.work != Work::import_scenario) return recorded;
  recorded.metrics = {"total",      "context_setup",    "startup",      "guest_execution",
                      "completion", "startup_overhead", "engine_start", "fresh_process",
                      "cpu_user",   "cpu_system",       "cpu_total"};
  recorded.sizes = {"rss", "heap_used"};
  return recorded;
}

Sample derive_import(const Workload& workload, const Sample& sample) {
  if (workload.work != Work::import_scenario) return sample;
  Sample derived = sample;
  derived.output.reset();
  const ImportMarker marker = read_marker(sample.output.value_or(""));
  if (marker.count > 1) derived.counters["extraMarkers"] = static_cast<std::int64_t>(marker.count - 1);
  const ImportMetrics metrics = marker.metrics.value_or(ImportMetrics{});
  put(derived, "guest_execution", metrics.import_ms, ns_per_ms);
  if (!shares_its_process(workload, sample)) {
    constexpr double ns_per_us = 1e3;
    put(derived, "cpu_user", metrics.cpu_user_us, ns_per_us);
    put(derived, "cpu_system", metrics.cpu_system_us, ns_per_us);
    put(derived, "cpu_total", metrics.cpu_total_us, ns_per_us);
    if (metrics.rss_bytes) derived.bytes["rss"] = metrics.rss_bytes;
  }
  if (metrics.heap_used_bytes) derived.bytes["heap_used"] = metrics.heap_used_bytes;

  const double imports = metrics.import_ms.value_or(0) * ns_per_ms;
  std::optional<double> overhead;
  if (const auto phases = phases_of(sample)) {
    const double completion = std::max(0.0, phases->wait - imports);
    derived.ns["completion"] = completion;
    overhead = phases->context_setup + phases->startup + completion;
  } else if (const auto total = sample.metric("total")) {
    derived.ns.erase("context_setup");
    overhead = std::max(0.0, *total - imports);
    derived.ns["startup"] = *overhead;
  }
  // Of a program that imports nothing, it would be the whole.
  if (metrics.import_ms && overhead) derived.ns["startup_overhead"] = *overhead;
  return derived;
}

}  // namespace tare::driver
