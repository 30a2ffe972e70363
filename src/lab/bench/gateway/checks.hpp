#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "lab/report/document.hpp"

namespace tare::gateway_bench {

/// The invariants of a row as they are looked at: how often each held, and where it broke first.
class Checks {
 public:
  Checks() = default;
  explicit Checks(std::vector<report::Invariant> entries) : entries_(std::move(entries)) {}

  /// `expected` and `actual` are asked for their text only where it broke.
  template <std::invocable Expected, std::invocable Actual>
  void check(std::string_view id, bool holds, Expected expected, Actual actual) {
    report::Invariant& entry = entry_of(id);
    entry.checked += 1;
    if (holds) return;
    if (entry.broken == 0) {
      entry.expected = text::cut(expected(), most_bytes);
      entry.actual = text::cut(actual(), most_bytes);
      entry.ok = false;
    }
    entry.broken += 1;
  }
  /// The same with texts that cost nothing.
  void check(std::string_view id, bool holds, std::string_view expected, std::string_view actual) {
    check(id, holds, [&] { return std::string(expected); }, [&] { return std::string(actual); });
  }

  const std::vector<report::Invariant>& all() const { return entries_; }

  /// As if all that was looked at there had been looked at here.
  void merge(const Checks& other) {
    for (const report::Invariant& one : other.entries_) {
      report::Invariant& entry = entry_of(one.id);
      if (entry.broken == 0) {
        const std::uint64_t checked = entry.checked;
        entry = one;
        entry.checked += checked;
      } else {
        entry.checked += one.checked;
        entry.broken += one.broken;
      }
    }
  }

  /// The one of that name alone, if it was looked at.
  Checks only(std::string_view id) const {
    Checks one;
    for (const report::Invariant& entry : entries_) {
      if (entry.id == id) one.entries_.push_back(entry);
    }
    return one;
  }

 private:
  static constexpr std::size_t most_bytes = 500;  ///< of a text: a gateway may say any amount

  report::Invariant& entry_of(std::string_view id) {
    for (report::Invariant& entry : entries_) {
      if (entry.id == id) return entry;
    }
    return entries_.emplace_back(report::Invariant{std::string(id), true, 0, 0, {}, {}});
  }
  std::vector<report::Invariant> entries_;
};

}  // namespace tare::gateway_bench
