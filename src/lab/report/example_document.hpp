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

/// Runs of the bench `gateway` on the built-in gateway, with so many probes of each kind in a run.
Document example_gateway_run(std::uint32_t runs, std::uint32_t probes);

/// The same beside OpenClaw, which lacks a method, answers late and leaves something behind.
Document example_gateway_lanes(std::uint32_t runs, std::uint32_t probes);

}  // namespace tare::report
