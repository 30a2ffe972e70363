#include "lab/driver/registry.hpp"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "lab/driver/program.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* pinned = R"({"packages": {}})";

/// A machine with Tare's own resources and nothing else.
class Registry : public testing::Test {
 protected:
  Registry() {
    options_.lib = folder_.path() / "lib";
    options_.bin = folder_.path() / "bin";
    options_.cache = folder_.path() / "cache";
    make_program(options_.lib / "tare-spawner");
    make_program(options_.lib / "drivers" / "node.mjs");
    make_program(options_.lib / "drivers" / "agentos.mjs");
    options_.manifests = folder_.path() / "packages";
    for (const char* name : {"agentos", "bun", "deno"})
      write(options_.manifests / name / "package-lock.json", pinned);
  }

  static void make_program(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
  }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  /// As `tare targets install` leaves it.
  fs::path install(const std::string& name, const std::string& receipt, const fs::path& program) {
    write(options_.cache / name / ".tare-installed", receipt);
    const fs::path path = options_.cache / name / "node_modules" / program;
    make_program(path);
    return path;
  }

  TargetSpec target(std::string_view text) const { return parse_target(text, options_); }

  Error error_of(std::string_view text) const {
    try {
      parse_target(text, options_);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << text << " was taken";
    return Error(ErrorCode::failed, "");
  }

  const file::TemporaryFolder folder_;
  RegistryOptions options_;
};

TEST_F(Registry, knows_every_name_whether_there_or_not) {
  std::vector<std::string> names;
  for (const TargetSpec& spec : builtin_targets(options_)) names.push_back(spec.id);
  EXPECT_THAT(names, ElementsAre("native", "sh", "node", "bun", "deno", "guest", "guest_cold", "agentos"));
  EXPECT_EQ(target("native").lane, "floor");
  EXPECT_EQ(target("sh").lane, "floor");
  EXPECT_EQ(target("node").lane, "reference");
  EXPECT_EQ(target("guest").lane, "subject");
}

TEST_F(Registry, has_the_shell_without_any_node) {
  EXPECT_FALSE(target("sh").unavailable);
  EXPECT_THAT(target("sh").driver, ElementsAre((options_.lib / "tare-spawner").string(), "--lane", "sh"));
}

TEST_F(Registry, says_how_to_get_the_pinned_node) {
  for (const char* name : {"node", "native"}) {
    ASSERT_TRUE(target(name).unavailable) << name;
    EXPECT_EQ(target(name).unavailable->reason, "node 24.22.3 is not installed");
    EXPECT_THAT(target(name).unavailable->hint, HasSubstr("`tare targets install node`"));
  }
  EXPECT_THAT(target("node").unavailable_error().line(),
              HasSubstr("tare: node 24.22.3 is not installed; `tare targets install node`"));
  EXPECT_THAT(target("native").unavailable_error().line(), HasSubstr("target 'native' is unavailable (node"));
  EXPECT_EQ(target("node").unavailable_error().exit_code(), exit_usage);
}

TEST_F(Registry, starts_the_pinned_node_once_it_is_there) {
  const fs::path node = node_program(options_);
  make_program(node);
  EXPECT_FALSE(target("node").unavailable);
  EXPECT_EQ(target("node").program, node);
  EXPECT_THAT(target("node").driver,
              ElementsAre(node.string(), (options_.lib / "drivers" / "node.mjs").string()));
  EXPECT_THAT(target("native").driver, ElementsAre((options_.lib / "tare-spawner").string(), "--lane",
                                                   "native", "--", node.string(), "-e", "{script}"));
}

TEST_F(Registry, prefers_the_node_that_was_named) {
  options_.node_prefix = folder_.path() / "other";
  EXPECT_EQ(target("node").unavailable->reason,
            "there is no program " + (folder_.path() / "other" / "bin" / "node").string());
  make_program(folder_.path() / "other" / "bin" / "node");
  EXPECT_FALSE(target("node").unavailable);
  EXPECT_EQ(target("native").program, folder_.path() / "other" / "bin" / "node");
}

TEST_F(Registry, pins_the_node_that_the_package_pins) {
  const auto package =
      json::parse(file::read(TARE_GOLDEN_DIR "/../../packages/node/package.json"), "package.json");
  for (const auto& dependency : package.at("optionalDependencies").as_object()) {
    EXPECT_EQ(dependency.value().as_string(), pinned_node_version) << dependency.key();
  }
}

TEST_F(Registry, does_not_hide_what_a_broken_installation_lacks) {
  fs::remove(options_.lib / "tare-spawner");
  EXPECT_THAT(target("sh").unavailable->reason, HasSubstr("tare-spawner is missing"));
}

TEST_F(Registry, has_the_guest_engine_warm_and_cold_on_the_pinned_node_only) {
  options_.node_prefix = folder_.path() / "other";
  make_program(*options_.node_prefix / "bin" / "node");
  EXPECT_EQ(
      target("guest").unavailable_error().line(),
      "tare: target 'guest' is unavailable (node 24.22.3 is not installed); `tare targets install node` "
      "(124 MB from npm) installs it");
  EXPECT_THAT(default_targets(options_), ElementsAre("native", "sh", "node"));
  options_.node_prefix.reset();
  make_program(node_program(options_));
  for (const char* part : {"tare-guest-launcher", "guest/engine.js", "guest/tare_guest.node"}) {
    EXPECT_TRUE(target("guest").unavailable) << part;
    make_program(options_.lib / part);
  }
  make_program(options_.bin / "tare");
  EXPECT_FALSE(target("guest").unavailable);
  EXPECT_THAT(target("guest").driver, ElementsAre((options_.bin / "tare").string(), "guest", "driver"));
  EXPECT_THAT(target("guest_cold").driver,
              ElementsAre((options_.bin / "tare").string(), "guest", "driver", "--pool", "0"));
  EXPECT_THAT(default_targets(options_), ElementsAre("native", "sh", "node", "guest"));
}

TEST_F(Registry, says_how_to_get_a_peer) {
  EXPECT_EQ(target("agentos").unavailable_error().line(),
            "tare: agentos is not installed; `tare targets install agentos` (255 MB from npm) installs it");
}

TEST_F(Registry, measures_no_other_version_than_the_pinned_one) {
  make_program(node_program(options_));
  install("agentos", R"({"packages": {"another": {}}})",
          "@rivet-dev/agentos-runtime-sidecar-linux-x64-gnu/agentos-native-sidecar");
  EXPECT_EQ(target("agentos").unavailable->reason,
            "agentos is damaged, or another version than this one measures");
}

TEST_F(Registry, a_peer_that_is_half_there_is_damaged) {
  write(options_.cache / "agentos" / ".tare-installed", pinned);
  EXPECT_THAT(target("agentos").unavailable->reason, HasSubstr("agentos is damaged: there is no program"));
}

TEST_F(Registry, a_peer_that_is_there_is_driven_by_the_pinned_node) {
  const fs::path sidecar =
      install("agentos", pinned, "@rivet-dev/agentos-runtime-sidecar-linux-x64-gnu/agentos-native-sidecar");
  EXPECT_THAT(target("agentos").unavailable->reason, HasSubstr("node 24.22.3 is not installed"));
  make_program(node_program(options_));
  EXPECT_FALSE(target("agentos").unavailable);
  EXPECT_EQ(target("agentos").program, sidecar);
  EXPECT_THAT(target("agentos").driver, ElementsAre(node_program(options_).string(),
                                                    (options_.lib / "drivers" / "agentos.mjs").string(),
                                                    (options_.cache / "agentos").string()));
}

TEST_F(Registry, an_installed_runtime_beats_the_one_on_path) {
  const fs::path deno = install("deno", pinned, "@deno/linux-x64-glibc/deno");
  EXPECT_EQ(target("deno").program, deno);
  EXPECT_EQ(target("deno").driver.front(), deno.string());
  EXPECT_EQ(target("deno").driver.back(), (options_.lib / "drivers" / "node.mjs").string());
}

TEST_F(Registry, a_copy_is_the_same_program_under_another_name) {
  const TargetSpec copy = target("again=copy:sh");
  EXPECT_EQ(copy.id, "again");
  EXPECT_EQ(copy.lane, "subject");
  EXPECT_EQ(copy.driver, target("sh").driver);
  EXPECT_THAT(error_of("again=copy:nod").line(), HasSubstr("did you mean 'node'?"));
}

TEST_F(Registry, suggests_the_nearest_name) {
  EXPECT_EQ(error_of("nod").line(),
            "tare: no target named 'nod' (known: native, sh, node, bun, deno, guest, guest_cold, agentos); "
            "did you mean "
            "'node'?");
  EXPECT_EQ(error_of("xyzzy").hint(), "");
  EXPECT_EQ(
      error_of("a=sh").line(),
      "tare: target 'a' says none of driver:, cmd: and copy:; write a=driver:COMMAND, a=cmd:TEMPLATE or "
      "a=copy:TARGET");
  EXPECT_EQ(error_of("").code(), ErrorCode::usage);
}

TEST_F(Registry, takes_a_driver_of_the_user) {
  const TargetSpec mine = target("mine=driver:/bin/sh -c 'echo a  b' x\\ y");
  EXPECT_EQ(mine.id, "mine");
  EXPECT_EQ(mine.lane, "subject");
  EXPECT_THAT(mine.driver, ElementsAre("/bin/sh", "-c", "echo a  b", "x y"));
  EXPECT_EQ(mine.program, "/bin/sh");
  EXPECT_FALSE(mine.unavailable);
}

TEST_F(Registry, carries_a_command_template_with_the_spawner) {
  const TargetSpec box = target("box=cmd:sh -c {script}");
  EXPECT_THAT(box.driver, ElementsAre((options_.lib / "tare-spawner").string(), "--lane", "cmd", "--", "sh",
                                      "-c", "{script}"));
  EXPECT_EQ(box.program.filename(), "sh");
}

TEST_F(Registry, finds_a_command_that_is_not_there_before_the_run) {
  EXPECT_EQ(target("a=driver:/no/such/thing").unavailable->reason, "there is no program /no/such/thing");
  EXPECT_EQ(target("a=cmd:no-such-thing-here").unavailable->reason,
            "there is no program no-such-thing-here on PATH");
}

TEST_F(Registry, refuses_what_is_no_target) {
  for (const char* text :
       {"=driver:sh", "Mine=driver:sh", "a b=driver:sh", "-a=driver:sh", "node=driver:sh", "a=sh",
        "a=", "a=program:sh", "a=driver:", "a=driver:  ", "a=driver:'sh", "a=cmd:"}) {
    EXPECT_EQ(error_of(text).code(), ErrorCode::usage) << text;
    EXPECT_EQ(error_of(text).line().find('\n'), std::string::npos);
  }
}

/// The same machine, for the bench of registries of agent runs.
class AgentsRegistry : public Registry {
 protected:
  AgentsRegistry() {
    options_.bench = "agents";
    options_.bin = folder_.path() / "bin";
    make_program(options_.bin / "tare");
    for (const char* name : {"registry_node.mjs", "registry_python.py"})
      make_program(options_.lib / "drivers" / name);
  }
};

TEST_F(AgentsRegistry, knows_its_own_names) {
  std::vector<std::string> lanes;
  for (const TargetSpec& spec : builtin_targets(options_)) lanes.push_back(spec.id + " " + spec.lane);
  EXPECT_THAT(lanes, ElementsAre("embedded subject", "node reference", "python subject"));
  EXPECT_EQ(error_of("native").line(), "tare: no target named 'native' (known: embedded, node, python)");
  EXPECT_EQ(error_of("embeded").hint(), "did you mean 'embedded'?");
}

TEST_F(AgentsRegistry, starts_this_program_for_the_registry_that_it_brings) {
  const fs::path tare = options_.bin / "tare";
  EXPECT_FALSE(target("embedded").unavailable);
  EXPECT_EQ(target("embedded").program, tare);
  EXPECT_THAT(target("embedded").driver, ElementsAre(tare.string(), "agents", "driver"));
  fs::remove(tare);
  EXPECT_THAT(target("embedded").unavailable->reason, HasSubstr("tare is missing"));
}

TEST_F(AgentsRegistry, is_beside_the_folder_of_its_resources) {
  const RegistryOptions options;
  EXPECT_EQ(options.lib, options.bin.parent_path() / "lib" / "tare");
}

TEST_F(AgentsRegistry, carries_the_reference_with_the_pinned_node) {
  EXPECT_EQ(target("node").unavailable->reason, "node 24.22.3 is not installed");
  const fs::path node = node_program(options_);
  make_program(node);
  EXPECT_FALSE(target("node").unavailable);
  EXPECT_EQ(target("node").program, node);
  const fs::path driver = options_.lib / "drivers" / "registry_node.mjs";
  EXPECT_THAT(target("node").driver, ElementsAre(node.string(), driver.string()));
  fs::remove(driver);
  EXPECT_THAT(target("node").unavailable->reason, HasSubstr("registry_node.mjs is missing"));
}

TEST_F(AgentsRegistry, carries_python_with_the_one_on_path) {
  ASSERT_FALSE(file::find_program("python3").empty());
  const fs::path driver = options_.lib / "drivers" / "registry_python.py";
  EXPECT_THAT(target("python").driver, ElementsAre(file::find_program("python3").string(), driver.string()));
  EXPECT_FALSE(target("python").unavailable);
  fs::remove(driver);
  EXPECT_THAT(target("python").unavailable->reason, HasSubstr("registry_python.py is missing"));
}

TEST_F(AgentsRegistry, has_no_python_without_one_on_path) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder_.path().c_str(), 1);
  const TargetSpec python = target("python");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(python.driver, testing::IsEmpty());
  EXPECT_EQ(python.unavailable_error().line(),
            "tare: target 'python' is unavailable (there is no program python3 on PATH); install Python 3");
}

TEST_F(AgentsRegistry, takes_drivers_and_copies_but_no_plain_command) {
  EXPECT_THAT(target("mine=driver:/bin/sh x").driver, ElementsAre("/bin/sh", "x"));
  EXPECT_EQ(target("again=copy:embedded").driver, target("embedded").driver);
  EXPECT_EQ(target("native=driver:/bin/sh").id, "native") << "another bench's name is free";
  EXPECT_EQ(error_of("box=cmd:sh -c {script}").line(),
            "tare: target 'box' is a plain command, which has no rows of the agents bench; write "
            "box=driver:COMMAND with a driver of docs/driver-protocol.md");
  EXPECT_EQ(error_of("box=sh").line(),
            "tare: target 'box' says neither driver: nor copy:; write box=driver:COMMAND or box=copy:TARGET");
}

TEST(ProgramFacts, identify_a_file) {
  const file::TemporaryFolder folder;
  file::write_atomically(folder.path() / "program", "abc");
  fs::create_symlink("program", folder.path() / "link");
  const ProgramFacts facts = program_facts(folder.path() / "link");
  EXPECT_EQ(facts.path, fs::canonical(folder.path() / "program").string());
  EXPECT_EQ(facts.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(facts.size_bytes, 3u);
  EXPECT_THAT(facts.modified_at, testing::EndsWith("Z"));
  EXPECT_THROW(program_facts(folder.path() / "absent"), Error);
  EXPECT_THROW(program_facts(folder.path()), Error);
}

}  // namespace
}  // namespace tare::driver
