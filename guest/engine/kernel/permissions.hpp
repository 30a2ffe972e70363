#pragma once

namespace tare::kernel {

enum class Permission { deny, allow };

/// What a Vm's processes may do at all. Denied unless said otherwise.
struct Permissions {
  /// Deny: every path but /dev/null is EACCES. Standard streams and pipes are no paths.
  Permission fs = Permission::deny;
  Permission network = Permission::deny;
  /// Deny: a guest's spawn is EACCES. What the engine itself starts in the Vm is not held against it.
  Permission child_process = Permission::deny;
  /// Deny: every process has an empty environment.
  Permission env = Permission::deny;
};

inline constexpr Permissions allow_all{Permission::allow, Permission::allow, Permission::allow,
                                       Permission::allow};

}  // namespace tare::kernel
