#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "runtime/agents/chunks.hpp"
#include "runtime/agents/text_hash.hpp"

namespace tare::agents {

/// A session key or group name inside one registry: equal ids are equal names, for as long as a run has it.
using NameId = std::uint32_t;
using Slot = std::uint32_t;  ///< of a run in its table
inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// In which of its roles a run is listed under a name.
enum class By : std::uint8_t { child, requester, controller, group };
inline constexpr std::size_t roles = 4;

/// What many runs share: each name once, with the lists of the runs that have it.
struct Name {
  std::string text;
  std::uint32_t uses = 0;
  std::uint32_t newest_generation = 0;  ///< of the runs whose child it is, or was
  std::uint32_t suppressed = 0;         ///< how many want its effects suppressed
  std::array<Slot, roles> first{none, none, none, none};
  std::array<std::uint32_t, roles> count{};
  std::array<std::uint32_t, roles> active{};  ///< of them, those that have not ended
};

/// Names by text. A name lives as long as somebody uses it; its id is then given to another one.
class Names {
 public:
  NameId use(std::string_view text);
  void release(NameId id);
  NameId find(std::string_view text) const;  ///< none when nobody uses it
  Name& operator[](NameId id) { return names_[id]; }
  const Name& operator[](NameId id) const { return names_[id]; }
  std::size_t size() const { return ids_.size(); }
  void reserve(std::size_t names) { ids_.reserve(names); }

 private:
  Chunks<Name> names_;  // the map's keys point into it
  std::vector<NameId> free_;
  boost::unordered_flat_map<std::string_view, NameId, TextHash> ids_;
};

}  // namespace tare::agents
