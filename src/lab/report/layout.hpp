#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lab/report/terminal.hpp"

/// Text that fits a terminal: tables of lanes, labelled paragraphs. Foreign text (names, messages) may hold
/// anything: bad UTF-8 and control characters are escaped here. No line ends in a space, and from
/// `narrowest` columns on no line is wider than the terminal; below that, long words stick out.
namespace tare::report {

inline constexpr std::size_t narrowest = 40;

enum class Align { left, right };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  std::string mark = {};  ///< of a footnote; hangs to the right of the figures, so that these stay aligned
};

struct Column {
  std::string head;
  Align align = Align::right;
};

/// The columns of one lane. They stay together; a table that is too wide is split between lanes.
struct Lanes {
  std::string title;
  std::vector<Column> columns;
};

struct TableLine {
  std::vector<std::string> labels;
  std::vector<Cell> cells;  ///< one for each column of each lane, in order; "" where there is nothing to say
  std::string note;
};

struct Table {
  std::string title;              ///< stands above the labels, on the line of the lanes' titles
  std::size_t label_columns = 1;  ///< a label equal to the one above it is not repeated, except in the last
  std::vector<Lanes> lanes;
  std::vector<TableLine> lines;
};

/// How wide the table is when it is not split.
std::size_t natural_width(const Table& table);

/// The table, each line ended by a newline. Too wide a table becomes blocks of lanes, each without the lines
/// that say nothing about them; where not even one lane fits beside the labels, one line a figure: `fanout_8
/// node p50 80.1`.
std::string lay_out(const Table& table, std::size_t width, Colour colour);

enum class LongWords { whole, broken };

/// Text broken at spaces into lines of at most `width` cells; at least one line. A word that is longer
/// than that stays whole or is broken where the line ends. Safe to print: escaped.
std::vector<std::string> wrap(std::string_view text, std::size_t width, LongWords long_words);

/// `text` as lines that fit, each ended by a newline.
std::string flow(std::string_view text, std::size_t width);

/// A label, and text beside it with a hanging indent. Items divided by " · " are kept whole if they fit:
/// ```
/// host        2 × AMD EPYC · Linux 6.18 ·
///             load 0.40
/// ```
/// Below `narrowest` columns the text follows the label without an indent. The tone is that of the text.
std::string paragraph(std::string_view label, std::string_view text, std::size_t width,
                      Colour colour = Colour::off, Tone tone = Tone::plain);

/// Cells that `text` takes, after escaping, padded to `cells`.
std::string pad(std::string_view text, std::size_t cells, Align align);

}  // namespace tare::report
