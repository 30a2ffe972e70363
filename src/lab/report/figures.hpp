#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "lab/report/document.hpp"

/// What every report says in the same words: which figure stands for a row, how it is written, why one is
/// missing. Nothing here computes a statistic: figures come from the document or are "n/a" with a reason.
namespace tare::report {

/// The name of an enumerator: "pass".
template <class E>
std::string_view name_of(E value) {
  return boost::describe::enum_to_string(value, "?");
}

/// A figure as text, or the reason why there is none.
struct Figure {
  std::string text;    ///< empty when there is a reason
  std::string reason;  ///< empty when there is a figure
  explicit operator bool() const { return reason.empty(); }
};

/// A document with the look-ups that a report needs, each in constant time. The document must outlive it.
class Figures {
 public:
  explicit Figures(const Document& document);

  const Document& document() const { return document_; }
  const std::vector<std::string>& rows() const { return rows_; }   ///< in order of appearance
  const std::vector<Target>& targets() const { return targets_; }  ///< also those that only rows name

  /// Null when the run has no such row on that target.
  const Row* row(std::string_view name, std::string_view target) const;
  const Comparison* comparison(ComparisonKind kind, std::string_view row, std::string_view metric,
                               std::string_view quantile, std::string_view subject) const;

  /// The metric that stands for a row: "total" where it has one, else the first; "" when nothing has any.
  std::string_view main_metric(std::string_view row) const;
  std::string_view unit(std::string_view row) const;  ///< of the main metric
  const Metric* metric(std::string_view row, std::string_view target, std::string_view name) const;

  /// Some sample of the row's main metric ended well on that target.
  bool measured(std::string_view row, std::string_view target) const;

  /// Why a row has no figure on a target.
  std::string why_missing(std::string_view row, std::string_view target) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view>;
  using ComparisonKey =
      std::tuple<ComparisonKind, std::string_view, std::string_view, std::string_view, std::string_view>;

  const Document& document_;
  std::vector<std::string> rows_;
  std::vector<Target> targets_;
  std::map<Key, const Row*> index_;
  std::map<ComparisonKey, const Comparison*> comparisons_;
  std::unordered_map<std::string_view, std::string_view> main_;  // row → main metric
};

/// How many samples of a row count, of how many taken.
struct SampleCount {
  std::uint64_t ok = 0;
  std::uint64_t taken = 0;
  bool operator==(const SampleCount&) const = default;
};
SampleCount sample_count(const Row& row, const Metric& metric);

/// "n=200", or "n=198/200" when some failed.
std::string n_text(const SampleCount& count);

/// A value in the unit of a metric, with the unit: "27.9 ms", "161 MB".
std::string with_unit(double value, std::string_view unit);

/// A quantile of a metric: "27.9", or "n/a (n<20)" as the reason. `quantile` is "p50", "p90", "p95" or "p99".
Figure quantile_figure(const measure::Summary& summary, std::string_view quantile);
Figure interval_figure(const measure::Summary& summary, std::string_view quantile);

/// "1.11×". A ratio whose interval holds 1 is "≈1.02×": these samples do not tell the lanes apart.
Figure ratio_figure(const Comparison& comparison);
Figure ratio_interval_figure(const Comparison& comparison);  ///< "1.10–1.13×"
std::string interval_text(const Interval& interval);         ///< "1.10–1.13"

/// User + system time of one operation in ms.
Figure cpu_figure(const Row& row);
/// The largest process of one operation: "43 MB", or "≤ 1.4 MB" when it is no larger than what the
/// measuring side itself leaves in the figure.
Figure memory_figure(const Row& row);

/// "2 of 200 samples failed: exit code 1" for a row with failed samples, else "".
std::string failure_text(const Row& row, const Metric& metric);

/// Numbers for reasons, each reason once: ¹ ² ³.
class Footnotes {
 public:
  std::string mark(const std::string& reason);
  /// "¹ native: no child_process"
  std::vector<std::string> lines() const;

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> reasons_;
};

/// "! guest, capture_2b: every captured run waits": ! for a warning, · for a note.
std::string finding_text(const Finding& finding);

/// What a bench times, for the head of its table: "spawn → exit".
std::string bench_title(const Document& document);

/// How the whole run ended, in a word and a clause.
struct RunVerdict {
  Verdict verdict = Verdict::unmeasured;
  std::string text;  ///< "all 6,400 operations checked, warm-ups included, 0 broken"
};

/// Fails on a broken invariant, a failed row or a failed budget; a run without a single good sample is
/// unmeasured, never a pass; one that was cut short, or with samples that nothing checked, is inconclusive.
RunVerdict run_verdict(const Document& document);

/// What was checked: "all 6,400 operations checked, warm-ups included, 0 broken".
std::string invariants_text(const Document& document);

/// Every broken invariant, each with row and target: those listed for the run, else those of its rows.
std::vector<std::string> broken_invariants(const Document& document);

}  // namespace tare::report
