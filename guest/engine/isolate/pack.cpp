#include "engine/isolate/pack.hpp"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "engine/isolate/mapped_file.hpp"

namespace tare::engine {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::input, fmt::format("cannot use the guest library {}", path.string()), why);
}

}  // namespace

Pack::Pack(const std::filesystem::path& path) {
  const std::string_view bytes = map_file(path, "the guest library", Reading::parts);
  constexpr std::string_view magic = "TAREPACK";
  std::size_t at = magic.size();
  const auto number = [&] {
    std::uint32_t value = 0;
    if (at + sizeof value > bytes.size()) refuse(path, "it is cut short");
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return std::size_t{value};
  };
  if (!bytes.starts_with(magic)) refuse(path, "it is not one");
  for (std::size_t left = number(); left > 0; --left) {
    const std::size_t offset = number();
    const std::size_t size = number();
    const std::size_t name = number();
    if (at + name > bytes.size() || offset + size > bytes.size()) refuse(path, "it is cut short");
    const PackText& text = texts_.emplace_back(bytes.substr(at, name), bytes.substr(offset, size));
    by_id_.emplace(text.id(), &text);
    at += name;
  }
}

const PackText* Pack::find(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

}  // namespace tare::engine
