#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lab/gate/gate.hpp"

/// A gate in a GitHub workflow.
namespace tare::gate {

/// GitHub shows this many annotations of a kind in a step.
inline constexpr std::size_t most_annotations = 10;

/// GitHub takes this much of a step's summary, in bytes.
inline constexpr std::size_t largest_summary = std::size_t{1} << 20;

/// Workflow commands, a line each: an error for every fail and unmeasured result, a warning for every
/// inconclusive one. Of more than `most_annotations` of a kind, the last one names the rest.
std::string gate_annotations(const GateDocument& gate);

/// Text of an annotation, and of a property such as its title, so that it stays one command.
std::string github_message(std::string_view text);
std::string github_property(std::string_view text);

}  // namespace tare::gate
