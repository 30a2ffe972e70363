#pragma once

#include <string>
#include <vector>

#include "lab/report/document.hpp"

namespace tare::report {

/// What the figures of the import bench say about where to look next, lane by lane: what a compile cache
/// gains, what of a warm import lies outside of guest code, how it divides into phases, what a live engine
/// gains, how a package compares with built-in modules, what a round trip costs, what is noisiest and what is
/// heaviest. Every sentence is computed; one whose figures are missing is left out.
std::vector<std::string> import_guidance(const Document& document);

}  // namespace tare::report
