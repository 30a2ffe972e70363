#include "runtime/provider/fault.hpp"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::provider {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 9> fault_names{
    {{"stall", FaultKind::stall},
     {"cut", FaultKind::cut},
     {"short", FaultKind::shorten},
     {"garbage", FaultKind::garbage},
     {"bad-utf8", FaultKind::bad_utf8},
     {"split", FaultKind::split},
     {"slow", FaultKind::slow},
     {"error", FaultKind::error},
     {"html", FaultKind::html}}};

class FaultParser {
 public:
  explicit FaultParser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  Fault parse() const {
    const std::vector<std::string> parts = text::split(text_, ',');
    Fault fault = named(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) read_setting(fault, parts[i]);
    return fault;
  }

 private:
  Fault named(const std::string& name) const {
    for (const auto& [known, kind] : fault_names) {
      if (name == known) return {.kind = kind};
    }
    const auto status = text::to_int(name);
    if (!status) refuse(fmt::format("no fault '{}'", name));
    if (*status < 400 || *status > 599) refuse(fmt::format("status {} is not 400 to 599", *status));
    return {.kind = FaultKind::status, .status = static_cast<int>(*status)};
  }

  void read_setting(Fault& fault, std::string_view setting) const {
    const std::size_t equals = setting.find('=');
    const std::string_view name = setting.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : setting.substr(equals + 1);
    if (name == "after") {
      fault.after = whole(setting, value, 0);
    } else if (name == "times") {
      fault.times = whole(setting, value, 1);
    } else if (name == "every") {
      fault.every = whole(setting, value, 1);
    } else if (name == "delay" && fault.kind == FaultKind::slow) {
      fault.delay = time(setting, value, 1);
    } else if (name == "retry-after" && fault.kind == FaultKind::status) {
      fault.retry_after = time(setting, value, 1'000);
    } else {
      refuse(fmt::format("it has no setting '{}'", name));
    }
  }

  unsigned whole(std::string_view setting, std::string_view value, std::int64_t least) const {
    constexpr std::int64_t most = 1'000'000;
    const auto number = text::to_int(value);
    if (!number || *number < least || *number > most)
      refuse(fmt::format("'{}' is not {} to {}", setting, least, most));
    return static_cast<unsigned>(*number);
  }

  std::chrono::milliseconds time(std::string_view setting, std::string_view value, double unit_ms) const {
    constexpr double most_ms = 3'600'000;
    const auto number = text::to_double(value);
    if (!number || !(*number >= 0) || *number * unit_ms > most_ms)
      refuse(fmt::format("'{}' is not a time of up to an hour", setting));
    return std::chrono::milliseconds(std::llround(*number * unit_ms));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::input, fmt::format("{} '{}' is not a fault", what_, text_), why,
                "known are stall, cut, short, garbage, bad-utf8, split, slow, error, html and a status of "
                "400 to 599");
  }

  std::string_view text_;
  std::string_view what_;
};

}  // namespace

Fault parse_fault(std::string_view text, std::string_view what) {
  return FaultParser(text, what).parse();
}

std::string name_of(const Fault& fault) {
  for (const auto& [name, kind] : fault_names) {
    if (kind == fault.kind) return std::string(name);
  }
  return std::to_string(fault.status);
}

bool FaultCounter::strikes(const Fault& fault, const std::string& key) {
  if (!fault.times && fault.every == 1) return true;
  constexpr std::size_t most_keys = 10'000;
  if (seen_.size() >= most_keys && !seen_.contains(key)) seen_.clear();
  const unsigned seen = ++seen_[key];
  if (seen % fault.every != 0) return false;
  return !fault.times || seen / fault.every <= *fault.times;
}

}  // namespace tare::provider
