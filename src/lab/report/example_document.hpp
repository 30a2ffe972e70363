#pragma once

#include <cstdint>

#include "lab/report/document.hpp"
#include "lab/report/import_baseline.hpp"

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

/// A run of the bench `import` on host Node and a guest: two round trips and six scenarios, of which the
/// guest lacks one.
Document example_import_run();

/// What a comparison of it found.
ImportBaseline example_import_baseline();

}  // namespace tare::report
