#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli.hpp"
#include "lab/driver/registry.hpp"
#include "lab/driver/workload.hpp"
#include "lab/measure/advice.hpp"
#include "runtime/guest/engine.hpp"

namespace tare::cli {
namespace {

using measure::Advice;
using measure::AdviceLevel;

report::Tone tone_of(AdviceLevel level) {
  switch (level) {
    case AdviceLevel::ok:
      return report::Tone::good;
    case AdviceLevel::note:
      return report::Tone::plain;
    case AdviceLevel::warn:
      return report::Tone::warn;
  }
  return report::Tone::plain;
}

/// A good line is short; only trouble says what it means and what to do.
std::string line_of(const Advice& advice, report::Colour colour) {
  const std::string mark = boost::describe::enum_to_string(advice.level, "?");
  std::string line = report::paint(fmt::format("{:<5}", mark), tone_of(advice.level), colour);
  line += fmt::format("{:<24}{}", advice.fact, text::one_line(advice.value));
  if (advice.level != AdviceLevel::ok && !advice.meaning.empty()) line += ": " + advice.meaning;
  if (advice.level != AdviceLevel::ok && !advice.advice.empty()) line += "; " + advice.advice;
  return line + "\n";
}

/// A target is trouble only when a plain run needs it.
Advice advice_of(const driver::TargetSpec& target) {
  Advice advice{"target " + target.id, "available", AdviceLevel::ok, "", ""};
  if (!target.unavailable) return advice;
  advice.value = "unavailable";
  advice.level = target.lane == "subject" ? AdviceLevel::note : AdviceLevel::warn;
  advice.meaning = target.unavailable->reason;
  advice.advice = target.unavailable->hint;
  return advice;
}

/// One line for each part of what shuts guests out of this machine.
std::vector<Advice> isolation_advice() {
  guest::Isolation parts;
  try {
    parts = guest::probe_isolation(guest::find_installation());
  } catch (const Error& error) {
    return {{"guest isolation", "unknown", AdviceLevel::note, error.what(), error.hint()}};
  }
  std::vector<Advice> all;
  for (const auto& [name, state] : parts) {
    Advice advice{"guest " + name, "active", AdviceLevel::ok, "", ""};
    if (state.is_string()) {
      advice.value = "not active";
      advice.level = AdviceLevel::note;
      advice.meaning = fmt::format("{}; guests run with the other parts", std::string(state.get_string()));
    }
    all.push_back(std::move(advice));
  }
  return all;
}

enum class Format { table, json };

int doctor(Format format, Context& context) {
  const measure::HostFacts facts = measure::read_host();
  const measure::NoiseFacts now = measure::read_noise();
  const measure::HostFacts host = measure::with_noise(facts, now, now);
  std::vector<Advice> all = measure::explain(host, measure::judge(now, now, measure::usable_cpus(host)));
  std::set<std::string> seen;  // a name may be a target of several benches
  for (const std::string_view bench : {driver::spawn_bench, driver::agents_bench, driver::import_bench}) {
    driver::RegistryOptions options;
    options.bench = bench;
    for (const driver::TargetSpec& target : driver::builtin_targets(options)) {
      if (seen.insert(target.id).second) all.push_back(advice_of(target));
    }
  }
  for (Advice& advice : isolation_advice()) all.push_back(std::move(advice));
  if (format == Format::json) {
    write_stdout(json::pretty(all));
    return exit_ok;
  }
  std::string out;
  for (const Advice& advice : all) out += line_of(advice, context.out.facts().colour);
  const auto most = measure::most_helpful(all);
  out += most ? fmt::format("\nwould help most: {}: {}\n", most->fact,
                            most->advice.empty() ? most->meaning : most->advice)
              : "\nnothing here needs your attention\n";
  write_stdout(out);
  return exit_ok;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* doctor_app =
      app.add_subcommand("doctor", "Is this machine fit to measure on, and what would help?");
  doctor_app->add_flag("--json", *json, "As JSON");
  doctor_app->footer("Example:\n  tare doctor");
  doctor_app->callback([json, &context] {
    context.action = [json, &context] { return doctor(*json ? Format::json : Format::table, context); };
  });
}

}  // namespace tare::cli
