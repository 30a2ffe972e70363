#include "lab/report/provenance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/verdict/compare.hpp"

namespace tare::verdict {
namespace {

using Facts = std::map<std::string, std::string>;

/// Differ between any two runs, or are judged as noise.
constexpr std::array<std::string_view, 6> of_the_moment = {
    "started", "finished", "seed", "load before", "steal during the run", "throttled periods"};

std::string noise_text(const measure::Noise& noise) {
  const std::string level = boost::describe::enum_to_string(noise.level, "?");
  return noise.reasons.empty() ? level : level + ": " + text::join(noise.reasons, "; ");
}

/// The same for one run.
double noise_floor_of(const report::Document& document) {
  const measure::HostFacts& host = document.host;
  const double cpus = measure::usable_cpus(host);
  if (host.load.empty()) return 0;
  const double load = host.load.front();
  const bool has_pressure = host.psi.before && host.psi.before->cpu;
  const double waiting = has_pressure ? host.psi.before->cpu->some_avg10 / 100 : std::min(1.0, load / cpus);
  return waiting * std::max(1 / cpus, (load + 1) / cpus - 1);
}

Facts host_facts(const report::Document& document) {
  Facts facts;
  for (const auto& [name, value] : report::provenance(document)) {
    if (std::ranges::find(of_the_moment, name) == of_the_moment.end()) facts[name] = value;
  }
  return facts;
}

Facts target_facts(const report::Document& document) {
  Facts facts;
  for (const report::Target& target : document.targets) {
    const auto add = [&](const char* what, const std::optional<std::string>& value) {
      facts[fmt::format("target {} {}", target.id, what)] = value.value_or("none");
    };
    add("version", target.version);
    add("engine", target.engine);
    add("program", target.sha256 ? std::optional("sha256 " + target.sha256->substr(0, 12)) : std::nullopt);
  }
  return facts;
}

Facts option_facts(const report::Document& document) {
  Facts facts;
  const json::Object* config = document.config.if_object();
  if (config == nullptr) return facts;
  for (const auto& option : *config) {
    if (option.key() == "seed") continue;
    facts[fmt::format("option {}", std::string_view(option.key()))] = json::line(option.value());
  }
  return facts;
}

void add_differences(std::vector<Difference>& out, const Facts& base, const Facts& now) {
  std::set<std::string> names;
  for (const Facts* facts : {&base, &now}) {
    for (const auto& [name, value] : *facts) names.insert(name);
  }
  for (const std::string& name : names) {
    const auto a = base.find(name);
    const auto b = now.find(name);
    const std::string left = a == base.end() ? "none" : a->second;
    const std::string right = b == now.end() ? "none" : b->second;
    if (left != right) out.push_back({name, left, right});
  }
}

}  // namespace

std::vector<Difference> differences(const report::Document& base, const report::Document& now) {
  std::vector<Difference> found;
  add_differences(found, host_facts(base), host_facts(now));
  add_differences(found, target_facts(base), target_facts(now));
  add_differences(found, option_facts(base), option_facts(now));
  const measure::Noise base_noise = report::noise_of(base);
  const measure::Noise now_noise = report::noise_of(now);
  if (base_noise.level != now_noise.level)
    found.push_back({"noise", noise_text(base_noise), noise_text(now_noise)});
  if (base.complete != now.complete)
    found.push_back({"complete", base.complete ? "yes" : "no", now.complete ? "yes" : "no"});
  return found;
}

double noise_floor(const report::Document& base, const report::Document& now) {
  constexpr double quiet = 0.01;
  const double floor = std::max(noise_floor_of(base), noise_floor_of(now));
  return floor < quiet ? 0 : floor;
}

bool same_machine(const report::Document& base, const report::Document& now) {
  const measure::HostFacts& a = base.host;
  const measure::HostFacts& b = now.host;
  // What a virtual machine reports as memory moves a little from boot to boot.
  const auto memory_a = static_cast<double>(a.memory_bytes.value_or(0));
  const auto memory_b = static_cast<double>(b.memory_bytes.value_or(0));
  return a.cpu == b.cpu && a.logical_cpus == b.logical_cpus &&
         std::abs(memory_a - memory_b) <= 0.02 * std::max(memory_a, memory_b);
}

}  // namespace tare::verdict
