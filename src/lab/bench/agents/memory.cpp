#include "lab/bench/agents/memory.hpp"

#include <algorithm>

#include "lab/process/proc.hpp"

namespace tare::agents_bench {
namespace {

std::optional<std::uint64_t> largest_of(const report::Row& row) {
  const auto found = row.metrics.find("processMaxRssBytes");
  if (found == row.metrics.end()) return std::nullopt;
  std::optional<std::uint64_t> largest;
  for (const std::optional<double>& sample : found->second.samples) {
    if (sample) largest = std::max(largest.value_or(0), static_cast<std::uint64_t>(*sample));
  }
  return largest;
}

}  // namespace

std::optional<std::uint64_t> own_rss_bytes() {
  return process::proc::kilobytes(process::proc::read_file("/proc/self/status").text, "VmRSS");
}

std::optional<std::uint64_t> largest_worker(const report::Document& document) {
  std::optional<std::uint64_t> largest;
  for (const report::Row& row : document.rows) {
    if (const auto one = largest_of(row)) largest = std::max(largest.value_or(0), *one);
  }
  return largest;
}

void note_memory(report::Row& row) {
  row.resources.max_rss_bytes = largest_of(row);
  row.resources.methods = {"CPU n/a: many operations are shorter than the 10 ms in which the system counts",
                           row.resources.max_rss_bytes
                               ? "max RSS: VmHWM of the worker itself, as it reports it"
                               : "max RSS n/a: no worker reported it"};
}

}  // namespace tare::agents_bench
