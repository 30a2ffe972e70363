#pragma once

#include <string_view>

namespace tare {

/// What this program is: its version, the commit it was built from ("unknown" outside a checkout, with
/// "+" when files differed), and how it was built ("Release, GNU 12.2.0").
std::string_view version();
std::string_view commit();
std::string_view build();

}  // namespace tare
