#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/report/bench_table.hpp"
#include "lab/report/layout.hpp"

namespace tare::report {

/// A report for a terminal as it grows, line by line.
class Sections {
 public:
  explicit Sections(const RenderOptions& options) : options_(options) {}

  /// A labelled paragraph; nothing when there is no text.
  void say(std::string_view label, const std::string& text, Tone tone = Tone::plain) {
    if (!text.empty()) out_ += paragraph(label, text, options_.width, options_.colour, tone);
  }

  /// One paragraph each, of which the first has the label.
  void say_each(std::string_view label, const std::vector<std::string>& lines, Tone tone = Tone::plain) {
    for (const std::string& line : lines) say(&line == lines.data() ? label : "", line, tone);
  }

  void add(const Table& table) { out_ += lay_out(table, options_.width, options_.colour); }
  void add_flow(const std::string& text) { out_ += flow(text, options_.width); }
  /// One empty line, however many sections ask for it.
  void blank() {
    if (!out_.ends_with("\n\n")) out_ += '\n';
  }

  const RenderOptions& options() const { return options_; }
  std::string take() { return std::move(out_); }

 private:
  const RenderOptions& options_;
  std::string out_;
};

}  // namespace tare::report
