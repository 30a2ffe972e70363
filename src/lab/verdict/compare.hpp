#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/measure/detectable.hpp"
#include "lab/report/document.hpp"

/// `tare compare`: run documents against a base, metric by metric.
namespace tare::verdict {

inline constexpr std::string_view comparison_schema = "tare.comparison.v1";
inline constexpr double default_tolerance = 0.05;
inline constexpr double alpha = 0.05;

/// What happened to a metric. `same`: the interval lies within the tolerance. `unclear`: it does not tell.
BOOST_DEFINE_ENUM_CLASS(Change, better, worse, same, unclear, missing)

/// One metric of one row at one quantile.
struct Entry {
  std::string row;
  std::string target;      ///< of the base
  std::string new_target;  ///< the same unless two lanes were asked for
  std::string metric;
  std::string quantile;  ///< "p50", "p95", "p99"
  std::string unit;
  report::Better better = report::Better::lower;
  std::optional<double> base;  ///< in `unit`
  std::optional<double> now;
  std::uint64_t base_n = 0;
  std::uint64_t now_n = 0;
  std::uint64_t base_processes = 0;
  std::uint64_t now_processes = 0;
  std::uint64_t pairs = 0;
  std::optional<double> ratio;  ///< now ÷ base
  std::optional<report::Interval> interval;
  std::optional<double> difference;  ///< now − base, in `unit`
  std::optional<report::Interval> difference_interval;
  std::optional<double> effect_size;  ///< Cliff's δ, −1..1, above 0 when now is larger
  std::optional<double> p;            ///< two-sided, of a change beyond the tolerance
  std::optional<double> p_adjusted;   ///< Holm, over all entries of this comparison that have a p
  std::optional<double> minimum_detectable;
  std::string method;
  Change change = Change::missing;
  /// pass: better or same. fail: worse. unmeasured: a side has no such figure.
  report::Verdict verdict = report::Verdict::unmeasured;
  std::optional<std::string> reason;  ///< why it is inconclusive, unmeasured or lacks a figure
};
BOOST_DESCRIBE_STRUCT(Entry, (),
                      (row, target, new_target, metric, quantile, unit, better, base, now, base_n, now_n,
                       base_processes, now_processes, pairs, ratio, interval, difference, difference_interval,
                       effect_size, p, p_adjusted, minimum_detectable, method, change, verdict, reason))

/// A fact that is not the same on both sides.
struct Difference {
  std::string what;  ///< "kernel", "target node version", "option iterations"
  std::string base;
  std::string now;
};
BOOST_DESCRIBE_STRUCT(Difference, (), (what, base, now))

/// A side: a document, and the lane of it that was asked for.
struct Side {
  std::string source;  ///< as typed
  std::optional<std::string> target;
  std::string started_at;
  bool complete = false;
  std::string tool;
  std::string host;  ///< one line
};
BOOST_DESCRIBE_STRUCT(Side, (), (source, target, started_at, complete, tool, host))

/// One document against the base.
struct Comparison {
  Side now;
  bool paired = false;        ///< both lanes are of one run and share its rounds
  bool same_machine = false;  ///< else every verdict is inconclusive, unless machines may differ
  double noise_floor = 0;     ///< see noise_floor(); 0 when paired
  std::vector<Difference> differences;
  std::vector<std::string> missing;  ///< "fanout_8 on node": in the base only
  std::vector<std::string> extra;    ///< in the new document only
  std::vector<Entry> entries;
};
BOOST_DESCRIBE_STRUCT(Comparison, (),
                      (now, paired, same_machine, noise_floor, differences, missing, extra, entries))

struct ComparisonDocument {
  std::string schema = std::string(comparison_schema);
  double tolerance = default_tolerance;
  Side base;
  std::vector<Comparison> comparisons;
};
BOOST_DESCRIBE_STRUCT(ComparisonDocument, (), (schema, tolerance, base, comparisons))

/// A document as the command line names it.
struct Source {
  std::string name;                   ///< as typed
  std::optional<std::string> target;  ///< only this lane
  const report::Document* document = nullptr;
};

enum class Machines { must_match, may_differ };

struct CompareOptions {
  double tolerance = default_tolerance;  ///< a share: 0.05 for 5 %
  Machines machines = Machines::must_match;
  std::vector<report::Calibration> calibrations;
  std::uint64_t seed = 42;
};

/// Rows that both have are compared metric by metric; paired when both sources are one document.
Comparison compare(const Source& base, const Source& now, const CompareOptions& options);

Side side_of(const Source& source);

/// Provenance: host, tool, options, targets and noise, as far as they differ.
std::vector<Difference> differences(const report::Document& base, const report::Document& now);

/// Whether both were measured on one machine: processor, number of processors and memory.
bool same_machine(const report::Document& base, const report::Document& now);

/// How far two runs of equal programs can lie apart for no other reason than that their processes had to
/// share the processors with others: the share of time in which tasks waited before a run, times how many
/// times too many there were (at least one). A share of the time of an operation, of the busier of the two; 0
/// when both were quiet. Lanes of one run suffer alike, so it is not for them.
double noise_floor(const report::Document& base, const report::Document& now);

/// How many processes a side it takes so that a change can be told at all when so many figures are corrected
/// together (Holm): the most extreme p of the test, times their number, is then at most alpha.
std::uint64_t enough_processes(measure::Pairing pairing, std::size_t figures);

struct Ruling {
  Change change = Change::unclear;
  report::Verdict verdict = report::Verdict::inconclusive;
  std::optional<std::string> reason;
};

/// What an entry is ruled by.
struct Rules {
  double tolerance = default_tolerance;
  std::size_t figures = 1;  ///< over which `p_adjusted` was corrected
  measure::Pairing pairing = measure::Pairing::unpaired;
  std::string_view repeat_flag = "--processes";  ///< what measures more processes
};

/// Better, worse, same or unclear by the interval of a ratio, and by `p_adjusted` ≤ alpha. One that is not
/// wholly beyond the minimum detectable effect is unclear. `entry.better` says which way is good.
Ruling rule(const Entry& entry, const Rules& rules);

}  // namespace tare::verdict
