#include "import_lanes.hpp"

namespace tare::benchmarks {
namespace {

constexpr Rounds typescript_rounds{.fewest = 20, .most = 100, .limit = std::chrono::seconds(35)};

Measurement measure_typescript() {
  return measure_pair({.ours = {"guest", "large-package-import"},
                       .theirs = {"node", "large-package-import"},
                       .metric = "guest_execution",
                       .rounds = typescript_rounds});
}

/// The one imports the package by its name, the other one the same file by its path.
Measurement measure_typescript_cached() {
  return measure_pair({.ours = {"guest", "hot-projected-package-file-import"},
                       .theirs = {"guest", "large-package-import"},
                       .metric = "guest_execution",
                       .rounds = typescript_rounds});
}

}  // namespace

Benchmark import_typescript() {
  return {{"import.typescript",
           "import of typescript p50, nothing kept, in a guest, against host Node",
           "ms",
           Judged::ratio,
           {{}, 1.2}},
          measure_typescript};
}

Benchmark import_typescript_cached() {
  return {{"import.typescript_cached",
           "import of typescript p50 in a guest with its code kept, against without",
           "ms",
           Judged::ratio,
           {{}, 0.5}},
          measure_typescript_cached};
}

}  // namespace tare::benchmarks
