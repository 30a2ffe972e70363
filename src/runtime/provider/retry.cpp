#include "runtime/provider/retry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/text.hpp"

namespace tare::provider {
namespace {

using std::chrono::milliseconds;

constexpr double longest_wait_ms = 1e12;  // what does not fit is no wait that anyone means

std::optional<milliseconds> to_wait(std::string_view text, double unit_ms) {
  const auto number = text::to_double(text::trim(text));
  if (!number || !std::isfinite(*number) || *number < 0 || *number * unit_ms > longest_wait_ms) return {};
  return milliseconds(std::llround(*number * unit_ms));
}

std::optional<int> digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return {};
  return value;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT", the only form of a date that servers may send today.
std::optional<WallTime> http_date(std::string_view text) {
  constexpr std::string_view shape = "aaa, 00 aaa 0000 00:00:00 GMT";
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != shape.size() || !text.ends_with(" GMT")) return {};
  const auto month = std::ranges::find(months, text.substr(8, 3));
  const auto day = digits(text.substr(5, 2));
  const auto year = digits(text.substr(12, 4));
  const auto hour = digits(text.substr(17, 2));
  const auto minute = digits(text.substr(20, 2));
  const auto second = digits(text.substr(23, 2));
  if (month == months.end() || !day || !year || !hour || !minute || !second) return {};
  const std::chrono::year_month_day date{
      std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return {};
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

bool may_try_again(FailureKind kind) {
  return kind == FailureKind::unreachable || kind == FailureKind::rate_limited ||
         kind == FailureKind::overloaded || kind == FailureKind::cut;
}

}  // namespace

std::optional<milliseconds> next_attempt(const RetryPolicy& policy, const Failure& failure, unsigned failed,
                                         double random) {
  if (failed >= policy.attempts || !may_try_again(failure.kind())) return {};
  const milliseconds asked = failure.retry_after().value_or(milliseconds(0));
  if (asked > policy.patience) return {};
  const unsigned doublings = std::min(failed == 0 ? 0 : failed - 1, 20U);
  const milliseconds span = std::min(policy.base * (std::int64_t{1} << doublings), policy.ceiling);
  const auto spread = [&](milliseconds whole) {
    return milliseconds(std::llround(static_cast<double>(whole.count()) * random / 2));
  };
  return std::max(span / 2 + spread(span),
                  asked + (asked.count() > 0 ? spread(policy.base) : milliseconds(0)));
}

std::optional<milliseconds> retry_after(const net::Headers& headers, WallTime now) {
  if (const auto ms = net::find(headers, "retry-after-ms")) {
    if (const auto wait = to_wait(*ms, 1)) return wait;
  }
  const auto text = net::find(headers, "retry-after");
  if (!text) return {};
  if (const auto wait = to_wait(*text, 1'000)) return wait;
  const auto date = http_date(text::trim(*text));
  if (!date) return {};
  return std::max(milliseconds(0), *date - now);
}

}  // namespace tare::provider
