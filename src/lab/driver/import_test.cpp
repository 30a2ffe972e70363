#include "lab/driver/import.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/driver/import_workspace.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(Import, has_the_seeds_scenarios_in_its_order_behind_the_round_trips) {
  const std::vector<std::string> rows = row_names(import_bench);
  ASSERT_EQ(rows.size(), 24U);
  EXPECT_THAT(std::vector(rows.begin(), rows.begin() + 5),
              ElementsAre("transport_32", "transport_4096", "transport_65536", "isolate-startup",
                          "prewarmed-isolate-startup"));
  EXPECT_EQ(rows.back(), "jszip-repeated-session-compressed");
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), rows.size());
  for (const std::string& row : rows) {
    const auto workload = find_workload(row);
    ASSERT_TRUE(workload) << row;
    EXPECT_EQ(workload->bench, import_bench);
    EXPECT_FALSE(find_workload(row, spawn_bench));
  }
  EXPECT_FALSE(find_workload("transport_33"));
  EXPECT_FALSE(find_workload("transport_032"));
  EXPECT_FALSE(find_workload("cold-local-imports"));
}

TEST(Import, scenarios_keep_the_settings_of_the_seed) {
  std::map<std::string, int> reuse;
  std::map<std::string, int> cache;
  int without_import = 0;
  int packages = 0;
  int projected = 0;
  for (const ImportScenario& scenario : import_scenarios()) {
    reuse[scenario.engine_reuse] += 1;
    cache[scenario.compile_cache] += 1;
    without_import += scenario.expects_import ? 0 : 1;
    packages += scenario.needs ? 1 : 0;
    projected += scenario.projected ? 1 : 0;
    EXPECT_TRUE(scenario.entrypoint.starts_with("bench/") && scenario.entrypoint.ends_with(".mjs"));
    EXPECT_FALSE(scenario.description.empty());
  }
  EXPECT_EQ(reuse, (std::map<std::string, int>{{"fresh-per-sample", 12},
                                               {"shared-across-scenario", 8},
                                               {"shared-context-across-scenario", 1}}));
  EXPECT_EQ(cache, (std::map<std::string, int>{{"disabled", 8}, {"primed", 13}}));
  EXPECT_EQ(without_import, 2);
  EXPECT_EQ(packages, 7);
  EXPECT_EQ(projected, 2);
  const ImportScenario* warm = import_scenario("warm-local-import");
  ASSERT_NE(warm, nullptr);
  EXPECT_EQ(warm->mode, "new-session-replay");
  EXPECT_EQ(warm->entrypoint, "bench/warm-local-import.mjs");
  EXPECT_EQ(import_scenario("transport_32"), nullptr);
}

TEST(Import, a_line_of_a_round_trip_has_its_size_and_never_less_than_its_head) {
  EXPECT_EQ(transport_line("ab", 7, 20), "transport:ab-7:xxxxx");
  EXPECT_EQ(transport_line("ab", 7, 3), "transport:ab-7:");
  EXPECT_EQ(transport_line("0123456789abcdef", 999, 32).size(), 32U);
  EXPECT_EQ(transport_line("0123456789abcdef", 0, 65536).size(), 65536U);
}

TEST(Import, parameters_say_what_a_row_needs_and_no_more) {
  const ImportPlace place{"/w", "/w/cache/x", "/m"};
  const auto params = [&](const char* row) { return import_params(*find_workload(row), 10, place); };
  EXPECT_EQ(json::line(json::Value(params("transport_32"))),
            R"({"dir":"/w","entry":"bench/transport-echo.mjs","bytes":32,"nonce":"000000000000000a"})");
  EXPECT_EQ(
      json::line(json::Value(params("isolate-startup"))),
      R"({"dir":"/w","entry":"bench/isolate-startup.mjs","reuse":"fresh-per-sample","cache":"disabled"})");
  EXPECT_EQ(json::line(json::Value(params("large-package-import"))),
            R"({"dir":"/w","entry":"bench/large-package-import.mjs","reuse":"fresh-per-sample",)"
            R"("cache":"disabled","nodeModules":"/m","freshProcess":true})");
  EXPECT_EQ(json::line(json::Value(params("prewarmed-local-import"))),
            R"({"dir":"/w","entry":"bench/warm-local-import.mjs","reuse":"shared-across-scenario",)"
            R"("cache":"primed","cacheDir":"/w/cache/x"})");
}

/// A folder of programs, and one in which packages may be installed.
struct Sources {
  file::TemporaryFolder folder{"tare-import-test"};
  ImportSources sources;

  Sources() {
    sources.programs = folder.path() / "import";
    sources.manifests = folder.path() / "packages";
    sources.packages = folder.path() / "cache" / "import";
    file::write_atomically(sources.programs / "isolate-startup.mjs", "1;\n");
    file::write_atomically(sources.programs / "README.md", "none of them\n");
  }

  void install() const {
    const std::string lock = R"({"packages":{"":{},"node_modules/jszip":{"version":"3.10.2"}}})";
    file::write_atomically(sources.manifests / "import" / "package-lock.json", lock);
    file::write_atomically(sources.packages / ".tare-installed", lock);
    file::write_atomically(sources.packages / "node_modules" / "jszip" / "package.json",
                           R"({"version":"3.10.2"})");
  }
};

TEST(ImportWorkspace, has_the_programs_and_a_chain_of_24_modules_and_goes_away_with_all_that_is_in_it) {
  EXPECT_EQ(local_graph_value(), 277);
  const Sources made;
  fs::path path;
  {
    const ImportWorkspace workspace(made.sources);
    path = workspace.path();
    EXPECT_TRUE(fs::exists(path / "bench" / "isolate-startup.mjs"));
    EXPECT_FALSE(fs::exists(path / "bench" / "README.md"));
    EXPECT_EQ(file::read(path / "bench/local-graph/mod-00.mjs"), "export const value = 1;\n");
    EXPECT_EQ(file::read(path / "bench/local-graph/mod-23.mjs"),
              "import { value as previous } from './mod-22.mjs';\nexport const value = previous + 23;\n");
    EXPECT_EQ(file::read(path / "bench/local-graph/root.mjs"),
              "import { value } from './mod-23.mjs';\nexport { value };\nexport const expected = 277;\n");
    file::write_atomically(path / "cache" / "deep" / "left", "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ImportWorkspace, says_how_to_get_a_package_that_a_row_needs) {
  const Sources made;
  const ImportWorkspace without(made.sources);
  EXPECT_EQ(without.why_not("large-package-import"),
            "typescript is not installed; run: tare targets install import");
  EXPECT_EQ(without.why_not("jszip-startup"), "jszip is not installed; run: tare targets install import");
  EXPECT_FALSE(without.why_not("cold-local-import"));
  EXPECT_FALSE(without.why_not("transport_32"));
  made.install();
  const ImportWorkspace with(made.sources);
  EXPECT_FALSE(with.why_not("jszip-startup"));
  EXPECT_EQ(*with.place("jszip-startup", "node", 0).node_modules, made.sources.packages / "node_modules");
  EXPECT_TRUE(fs::exists(with.path() / "node_modules" / "jszip" / "package.json"));
}

TEST(ImportWorkspace, gives_every_worker_of_a_primed_row_an_empty_cache_of_its_own) {
  const Sources made;
  const ImportWorkspace workspace(made.sources);
  const fs::path first = workspace.place("warm-local-import", "node", 0).cache;
  file::write_atomically(first / "code", "x");
  EXPECT_NE(workspace.place("warm-local-import", "node", 1).cache, first);
  EXPECT_NE(workspace.place("warm-local-import", "guest", 0).cache, first);
  EXPECT_EQ(workspace.place("warm-local-import", "node", 0).cache, first);
  EXPECT_TRUE(fs::is_empty(first));
  EXPECT_TRUE(workspace.place("cold-local-import", "node", 0).cache.empty());
}

TEST(ImportWorkspace, is_not_made_of_nothing) {
  ImportSources sources;
  sources.programs = "/nowhere";
  EXPECT_THROW(ImportWorkspace{sources}, Error);
}

}  // namespace
}  // namespace tare::driver
