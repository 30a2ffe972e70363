#include "lab/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::report {
namespace {

constexpr std::string_view usual_main_metric = "total";

struct QuantileMembers {
  std::optional<double> measure::Summary::* point;
  std::optional<measure::Interval> measure::Summary::* interval;
};

QuantileMembers members(std::string_view quantile) {
  using S = measure::Summary;
  if (quantile == "p90") return {&S::p90, &S::p90_interval};
  if (quantile == "p95") return {&S::p95, &S::p95_interval};
  if (quantile == "p99") return {&S::p99, &S::p99_interval};
  return {&S::p50, &S::p50_interval};
}

/// The note of a summary about one figure, without the figure's name: "n/a (n<20)".
std::string note_about(const measure::Summary& summary, const std::string& figure) {
  if (summary.count == 0) return "n/a (no samples)";
  for (const std::string& note : summary.notes) {
    if (note.starts_with(figure + " n/a")) return note.substr(figure.size() + 1);
  }
  return "n/a (not in the document)";
}

/// What a row says about how it read a resource: the first method that names it.
std::string method_about(const Row& row, std::initializer_list<std::string_view> names) {
  for (const std::string& method : row.resources.methods) {
    for (const std::string_view name : names) {
      if (method.starts_with(name)) return method;
    }
  }
  return fmt::format("{}: not read", *names.begin());
}

std::uint64_t taken(const Row& row) {
  std::uint64_t sum = 0;
  for (const auto& [outcome, n] : row.outcomes) sum += n;
  return sum;
}

std::uint64_t largest_check(const Row& row) {
  std::uint64_t largest = 0;
  for (const Invariant& invariant : row.invariants) largest = std::max(largest, invariant.checked);
  return largest;
}

}  // namespace

Figures::Figures(const Document& document) : document_(document), targets_(document.targets) {
  std::set<std::string_view> seen_rows;
  std::set<std::string_view> seen_targets;
  for (const Target& target : document.targets) seen_targets.insert(target.id);
  for (const Row& row : document.rows) {
    if (seen_rows.insert(row.row).second) rows_.push_back(row.row);
    if (seen_targets.insert(row.target).second) {
      Target unnamed;
      unnamed.id = row.target;
      targets_.push_back(std::move(unnamed));
    }
    index_.emplace(Key{row.row, row.target}, &row);
    if (row.metrics.empty()) continue;
    const auto usual = row.metrics.find(std::string(usual_main_metric));
    const std::string_view name = usual != row.metrics.end() ? usual->first : row.metrics.begin()->first;
    const auto known = main_.try_emplace(row.row, name).first;
    if (name == usual_main_metric) known->second = name;
  }
  for (const Comparison& c : document.comparisons) {
    comparisons_.emplace(ComparisonKey{c.kind, c.row, c.metric, c.quantile, c.subject}, &c);
  }
}

const Row* Figures::row(std::string_view name, std::string_view target) const {
  const auto found = index_.find(Key{name, target});
  return found == index_.end() ? nullptr : found->second;
}

const Comparison* Figures::comparison(ComparisonKind kind, std::string_view row, std::string_view metric,
                                      std::string_view quantile, std::string_view subject) const {
  const auto found = comparisons_.find(ComparisonKey{kind, row, metric, quantile, subject});
  return found == comparisons_.end() ? nullptr : found->second;
}

std::string_view Figures::main_metric(std::string_view row) const {
  const auto found = main_.find(row);
  return found == main_.end() ? std::string_view() : found->second;
}

std::string_view Figures::unit(std::string_view row) const {
  for (const Target& target : targets_) {
    if (const Metric* m = metric(row, target.id, main_metric(row))) return m->unit;
  }
  return {};
}

const Metric* Figures::metric(std::string_view row_name, std::string_view target,
                              std::string_view name) const {
  const Row* found = row(row_name, target);
  if (found == nullptr) return nullptr;
  const auto metric = found->metrics.find(std::string(name));
  return metric == found->metrics.end() ? nullptr : &metric->second;
}

bool Figures::measured(std::string_view row, std::string_view target) const {
  const Metric* m = metric(row, target, main_metric(row));
  return m != nullptr && m->summary.count > 0 && m->summary.p50.has_value();
}

std::string Figures::why_missing(std::string_view name, std::string_view target) const {
  const Row* found = row(name, target);
  if (found == nullptr)
    return document_.complete ? "not offered by this target" : "not reached before the run ended";
  if (found->status == RowStatus::unavailable)
    return found->reason.value_or("unavailable, for no stated reason");
  if (found->status == RowStatus::failed) return "failed: " + found->reason.value_or("for no stated reason");
  return found->reason.value_or("no samples");
}

SampleCount sample_count(const Row& row, const Metric& metric) {
  std::uint64_t all = std::max<std::uint64_t>(metric.outcome.size(), taken(row));
  return {metric.summary.count, std::max(all, metric.summary.count)};
}

std::string n_text(const SampleCount& count) {
  if (count.ok == count.taken) return fmt::format("n={}", text::count(count.ok));
  return fmt::format("n={}/{}", text::count(count.ok), text::count(count.taken));
}

std::string with_unit(double value, std::string_view unit) {
  // What a runtime grew by can be less than nothing.
  if (unit == "bytes")
    return (value < 0 ? "-" : "") + text::bytes(static_cast<std::uint64_t>(std::abs(value)));
  return fmt::format("{} {}", text::significant(value), unit);
}

Figure quantile_figure(const measure::Summary& summary, std::string_view quantile) {
  const auto& point = summary.*members(quantile).point;
  if (point) return {text::significant(*point), ""};
  return {"", note_about(summary, std::string(quantile))};
}

Figure interval_figure(const measure::Summary& summary, std::string_view quantile) {
  const auto& interval = summary.*members(quantile).interval;
  if (interval) return {interval_text(*interval), ""};
  if (!(summary.*members(quantile).point)) return quantile_figure(summary, quantile);
  return {"", note_about(summary, std::string(quantile) + " interval")};
}

std::string interval_text(const Interval& interval) {
  const std::string low = text::significant(interval[0]);
  const std::string high = text::significant(interval[1]);
  // "-1.2–0.4" is hard to read.
  return interval[0] < 0 || interval[1] < 0 ? low + " to " + high : low + "–" + high;
}

Figure ratio_figure(const Comparison& c) {
  if (!c.ratio) return {"", c.reason.value_or("no ratio, for no stated reason")};
  const bool same = c.interval && (*c.interval)[0] <= 1 && 1 <= (*c.interval)[1];
  return {fmt::format("{}{}×", !c.interval ? "?" : same ? "≈" : "", text::significant(*c.ratio)), ""};
}

Figure ratio_interval_figure(const Comparison& c) {
  if (!c.ratio) return ratio_figure(c);
  if (c.interval) return {interval_text(*c.interval) + "×", ""};
  return {"", c.reason.value_or(fmt::format("n/a ({} pairs)", text::count(c.pairs)))};
}

Figure cpu_figure(const Row& row) {
  const Resources& used = row.resources;
  if (used.cpu_user_ms && used.cpu_system_ms) {
    return {text::significant(*used.cpu_user_ms + *used.cpu_system_ms), ""};
  }
  return {"", method_about(row, {"CPU", "cpu"})};
}

Figure memory_figure(const Row& row) {
  const Resources& used = row.resources;
  if (!used.max_rss_bytes) return {"", method_about(row, {"max RSS", "memory"})};
  if (used.max_rss_floor_bytes && *used.max_rss_bytes <= *used.max_rss_floor_bytes) {
    return {"≤ " + text::bytes(*used.max_rss_floor_bytes), ""};
  }
  return {text::bytes(*used.max_rss_bytes), ""};
}

std::string failure_text(const Row& row, const Metric& metric) {
  const SampleCount count = sample_count(row, metric);
  if (count.ok == count.taken)
    return row.status == RowStatus::failed ? "failed: " + row.reason.value_or("") : "";
  std::string why = row.reason.value_or("");
  for (std::size_t i = 0; why.empty() && i < metric.error.size(); ++i) why = metric.error[i].value_or("");
  if (why.empty()) {
    std::vector<std::string> kinds;
    for (const auto& [outcome, n] : row.outcomes) {
      if (outcome != "ok" && n > 0) kinds.push_back(fmt::format("{} {}", text::count(n), outcome));
    }
    why = text::join(kinds, ", ");
  }
  return fmt::format("{} of {} samples failed{}{}", text::count(count.taken - count.ok),
                     text::count(count.taken), why.empty() ? "" : ": ", why);
}

namespace {
std::string superscript(std::size_t number) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char digit : std::to_string(number)) out += digits[digit - '0'];
  return out;
}
}  // namespace

std::string Footnotes::mark(const std::string& reason) {
  const auto [found, added] = numbers_.try_emplace(reason, reasons_.size() + 1);
  if (added) reasons_.push_back(reason);
  return superscript(found->second);
}

std::vector<std::string> Footnotes::lines() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < reasons_.size(); ++i) out.push_back(superscript(i + 1) + " " + reasons_[i]);
  return out;
}

std::string finding_text(const Finding& finding) {
  std::string line = finding.level == FindingLevel::warn ? "! " : "· ";
  const std::string target = finding.target.value_or("");
  const std::string row = finding.row.value_or("");
  line += target + (target.empty() || row.empty() ? "" : ", ") + row +
          (target.empty() && row.empty() ? "" : ": ");
  return line + finding.text;
}

std::string bench_title(const Document& document) {
  if (document.rows.empty()) return "run";
  const std::string& bench = document.rows.front().bench;
  return bench == "spawn" ? "spawn → exit" : bench;
}

std::vector<std::string> broken_invariants(const Document& document) {
  std::vector<std::string> broken = document.invariants.failures;
  if (!broken.empty()) return broken;
  for (const Row& row : document.rows) {
    for (const Invariant& i : row.invariants) {
      if (i.ok && i.broken == 0) continue;
      broken.push_back(fmt::format("{} on {}: {}: expected {}, got {} ({} of {} samples)", row.row,
                                   row.target, i.id, i.expected, i.actual.value_or("nothing"),
                                   text::count(i.broken), text::count(i.checked)));
    }
  }
  if (broken.empty() && !document.invariants.ok)
    broken.emplace_back("broken, but the document does not say which");
  return broken;
}

std::string invariants_text(const Document& document) {
  std::uint64_t samples = 0;
  std::uint64_t checked = 0;
  std::uint64_t broken = 0;
  for (const Row& row : document.rows) {
    const std::uint64_t n = std::max(taken(row), largest_check(row));
    samples += n;
    checked += std::min(n, largest_check(row));
    std::uint64_t worst = 0;
    for (const Invariant& i : row.invariants)
      worst = std::max<std::uint64_t>({worst, i.broken, i.ok ? 0U : 1U});
    broken += worst;
  }
  if (broken == 0) broken = broken_invariants(document).size();
  if (samples == 0) return "no sample was taken, so none was checked";
  const std::string of = checked == samples ? "all " + text::count(samples)
                                            : text::count(checked) + " of " + text::count(samples);
  return fmt::format("{} operations checked, warm-ups included, {} broken", of, text::count(broken));
}

RunVerdict run_verdict(const Document& document) {
  if (!broken_invariants(document).empty()) return {Verdict::fail, invariants_text(document)};
  std::size_t failed = 0;
  bool measured = false;
  for (const Row& row : document.rows) {
    failed += row.status == RowStatus::failed;
    for (const auto& [name, metric] : row.metrics) measured = measured || metric.summary.count > 0;
  }
  if (failed > 0)
    return {Verdict::fail, fmt::format("{} of {} row results failed", failed, document.rows.size())};
  for (const Verdict worst : {Verdict::fail, Verdict::unmeasured, Verdict::inconclusive}) {
    for (const Budget& budget : document.budgets) {
      if (budget.verdict == worst) return {worst, "budget " + budget.id};
    }
  }
  if (!measured) return {Verdict::unmeasured, "no row has a good sample"};
  if (!document.complete)
    return {Verdict::inconclusive, "the run was cut short; " + invariants_text(document)};
  if (!invariants_text(document).starts_with("all ")) {
    return {Verdict::inconclusive, invariants_text(document)};
  }
  return {Verdict::pass, invariants_text(document)};
}

}  // namespace tare::report
