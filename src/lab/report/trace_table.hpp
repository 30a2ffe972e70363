#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/report/document.hpp"
#include "lab/report/layout.hpp"

/// What `--trace` saw: the stages of runtimes that count them.
namespace tare::report {

/// Rows of the document that were traced, in order of appearance.
std::vector<std::string> traced_rows(const Document& document);

/// One stage a line, calls and mean time of each lane, and the largest since its runtime started that was
/// traced in this row; the stages that took most time in all come first, and only the first `most` of them..
Table trace_table(const Document& document, std::string_view row, std::size_t most);

/// One sub-phase of the processes' lives a line, in ms, for the lanes that keep them; without lanes when none
/// does. Those without a figure are left out.
Table lifecycle_table(const Document& document, std::string_view row);

/// "guest, fanout_8: ended by own_read 20, already_known 140; first waited for by poll_event 160".
std::vector<std::string> lifecycle_lines(const Document& document);

/// "agentos has no process_exit_cleanup: why", each reason once.
std::vector<std::string> absent_stages(const Document& document);

}  // namespace tare::report
