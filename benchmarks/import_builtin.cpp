#include <array>
#include <memory>

#include "import_lanes.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::array builtin_rows{"hot-builtin-stream-import", "hot-builtin-stream-web-import",
                                  "hot-builtin-crypto-import", "hot-builtin-zlib-import",
                                  "hot-builtin-assert-import", "hot-builtin-url-import"};

/// The six of one target, each in a driver of its own, as in a run.
class BuiltinRows {
 public:
  BuiltinRows(const driver::ImportWorkspace& workspace, const char* target) {
    for (const char* row : builtin_rows) rows_.push_back(std::make_unique<ImportRow>(workspace, target, row));
  }

  /// Time of all six imports.
  double sum_ms() {
    double sum = 0;
    for (const auto& row : rows_) sum += row->ms("guest_execution", import_idle);
    return sum;
  }

 private:
  std::vector<std::unique_ptr<ImportRow>> rows_;
};

Measurement measure_builtin() {
  const driver::ImportWorkspace workspace;
  BuiltinRows guest(workspace, "guest");
  BuiltinRows node(workspace, "node");
  return measure_lanes({[&] { return guest.sum_ms(); }, [&] { return node.sum_ms(); }},
                       {.fewest = 24, .most = 300, .limit = std::chrono::seconds(30)},
                       "six programs on each side");
}

}  // namespace

Benchmark import_builtin() {
  return {{"import.builtin",
           "import of six modules of Node, the sum of hot-builtin-*, p50 in guests, against host Node",
           "ms",
           Judged::ratio,
           {{}, 0.5}},
          measure_builtin};
}

}  // namespace tare::benchmarks
