#pragma once

#include <span>
#include <string>

#include "benchmark.hpp"
#include "lab/report/terminal.hpp"

namespace tare::benchmarks {

/// Results for a terminal: a line each, and below it why it is no pass.
std::string table(std::span<const Result> results, const report::TerminalFacts& terminal);

/// The same as a Markdown table. `provenance` says where and by what it was measured.
std::string markdown(std::span<const Result> results, std::string_view provenance);

/// "≤ 1.05×", "0.93–1.03×", "≤ 25.0 MB". Reads what `judge` wrote.
std::string limit_text(const Result& result);

}  // namespace tare::benchmarks
