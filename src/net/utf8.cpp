#include "net/utf8.hpp"

#include <cstring>

namespace tare::net {
namespace {

/// The first byte at or after `at` that is not ASCII.
const char* skip_ascii(const char* at, const char* end) {
  constexpr std::uint64_t high_bits = 0x8080808080808080U;
  for (; end - at >= 8; at += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, at, sizeof eight);
    if ((eight & high_bits) != 0) break;
  }
  while (at != end && static_cast<unsigned char>(*at) < 0x80) ++at;
  return at;
}

}  // namespace

bool Utf8::feed(std::string_view bytes) {
  const char* end = bytes.data() + bytes.size();
  for (const char* at = bytes.data(); at != end;) {
    if (missing_ == 0) {
      at = skip_ascii(at, end);
      if (at == end) break;
    }
    const auto byte = static_cast<std::uint8_t>(*at++);
    if (missing_ > 0) {
      if (byte < low_ || byte > high_) return false;
      --missing_;
      low_ = 0x80;
      high_ = 0xBF;
    } else if (byte >= 0xC2 && byte <= 0xDF) {
      missing_ = 1;
    } else if (byte >= 0xE0 && byte <= 0xEF) {
      missing_ = 2;
      if (byte == 0xE0) low_ = 0xA0;
      if (byte == 0xED) high_ = 0x9F;
    } else if (byte >= 0xF0 && byte <= 0xF4) {
      missing_ = 3;
      if (byte == 0xF0) low_ = 0x90;
      if (byte == 0xF4) high_ = 0x8F;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace tare::net
