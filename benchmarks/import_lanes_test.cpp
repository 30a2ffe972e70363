#include "import_lanes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"

namespace tare::benchmarks {
namespace {

using testing::HasSubstr;

/// A driver in a few lines of shell, which gives these samples, one after another, whatever it is asked.
driver::DriverCommand shell_import_driver(const std::vector<std::string>& samples) {
  std::string script = R"(read -r l
echo '{"id":0,"ok":true,"protocol":"tare.driver.v1","name":"x","version":"1","engine":"sh","pid":1,"rows":[]}'
)";
  int id = 0;
  for (const std::string& sample : samples) {
    script += "read -r l\ncat <<'END'\n{\"id\":" + std::to_string(++id) + ",\"ok\":true,\"samples\":[" +
              sample + "]}\nEND\n";
  }
  return {"shell", {"/bin/sh", "-c", script + "read -r l\n"}, {}, {}};
}

/// Of a lane that counts what became of kept code; 50 µs of which 20 were an import: no driver answers
/// faster, and one that says that it took longer than its answer is not believed.
std::string import_sample(int accepted, const std::string& marker = R"({\"import_ms\":0.02})") {
  return R"({"outcome":"ok","ns":{"total":50000},"counters":{"exitCode":0,"cacheAccepted":)" +
         std::to_string(accepted) + R"(,"cacheRejected":0},"output":"__AGENTOS_BENCH__:)" + marker +
         R"(\n"})";
}

/// A workspace of no programs: nothing runs in it.
class ImportRows : public testing::Test {
 protected:
  driver::ImportSources sources() const {
    std::filesystem::create_directories(folder_.path() / "packages" / "node_modules");
    return {folder_.path(), folder_.path(), folder_.path() / "packages"};
  }

  file::TemporaryFolder folder_{"tare-bench-test"};
  driver::ImportWorkspace workspace_{sources()};
};

TEST_F(ImportRows, a_figure_comes_out_of_the_marker_too) {
  ImportRow row(workspace_, shell_import_driver({import_sample(0), import_sample(0)}), "cold-local-import");
  EXPECT_DOUBLE_EQ(row.ms("guest_execution"), 0.02);
  EXPECT_DOUBLE_EQ(row.ms("total"), 0.05);
}

TEST_F(ImportRows, a_figure_that_is_not_there_breaks_it) {
  const std::string marker = R"({\"resource_usage\":{\"rss_bytes\":1}})";
  ImportRow row(workspace_, shell_import_driver({import_sample(0, marker)}), "isolate-startup");
  EXPECT_THROW(row.ms("guest_execution"), Broken);
}

TEST_F(ImportRows, a_primed_row_has_to_use_its_cache_from_the_second_sample_on) {
  ImportRow row(workspace_, shell_import_driver({import_sample(0), import_sample(3), import_sample(0)}),
                "warm-local-import");
  EXPECT_NO_THROW(row.sample());
  EXPECT_NO_THROW(row.sample());
  try {
    row.sample();
    FAIL() << "it was taken";
  } catch (const Broken& broken) {
    EXPECT_THAT(broken.what(), HasSubstr("shell, warm-local-import: cache_used"));
  }
}

TEST_F(ImportRows, a_program_that_says_nothing_breaks_it) {
  ImportRow row(workspace_, shell_import_driver({import_sample(0, "what")}), "cold-local-import");
  EXPECT_THROW(row.sample(), Broken);
}

TEST_F(ImportRows, a_package_that_is_missing_is_told_with_its_command) {
  try {
    const ImportRow row(workspace_, shell_import_driver({}), "large-package-import");
    FAIL() << "it was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_STREQ(error.what(), "typescript is not installed; run: tare targets install import");
  }
}

Measurement ratio_of(double ratio, std::optional<measure::Interval> interval = {}) {
  return {ratio, 1.0, ratio, interval, "9 rounds", {}};
}

TEST(WorseOf, is_the_larger_ratio_and_tells_of_the_other) {
  const Measurement first = worse_of(ratio_of(2), "32 B", ratio_of(1, measure::Interval{0.9, 1.1}), "64 KiB");
  EXPECT_EQ(first.ratio, 2);
  EXPECT_EQ(first.note, "32 B: 9 rounds; 64 KiB 1.00× (0.90–1.10×)");
  const Measurement second = worse_of(ratio_of(1), "32 B", ratio_of(2), "64 KiB");
  EXPECT_EQ(second.ratio, 2);
  EXPECT_EQ(second.note, "64 KiB: 9 rounds; 32 B 1.00×");
}

TEST(WorseOf, of_what_could_not_be_compared_there_is_none) {
  EXPECT_THROW(worse_of(ratio_of(2), "a", {}, "b"), Broken);
  EXPECT_THROW(worse_of({}, "a", ratio_of(2), "b"), Broken);
}

}  // namespace
}  // namespace tare::benchmarks
