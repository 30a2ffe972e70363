#include "lab/gate/budget.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/gate/toml_tables.hpp"

namespace tare::gate {
namespace {

using Names = std::vector<std::string>;

const Names& all_keys() {
  static const Names names{"id",        "row",       "target",       "metric",       "quantile",   "tax",
                           "counter",   "resource",  "outcome",      "versus",       "max",        "min",
                           "max_ratio", "min_ratio", "max_increase", "max_decrease", "unavailable"};
  return names;
}

std::string quoted_list(const Names& names) {
  return text::join(names, ", ");
}

/// One [[budget]] table on its way to a BudgetSpec.
class Reader {
 public:
  Reader(const TomlTable& table, std::string_view source) : table_(table), source_(source) {}

  BudgetSpec read();

 private:
  [[noreturn]] void fail(TomlPlace place, const std::string& what, const std::string& why = {},
                         const std::string& hint = {}) const {
    throw Error(ErrorCode::input, fmt::format("{}: {}", at(source_, place), what), why, hint);
  }

  const TomlEntry* find(std::string_view key) const {
    const auto found = std::ranges::find(table_.entries, key, &TomlEntry::key);
    return found == table_.entries.end() ? nullptr : &*found;
  }

  std::string text_of(const TomlEntry& entry) const;
  void text(std::string_view key, std::string& into) const;
  void one_of(std::string_view key, const std::string& value, const Names& known) const;
  Quantity quantity(const TomlEntry& entry) const;
  std::optional<Quantity> value_limit(std::string_view key) const;
  std::optional<Quantity> ratio_limit(std::string_view ratio_key, std::string_view share_key) const;
  double share(const TomlEntry& entry) const;

  void refuse_unknown_keys() const;
  void read_kind();
  void read_place();
  void read_limits();
  void check_dimension(std::string_view key, const std::optional<Quantity>& limit) const;

  const TomlTable& table_;
  std::string_view source_;
  BudgetSpec budget_;
};

std::string Reader::text_of(const TomlEntry& entry) const {
  const auto* value = std::get_if<std::string>(&entry.value);
  if (value == nullptr)
    fail(entry.place, fmt::format("{} must be a text, got {}", entry.key, kind_of(entry.value)));
  if (text::trim(*value).empty()) fail(entry.place, fmt::format("{} is empty", entry.key));
  return *value;
}

void Reader::text(std::string_view key, std::string& into) const {
  const TomlEntry* entry = find(key);
  if (entry == nullptr) return;
  into = text_of(*entry);
  constexpr std::size_t longest = 200;
  if (into.size() > longest)
    fail(entry->place, fmt::format("{} must have at most {} bytes, got {}", key, longest, into.size()));
}

void Reader::one_of(std::string_view key, const std::string& value, const Names& known) const {
  if (std::ranges::find(known, value) != known.end()) return;
  const auto near = text::did_you_mean(value, known);
  fail(find(key)->place, fmt::format("{} must be one of {}, got '{}'", key, quoted_list(known), value), "",
       near ? fmt::format("did you mean '{}'?", *near) : "");
}

void Reader::refuse_unknown_keys() const {
  for (const TomlEntry& entry : table_.entries) {
    if (std::ranges::find(all_keys(), entry.key) != all_keys().end()) continue;
    const auto near = text::did_you_mean(entry.key, all_keys());
    fail(entry.place, fmt::format("unknown key '{}'", entry.key), "",
         near ? fmt::format("did you mean '{}'?", *near) : "known: " + quoted_list(all_keys()));
  }
}

void Reader::read_kind() {
  static const std::map<std::string, BudgetKind, std::less<>> kinds{{"tax", BudgetKind::tax},
                                                                    {"counter", BudgetKind::counter},
                                                                    {"resource", BudgetKind::resource},
                                                                    {"outcome", BudgetKind::outcome},
                                                                    {"versus", BudgetKind::relative}};
  const TomlEntry* first = nullptr;
  for (const TomlEntry& entry : table_.entries) {
    const auto kind = kinds.find(entry.key);
    if (kind == kinds.end()) continue;
    if (first != nullptr)
      fail(entry.place, fmt::format("both {} and {}", first->key, entry.key), "a budget limits one figure");
    first = &entry;
    budget_.kind = kind->second;
    (budget_.kind == BudgetKind::relative ? budget_.versus : budget_.figure) = text_of(entry);
  }
  if (budget_.kind == BudgetKind::tax) one_of("tax", budget_.figure, {"emulation", "total"});
  if (budget_.kind == BudgetKind::resource) one_of("resource", budget_.figure, resource_names());
  if (budget_.kind == BudgetKind::outcome)
    one_of("outcome", budget_.figure, {"failed", "timeout", "refused", "censored", "not_ok"});
  if (budget_.kind == BudgetKind::counter && is_pattern(budget_.figure))
    fail(first->place, "counter takes one name", "no * or ? here");
  if (budget_.kind == BudgetKind::relative && is_pattern(budget_.versus))
    fail(first->place, "versus takes \"baseline\" or one target", "no * or ? here");
}

void Reader::read_place() {
  text("row", budget_.row);
  text("target", budget_.target);
  for (const std::string_view key : {"metric", "quantile"}) {
    const TomlEntry* entry = find(key);
    if (entry != nullptr && !budget_.has_metric())
      fail(entry->place, fmt::format("{} does not go with a {}", key,
                                     budget_.kind == BudgetKind::counter    ? "counter"
                                     : budget_.kind == BudgetKind::resource ? "resource"
                                                                            : "outcome"));
  }
  if (!budget_.has_metric()) {
    budget_.metric.clear();
    budget_.quantile.clear();
  }
  text("metric", budget_.metric);
  text("quantile", budget_.quantile);
  if (find("quantile") != nullptr) {
    const TomlPlace place = find("quantile")->place;
    if (budget_.quantile == "min" || budget_.quantile == "mean" || budget_.quantile == "max")
      fail(place, fmt::format("quantile cannot be {}", budget_.quantile),
           "a gate judges by an interval, and it has none", "use p50, p90, p95 or p99");
    one_of("quantile", budget_.quantile,
           budget_.kind == BudgetKind::tax ? Names{"p50", "p95"} : Names{"p50", "p90", "p95", "p99"});
  }
  if (budget_.kind == BudgetKind::relative && budget_.versus == budget_.target)
    fail(find("versus")->place, fmt::format("target '{}' against itself", budget_.target));
  std::string unavailable = "fail";
  text("unavailable", unavailable);
  if (find("unavailable") != nullptr) one_of("unavailable", unavailable, {"fail", "skip"});
  budget_.unavailable = unavailable == "skip" ? Unavailable::skip : Unavailable::fail;
}

Quantity Reader::quantity(const TomlEntry& entry) const {
  if (const double* number = std::get_if<double>(&entry.value)) {
    if (!std::isfinite(*number)) fail(entry.place, fmt::format("{} must be a finite number", entry.key));
    return {*number, ""};
  }
  const auto* value = std::get_if<std::string>(&entry.value);
  if (value == nullptr)
    fail(entry.place, fmt::format("{} must be a quantity, got {}", entry.key, kind_of(entry.value)), "",
         "as \"40 ms\", \"200 MB\" or 1.5");
  const auto parsed = parse_quantity(*value);
  if (!parsed || !std::isfinite(parsed->value))
    fail(entry.place, fmt::format("{} is no quantity: '{}'", entry.key, text::one_line(*value)), "",
         "as \"40 ms\", \"200 MB\", \"5 %\" or 1.5");
  // In the smallest unit of its kind it must still be a number.
  for (const char* smallest : {"ns", "B"}) {
    const auto factor = unit_factor(parsed->unit, smallest);
    if (factor && !std::isfinite(parsed->value * *factor))
      fail(entry.place, fmt::format("{} is too large: '{}'", entry.key, text::one_line(*value)));
  }
  return *parsed;
}

std::optional<Quantity> Reader::value_limit(std::string_view key) const {
  const TomlEntry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const Quantity limit = quantity(*entry);
  if (limit.unit == "%")
    fail(entry->place, fmt::format("{} is a percentage", key), "of what?",
         "use versus with max_increase or max_decrease");
  if (limit.value < 0) fail(entry->place, fmt::format("{} is negative", key));
  return limit;
}

/// A share of the base. A plain number is refused: 5 could mean 5 %, 500 % or five times as much.
double Reader::share(const TomlEntry& entry) const {
  const Quantity value = quantity(entry);
  if (value.unit != "%")
    fail(entry.place,
         fmt::format("{} must be a percentage, got {}", entry.key,
                     value.unit.empty() ? "a plain number" : "a quantity in " + value.unit),
         "",
         fmt::format("as \"5 %\"; a ratio is {}", entry.key == "max_increase" ? "max_ratio" : "min_ratio"));
  const double share = value.value / 100;
  if (share < 0) fail(entry.place, fmt::format("{} is negative", entry.key));
  if (entry.key == "max_decrease" && share > 1)
    fail(entry.place, "max_decrease is more than 100 %", "nothing falls below 0");
  return share;
}

std::optional<Quantity> Reader::ratio_limit(std::string_view ratio_key, std::string_view share_key) const {
  const TomlEntry* ratio = find(ratio_key);
  const TomlEntry* change = find(share_key);
  if (ratio != nullptr && change != nullptr)
    fail(change->place, fmt::format("both {} and {}", ratio_key, share_key), "one says it all");
  if (change != nullptr) {
    const double by = share(*change);
    return Quantity{share_key == "max_increase" ? 1 + by : 1 - by, ""};
  }
  if (ratio == nullptr) return std::nullopt;
  const Quantity value = quantity(*ratio);
  if (!value.unit.empty())
    fail(ratio->place, fmt::format("{} must be a plain number", ratio_key), "", "as 1.05");
  if (value.value < 0) fail(ratio->place, fmt::format("{} is negative", ratio_key));
  return value;
}

void Reader::check_dimension(std::string_view key, const std::optional<Quantity>& limit) const {
  if (!limit || budget_.kind == BudgetKind::quantile || budget_.kind == BudgetKind::relative) return;
  const std::string_view unit =
      budget_.kind == BudgetKind::resource ? resource_unit(budget_.figure) : std::string_view{};
  if (unit_factor(limit->unit, unit)) return;
  const std::string_view wanted = unit == "ms"  ? "a time, as \"40 ms\""
                                  : unit == "B" ? "a size, as \"200 MB\""
                                                : "a plain number";
  fail(find(key)->place, fmt::format("{} of {} must be {}", key, budget_.figure, wanted));
}

void Reader::read_limits() {
  const bool relative = budget_.kind == BudgetKind::relative;
  for (const TomlEntry& entry : table_.entries) {
    const bool absolute_key = entry.key == "max" || entry.key == "min";
    const bool relative_key =
        entry.key.ends_with("_ratio") || entry.key.ends_with("_increase") || entry.key.ends_with("_decrease");
    if (relative_key && (find("max") != nullptr || find("min") != nullptr))
      fail(entry.place, fmt::format("both {} and {}", find("max") != nullptr ? "max" : "min", entry.key),
           "a budget is absolute or relative", "write two budgets");
    if (relative && absolute_key)
      fail(entry.place, fmt::format("{} does not go with versus", entry.key), "",
           fmt::format("use {0}_ratio, or max_{1}", entry.key, entry.key == "max" ? "increase" : "decrease"));
    if (!relative && relative_key)
      fail(entry.place, fmt::format("{} needs versus", entry.key), "",
           "say what it is relative to: versus = \"baseline\", or a target of the run");
  }
  budget_.max = relative ? ratio_limit("max_ratio", "max_increase") : value_limit("max");
  budget_.min = relative ? ratio_limit("min_ratio", "max_decrease") : value_limit("min");
  if (!budget_.max && !budget_.min)
    fail(table_.place, "a budget that limits nothing", "",
         relative ? "give it max_increase, max_decrease, max_ratio or min_ratio" : "give it max or min");
  if (relative) {
    if (budget_.max && budget_.max->value == 0)
      fail(find("max_ratio")->place, "max_ratio is 0", "nothing could pass");
  } else {
    check_dimension("max", budget_.max);
    check_dimension("min", budget_.min);
  }
  if (budget_.max && budget_.min) {
    const auto factor = unit_factor(budget_.min->unit, budget_.max->unit);
    const TomlPlace place = table_.place;
    if (!factor) fail(place, "min and max measure different things");
    if (budget_.min->value * *factor > budget_.max->value)
      fail(place, "min is above max", "nothing could pass");
  }
}

/// "total p50 of fanout_8 on node vs baseline"; a field that says "all" is left out.
std::string made_id(const BudgetSpec& budget) {
  Names parts;
  if (budget.kind == BudgetKind::tax) parts.push_back(budget.figure + " tax,");
  parts.push_back(budget.has_metric() ? budget.metric + " " + budget.quantile : budget.figure);
  if (budget.row != "*") parts.push_back("of " + budget.row);
  if (budget.target != "*") parts.push_back("on " + budget.target);
  if (budget.kind == BudgetKind::relative) parts.push_back("vs " + budget.versus);
  return text::join(parts, " ");
}

/// What two budgets must not share.
std::string figure_of(const BudgetSpec& b) {
  const Names parts{
      std::to_string(static_cast<int>(b.kind)), b.row, b.target, b.metric, b.quantile, b.figure, b.versus};
  return text::join(parts, std::string_view("\0", 1));
}

BudgetSpec Reader::read() {
  budget_.line = table_.place.line;
  refuse_unknown_keys();
  read_kind();
  read_place();
  read_limits();
  budget_.id = made_id(budget_);
  text("id", budget_.id);
  return budget_;
}

/// Two budgets for one figure either say the same twice or contradict each other.
void refuse_repetitions(const std::vector<BudgetSpec>& budgets, const std::vector<TomlTable>& tables,
                        std::string_view source) {
  std::map<std::string, std::uint32_t> figures;
  std::map<std::string, std::uint32_t> ids;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const BudgetSpec& budget = budgets[i];
    const std::string place = at(source, tables[i].place);
    if (budget.id == "invariants")
      throw Error(ErrorCode::input, place + ": no budget can have the id 'invariants'",
                  "every gate has one of that name");
    if (const auto [first, fresh] = figures.emplace(figure_of(budget), budget.line); !fresh)
      throw Error(ErrorCode::input, fmt::format("{}: a second budget for {}", place, made_id(budget)),
                  fmt::format("the first is in line {}", first->second), "keep one; it may have max and min");
    if (const auto [first, fresh] = ids.emplace(budget.id, budget.line); !fresh)
      throw Error(ErrorCode::input, fmt::format("{}: a second budget with the id '{}'", place, budget.id),
                  fmt::format("the first is in line {}", first->second));
  }
}

std::string quantity_text(const Quantity& quantity, std::string_view suffix) {
  const std::string number = fmt::format("{:.12g}", quantity.value);
  return quantity.unit.empty() ? number + std::string(suffix) : number + " " + quantity.unit;
}

}  // namespace

std::vector<BudgetSpec> parse_budgets(std::string_view text, std::string_view source) {
  const std::vector<TomlTable> tables = read_tables(text, source, "budget");
  std::vector<BudgetSpec> budgets;
  for (const TomlTable& table : tables) budgets.push_back(Reader(table, source).read());
  refuse_repetitions(budgets, tables, source);
  return budgets;
}

std::vector<BudgetSpec> load_budgets(const std::filesystem::path& path) {
  constexpr std::uintmax_t limit = 1 << 20;  // a file for people
  return parse_budgets(file::read(path, limit), path.string());
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last * seen, and what it has swallowed so far
  std::size_t swallowed = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      swallowed = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++swallowed;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> resource_names() {
  return {"cpuMs", "cpuUserMs", "cpuSystemMs", "maxRssBytes", "pssBytes", "threads", "fds"};
}

std::string_view resource_unit(std::string_view resource) {
  if (resource.starts_with("cpu")) return "ms";
  return resource.ends_with("Bytes") ? "B" : "";
}

std::string limit_text(const BudgetSpec& budget) {
  const bool ratio = budget.kind == BudgetKind::relative || budget.kind == BudgetKind::tax;
  Names parts;
  if (budget.min) parts.push_back("≥ " + quantity_text(*budget.min, ratio ? "×" : ""));
  if (budget.max) parts.push_back("≤ " + quantity_text(*budget.max, ratio ? "×" : ""));
  std::string text = text::join(parts, ", ");
  if (budget.kind == BudgetKind::relative) text += " " + budget.versus;
  return text;
}

}  // namespace tare::gate
