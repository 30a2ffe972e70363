#pragma once

#include "lab/report/document.hpp"
#include "lab/report/sections.hpp"

/// What a terminal report shows of one bench: its tables with their footnotes, and the lanes that are
/// missing. The document is of that bench alone.
namespace tare::report {

void spawn_sections(const Document& document, Sections& out);
void agents_sections(const Document& document, Sections& out);
void import_sections(const Document& document, Sections& out);

/// The lanes without any figure, each with its reasons.
void missing_lanes(const Document& document, const std::vector<const Target*>& missing, Sections& out);

}  // namespace tare::report
