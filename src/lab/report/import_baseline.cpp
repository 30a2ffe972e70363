#include "lab/report/import_baseline.hpp"

namespace tare::report {

const ImportDelta* ImportBaseline::largest_improvement() const {
  const ImportDelta* found = nullptr;
  for (const ImportDelta& one : deltas) {
    if (one.wall.delta < 0 && (found == nullptr || one.wall.delta < found->wall.delta)) found = &one;
  }
  return found;
}

const ImportDelta* ImportBaseline::largest_regression() const {
  const ImportDelta* found = nullptr;
  for (const ImportDelta& one : deltas) {
    if (one.wall.delta > 0 && (found == nullptr || one.wall.delta > found->wall.delta)) found = &one;
  }
  return found;
}

}  // namespace tare::report
