#pragma once

#include <cstddef>
#include <initializer_list>

#include "lab/report/document.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/sections.hpp"

/// What a terminal report shows of one bench: its tables with their footnotes, and the lanes that are
/// missing. The document is of that bench alone.
namespace tare::report {

void spawn_sections(const Document& document, Sections& out);
void agents_sections(const Document& document, Sections& out);
void import_sections(const Document& document, Sections& out);
void gateway_sections(const Document& document, Sections& out);

/// The first of these tables that fits, else the last one. `make` makes one with such columns, and its
/// footnotes.
template <class Columns, class Make, class Fits>
Table widest_table(std::initializer_list<Columns> widest_first, Footnotes& notes, Make make, Fits fits) {
  Table table;
  for (const Columns columns : widest_first) {
    notes = {};
    table = make(columns, notes);
    if (fits(table)) break;
  }
  return table;
}

/// The table with its footnotes, or that there is nothing; whether there is something to say of it.
bool show_table(const Table& table, const Footnotes& notes, Sections& out);

/// The lanes without any figure, each with its reasons.
void missing_lanes(const Document& document, const std::vector<const Target*>& missing, Sections& out);
/// The same of those that a table does not have.
void missing_lanes(const Document& document, const Table& table, Sections& out);

/// What the ratios of a bench are whose lanes take turns worker by worker, or run by run, as the signs under
/// its table say it.
std::string worker_ratio_sign(const Document& document);

}  // namespace tare::report
