#include "lab/bench/common/flags.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::bench {
namespace {

std::string name_of(std::string_view target) {
  return std::string(target.substr(0, target.find('=')));
}

}  // namespace

std::uint64_t number(std::string_view flag, std::string_view text, WholeRange range) {
  return static_cast<std::uint64_t>(whole_number(flag, text, range));
}

std::uint64_t seed_number(std::string_view text) {
  return number("--seed", text, {0, std::numeric_limits<std::int64_t>::max()});
}

std::vector<std::string> list(std::string_view flag, std::string_view text) {
  std::vector<std::string> items;
  for (const std::string& part : text::split(text, ',')) {
    const std::string item(text::trim(part));
    if (item.empty()) throw Error(ErrorCode::usage, fmt::format("{} has an empty item in '{}'", flag, text));
    if (std::find(items.begin(), items.end(), item) != items.end()) {
      throw Error(ErrorCode::usage, fmt::format("{} names '{}' twice", flag, item));
    }
    items.push_back(item);
  }
  return items;
}

std::vector<std::uint64_t> number_list(std::string_view flag, std::string_view text, WholeRange range) {
  std::vector<std::uint64_t> values;
  for (const std::string& item : list(flag, text)) {
    const std::uint64_t value = number(flag, item, range);
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      throw Error(ErrorCode::usage, fmt::format("{} names '{}' twice", flag, value));
    }
    values.push_back(value);
  }
  return values;
}

std::vector<std::string> target_list(const std::optional<std::string>& names,
                                     const std::vector<std::string>& extra,
                                     const std::vector<std::string>& fallback) {
  std::vector<std::string> targets = names ? list("--targets", *names) : fallback;
  for (const std::string& target : targets) {
    if (target.find('=') != std::string::npos) {
      throw Error(ErrorCode::usage, fmt::format("--targets takes names, got '{}'", target), "",
                  fmt::format("add it with --target '{}'", target));
    }
  }
  for (const std::string& one : extra) {
    if (one.find('=') == std::string::npos) {
      throw Error(
          ErrorCode::usage,
          fmt::format("--target must be name=driver:COMMAND, name=cmd:COMMAND or name=copy:TARGET, got '{}'",
                      one));
    }
    targets.push_back(one);
  }
  std::set<std::string> known;
  for (const std::string& target : targets) {
    if (!known.insert(name_of(target)).second) {
      throw Error(ErrorCode::usage, fmt::format("target '{}' is named twice", name_of(target)));
    }
  }
  return targets;
}

void check_range(std::string_view source, std::string_view name, std::uint64_t value, WholeRange range) {
  if (value >= static_cast<std::uint64_t>(range.low) && value <= static_cast<std::uint64_t>(range.high))
    return;
  throw Error(ErrorCode::input, fmt::format("{}: config.{}", source, name),
              fmt::format("must be {} to {}, got {}", range.low, range.high, value));
}

void check_same(std::string_view source, std::string_view flag, bool given, bool equal) {
  if (!given || equal) return;
  throw Error(ErrorCode::input, fmt::format("cannot resume {}", source),
              fmt::format("it was run with another {}", flag),
              "leave the flag out, or start a new run with --output");
}

}  // namespace tare::bench
