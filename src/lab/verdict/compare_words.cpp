#include "lab/verdict/compare_words.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::verdict {
namespace {

using report::Figure;
using report::Tone;

std::size_t at(Change change) {
  return static_cast<std::size_t>(change);
}

bool moved(Change change) {
  return change == Change::better || change == Change::worse;
}

std::string side_n(std::uint64_t samples, std::uint64_t processes) {
  if (processes == 0) return text::count(samples);
  const bool even = samples % processes == 0;
  const std::uint64_t each = (samples + processes / 2) / processes;
  return fmt::format("{}×{}{}", text::count(processes), even ? "" : "≈", text::count(each));
}

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + text::significant(value);
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

Figure number_or_reason(const std::optional<double>& value, const Entry& entry) {
  if (value) return {text::significant(*value), ""};
  return {"", entry.reason.value_or("no figure, for no stated reason")};
}

}  // namespace

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", text::count(n), noun, n == 1 ? "" : "s");
}

Tally tally(std::span<const Entry* const> entries) {
  Tally counts{};
  for (const Entry* entry : entries) ++counts[at(entry->change)];
  return counts;
}

std::string tally_text(const Tally& tally) {
  std::vector<std::string> parts;
  for (const Change change :
       {Change::worse, Change::better, Change::same, Change::unclear, Change::missing}) {
    if (tally[at(change)] > 0)
      parts.push_back(text::count(tally[at(change)]) + " " + std::string(report::name_of(change)));
  }
  return text::join(parts, ", ");
}

Headline headline(const Comparison& comparison) {
  const Reading reading = read_order(comparison);
  std::vector<const Entry*> all = reading.main;
  all.insert(all.end(), reading.changed.begin(), reading.changed.end());
  const Tally counts = tally(all);
  Headline out;
  out.text = all.empty() ? "nothing to compare: no row and lane is in both" : tally_text(counts);
  std::vector<std::string> rows;
  if (!comparison.missing.empty())
    rows.push_back(counted(comparison.missing.size(), "row") + " only in the base");
  if (!comparison.extra.empty())
    rows.push_back(rows.empty() ? counted(comparison.extra.size(), "row") + " only in the new one"
                                : fmt::format("{} only in the new one", comparison.extra.size()));
  if (!rows.empty()) out.text += "; " + text::join(rows, ", ");
  const bool doubt = all.empty() || !comparison.missing.empty() || counts[at(Change::missing)] > 0 ||
                     counts[at(Change::unclear)] > 0;
  out.tone = doubt ? Tone::warn : Tone::good;
  for (const Entry* entry : all) {
    if (tone_of(*entry) == Tone::bad) out.tone = Tone::bad;
  }
  return out;
}

Tone tone_of(const Entry& entry) {
  if (entry.change == Change::unclear || entry.change == Change::missing) return Tone::warn;
  if (!moved(entry.change)) return Tone::plain;
  if (entry.change == Change::worse && entry.verdict == report::Verdict::fail) return Tone::bad;
  return entry.change == Change::better && entry.verdict == report::Verdict::pass ? Tone::good : Tone::warn;
}

Reading read_order(const Comparison& comparison) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  const auto key = [](const Entry& e) { return Key{e.row, e.target, e.new_target}; };
  std::map<Key, std::string_view> main;
  for (const Entry& entry : comparison.entries) {
    const auto found = main.try_emplace(key(entry), entry.metric).first;
    if (entry.metric == "total") found->second = entry.metric;
  }
  const auto leads = [&](const Entry& e) { return e.quantile == "p50" && e.metric == main[key(e)]; };
  Reading reading;
  std::set<Key> lost;
  for (const Entry& entry : comparison.entries) {
    if (!leads(entry)) continue;
    reading.main.push_back(&entry);
    if (entry.change == Change::missing) lost.insert(key(entry));
  }
  for (const Entry& entry : comparison.entries) {
    if (leads(entry)) continue;
    const bool gone = entry.change == Change::missing && !lost.contains(key(entry));
    (moved(entry.change) || gone ? reading.changed : reading.rest).push_back(&entry);
  }
  return reading;
}

std::string lane_text(const Entry& entry) {
  return entry.target == entry.new_target ? entry.target : entry.new_target + " ÷ " + entry.target;
}

std::string metric_text(const Entry& entry) {
  return entry.metric + " " + entry.quantile;
}

std::string change_text(const Entry& entry) {
  const bool doubted = moved(entry.change) && entry.verdict == report::Verdict::inconclusive;
  return std::string(report::name_of(entry.change)) + (doubted ? "?" : "");
}

std::string n_text(const Comparison& comparison, const Entry& entry) {
  // Where the processes are the pairs, their number alone would hide how many rounds stand behind each.
  const bool rounds = comparison.paired && entry.pairs > entry.now_processes;
  if (rounds || (comparison.paired && entry.now_processes <= 1)) return counted(entry.pairs, "pair");
  const std::string base = side_n(entry.base_n, entry.base_processes);
  const std::string now = side_n(entry.now_n, entry.now_processes);
  return base == now ? base : base + ", " + now;
}

Figure base_figure(const Entry& entry) {
  return number_or_reason(entry.base, entry);
}

Figure now_figure(const Entry& entry) {
  return number_or_reason(entry.now, entry);
}

Figure ratio_figure(const Entry& entry) {
  Figure ratio = number_or_reason(entry.ratio, entry);
  if (!ratio) return ratio;
  ratio.text += "×";
  if (entry.interval) ratio.text += " (" + report::interval_text(*entry.interval) + ")";
  return ratio;
}

Figure difference_figure(const Entry& entry) {
  if (!entry.difference) return number_or_reason(entry.difference, entry);
  return {signed_number(*entry.difference), ""};
}

std::string effect_text(const Entry& entry) {
  if (!entry.effect_size) return {};
  // Not "-0.00".
  const double rounded = std::abs(*entry.effect_size) < 0.005 ? 0.0 : *entry.effect_size;
  return fmt::format("{}{:.2f}", rounded > 0 ? "+" : "", rounded);
}

std::string p_text(const Entry& entry) {
  if (!entry.p_adjusted) return {};
  return *entry.p_adjusted < 0.001 ? "<0.001" : fmt::format("{:.3f}", *entry.p_adjusted);
}

std::string detectable_text(const Entry& entry) {
  return entry.minimum_detectable ? percent(*entry.minimum_detectable) : std::string();
}

std::string run_text(const Side& side) {
  std::string when = side.started_at;
  // 2026-01-31T12:00:00.000Z, to the minute.
  if (when.size() >= 20 && when[10] == 'T' && when.ends_with('Z'))
    when = when.substr(0, 10) + " " + when.substr(11, 5) + " UTC";
  std::vector<std::string> parts{side.source, when, side.tool};
  if (!side.complete) parts.emplace_back("cut short");
  std::erase(parts, "");
  return text::join(parts, " · ");
}

std::string difference_text(const Difference& difference) {
  const auto shown = [](const std::string& value) { return value.empty() ? "none" : value; };
  return fmt::format("{}: {} → {}", difference.what, shown(difference.base), shown(difference.now));
}

std::vector<std::string> warnings(const Comparison& comparison) {
  std::vector<std::string> lines;
  if (!comparison.same_machine) {
    const bool judged = std::ranges::any_of(comparison.entries, [](const Entry& e) {
      return e.change != Change::unclear && e.change != Change::missing;
    });
    lines.push_back(fmt::format("measured on different machines, so what differs may be the machine; {}",
                                judged ? "judged all the same, as --across-machines asks"
                                       : "measure both on one, or judge all the same: --across-machines"));
  }
  if (!comparison.now.complete) lines.emplace_back("the new run was cut short: it may lack rows and samples");
  return lines;
}

std::vector<std::string> how_lines(const ComparisonDocument& document) {
  std::set<std::string> methods;
  bool calibrated = true;
  bool any = false;
  bool detectable = false;
  for (const Comparison& comparison : document.comparisons) {
    for (const Entry& entry : comparison.entries) {
      if (!entry.method.empty()) methods.insert(entry.method);
      any = any || entry.ratio;
      detectable = detectable || entry.minimum_detectable;
      // Tails beyond p95 are never calibrated.
      calibrated = calibrated && (!entry.ratio || entry.minimum_detectable || entry.quantile != "p50");
    }
  }
  if (!any) return {};
  const std::string tolerance = percent(document.tolerance);
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("ratio = new ÷ base over processes or rounds, not of the two figures beside it · n = "
                  "processes × samples of each, or pairs of rounds · δ = Cliff's, above 0 where "
                  "new is larger{}",
                  detectable ? " · detectable = by how much equal lanes differ here" : ""));
  lines.push_back(fmt::format(
      "worse, better: all of the interval is beyond {}, p is at most {:g} after Holm's correction "
      "over all figures, and equal lanes differ less · same: all of it is within {} · "
      "unclear: neither",
      tolerance, alpha, tolerance));
  lines.insert(lines.end(), methods.begin(), methods.end());
  if (!calibrated) {
    lines.emplace_back(
        "for some figures it is not known by how much equal lanes differ here: `tare calibrate` measures it");
  }
  return lines;
}

}  // namespace tare::verdict
