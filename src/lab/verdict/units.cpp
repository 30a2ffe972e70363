#include "lab/verdict/units.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace tare::verdict {
namespace {

enum class Dimension { time, size, number };

struct Unit {
  std::string_view name;
  Dimension dimension;
  double in_base;  ///< nanoseconds, bytes, ones
};

constexpr std::array<Unit, 15> units{{{"ns", Dimension::time, 1},
                                      {"us", Dimension::time, 1e3},
                                      {"µs", Dimension::time, 1e3},
                                      {"ms", Dimension::time, 1e6},
                                      {"s", Dimension::time, 1e9},
                                      {"min", Dimension::time, 6e10},
                                      {"B", Dimension::size, 1},
                                      {"bytes", Dimension::size, 1},
                                      {"KB", Dimension::size, 0x1p10},
                                      {"KiB", Dimension::size, 0x1p10},
                                      {"MB", Dimension::size, 0x1p20},
                                      {"MiB", Dimension::size, 0x1p20},
                                      {"GB", Dimension::size, 0x1p30},
                                      {"GiB", Dimension::size, 0x1p30},
                                      {"", Dimension::number, 1}}};

const Unit* find_unit(std::string_view name) {
  const auto found = std::ranges::find(units, name, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> unit_factor(std::string_view from, std::string_view to) {
  if (from == to) return 1.0;
  const Unit* a = find_unit(from);
  const Unit* b = find_unit(to);
  if (a == nullptr || b == nullptr || a->dimension != b->dimension) return std::nullopt;
  return a->in_base / b->in_base;
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  text = text::trim(text);
  const std::size_t end = text.find_first_not_of("+-0123456789.eE");
  const std::string_view digits = text::trim(text.substr(0, end));
  const std::string_view unit = end == std::string_view::npos ? "" : text::trim(text.substr(end));
  const auto value = text::to_double(digits.starts_with('+') ? digits.substr(1) : digits);
  if (!value || (unit != "%" && find_unit(unit) == nullptr)) return std::nullopt;
  return Quantity{*value, std::string(unit)};
}

}  // namespace tare::verdict
