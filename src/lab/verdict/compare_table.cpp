#include "lab/verdict/compare_table.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"
#include "lab/verdict/compare_words.hpp"

namespace tare::verdict {
namespace {

using report::Cell;
using report::Figure;
using report::Footnotes;
using report::Tone;
using Entries = std::vector<const Entry*>;

/// Columns in reading order.
enum class Show { base, now, ratio, difference, effect, n, detectable, change };

struct ColumnWords {
  Show show;
  std::string head;
  std::string name;  ///< where it is missing
};

const std::array<ColumnWords, 8>& all_columns() {
  static const std::array<ColumnWords, 8> columns{
      {{Show::base, "base", "base and new"},
       {Show::now, "new", ""},
       {Show::ratio, "ratio (95 % CI)", ""},
       {Show::difference, "new − base", "new − base"},
       {Show::effect, "δ", "effect size δ"},
       {Show::n, "n", "n"},
       {Show::detectable, "detectable", "smallest detectable change"},
       {Show::change, "change", ""}}};
  return columns;
}

/// What a narrow terminal loses first. The ratio with its interval and the change always stay.
const std::vector<std::vector<Show>>& dispensable() {
  static const std::vector<std::vector<Show>> steps{
      {Show::effect}, {Show::difference}, {Show::detectable}, {Show::base, Show::now}, {Show::n}};
  return steps;
}

bool has(const std::set<Show>& shows, Show show) {
  return shows.contains(show);
}

template <class Text>
bool all_alike(const Entries& entries, Text text_of) {
  return std::ranges::all_of(entries,
                             [&](const Entry* e) { return text_of(*e) == text_of(*entries.front()); });
}

/// One table of entries. What all of them share (lane, metric, unit) stands in its title.
class EntryTable {
 public:
  EntryTable(std::string name, const Comparison& comparison, const Entries& entries,
             const TableOptions& options, Footnotes& notes)
      : name_(std::move(name)),
        comparison_(comparison),
        entries_(entries),
        options_(options),
        notes_(notes),
        one_lane_(all_alike(entries, lane_text)),
        one_metric_(all_alike(entries, metric_text)),
        one_quantile_(all_alike(entries, [](const Entry& e) { return e.quantile; })) {}

  std::string build() {
    for (const ColumnWords& column : all_columns()) {
      if (says_something(column.show)) shows_.insert(column.show);
    }
    Footnotes before = notes_;
    report::Table table = make();
    for (const std::vector<Show>& step : dispensable()) {
      if (natural_width(table) <= options_.width) break;
      for (const Show show : step) {
        if (shows_.erase(show) > 0) note_left_out(show);
      }
      notes_ = before;
      table = make();
    }
    if (natural_width(table) <= options_.width) return lay_out(table, options_.width, options_.colour);
    return one_line_an_entry();
  }

  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  bool says_something(Show show) const {
    switch (show) {
      case Show::effect:
        return std::ranges::any_of(entries_, [](const Entry* e) { return e->effect_size.has_value(); });
      case Show::detectable:
        return std::ranges::any_of(entries_,
                                   [](const Entry* e) { return e->minimum_detectable.has_value(); });
      default:
        return true;
    }
  }

  void note_left_out(Show show) {
    for (const ColumnWords& column : all_columns()) {
      if (column.show == show && !column.name.empty()) left_out_.push_back(column.name);
    }
  }

  std::string title() const {
    std::vector<std::string> parts{name_};
    if (one_lane_) parts.push_back(lane_text(*entries_.front()));
    if (one_metric_) {
      parts.push_back(metric_text(*entries_.front()));
    } else if (one_quantile_) {
      parts.push_back(entries_.front()->quantile);
    }
    parts.push_back(entries_.front()->unit);
    std::erase(parts, "");
    return text::join(parts, ", ");
  }

  report::Table make() {
    report::Table table;
    table.title = title();
    table.label_columns = 1 + (one_lane_ ? 0 : 1) + (one_metric_ ? 0 : 1);
    report::Lanes columns;
    for (const ColumnWords& column : all_columns()) {
      const bool words = column.show == Show::change || column.show == Show::ratio;
      if (has(shows_, column.show))
        columns.columns.push_back({column.head, words ? report::Align::left : report::Align::right});
    }
    table.lanes.push_back(std::move(columns));
    for (const Entry* entry : entries_) {
      report::TableLine line{labels(*entry), {}, ""};
      for (const Show show : shows_) line.cells.push_back(cell(*entry, show));
      table.lines.push_back(std::move(line));
    }
    return table;
  }

  std::vector<std::string> labels(const Entry& entry) const {
    std::vector<std::string> labels{entry.row};
    if (!one_lane_) labels.push_back(lane_text(entry));
    if (!one_metric_) labels.push_back(one_quantile_ ? entry.metric : metric_text(entry));
    return labels;
  }

  std::string with_unit(const Figure& figure, const Entry& entry) const {
    if (!figure) return "n/a";
    return entry.unit == entries_.front()->unit || entry.unit.empty() ? figure.text
                                                                      : figure.text + " " + entry.unit;
  }

  Cell cell(const Entry& entry, Show show) {
    switch (show) {
      case Show::base:
        return {with_unit(base_figure(entry), entry)};
      case Show::now:
        return {with_unit(now_figure(entry), entry)};
      case Show::ratio:
        return {with_ratio(entry)};
      case Show::difference:
        return {with_unit(difference_figure(entry), entry)};
      case Show::effect:
        return {effect_text(entry)};
      case Show::n:
        return {n_text(comparison_, entry)};
      case Show::detectable:
        return {detectable_text(entry)};
      case Show::change:
        return {change_text(entry) + mark(entry), tone_of(entry)};
    }
    return {};
  }

  static std::string with_ratio(const Entry& entry) {
    const Figure ratio = ratio_figure(entry);
    return ratio ? ratio.text : "n/a";
  }

  std::string mark(const Entry& entry) { return entry.reason ? notes_.mark(*entry.reason) : std::string(); }

  std::string one_line_an_entry() {
    const report::LongWords long_words =
        options_.width < report::narrowest ? report::LongWords::whole : report::LongWords::broken;
    std::string out = report::flow(title(), options_.width);
    for (const Entry* entry : entries_) {
      std::vector<std::string> words = labels(*entry);
      words.push_back(with_ratio(*entry));
      words.push_back(change_text(*entry) + mark(*entry));
      for (const std::string& line : report::wrap(text::join(words, " "), options_.width, long_words))
        out += report::paint(line, tone_of(*entry), options_.colour) + '\n';
    }
    return out;
  }

  std::string name_;
  const Comparison& comparison_;
  const Entries& entries_;
  const TableOptions& options_;
  Footnotes& notes_;
  bool one_lane_;
  bool one_metric_;
  bool one_quantile_;
  std::set<Show> shows_;
  std::vector<std::string> left_out_;
};

class ComparisonReport {
 public:
  ComparisonReport(const ComparisonDocument& document, const TableOptions& options)
      : document_(document), options_(options) {}

  std::string build() {
    verdicts();
    sides();
    for (const Comparison& comparison : document_.comparisons) one(comparison);
    blank_line();
    say_each("how", how_lines(document_));
    say("wrote", text::join(options_.wrote, " · "));
    return std::move(out_);
  }

 private:
  void say(std::string_view label, const std::string& text, Tone tone = Tone::plain) {
    if (!text.empty()) out_ += report::paragraph(label, text, options_.width, options_.colour, tone);
  }

  void say_each(std::string_view label, const std::vector<std::string>& lines, Tone tone = Tone::plain) {
    for (const std::string& line : lines) say(&line == lines.data() ? label : "", line, tone);
  }

  void blank_line() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void verdicts();
  void sides();
  void one(const Comparison& comparison);
  void figures(const Comparison& comparison);
  void table(const std::string& name, const Comparison& comparison, const Entries& entries, Footnotes& notes);

  const ComparisonDocument& document_;
  const TableOptions& options_;
  std::set<std::string> left_out_;
  std::string out_;
};

void ComparisonReport::verdicts() {
  for (const Comparison& comparison : document_.comparisons) {
    const Headline line = headline(comparison);
    const std::string whose = document_.comparisons.size() > 1 ? comparison.now.source + ": " : "";
    say(&comparison == document_.comparisons.data() ? "verdict" : "", whose + line.text, line.tone);
  }
}

void ComparisonReport::sides() {
  say("base", run_text(document_.base));
  say("", document_.base.host);
}

void ComparisonReport::one(const Comparison& comparison) {
  if (document_.comparisons.size() > 1) blank_line();
  say("new", run_text(comparison.now));
  if (comparison.now.host != document_.base.host) say("", comparison.now.host);
  if (comparison.paired)
    say("", "both lanes are of one run, and shared its rounds: they are compared in pairs");
  say_each("!", warnings(comparison), Tone::warn);
  std::vector<std::string> differences;
  for (const Difference& difference : comparison.differences)
    differences.push_back(difference_text(difference));
  say("differs", text::join(differences, " · "));
  figures(comparison);
  say("base only", text::join(comparison.missing, " · "), Tone::warn);
  say("new only", text::join(comparison.extra, " · "));
}

void ComparisonReport::figures(const Comparison& comparison) {
  const Reading reading = read_order(comparison);
  Entries others = reading.changed;
  Entries hidden = reading.rest;
  if (options_.metrics == Metrics::every) {
    others.insert(others.end(), hidden.begin(), hidden.end());
    std::ranges::sort(others);  // they are elements of one array: the document's order
    hidden.clear();
  }
  Footnotes notes;
  left_out_.clear();
  table("", comparison, reading.main, notes);
  table(hidden.empty() && !reading.rest.empty() ? "other figures" : "also changed", comparison, others,
        notes);
  std::vector<std::string> lines = notes.lines();
  if (!left_out_.empty()) {
    lines.push_back("On a wider terminal: " +
                    text::join(std::vector<std::string>(left_out_.begin(), left_out_.end()), ", ") + ".");
  }
  for (const std::string& line : lines) out_ += report::flow(line, options_.width);
  if (!comparison.entries.empty()) blank_line();
  if (!hidden.empty()) {
    say("not shown",
        fmt::format("{} of other metrics and quantiles: {}; --all shows {}", counted(hidden.size(), "figure"),
                    tally_text(tally(hidden)), hidden.size() == 1 ? "it" : "them"));
  }
}

void ComparisonReport::table(const std::string& name, const Comparison& comparison, const Entries& entries,
                             Footnotes& notes) {
  if (entries.empty()) return;
  EntryTable table(name, comparison, entries, options_, notes);
  blank_line();
  out_ += table.build();
  left_out_.insert(table.left_out().begin(), table.left_out().end());
}

}  // namespace

std::string render(const ComparisonDocument& document, const TableOptions& options) {
  return ComparisonReport(document, options).build();
}

}  // namespace tare::verdict
