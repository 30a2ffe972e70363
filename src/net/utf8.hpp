#pragma once

#include <cstdint>
#include <string_view>

namespace tare::net {

/// Checks UTF-8 that comes in pieces (Unicode 15, table 3-7: no surrogates, nothing over-long, up to
/// U+10FFFF).
class Utf8 {
 public:
  /// False as soon as no continuation could make it valid; then it is of no more use.
  bool feed(std::string_view bytes);
  /// True when it ends at the end of a character.
  bool complete() const { return missing_ == 0; }

 private:
  std::uint8_t missing_ = 0;  ///< continuation bytes that a character still needs
  std::uint8_t low_ = 0x80;   ///< bounds of the next of them
  std::uint8_t high_ = 0xBF;
};

}  // namespace tare::net
