#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/verdict/units.hpp"

/// Budgets: the limits that a gate holds a run to, as tare.toml states them. docs/budgets.md explains the
/// format.
namespace tare::gate {

using verdict::parse_quantity;
using verdict::Quantity;
using verdict::unit_factor;

/// What a budget limits.
enum class BudgetKind {
  quantile,  ///< a quantile of a metric, in its unit
  tax,       ///< a ratio of the run's own comparisons
  counter,   ///< a counter of a row, summed over its samples
  resource,  ///< CPU or memory of an operation, threads, descriptors
  outcome,   ///< how many samples ended in a certain way
  relative,  ///< a quantile of a metric ÷ the same of the baseline or of another target of the run
};

/// What becomes of a row that the run marks unavailable: it fails the gate, or it is left out.
enum class Unavailable { fail, skip };

inline constexpr std::string_view versus_baseline = "baseline";

struct BudgetSpec {
  std::string id;  ///< given, else made of the fields below
  BudgetKind kind = BudgetKind::quantile;
  std::string row = "*";         ///< a pattern: * any text, ? any one character
  std::string target = "*";      ///< a pattern
  std::string metric = "total";  ///< a pattern; of quantile, tax and relative
  std::string quantile = "p50";  ///< p50, p90, p95, p99; of quantile, tax and relative
  std::string figure = {};       ///< the tax, counter, resource or outcome
  std::string versus = {};       ///< "baseline" or a target; of relative
  std::optional<Quantity> max;   ///< the largest value, or ratio, that passes; it does
  std::optional<Quantity> min;   ///< the smallest
  Unavailable unavailable = Unavailable::fail;
  std::uint32_t line = 0;  ///< in the file

  bool has_metric() const {
    return kind == BudgetKind::quantile || kind == BudgetKind::tax || kind == BudgetKind::relative;
  }
};

/// Reads and checks budgets. `source` names the text in errors. Throws Error(input) with file, line and
/// column: no TOML, no budget, an unknown key, a value of a wrong kind or dimension, limits that are absent,
/// negative, or out of order, an id twice, and two budgets for the very same figure.
std::vector<BudgetSpec> parse_budgets(std::string_view text, std::string_view source);

std::vector<BudgetSpec> load_budgets(const std::filesystem::path& path);

/// Whether `text` fits a pattern of `*` and `?`.
bool matches(std::string_view pattern, std::string_view text);
bool is_pattern(std::string_view text);

/// The names of resources, as `resource` takes them, and their unit.
std::vector<std::string> resource_names();
std::string_view resource_unit(std::string_view resource);

/// "≤ 40 ms", "≥ 10 /s, ≤ 20 /s", "≤ 1.05× baseline"
std::string limit_text(const BudgetSpec& budget);

}  // namespace tare::gate
