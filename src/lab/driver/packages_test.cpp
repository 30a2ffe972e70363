#include "lab/driver/packages.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/file.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock = R"({"packages": {
  "": {"name": "tare-peer"},
  "node_modules/core": {"version": "1.2.3"},
  "node_modules/binary-here": {"version": "1.2.3", "optional": true},
  "node_modules/binary-elsewhere": {"version": "1.2.3", "optional": true}}})";

/// A cache that holds a peer as npm leaves it.
class Packages : public testing::Test {
 protected:
  Packages() {
    options_.manifests = folder_.path() / "packages";
    options_.cache = folder_.path() / "cache";
    write(options_.manifests / "peer" / "package-lock.json", lock);
    write(options_.cache / "peer" / ".tare-installed", lock);
    put("core", "1.2.3");
    put("binary-here", "1.2.3");
  }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  fs::path manifest(const std::string& name) const {
    return options_.cache / "peer" / "node_modules" / name / "package.json";
  }
  void put(const std::string& name, const std::string& version) {
    write(manifest(name), R"({"version": ")" + version + R"("})");
  }
  bool installed() const { return is_installed("peer", options_); }

  const file::TemporaryFolder folder_;
  PackageOptions options_;
};

TEST_F(Packages, are_installed_without_those_of_other_machines) {
  EXPECT_TRUE(installed());
  fs::remove_all(manifest("binary-here").parent_path());
  EXPECT_TRUE(installed());
}

TEST_F(Packages, of_another_lock_file_are_not) {
  write(options_.cache / "peer" / ".tare-installed", "{}");
  EXPECT_FALSE(installed());
}

TEST_F(Packages, that_lack_a_file_or_have_another_version_are_not) {
  put("core", "1.2.4");
  EXPECT_FALSE(installed());
  write(manifest("core"), "{");
  EXPECT_FALSE(installed());
  fs::remove(manifest("core"));
  EXPECT_FALSE(installed());
  put("core", "1.2.3");
  EXPECT_TRUE(installed());
  put("binary-here", "1.2.2");
  EXPECT_FALSE(installed());
}

}  // namespace
}  // namespace tare::driver
