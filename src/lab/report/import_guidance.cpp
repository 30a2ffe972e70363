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
  std::optional<double> mean(std::string_view scenario, std::string_view metric) const {
    const ImportLine* line = find_line(lines_, scenario);
    return line != nullptr ? line->mean(metric) : std::nullopt;
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
    const auto cold = mean("cold-local-import", "guest_execution");
    const auto warm = mean("warm-local-import", "guest_execution");
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
        *share, ms(*warm->mean("startup_overhead")), ms(*warm->mean("total")));
    if (const auto isolate = mean("isolate-startup", "total"))
      sentence += fmt::format("; an empty isolate takes {}", ms(*isolate));
    say(sentence);
  }

  void phases() {
    constexpr std::string_view scenario = "warm-local-import";
    const auto context = mean(scenario, "context_setup");
    const auto startup = mean(scenario, "startup");
    const auto guest = mean(scenario, "guest_execution");
    const auto completion = mean(scenario, "completion");
    if (!context || !startup || !guest || !completion) return;
    say(fmt::format(
        "a warm local import is {} of context setup, {} of startup, {} of guest execution and {} of "
        "completion",
        ms(*context), ms(*startup), ms(*guest), ms(*completion)));
  }

  void live_engine() {
    const auto fresh = mean("warm-local-import", "startup_overhead");
    const auto live = mean("prewarmed-local-import", "startup_overhead");
    if (!fresh || !live) return;
    say(fmt::format("an engine that stays alive with its pool has {} of startup overhead instead of {} ({})",
                    ms(*live), ms(*fresh), change(*fresh, *live)));
  }

  void package() {
    const auto builtin = mean("builtin-import", "guest_execution");
    const auto large = mean("large-package-import", "guest_execution");
    if (!builtin || !large || *builtin <= 0) return;
    say(fmt::format("importing typescript takes {}× as long as importing built-in modules ({} and {})",
                    text::significant(*large / *builtin), ms(*large), ms(*builtin)));
  }

  void transport() {
    if (round_trips_.empty()) return;
    const TransportLine& least = round_trips_.front();
    const TransportLine& most = round_trips_.back();
    if (!least.total->summary.mean || !most.total->summary.mean) return;
    std::string sentence = fmt::format("a round trip over stdio takes {} with {} bytes",
                                       ms(*least.total->summary.mean), text::count(least.bytes));
    if (most.bytes != least.bytes)
      sentence += fmt::format(" and {} with {}", ms(*most.total->summary.mean), text::count(most.bytes));
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
    if (line == nullptr || lines_.size() < 2) return;
    const measure::Summary& wall = line->metric("total")->summary;
    say(fmt::format("{} is the noisiest: a standard deviation of {}, from {} to {}", line->scenario.id,
                    ms(*wall.stddev), ms(*wall.min), ms(*wall.max)));
  }

  void heaviest() {
    const ImportLine* line = most([](const ImportLine& one) { return one.mean("rss"); });
    if (line == nullptr || lines_.size() < 2) return;
    say(fmt::format("{} is the heaviest: {} of resident memory on average", line->scenario.id,
                    text::bytes(static_cast<std::uint64_t>(*line->mean("rss")))));
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
