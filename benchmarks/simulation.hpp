#pragma once

#include <cstddef>
#include <functional>

#include "lab/measure/quantile.hpp"
#include "lab/report/document.hpp"
#include "lab/verdict/compare.hpp"

/// What the benchmarks of verdicts have in common: how often something happens in many runs whose truth is
/// known.
namespace tare::benchmarks {

/// How many of `count` runs `happens` says yes to. Runs are shared out over two threads: `happens(i)` must
/// depend on `i` alone.
std::size_t count_runs(std::size_t count, const std::function<bool(std::size_t)>& happens);

/// 95 % interval of the share that `hits` of `n` come from (C. Clopper, E. Pearson, 1934): exact, by
/// bisection. `n` ≥ 1.
measure::Interval share_interval(std::size_t hits, std::size_t n);

/// Whether a comparison says of anything that it became better or worse.
bool sees_a_change(const verdict::Comparison& comparison);

/// The comparison of two documents, or of two lanes of one, at tolerance 0: every change counts.
verdict::Comparison compare_documents(const report::Document& base, const report::Document& now);
verdict::Comparison compare_lanes(const report::Document& document, const std::string& base,
                                  const std::string& now);

}  // namespace tare::benchmarks
