#include "lab/report/import_guidance.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/import_lines.hpp"

namespace tare::report {
namespace {

/// One lane, by scenario.
class GuidedLane {
 public:
  GuidedLane(std::string target, std::vector<ImportLine> lines, std::vector<TransportLine> round_trips)
      : target_(std::move(target)), lines_(std::move(lines)), round_trips_(std::move(round_trips)) {}

  std::vector<std::string> sentences() {
    compile_cache();
    outside();
    phases();
    live_engine();
    package();
    transport();
    noisiest();
    heaviest();
    return std::move(out_);
  }

 private:
  /// As the tables have it: a mean would follow the one sample that waited for the machine.
  static std::optional<double> p50(const ImportLine& line, std::string_view metric) {
    const Metric* found = line.metric(metric);
    return found != nullptr ? found->summary.p50 : std::nullopt;
  }
  std::optional<double> p50(std::string_view scenario, std::string_view metric) const {
    const ImportLine* line = find_line(lines_, scenario);
    return line != nullptr ? p50(*line, metric) : std::nullopt;
  }
  void say(const std::string& sentence) { out_.push_back(target_ + ": " + sentence); }

  static std::string ms(double value) { return text::significant(value) + " ms"; }
  /// "40 % less", or "12 % more"
  static std::string change(double from, double to) {
    if (from <= 0) return "no time before";
    const double share = (from - to) / from * 100;
    return fmt::format("{:.1f} % {}", std::abs(share), share >= 0 ? "less" : "more");
  }

  void compile_cache() {
    const auto cold = p50("cold-local-import", "guest_execution");
    const auto warm = p50("warm-local-import", "guest_execution");
    if (!cold || !warm) return;
    say(fmt::format("with a compile cache the local graph is imported in {} instead of {} ({})", ms(*warm),
                    ms(*cold), change(*cold, *warm)));
  }

  void outside() {
    const ImportLine* warm = find_line(lines_, "warm-local-import");
    const auto share = warm != nullptr ? startup_share(*warm) : std::nullopt;
    if (!share) return;
    std::string sentence = fmt::format(
        "{:.1f} % of a warm local import ({} of {}) lies outside of its imports, where a compile cache gains "
        "nothing",
        *share, ms(*p50(*warm, "startup_overhead")), ms(*p50(*warm, "total")));
    if (const auto isolate = p50("isolate-startup", "total"))
      sentence += fmt::format("; an empty isolate takes {}", ms(*isolate));
    say(sentence);
  }

  void phases() {
    constexpr std::string_view scenario = "warm-local-import";
    const auto context = p50(scenario, "context_setup");
    const auto startup = p50(scenario, "startup");
    const auto guest = p50(scenario, "guest_execution");
    const auto completion = p50(scenario, "completion");
    if (!context || !startup || !guest || !completion) return;
    say(fmt::format(
        "a warm local import is {} of context setup, {} of startup, {} of guest execution and {} of "
        "completion",
        ms(*context), ms(*startup), ms(*guest), ms(*completion)));
  }

  void live_engine() {
    const auto fresh = p50("warm-local-import", "startup_overhead");
    const auto live = p50("prewarmed-local-import", "startup_overhead");
    if (!fresh || !live) return;
    say(fmt::format("an engine that stays alive with its pool has {} of startup overhead instead of {} ({})",
                    ms(*live), ms(*fresh), change(*fresh, *live)));
  }

  void package() {
    const auto builtin = p50("builtin-import", "guest_execution");
    const auto large = p50("large-package-import", "guest_execution");
    if (!builtin || !large || *builtin <= 0) return;
    say(fmt::format("importing typescript takes {}× as long as importing built-in modules ({} and {})",
                    text::significant(*large / *builtin), ms(*large), ms(*builtin)));
  }

  void transport() {
    if (round_trips_.empty()) return;
    const TransportLine& least = round_trips_.front();
    const TransportLine& most = round_trips_.back();
    if (!least.total->summary.p50 || !most.total->summary.p50) return;
    std::string sentence = fmt::format("a round trip over stdio takes {} with {} bytes",
                                       ms(*least.total->summary.p50), text::count(least.bytes));
    if (most.bytes != least.bytes)
      sentence += fmt::format(" and {} with {}", ms(*most.total->summary.p50), text::count(most.bytes));
    say(sentence + ": no exchange with a program costs less");
  }

  /// The line with the most of a figure.
  template <class F>
  const ImportLine* most(F figure) const {
    const ImportLine* found = nullptr;
    for (const ImportLine& line : lines_) {
      const std::optional<double> value = figure(line);
      if (value && (found == nullptr || *value > *figure(*found))) found = &line;
    }
    return found;
  }

  void noisiest() {
    const ImportLine* line = most([](const ImportLine& one) { return one.metric("total")->summary.stddev; });
    constexpr std::uint64_t fewest = 3;  // the spread of fewer says nothing
    if (line == nullptr || lines_.size() < 2 || line->metric("total")->summary.count < fewest) return;
    const measure::Summary& wall = line->metric("total")->summary;
    say(fmt::format("{} is the noisiest: a standard deviation of {}, from {} to {}", line->scenario.id,
                    ms(*wall.stddev), ms(*wall.min), ms(*wall.max)));
  }

  void heaviest() {
    const ImportLine* line = most([](const ImportLine& one) { return p50(one, "rss"); });
    if (line == nullptr || lines_.size() < 2) return;
    say(fmt::format("{} is the heaviest: {} of resident memory", line->scenario.id,
                    text::bytes(static_cast<std::uint64_t>(*p50(*line, "rss")))));
  }

  std::string target_;
  std::vector<ImportLine> lines_;
  std::vector<TransportLine> round_trips_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> import_guidance(const Document& document) {
  const std::vector<ImportLine> lines = import_lines(document);
  const std::vector<TransportLine> round_trips = transport_lines(document);
  std::vector<std::string> all;
  for (const std::string& target : import_targets(document)) {
    std::vector<TransportLine> own;
    std::ranges::copy_if(round_trips, std::back_inserter(own),
                         [&](const TransportLine& line) { return line.target == target; });
    std::ranges::sort(own, {}, &TransportLine::bytes);
    for (std::string& sentence : GuidedLane(target, lines_of(lines, target), std::move(own)).sentences())
      all.push_back(std::move(sentence));
  }
  return all;
}

}  // namespace tare::report
