#include "runtime/agents/dedupe.hpp"

#include <algorithm>
#include <bit>

namespace tare::agents {
namespace {

bool is_newer(const RunKey& a, const RunKey& b) {
  return a.generation != b.generation ? a.generation > b.generation : a.id > b.id;
}

}  // namespace

std::vector<std::uint32_t> newest_per_child(std::span<const RunKey> runs) {
  NameId largest = 0;
  for (const RunKey& run : runs) largest = std::max(largest, run.child);
  // Open addressing, at most half full. A session's id is its own hash: ids are small whole numbers without
  // large gaps, and runs that were registered one after the other then stand side by side. Mostly there is a
  // place for each id, and the table is then no larger than that: memory that is touched for the first time
  // is dear.
  const std::size_t places = std::bit_ceil(std::min<std::size_t>(runs.size() * 2, std::size_t{largest} + 1));
  std::vector<std::uint32_t> best(places, none);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::size_t place = runs[i].child & (places - 1);
    while (best[place] != none && runs[best[place]].child != runs[i].child)
      place = (place + 1) & (places - 1);
    if (best[place] == none || is_newer(runs[i], runs[best[place]]))
      best[place] = static_cast<std::uint32_t>(i);
  }
  std::vector<bool> selected(runs.size());
  std::size_t count = 0;
  for (const std::uint32_t index : best) {
    if (index == none) continue;
    selected[index] = true;
    count += 1;
  }
  std::vector<std::uint32_t> indices;
  indices.reserve(count);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (selected[i]) indices.push_back(static_cast<std::uint32_t>(i));
  }
  return indices;
}

}  // namespace tare::agents
