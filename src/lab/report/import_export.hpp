#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "lab/report/document.hpp"
#include "lab/report/import_baseline.hpp"

namespace tare::report {

/// What the seed's artifact says and a run document does not.
struct ExportFacts {
  std::int64_t generated_at_unix_ms = 0;
  std::string root;  ///< the folder in which the run was started
  std::string arch;  ///< "x86_64"
};

/// A run of the import bench in the shape of the seed's own artifact, version 5, with its keys: one entry a
/// scenario, from the kind of lane on which the seed ran it, as far as the run has that (host Node is the
/// reference lane, native execution the first other one); phases that host Node does not have are 0.
json::Object import_export(const Document& document, const ImportBaseline* baseline,
                           const ExportFacts& facts);

}  // namespace tare::report
