#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/report/document.hpp"

/// A document may hold the rows of several benches (`tare all`): reports show one after the other.
namespace tare::report {

inline constexpr std::string_view all_benches = "all";

/// The benches of the rows, in order of appearance.
std::vector<std::string> benches_of(const Document& document);

/// What a document says of one bench: its rows with their targets and comparisons, and its options. The rest
/// stays as it is. A document of one bench is its own part.
Document part_of(const Document& document, std::string_view bench);

/// The documents of several benches that ran one after the other, each of one bench, as one: `config` holds
/// the options of each under its name. A target that is in several of them stands once, with its first
/// driver; those of the others are in `config.<bench>.drivers`. `parts` is not empty.
Document merge(const std::vector<Document>& parts);

}  // namespace tare::report
