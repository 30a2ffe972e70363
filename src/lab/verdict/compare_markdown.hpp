#pragma once

#include <string>

#include "lab/verdict/compare.hpp"

namespace tare::verdict {

/// A comparison as GitHub Markdown, for a pull request or a wiki: the verdict in the first line, the two
/// sides and what differs between them, the p50 of every row and whatever else changed, every other figure
/// folded away, and how it was judged. Ends with a newline.
std::string markdown(const ComparisonDocument& document);

}  // namespace tare::verdict
