#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "lab/report/terminal.hpp"

namespace tare::report {

/// Where a run is: `done` of `total` pieces of work of the whole run, `round` of `rounds` in this row.
struct ProgressStep {
  std::string row;
  std::uint64_t round = 0;
  std::uint64_t rounds = 0;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

/// One live line of a terminal, rewritten in place:
/// `██████████████░░░░░░░░  nested_8  128/200  1:12 left`.
/// Call it between samples only: it writes to the terminal. Where lines can't be rewritten (a pipe, a
/// file, a dumb terminal) it writes nothing. Not thread-safe.
class Progress {
 public:
  /// Both must outlive this object.
  Progress(Terminal& terminal, const Clock& clock);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Draws at most ten times a second; between that it only counts.
  void update(const ProgressStep& step);

  /// A step whose row and run are one: shows `label  done/total`.
  void update(std::string_view label, std::uint64_t done, std::uint64_t total);

  /// Erases the line. The next update starts anew.
  void finish();

  /// How long the rest takes at the pace of late: an average over time that forgets what is older than
  /// about half a minute, as rows differ in what a sample costs. Nothing until two seconds of work are seen.
  std::optional<Nanoseconds> time_left() const;

 private:
  void learn(const ProgressStep& step);
  std::string line(const ProgressStep& step, std::size_t width) const;

  Terminal& terminal_;
  const Clock& clock_;
  std::optional<Instant> started_;
  std::optional<Instant> drawn_;
  Instant seen_{};  // when done_ was reached
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  double seconds_ = 0;  // decayed sums: time, and pieces of work done in it
  double pieces_ = 0;
};

/// A duration as a person reads a clock: "0:09", "1:12", "2:03:04".
std::string clock_text(Nanoseconds duration);

}  // namespace tare::report
