#include "lab/driver/registry.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.hpp"
#include "lab/driver/packages.hpp"
#include "lab/driver/workload.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// As npm's packages call it.
std::string architecture() {
  utsname name{};
  ::uname(&name);
  return std::string_view(name.machine) == "aarch64" ? "arm64" : "x64";
}

std::string spawner(const RegistryOptions& options) {
  return (options.lib / "tare-spawner").string();
}

std::string node_driver(const RegistryOptions& options) {
  return (options.lib / "drivers" / "node.mjs").string();
}

Unavailable pinned_node_missing() {
  return {fmt::format("node {} is not installed", pinned_node_version),
          "`tare targets install node` (124 MB from npm) installs it"};
}

std::optional<Unavailable> node_missing(const RegistryOptions& options) {
  const fs::path node = node_program(options);
  if (is_program(node)) return std::nullopt;
  if (options.node_prefix) {
    return Unavailable{fmt::format("there is no program {}", node.string()),
                       "--node takes a folder that holds bin/node"};
  }
  Unavailable missing = pinned_node_missing();
  if (const fs::path other = file::find_program("node"); other.parent_path().filename() == "bin") {
    missing.hint +=
        fmt::format(", `--node {}` uses the one on PATH", other.parent_path().parent_path().string());
  }
  return missing;
}

std::optional<Unavailable> resource_missing(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error)) return std::nullopt;
  return Unavailable{fmt::format("{} is missing", path.string()),
                     "`make node` builds it; or install Tare again"};
}

TargetSpec native(const RegistryOptions& options) {
  const fs::path node = node_program(options);
  TargetSpec target{"native",
                    "floor",
                    {spawner(options), "--lane", "native", "--", node.string(), "-e", "{script}"},
                    node,
                    node_missing(options)};
  if (!target.unavailable) target.unavailable = resource_missing(spawner(options));
  return target;
}

TargetSpec shell(const RegistryOptions& options) {
  return {"sh", "floor", {spawner(options), "--lane", "sh"}, "/bin/sh", resource_missing(spawner(options))};
}

TargetSpec node(const RegistryOptions& options) {
  const fs::path program = node_program(options);
  TargetSpec target{
      "node", "reference", {program.string(), node_driver(options)}, program, node_missing(options)};
  if (!target.unavailable) target.unavailable = resource_missing(node_driver(options));
  return target;
}

/// What `tare targets install` brings: which of its files is measured, and how much it downloads.
struct Package {
  std::string name;
  fs::path program;  ///< below node_modules
  int megabytes;
};

Package bun() {
  const std::string cpu = architecture() == "arm64" ? "aarch64" : "x64";
  return {"bun", fmt::format("@oven/bun-linux-{}/bin/bun", cpu), 103};
}

Package deno() {
  return {"deno", fmt::format("@deno/linux-{}-glibc/deno", architecture()), 92};
}

std::optional<Unavailable> package_missing(const Package& package, const RegistryOptions& options) {
  PackageOptions packages;
  packages.manifests = options.manifests;
  packages.cache = options.cache;
  const fs::path folder = options.cache / package.name;
  std::error_code error;
  if (is_installed(package.name, packages)) {
    const fs::path program = folder / "node_modules" / package.program;
    if (is_program(program)) return std::nullopt;
    return Unavailable{fmt::format("{} is damaged: there is no program {}", package.name, program.string()),
                       fmt::format("remove {} and install it again", folder.string())};
  }
  const std::string how =
      fmt::format("`tare targets install {}` ({} MB from npm) installs it", package.name, package.megabytes);
  if (!fs::exists(folder, error)) return Unavailable{package.name + " is not installed", how};
  return Unavailable{package.name + " is damaged, or another version than this one measures", how};
}

/// A JavaScript runtime that carries the node driver as it is: the pinned one, else one that the user has.
TargetSpec runtime(const Package& package, const std::vector<std::string>& arguments,
                   const RegistryOptions& options) {
  TargetSpec target{package.name, "subject", {}, {}, package_missing(package, options)};
  if (!target.unavailable) {
    target.program = options.cache / package.name / "node_modules" / package.program;
  } else {
    target.program = file::find_program(package.name);
    if (target.program.empty()) return target;
  }
  target.driver.push_back(target.program.string());
  target.driver.insert(target.driver.end(), arguments.begin(), arguments.end());
  target.driver.push_back(node_driver(options));
  target.unavailable = resource_missing(node_driver(options));
  return target;
}

TargetSpec agentos(const RegistryOptions& options) {
  const Package package{
      "agentos",
      fmt::format("@rivet-dev/agentos-runtime-sidecar-linux-{}-gnu/agentos-native-sidecar", architecture()),
      255};
  const fs::path driver = options.lib / "drivers" / "agentos.mjs";
  TargetSpec target{
      package.name,
      "subject",
      {node_program(options).string(), driver.string(), (options.cache / package.name).string()},
      options.cache / package.name / "node_modules" / package.program,
      package_missing(package, options),
      options.lib / "drivers" / "agentos_defects.json"};
  if (!target.unavailable) target.unavailable = node_missing(options);
  if (!target.unavailable) target.unavailable = resource_missing(driver);
  return target;
}

/// The registry that this program brings along, as a driver like any other.
TargetSpec embedded(const RegistryOptions& options) {
  const fs::path tare = options.bin / "tare";
  return {"embedded", "subject", {tare.string(), "agents", "driver"}, tare, resource_missing(tare)};
}

TargetSpec node_registry(const RegistryOptions& options) {
  const fs::path program = node_program(options);
  const fs::path driver = options.lib / "drivers" / "registry_node.mjs";
  TargetSpec target{"node", "reference", {program.string(), driver.string()}, program, node_missing(options)};
  if (!target.unavailable) target.unavailable = resource_missing(driver);
  return target;
}

TargetSpec python_registry(const RegistryOptions& options) {
  const fs::path program = file::find_program("python3");
  const fs::path driver = options.lib / "drivers" / "registry_python.py";
  TargetSpec target{"python", "subject", {}, program, {}};
  if (program.empty()) {
    target.unavailable = Unavailable{"there is no program python3 on PATH", "install Python 3"};
    return target;
  }
  target.driver = {program.string(), driver.string()};
  target.unavailable = resource_missing(driver);
  return target;
}

/// The guest engine that this program brings along. Its Node is the pinned one, whatever the reference is.
TargetSpec guest(std::string id, std::vector<std::string> arguments, RegistryOptions options) {
  options.node_prefix.reset();
  const fs::path tare = options.bin / "tare";
  TargetSpec target{std::move(id), "subject", {tare.string(), "guest", "driver"}, tare, {}};
  if (!is_program(node_program(options))) target.unavailable = pinned_node_missing();
  target.driver.insert(target.driver.end(), arguments.begin(), arguments.end());
  for (const fs::path& part : {tare, options.lib / "tare-guest-launcher", options.lib / "guest" / "engine.js",
                               options.lib / "guest" / "tare_guest.node"}) {
    if (!target.unavailable) target.unavailable = resource_missing(part);
  }
  return target;
}

[[noreturn]] void usage(const std::string& what, std::string why, std::string hint = {}) {
  throw Error(ErrorCode::usage, what, std::move(why), std::move(hint));
}

bool is_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && plain(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '_' || c == '-'; });
}

/// The first word of a command as a file, or empty when there is no such program.
fs::path find_command(const std::string& word) {
  if (word.find('/') == std::string::npos) return file::find_program(word);
  return is_program(word) ? fs::path(word) : fs::path();
}

/// The target of that name. Throws Error(usage) with the names that there are.
TargetSpec named(std::string_view name, const RegistryOptions& options) {
  std::vector<std::string> names;
  for (const TargetSpec& target : builtin_targets(options)) {
    if (target.id == name) return target;
    names.push_back(target.id);
  }
  const auto near = text::did_you_mean(name, names);
  usage(fmt::format("no target named '{}'", name), "known: " + text::join(names, ", "),
        near ? fmt::format("did you mean '{}'?", *near) : std::string());
}

TargetSpec parse_custom(std::string_view name, std::string_view definition, const RegistryOptions& options) {
  const auto known = builtin_targets(options);
  if (!is_name(name)) {
    usage(fmt::format("bad target name '{}'", name),
          "small letters, digits, _ and -, beginning with a letter or digit");
  }
  if (std::any_of(known.begin(), known.end(), [&](const TargetSpec& target) { return target.id == name; })) {
    usage(fmt::format("target name '{}' is taken", name), "it is built in", "choose another name");
  }
  const bool commands = options.bench == spawn_bench;
  const std::size_t colon = definition.find(':');
  const std::string_view kind = definition.substr(0, colon);
  if (colon == std::string_view::npos || (kind != "driver" && kind != "cmd" && kind != "copy")) {
    const std::string forms =
        commands ? fmt::format("{0}=driver:COMMAND, {0}=cmd:TEMPLATE or {0}=copy:TARGET", name)
                 : fmt::format("{0}=driver:COMMAND or {0}=copy:TARGET", name);
    usage(fmt::format("target '{}' says {}", name,
                      commands ? "none of driver:, cmd: and copy:" : "neither driver: nor copy:"),
          {}, "write " + forms);
  }
  if (kind == "cmd" && !commands) {
    usage(
        fmt::format("target '{}' is a plain command, which has no rows of the {} bench", name, options.bench),
        {}, fmt::format("write {}=driver:COMMAND with a driver of docs/driver-protocol.md", name));
  }
  if (kind == "copy") {
    TargetSpec copy = named(definition.substr(colon + 1), options);
    copy.id = std::string(name);
    copy.lane = "subject";
    return copy;
  }
  const auto words = text::shell_words(definition.substr(colon + 1));
  if (!words) usage(fmt::format("target '{}' has an open quote", name), std::string(definition));
  if (words->empty()) usage(fmt::format("target '{}' has no command", name), {});

  TargetSpec target{std::string(name), "subject", *words, find_command(words->front()), {}};
  if (kind == "cmd") {
    target.driver = {spawner(options), "--lane", "cmd", "--"};
    target.driver.insert(target.driver.end(), words->begin(), words->end());
    target.unavailable = resource_missing(spawner(options));
  }
  if (target.program.empty()) {
    const bool is_path = words->front().find('/') != std::string::npos;
    target.unavailable =
        Unavailable{fmt::format("there is no program {}{}", words->front(), is_path ? "" : " on PATH"), ""};
  }
  return target;
}

}  // namespace

Error TargetSpec::unavailable_error() const {
  const Unavailable why = unavailable.value_or(Unavailable{"available", ""});
  const bool names_itself = why.reason.starts_with(id + " ");
  return Error(ErrorCode::unavailable,
               names_itself ? why.reason : fmt::format("target '{}' is unavailable", id),
               names_itself ? std::string() : why.reason, why.hint);
}

fs::path node_program(const RegistryOptions& options) {
  if (options.node_prefix) return *options.node_prefix / "bin" / "node";
  return options.cache / "node" / "node_modules" / ("node-linux-" + architecture()) / "bin" / "node";
}

std::vector<TargetSpec> builtin_targets(const RegistryOptions& options) {
  if (options.bench == agents_bench)
    return {embedded(options), node_registry(options), python_registry(options)};
  const std::vector<std::string> deno_flags{"run", "--allow-all", "--no-config", "--no-lock"};
  if (options.bench == import_bench) {
    return {node(options), guest("guest", {}, options), runtime(bun(), {}, options),
            runtime(deno(), deno_flags, options), agentos(options)};
  }
  return {native(options),
          shell(options),
          node(options),
          runtime(bun(), {}, options),
          runtime(deno(), deno_flags, options),
          guest("guest", {}, options),
          guest("guest_cold", {"--pool", "0"}, options),
          agentos(options)};
}

std::vector<std::string> default_targets(const RegistryOptions& options) {
  if (options.bench == agents_bench) return {"embedded", "node"};
  std::vector<std::string> names{"native", "sh", "node"};
  if (options.bench == import_bench) names = {"node"};
  if (!guest("guest", {}, options).unavailable) names.emplace_back("guest");
  return names;
}

TargetSpec parse_target(std::string_view text, const RegistryOptions& options) {
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    return parse_custom(text.substr(0, equals), text.substr(equals + 1), options);
  }
  return named(text, options);
}

}  // namespace tare::driver
