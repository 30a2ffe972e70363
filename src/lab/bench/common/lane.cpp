#include "lab/bench/common/lane.hpp"

#include "base/text.hpp"
#include "lab/driver/program.hpp"
#include "lab/process/run.hpp"

namespace tare::bench {
namespace {

report::Lane lane_kind(const std::string& name) {
  report::Lane lane = report::Lane::subject;
  boost::describe::enum_from_string(name.c_str(), lane);
  return lane;
}

/// What `PROGRAM --version` prints on one line, for the program that the native lane starts.
std::optional<std::string> version_of(const std::filesystem::path& program) {
  process::RunOptions options;
  options.deadline = SystemClock().now() + std::chrono::seconds(10);
  process::SpawnOptions command;
  command.argv = {program.string(), "--version"};
  const process::RunResult result = process::run(command, {}, options);
  const std::string text(text::trim(result.out));
  if (!result.exit.ok() || text.empty() || text.find('\n') != std::string::npos) return std::nullopt;
  return text::one_line(text);
}

report::Target facts_of(const driver::TargetSpec& spec, const driver::Hello& hello) {
  report::Target target;
  target.id = spec.id;
  target.kind = lane_kind(spec.lane);
  target.driver = spec.driver;
  target.engine = hello.engine;
  target.asynchronous_spawn = hello.asynchronous_spawn;
  if (spec.id == "native") {
    // The spawner's own version says nothing of the Node that it starts.
    target.version = version_of(spec.program);
    target.engine = std::nullopt;
  } else if (spec.lane != "floor") {
    target.version = hello.version;
  }
  if (!spec.program.empty()) {
    const driver::ProgramFacts program = driver::program_facts(spec.program);
    target.path = program.path;
    target.sha256 = program.sha256;
    target.size_bytes = program.size_bytes;
    target.modified_at = program.modified_at;
  }
  return target;
}

}  // namespace

driver::DriverCommand Lane::command() const {
  return {spec.id, spec.driver, {{driver::node_variable, node}, {"TMPDIR", scratch}}, {}};
}

std::vector<Lane> prepare_lanes(const LaneRequest& request, const driver::DriverOptions& driver_options,
                                const std::filesystem::path& scratch) {
  driver::RegistryOptions registry;
  registry.bench = request.bench;
  if (request.node) registry.node_prefix = *request.node;
  std::vector<Lane> lanes;
  for (const std::string& text : request.targets) {
    Lane lane;
    lane.spec = driver::parse_target(text, registry);
    lane.node = driver::node_program(registry).string();
    lane.scratch = scratch.string();
    if (lane.spec.unavailable) throw lane.spec.unavailable_error();
    lanes.push_back(std::move(lane));
  }
  // Every name is good before the first program starts.
  for (Lane& lane : lanes) {
    driver::Driver driver(lane.command(), driver_options);
    lane.hello = driver.hello();
    driver.bye();
    lane.facts = facts_of(lane.spec, lane.hello);
    lane.defects = load_defects(lane.spec.defects, lane.hello.version);
  }
  return lanes;
}

}  // namespace tare::bench
