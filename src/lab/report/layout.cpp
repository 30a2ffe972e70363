#include "lab/report/layout.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tare::report {
namespace {

constexpr std::size_t label_width = 12;  // of a paragraph
constexpr std::size_t gap = 2;           // between columns
constexpr std::size_t lane_gap = 4;      // between lanes
constexpr std::size_t note_gap = 3;      // before the note

/// The length in bytes of the code point at the front of valid UTF-8.
std::size_t code_point(std::string_view valid) {
  const auto first = static_cast<unsigned char>(valid.front());
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return std::min(length, valid.size());
}

/// The bytes of the longest front of `valid` that takes at most `cells`, but at least one code point.
std::size_t front_that_fits(std::string_view valid, std::size_t cells) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < valid.size()) {
    const std::size_t length = code_point(valid.substr(at));
    used += text::width(valid.substr(at, length));
    if (used > cells && at > 0) break;
    at += length;
  }
  return at;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

LongWords long_words_at(std::size_t width) {
  return width < narrowest ? LongWords::whole : LongWords::broken;
}

constexpr std::string_view item_separator = " · ";

/// As `wrap`, but breaks between items rather than within one.
std::vector<std::string> wrap_items(std::string_view text, std::size_t width, LongWords long_words) {
  std::vector<std::string> lines;
  for (std::string_view rest = text;;) {
    const std::size_t at = rest.find(item_separator);
    const bool last = at == std::string_view::npos;
    const std::string item = text::one_line(rest.substr(0, at)) + (last ? "" : " ·");
    if (!lines.empty() && text::width(lines.back()) + 1 + text::width(item) <= width) {
      lines.back() += ' ' + item;
    } else {
      for (std::string& line : wrap(item, width, long_words)) lines.push_back(std::move(line));
    }
    if (last) return lines;
    rest.remove_prefix(at + item_separator.size());
  }
}

/// A table whose text is safe to print, with the width of everything.
class Grid {
 public:
  explicit Grid(const Table& table);

  std::size_t block_width(std::size_t first, std::size_t last) const;
  std::string block(std::size_t first, std::size_t last, Colour colour) const;
  std::string one_line_a_figure(std::size_t width, Colour colour) const;
  std::size_t lanes() const { return table_.lanes.size(); }

 private:
  std::size_t labels_width() const;
  bool says_something(std::size_t line, std::size_t first, std::size_t last) const;
  std::string labels(std::size_t line) const;
  std::string heads(std::size_t first, std::size_t last) const;
  std::string figures(std::size_t line, std::size_t first, std::size_t last, Colour colour) const;
  std::size_t lane_width(std::size_t lane) const;

  Table table_;
  std::vector<std::size_t> label_widths_;
  std::vector<std::size_t> column_widths_;  // of all lanes, in order, without the marks
  std::vector<std::size_t> mark_widths_;
  std::vector<std::size_t> first_column_;  // of each lane, and one past the last
  std::size_t note_width_ = 0;
  bool has_heads_ = false;
};

Grid::Grid(const Table& table) : table_(table), label_widths_(std::max<std::size_t>(table.label_columns, 1)) {
  table_.title = text::one_line(table_.title);
  for (Lanes& lane : table_.lanes) {
    lane.title = text::one_line(lane.title);
    if (lane.columns.empty()) lane.columns.emplace_back();
    first_column_.push_back(column_widths_.size());
    for (Column& column : lane.columns) {
      column.head = text::one_line(column.head);
      has_heads_ = has_heads_ || !column.head.empty();
      column_widths_.push_back(text::width(column.head));
      mark_widths_.push_back(0);
    }
  }
  first_column_.push_back(column_widths_.size());
  for (TableLine& line : table_.lines) {
    line.labels.resize(label_widths_.size());
    line.cells.resize(column_widths_.size());
    for (std::size_t i = 0; i < line.labels.size(); ++i) {
      line.labels[i] = text::one_line(line.labels[i]);
      label_widths_[i] = std::max(label_widths_[i], text::width(line.labels[i]));
    }
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      line.cells[i].text = text::one_line(line.cells[i].text);
      line.cells[i].mark = text::one_line(line.cells[i].mark);
      column_widths_[i] = std::max(column_widths_[i], text::width(line.cells[i].text));
      mark_widths_[i] = std::max(mark_widths_[i], text::width(line.cells[i].mark));
    }
    line.note = text::one_line(line.note);
    note_width_ = std::max(note_width_, text::width(line.note));
  }
  // A lane is at least as wide as its title.
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    const std::size_t title = text::width(table_.lanes[lane].title);
    const std::size_t now = lane_width(lane);
    if (title > now) column_widths_[first_column_[lane]] += title - now;
  }
}

std::size_t Grid::lane_width(std::size_t lane) const {
  std::size_t width = 0;
  for (std::size_t i = first_column_[lane]; i < first_column_[lane + 1]; ++i) {
    width += column_widths_[i] + mark_widths_[i] + (i > first_column_[lane] ? gap : 0);
  }
  return width;
}

std::size_t Grid::labels_width() const {
  std::size_t width = 0;
  for (const std::size_t label : label_widths_) width += label + (width > 0 && label > 0 ? gap : 0);
  return std::max(width, text::width(table_.title));
}

std::size_t Grid::block_width(std::size_t first, std::size_t last) const {
  std::size_t width = labels_width();
  for (std::size_t lane = first; lane < last; ++lane) width += lane_gap + lane_width(lane);
  return width + (note_width_ > 0 ? note_gap + note_width_ : 0);
}

std::string Grid::labels(std::size_t line) const {
  const auto& now = table_.lines[line].labels;
  std::string out;
  bool same = line > 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    same = same && now[i] == table_.lines[line - 1].labels[i];
    const bool blank = same && i + 1 < now.size();
    if (!out.empty() && label_widths_[i] > 0) out.append(gap, ' ');
    out += pad(blank ? "" : now[i], label_widths_[i], Align::left);
  }
  return pad(out, labels_width(), Align::left);
}

std::string Grid::heads(std::size_t first, std::size_t last) const {
  std::string titles = pad(table_.title, labels_width(), Align::left);
  std::string heads(labels_width(), ' ');
  for (std::size_t lane = first; lane < last; ++lane) {
    const Lanes& group = table_.lanes[lane];
    const Align align = has_heads_ || group.columns.size() > 1 ? Align::left : group.columns.front().align;
    // A title over one column of figures ends where they do.
    const std::size_t marks = align == Align::right ? mark_widths_[first_column_[lane]] : 0;
    titles += std::string(lane_gap, ' ') + pad(group.title, lane_width(lane) - marks, align);
    titles.append(marks, ' ');
    heads.append(lane_gap - gap, ' ');
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      heads.append(gap, ' ');
      const std::size_t column = first_column_[lane] + i;
      heads += pad(group.columns[i].head, column_widths_[column], group.columns[i].align);
      heads.append(mark_widths_[column], ' ');
    }
  }
  std::string out;
  if (titles = without_trailing_spaces(titles); !titles.empty()) out += titles + '\n';
  if (has_heads_) out += without_trailing_spaces(heads) + '\n';
  return out;
}

std::string Grid::figures(std::size_t line, std::size_t first, std::size_t last, Colour colour) const {
  const TableLine& now = table_.lines[line];
  std::string out;
  std::size_t blanks = 0;  // not written unless something follows: no line ends in a space
  const auto put = [&](std::string_view text, std::size_t cells, Align align, Tone tone) {
    const std::size_t missing = cells - std::min(cells, text::width(text));
    if (align == Align::right) blanks += missing;
    if (!text.empty()) {
      out.append(blanks, ' ');
      out += paint(text, tone, colour);
      blanks = 0;
    }
    if (align == Align::left) blanks += missing;
  };
  put(labels(line), labels_width(), Align::left, Tone::plain);
  for (std::size_t lane = first; lane < last; ++lane) {
    blanks += lane_gap - gap;
    for (std::size_t i = first_column_[lane]; i < first_column_[lane + 1]; ++i) {
      blanks += gap;
      const Align align = table_.lanes[lane].columns[i - first_column_[lane]].align;
      put(now.cells[i].text, column_widths_[i], align, now.cells[i].tone);
      put(now.cells[i].mark, mark_widths_[i], Align::left, now.cells[i].tone);
    }
  }
  blanks += note_gap;
  put(now.note, note_width_, Align::left, Tone::plain);
  return without_trailing_spaces(out);
}

bool Grid::says_something(std::size_t line, std::size_t first, std::size_t last) const {
  if (first == 0 && last == lanes()) return true;
  const auto& cells = table_.lines[line].cells;
  return std::any_of(cells.begin() + static_cast<std::ptrdiff_t>(first_column_[first]),
                     cells.begin() + static_cast<std::ptrdiff_t>(first_column_[last]),
                     [](const Cell& cell) { return !cell.text.empty(); });
}

std::string Grid::block(std::size_t first, std::size_t last, Colour colour) const {
  std::string out = heads(first, last);
  for (std::size_t line = 0; line < table_.lines.size(); ++line) {
    if (says_something(line, first, last)) out += figures(line, first, last, colour) + '\n';
  }
  return out;
}

std::string Grid::one_line_a_figure(std::size_t width, Colour colour) const {
  std::string out;
  const auto add = [&](const std::string& text, Tone tone) {
    for (const std::string& part : wrap(text, width, long_words_at(width)))
      out += paint(part, tone, colour) + '\n';
  };
  if (!table_.title.empty()) add(table_.title, Tone::plain);
  for (const TableLine& line : table_.lines) {
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      for (std::size_t i = first_column_[lane]; i < first_column_[lane + 1]; ++i) {
        if (line.cells[i].text.empty()) continue;
        std::vector<std::string> words{line.labels.front(), table_.lanes[lane].title};
        words.insert(words.end(), line.labels.begin() + 1, line.labels.end());
        words.push_back(table_.lanes[lane].columns[i - first_column_[lane]].head);
        words.push_back(line.cells[i].text + line.cells[i].mark);
        words.push_back(line.note);
        std::erase(words, "");
        add(text::join(words, " "), line.cells[i].tone);
      }
    }
  }
  return out;
}

}  // namespace

std::string pad(std::string_view text, std::size_t cells, Align align) {
  const std::size_t used = text::width(text);
  const std::string spaces(cells - std::min(cells, used), ' ');
  return align == Align::left ? std::string(text) + spaces : spaces + std::string(text);
}

std::size_t natural_width(const Table& table) {
  const Grid grid(table);
  return grid.block_width(0, grid.lanes());
}

std::string lay_out(const Table& table, std::size_t width, Colour colour) {
  const Grid grid(table);
  for (std::size_t lane = 0; lane < grid.lanes(); ++lane) {
    if (grid.block_width(lane, lane + 1) > width) return grid.one_line_a_figure(width, colour);
  }
  if (grid.lanes() == 0) return grid.block_width(0, 0) <= width ? grid.block(0, 0, colour) : std::string();
  std::string out;
  for (std::size_t first = 0; first < grid.lanes();) {
    std::size_t last = first + 1;
    while (last < grid.lanes() && grid.block_width(first, last + 1) <= width) ++last;
    if (first > 0) out += '\n';
    out += grid.block(first, last, colour);
    first = last;
  }
  return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, LongWords long_words) {
  const std::string safe = text::one_line(text);
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  for (const std::string& part : text::split(safe, ' ')) {
    std::string_view word = part;
    if (word.empty()) continue;
    if (used > 0 && used + 1 + text::width(word) > width) {
      lines.emplace_back();
      used = 0;
    }
    while (long_words == LongWords::broken && text::width(word) > width) {
      const std::size_t length = front_that_fits(word, width);
      lines.back() = std::string(word.substr(0, length));
      lines.emplace_back();
      word.remove_prefix(length);
    }
    if (word.empty()) continue;
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += text::width(word) + (used > 0 ? 1 : 0);
  }
  if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string flow(std::string_view text, std::size_t width) {
  std::string out;
  for (const std::string& line : wrap(text, width, long_words_at(width))) out += line + '\n';
  return out;
}

std::string paragraph(std::string_view label, std::string_view text, std::size_t width, Colour colour,
                      Tone tone) {
  const std::string name = text::one_line(label);
  const bool beside = width >= narrowest;
  std::string out;
  if (!beside && !name.empty()) out += name + '\n';
  bool first = true;
  for (const std::string& line :
       wrap_items(text, beside ? width - label_width : width, long_words_at(width))) {
    if (beside) out += pad(first ? name : "", label_width, Align::left);
    out += paint(line, tone, colour);
    out = without_trailing_spaces(std::move(out));
    out += '\n';
    first = false;
  }
  return out;
}

}  // namespace tare::report
