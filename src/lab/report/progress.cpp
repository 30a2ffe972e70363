#include "lab/report/progress.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/layout.hpp"

namespace tare::report {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds redraw = 100ms;
constexpr Nanoseconds before_an_estimate = 2s;
constexpr double memory_seconds = 30;
constexpr std::size_t bar_cells = 22;
constexpr std::string_view erase_line = "\r\x1b[2K";

double seconds(Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string bar(std::uint64_t done, std::uint64_t total) {
  const double share =
      total == 0 ? 0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto full = static_cast<std::size_t>(share * bar_cells);
  std::string out;
  for (std::size_t i = 0; i < bar_cells; ++i) out += i < full ? "█" : "░";
  return out;
}

}  // namespace

Progress::Progress(Terminal& terminal, const Clock& clock) : terminal_(terminal), clock_(clock) {}

void Progress::learn(const ProgressStep& step) {
  const Instant now = clock_.now();
  const bool anew = !started_ || step.done < done_ || step.total != total_;
  if (anew) {
    started_ = now;
    seconds_ = pieces_ = 0;
  } else if (step.done > done_) {
    const double taken = seconds(now - seen_);
    const double keep = std::exp(-taken / memory_seconds);
    seconds_ = seconds_ * keep + taken;
    pieces_ = pieces_ * keep + static_cast<double>(step.done - done_);
  }
  if (anew || step.done > done_) seen_ = now;
  done_ = step.done;
  total_ = step.total;
}

std::optional<Nanoseconds> Progress::time_left() const {
  if (!started_ || pieces_ <= 0 || seen_ - *started_ < before_an_estimate) return std::nullopt;
  const auto left = static_cast<double>(total_ - std::min(done_, total_));
  const double estimate = left * seconds_ / pieces_;
  if (estimate > 1e9) return std::nullopt;
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(estimate));
}

std::string Progress::line(const ProgressStep& step, std::size_t width) const {
  const auto left = time_left();
  const std::string name = text::one_line(step.row);
  const std::string tail = (step.rounds > 0 ? fmt::format("{}/{}", step.round, step.rounds) : "") +
                           (left ? fmt::format("  {} left", clock_text(*left)) : "");
  // A line as wide as the terminal would wrap when the cursor moves on, so one cell stays free.
  const std::string whole = fmt::format("  {}  {}  {}", bar(step.done, step.total), name, tail);
  if (text::width(whole) < width) return whole;
  const std::string without_bar = fmt::format("{}  {}", name, tail);
  if (text::width(without_bar) < width) return without_bar;
  return text::width(tail) < width ? tail : std::string();
}

void Progress::update(const ProgressStep& step) {
  const TerminalFacts facts = terminal_.facts();
  if (!facts.interactive) return;
  learn(step);
  const Instant now = clock_.now();
  if (drawn_ && now - *drawn_ < redraw) return;
  drawn_ = now;
  terminal_.write(std::string(erase_line) + line(step, facts.width));
}

void Progress::update(std::string_view label, std::uint64_t done, std::uint64_t total) {
  update(ProgressStep{std::string(label), done, total, done, total});
}

void Progress::finish() {
  if (drawn_) terminal_.write(erase_line);
  drawn_.reset();
  started_.reset();
}

std::string clock_text(Nanoseconds duration) {
  const auto all = std::max<std::int64_t>(0, std::chrono::round<std::chrono::seconds>(duration).count());
  const std::int64_t hours = all / 3600;
  const std::int64_t minutes = all / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60);
  return fmt::format("{}:{:02}", minutes, all % 60);
}

}  // namespace tare::report
