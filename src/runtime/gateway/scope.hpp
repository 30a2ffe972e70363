#pragma once

#include <cstdint>
#include <string_view>

namespace tare::gateway {

/// What an operator may do. admin includes the others, write includes read.
enum class Scope : std::uint8_t { read, write, admin };

constexpr std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::read:
      return "operator.read";
    case Scope::write:
      return "operator.write";
    case Scope::admin:
      return "operator.admin";
  }
  return "operator.admin";
}

class Scopes {
 public:
  void add(Scope scope) { bits_ |= bit(scope); }
  /// Whether these suffice for what asks for `scope`.
  bool cover(Scope scope) const {
    for (auto held = static_cast<unsigned>(scope); held <= static_cast<unsigned>(Scope::admin); ++held) {
      if ((bits_ & 1U << held) != 0) return true;
    }
    return false;
  }

 private:
  static unsigned bit(Scope scope) { return 1U << static_cast<unsigned>(scope); }
  unsigned bits_ = 0;
};

}  // namespace tare::gateway
