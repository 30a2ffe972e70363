#pragma once

#include "lab/verdict/compare.hpp"

/// Hand-made comparisons for the tests of this folder and their golden files.
namespace tare::verdict {

/// One new run against a base, with every change, a base of zero, a lane without figures, rows that only one
/// side has, machines whose kernel differs, and metrics beside `total`.
ComparisonDocument example_comparison();

/// Two lanes of one run, round by round.
ComparisonDocument example_of_lanes();

/// The same base against two new runs, the second of another machine and cut short.
ComparisonDocument example_of_two();

}  // namespace tare::verdict
