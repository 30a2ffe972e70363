#pragma once

#include <map>
#include <optional>
#include <string>

#include "protocol/messages.hpp"

namespace tare::guest {

/// What V8 has recorded of a guest, as JSON that Chrome's developer tools read.
struct Profile {
  std::string json;
  bool whole = false;
  std::optional<std::string> error;  ///< why there is none
};

using Profiles = std::map<ProfileKind, Profile>;

}  // namespace tare::guest
