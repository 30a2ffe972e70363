#include "lab/report/benches.hpp"

#include <algorithm>
#include <set>

namespace tare::report {
namespace {

/// The options of one bench in a document of several; null when there are none.
json::Value config_of(const Document& document, std::string_view bench) {
  const json::Object* config = document.config.if_object();
  const json::Value* own = config != nullptr ? config->if_contains(bench) : nullptr;
  return own != nullptr && own->is_object() ? *own : document.config;
}

/// What was seen of the machine from the start of the first part to the end of the last.
void merge_host(measure::HostFacts& host, const measure::HostFacts& later) {
  host.psi.after = later.psi.after;
  const auto add = [](auto& sum, const auto& more) {
    if (sum && more) *sum += *more;
  };
  add(host.steal_ms, later.steal_ms);
  add(host.cgroup.nr_throttled, later.cgroup.nr_throttled);
}

/// Adds the targets of a part; returns the drivers of those that were there already.
json::Object merge_targets(Document& whole, const Document& part) {
  json::Object drivers;
  for (const Target& target : part.targets) {
    const auto known = std::ranges::find(whole.targets, target.id, &Target::id);
    if (known == whole.targets.end()) {
      whole.targets.push_back(target);
    } else if (known->driver != target.driver) {
      drivers[target.id] = json::Array(target.driver.begin(), target.driver.end());
    }
  }
  return drivers;
}

void merge_findings(Document& whole, const Document& part) {
  for (const Finding& finding : part.findings) {
    const bool known = std::ranges::any_of(whole.findings, [&](const Finding& one) {
      return one.text == finding.text && one.target == finding.target && one.row == finding.row;
    });
    if (!known) whole.findings.push_back(finding);
  }
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void merge_part(Document& whole, const Document& part) {
  whole.complete = whole.complete && part.complete;
  whole.finished_at = whole.complete ? part.finished_at : std::nullopt;
  merge_host(whole.host, part.host);
  append(whole.rows, part.rows);
  append(whole.comparisons, part.comparisons);
  append(whole.budgets, part.budgets);
  append(whole.guidance, part.guidance);
  append(whole.invariants.failures, part.invariants.failures);
  whole.invariants.ok = whole.invariants.ok && part.invariants.ok;
  merge_findings(whole, part);
  if (!whole.memory) whole.memory = part.memory;
  if (!whole.gateways) whole.gateways = part.gateways;
  if (!whole.calibrations) whole.calibrations = part.calibrations;
}

}  // namespace

std::vector<std::string> benches_of(const Document& document) {
  std::vector<std::string> benches;
  for (const Row& row : document.rows) {
    if (std::ranges::find(benches, row.bench) == benches.end()) benches.push_back(row.bench);
  }
  return benches;
}

Document part_of(const Document& document, std::string_view bench) {
  Document part = document;
  if (benches_of(document).size() < 2) return part;
  part.config = config_of(document, bench);
  std::erase_if(part.rows, [&](const Row& row) { return row.bench != bench; });
  if (bench != "gateway") part.gateways.reset();
  std::set<std::string_view> rows;
  std::set<std::string_view> targets;
  for (const Row& row : part.rows) {
    rows.insert(row.row);
    targets.insert(row.target);
  }
  std::erase_if(part.targets, [&](const Target& target) { return !targets.contains(target.id); });
  std::erase_if(part.comparisons, [&](const Comparison& one) { return !rows.contains(one.row); });
  return part;
}

Document merge(const std::vector<Document>& parts) {
  Document whole = parts.front();
  json::Object config{{"bench", all_benches}};
  for (const Document& part : parts) {
    json::Value own = part.config;
    if (&part != &parts.front()) {
      json::Object drivers = merge_targets(whole, part);
      if (!drivers.empty() && own.is_object()) own.get_object()["drivers"] = std::move(drivers);
      merge_part(whole, part);
    }
    const json::Object* options = own.if_object();
    const json::Value* bench = options != nullptr ? options->if_contains("bench") : nullptr;
    if (bench != nullptr && bench->is_string()) config[bench->get_string()] = own;
  }
  whole.config = std::move(config);
  return whole;
}

}  // namespace tare::report
