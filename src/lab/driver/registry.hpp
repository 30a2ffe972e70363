#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"

/// Which targets there are, how each is started, and why one is not there.
namespace tare::driver {

/// The Node that `tare targets install node` brings: the default reference.
inline constexpr std::string_view pinned_node_version = "24.22.3";

/// The environment variable that tells a driver which Node the other lanes start.
inline constexpr const char* node_variable = "TARE_NODE";

struct RegistryOptions {
  /// `--node PREFIX`: the Node in PREFIX/bin/node instead of the pinned one.
  std::optional<std::filesystem::path> node_prefix;
  std::filesystem::path lib = file::lib_folder();                       ///< holds tare-spawner and drivers/
  std::filesystem::path bin = lib.parent_path().parent_path() / "bin";  ///< holds tare
  std::filesystem::path cache = file::cache_folder();                   ///< holds the pinned packages
  std::filesystem::path manifests = file::share_folder() / "packages";  ///< what is pinned
  std::string bench = "spawn";  ///< whose targets: "spawn", "agents" or "import"
};

struct Unavailable {
  std::string reason;  ///< "node 24.22.3 is not installed"
  std::string hint;    ///< what to do about it; may be empty
};

struct TargetSpec {
  std::string id;
  std::string lane;                 ///< "floor", "reference" or "subject"
  std::vector<std::string> driver;  ///< the command that carries it; empty when there is none to start
  std::filesystem::path program;    ///< what is measured; empty when it isn't known
  std::optional<Unavailable> unavailable;
  std::filesystem::path defects = {};  ///< known ones of a pinned peer, as data; empty for others

  /// "agentos is not installed; …", for a target that was asked for by name.
  Error unavailable_error() const;
};

/// Every name that this program knows for the bench, there or not: native, sh, node, bun, deno, guest,
/// guest_cold and agentos of spawn; embedded, node and python of agents; node, guest, bun, deno and agentos
/// of import.
std::vector<TargetSpec> builtin_targets(const RegistryOptions& options);

/// What a run measures that names no targets: the references, and what of this program itself is there.
std::vector<std::string> default_targets(const RegistryOptions& options);

/// A target as given on the command line: the name of a built-in one, `name=driver:COMMAND…` for a driver,
/// `name=cmd:TEMPLATE…` for a plain command, or `name=copy:TARGET` for a built-in one a second time. Commands
/// are split as a shell does, without expansion. A plain command is a target of the spawn bench only. Throws
/// Error(usage) that says what is wrong; a target that exists and can't be started is returned with its
/// reason.
TargetSpec parse_target(std::string_view text, const RegistryOptions& options);

/// The Node that the options select, there or not.
std::filesystem::path node_program(const RegistryOptions& options);

}  // namespace tare::driver
