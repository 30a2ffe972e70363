#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/verdict/compare.hpp"

namespace tare::verdict {
namespace {

std::string percent(double share) {
  return fmt::format("{} %", text::significant(share * 100));
}

Ruling unclear(std::string reason) {
  return {Change::unclear, report::Verdict::inconclusive, std::move(reason)};
}

Ruling moved(bool up, report::Better better) {
  const bool worse = up == (better == report::Better::lower);
  return {worse ? Change::worse : Change::better, worse ? report::Verdict::fail : report::Verdict::pass, {}};
}

/// What would make a significant p possible, or likely.
std::string what_it_needs(const Entry& entry, const Rules& rules) {
  const std::uint64_t processes = std::min(entry.base_processes, entry.now_processes);
  if (entry.pairs != processes) return "more rounds";
  const std::uint64_t enough = enough_processes(rules.pairing, rules.figures);
  return processes < enough ? fmt::format("{} processes ({})", enough, rules.repeat_flag) : "more processes";
}

/// Without a ratio, as over a base of zero, only the difference can tell.
Ruling by_difference(const Entry& entry) {
  const auto [low, high] = *entry.difference_interval;
  if (low == 0 && high == 0) return {Change::same, report::Verdict::pass, {}};
  if (low <= 0 && high >= 0) return unclear("no ratio, and the interval of the difference holds 0");
  if (entry.p_adjusted.value_or(1) > alpha) return unclear("no ratio, and too few samples for a difference");
  Ruling ruling = moved(low > 0, entry.better);
  ruling.reason = "by the difference: there is no ratio to a base of 0";
  return ruling;
}

}  // namespace

std::uint64_t enough_processes(measure::Pairing pairing, std::size_t figures) {
  const double largest = alpha / static_cast<double>(std::max<std::size_t>(figures, 1));
  constexpr std::uint64_t most = 1000;
  double choices = 1;  // 2 of so many orders are the most extreme
  for (std::uint64_t n = 1; n < most; ++n) {
    const auto k = static_cast<double>(n);
    choices *= pairing == measure::Pairing::paired ? 2 : (2 * k) * (2 * k - 1) / (k * k);
    if (2 / choices <= largest) return n;
  }
  return most;
}

Ruling rule(const Entry& entry, const Rules& rules) {
  const double tolerance = rules.tolerance;
  if (!entry.base || !entry.now) return {Change::missing, report::Verdict::unmeasured, entry.reason};
  if (!entry.ratio && entry.difference_interval) return by_difference(entry);
  if (!entry.interval || !entry.ratio) return unclear(entry.reason.value_or("no interval"));
  const auto [low, high] = *entry.interval;
  const double visible = entry.minimum_detectable.value_or(0);
  if (low > 1 + tolerance || high < 1 - tolerance) {
    if (low <= 1 + visible && high >= 1 - visible)
      return unclear(fmt::format("equal lanes differ by up to {} here", percent(visible)));
    if (!entry.p_adjusted) return unclear(entry.reason.value_or("no test of significance"));
    if (*entry.p_adjusted > alpha) {
      return unclear(fmt::format("p {} after Holm's correction over {} figures: needs {}",
                                 text::significant(*entry.p_adjusted), rules.figures,
                                 what_it_needs(entry, rules)));
    }
    return moved(low > 1, entry.better);
  }
  if (low >= 1 - tolerance && high <= 1 + tolerance) {
    if (visible > tolerance) {
      return unclear(fmt::format("the tolerance of {} is below the {} by which equal lanes differ here",
                                 percent(tolerance), percent(visible)));
    }
    return {Change::same, report::Verdict::pass, {}};
  }
  return unclear("the interval holds changes within and beyond the tolerance");
}

}  // namespace tare::verdict
