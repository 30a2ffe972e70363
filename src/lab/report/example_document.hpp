#pragma once

#include <cstdint>

#include "lab/report/document.hpp"

/// Hand-made documents for the tests of this folder and their golden files.
namespace tare::report {

/// A whole spawn run on a floor, a second floor, a reference, a subject and a target that is not
/// installed, with every kind of gap: rows that a lane does not have, failed samples, memory at its floor, an
/// interval that holds 1, a phase that one lane does not time.
Document example_document(std::uint32_t rounds);

/// What `make run` shows: the same without the subject and the target that is not installed.
Document example_quick_run();

/// A run of the bench `agents` on three targets, of which one has no mixed load: every scenario, two sizes.
Document example_agents_run();

}  // namespace tare::report
