#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measure/paired.hpp"
#include "lab/report/document.hpp"

/// What every bench needs to compare the lanes of its own run.
namespace tare::bench {

/// The good samples of a metric, by round.
std::map<std::uint32_t, double> good_samples(const report::Metric& metric);

/// The same in the order of the rounds.
std::vector<double> values(const report::Metric& metric);

/// The good samples of two lanes, side by side.
struct Series {
  std::vector<double> subject;
  std::vector<double> reference;
};

/// Of the rounds in which both have one.
Series by_round(const report::Metric& subject, const report::Metric& reference);

/// A lane of the document by its id: a subject when it isn't there.
report::Lane lane_of(const report::Document& document, std::string_view target);

/// The first reference lane; "" when the run has none.
std::string reference_of(const report::Document& document);

/// A comparison's names; its figures come from the statistics.
report::Comparison named(report::ComparisonKind kind, const report::Row& subject, const std::string& metric,
                         const std::string& reference);
report::Comparison filled(report::Comparison names, std::string_view quantile,
                          const measure::Comparison& result);

}  // namespace tare::bench
