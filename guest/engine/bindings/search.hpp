#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

/// Finding a sequence in another in linear time, whatever they are: a native is not interrupted when its
/// guest is killed.
namespace tare::engine {

inline constexpr std::size_t not_found = std::numeric_limits<std::size_t>::max();

/// The first place of `needle` (not empty) in [begin, end), by Knuth, Morris and Pratt.
template <class Iterator, class NeedleIterator>
std::size_t find_first(const Iterator& begin, const Iterator& end, const NeedleIterator& needle,
                       std::size_t length) {
  std::vector<std::size_t> borders(length, 0);
  for (std::size_t i = 1, border = 0; i < length; ++i) {
    while (border > 0 && needle[i] != needle[border]) border = borders[border - 1];
    if (needle[i] == needle[border]) ++border;
    borders[i] = border;
  }
  std::size_t matched = 0;
  std::size_t at = 0;
  for (Iterator it = begin; it != end; ++it, ++at) {
    while (matched > 0 && *it != needle[matched]) matched = borders[matched - 1];
    if (*it == needle[matched]) ++matched;
    if (matched == length) return at + 1 - length;
  }
  return not_found;
}

enum class Direction : std::uint8_t { forward, backward };

/// The place of `needle` in `haystack` that is nearest to `start` from there on, or from there back. Neither
/// is empty.
template <class Unit>
std::size_t find(std::span<const Unit> haystack, std::span<const Unit> needle, std::size_t start,
                 Direction direction) {
  if (needle.size() > haystack.size()) return not_found;
  if (direction == Direction::forward) {
    if (start > haystack.size()) return not_found;
    const auto rest = haystack.subspan(start);
    const std::size_t at = find_first(rest.begin(), rest.end(), needle.begin(), needle.size());
    return at == not_found ? not_found : at + start;
  }
  const std::size_t last = std::min(start, haystack.size() - needle.size());
  const auto part = haystack.first(last + needle.size());
  const std::size_t at = find_first(part.rbegin(), part.rend(), needle.rbegin(), needle.size());
  return at == not_found ? not_found : part.size() - at - needle.size();
}

}  // namespace tare::engine
