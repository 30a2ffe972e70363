#include "lab/verdict/compare_markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/markdown.hpp"
#include "lab/verdict/compare_words.hpp"

namespace tare::verdict {
namespace {

using report::Figure;
using report::Footnotes;
using report::markdown_code;
using report::markdown_head;
using report::markdown_line;
using report::markdown_text;
using Cells = std::vector<std::string>;
using Entries = std::vector<const Entry*>;

/// "27.9 ms", or "n/a" whose reason stands in a footnote.
std::string figure_cell(const Figure& figure, const std::string& unit) {
  if (!figure) return "n/a";
  return markdown_text(unit.empty() ? figure.text : figure.text + " " + unit);
}

std::string difference_cell(const Entry& entry) {
  const Figure difference = difference_figure(entry);
  std::string cell = figure_cell(difference, entry.unit);
  if (difference && entry.difference_interval)
    cell += " (" + markdown_text(report::interval_text(*entry.difference_interval)) + ")";
  return cell;
}

/// The word of an entry; bold when its verdict is that something is wrong or missing.
std::string change_cell(const Entry& entry, Footnotes& notes) {
  std::string word = change_text(entry);
  if (tone_of(entry) == report::Tone::bad || entry.change == Change::missing) word = "**" + word + "**";
  return entry.reason ? word + notes.mark(*entry.reason) : word;
}

class ComparisonMarkdown {
 public:
  explicit ComparisonMarkdown(const ComparisonDocument& document) : document_(document) {}

  std::string build() {
    title();
    for (const Comparison& comparison : document_.comparisons) one(comparison);
    how();
    return std::move(out_);
  }

 private:
  void title();
  void one(const Comparison& comparison);
  void sides(const Comparison& comparison);
  void differences(const Comparison& comparison);
  void figures(const Comparison& comparison);
  void table(const Comparison& comparison, const Entries& entries, Footnotes& notes);
  void list(const std::string& title, const std::vector<std::string>& items);
  void how();

  void paragraph(const std::string& text) { out_ += "\n" + text + "\n"; }

  const ComparisonDocument& document_;
  std::string out_;
};

void ComparisonMarkdown::title() {
  if (document_.comparisons.size() == 1) {
    const Comparison& only = document_.comparisons.front();
    out_ += fmt::format("# Comparison: {}\n", markdown_text(headline(only).text));
    return;
  }
  out_ += fmt::format("# Comparison of {} with {}\n\n", counted(document_.comparisons.size(), "run"),
                      markdown_code(document_.base.source));
  for (const Comparison& comparison : document_.comparisons) {
    out_ += fmt::format("- {}: {}\n", markdown_code(comparison.now.source),
                        markdown_text(headline(comparison).text));
  }
}

void ComparisonMarkdown::one(const Comparison& comparison) {
  if (document_.comparisons.size() > 1) {
    out_ += fmt::format("\n## {}: {}\n", markdown_code(comparison.now.source),
                        markdown_text(headline(comparison).text));
  }
  sides(comparison);
  for (const std::string& warning : warnings(comparison)) paragraph("**" + markdown_text(warning) + "**");
  differences(comparison);
  figures(comparison);
  list("Only in the base", comparison.missing);
  list("Only in the new run", comparison.extra);
}

void ComparisonMarkdown::sides(const Comparison& comparison) {
  out_ += markdown_head({"", "run", "started", "tool", "host"}, 5);
  const auto row = [&](std::string_view name, const Side& side) {
    const std::string cut = side.complete ? "" : " (cut short)";
    out_ +=
        markdown_line({std::string(name), markdown_code(side.source), markdown_text(side.started_at) + cut,
                       markdown_text(side.tool), markdown_text(side.host)});
  };
  row("base", document_.base);
  row("new", comparison.now);
  if (comparison.paired)
    paragraph("Both lanes are of one run, and shared its rounds: they are compared in pairs.");
}

void ComparisonMarkdown::differences(const Comparison& comparison) {
  if (comparison.differences.empty()) return;
  out_ += markdown_head({"what differs", "base", "new"}, 3);
  for (const Difference& difference : comparison.differences) {
    out_ += markdown_line(
        {markdown_text(difference.what), markdown_text(difference.base), markdown_text(difference.now)});
  }
}

void ComparisonMarkdown::figures(const Comparison& comparison) {
  const Reading reading = read_order(comparison);
  Entries shown = reading.main;
  shown.insert(shown.end(), reading.changed.begin(), reading.changed.end());
  Footnotes notes;
  table(comparison, shown, notes);
  const auto footnotes = [&](const Footnotes& of) {
    std::vector<std::string> lines;
    for (const std::string& note : of.lines()) lines.push_back(markdown_text(note));
    if (!lines.empty()) paragraph(text::join(lines, "  \n"));
  };
  footnotes(notes);
  if (reading.rest.empty()) return;
  // GitHub reads Markdown inside of it only after an empty line.
  out_ += fmt::format("\n<details>\n<summary>{} of other metrics and quantiles: {}</summary>\n",
                      counted(reading.rest.size(), "figure"), tally_text(tally(reading.rest)));
  Footnotes rest;
  table(comparison, reading.rest, rest);
  footnotes(rest);
  out_ += "\n</details>\n";
}

void ComparisonMarkdown::table(const Comparison& comparison, const Entries& entries, Footnotes& notes) {
  if (entries.empty()) return;
  out_ += markdown_head({"row", "lane", "metric", "change", "base", "new", "ratio (95 % CI)",
                         "new − base (95 % CI)", "δ", "p (Holm)", "n", "detectable"},
                        4);
  for (const Entry* entry : entries) {
    const Entry& e = *entry;
    const std::string lane = e.target == e.new_target
                                 ? markdown_code(e.target)
                                 : markdown_code(e.new_target) + " ÷ " + markdown_code(e.target);
    out_ += markdown_line({markdown_code(e.row), lane,
                           markdown_code(e.metric) + " " + markdown_text(e.quantile), change_cell(e, notes),
                           figure_cell(base_figure(e), e.unit), figure_cell(now_figure(e), e.unit),
                           figure_cell(ratio_figure(e), ""), difference_cell(e), effect_text(e),
                           markdown_text(p_text(e)), n_text(comparison, e), detectable_text(e)});
  }
}

void ComparisonMarkdown::list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out_ += "\n" + title + ":\n\n";
  for (const std::string& item : items) out_ += "- " + markdown_text(item) + "\n";
}

void ComparisonMarkdown::how() {
  const std::vector<std::string> lines = how_lines(document_);
  if (lines.empty()) return;
  out_ += "\n";
  for (const std::string& line : lines) out_ += "- " + markdown_text(line) + "\n";
}

}  // namespace

std::string markdown(const ComparisonDocument& document) {
  return ComparisonMarkdown(document).build();
}

}  // namespace tare::verdict
