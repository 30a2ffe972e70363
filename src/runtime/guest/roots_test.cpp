#include "runtime/guest/roots.hpp"

#include <gtest/gtest.h>

#include "runtime/guest/world_for_tests.hpp"

namespace tare::guest {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& root, MountAccess access, const World& world) {
  return line_of([&] { (void)checked_roots({root}, access, world.installation()); });
}

TEST(Roots, are_real_paths) {
  const World world;
  fs::create_directories(world.folder() / "project/src");
  fs::create_directory_symlink("project", world.folder() / "link");
  const auto roots = checked_roots({world.folder() / "link/src"}, MountAccess::rw, world.installation());
  EXPECT_EQ(roots.front(), fs::canonical(world.folder()) / "project/src");
}

TEST(Roots, what_is_more_than_files_is_refused) {
  const World world;
  EXPECT_EQ(refusal("/", MountAccess::ro, world),
            "tare: cannot mount / (it shows a guest all of this machine); name a folder in it");
  EXPECT_EQ(refusal("/proc", MountAccess::ro, world),
            "tare: cannot mount /proc (it shows a guest more of this machine than files)");
  EXPECT_EQ(refusal("/proc/self/root", MountAccess::ro, world),
            "tare: cannot mount /proc/self/root (it shows a guest all of this machine); name a folder in it");
  EXPECT_EQ(refusal("/dev", MountAccess::ro, world),
            "tare: cannot mount /dev (it shows a guest more of this machine than files)");
}

TEST(Roots, what_is_no_folder_is_refused) {
  const World world;
  EXPECT_EQ(refusal("/none", MountAccess::ro, world), "tare: cannot mount /none (No such file or directory)");
  const std::string file = world.installation().engine().string();
  EXPECT_EQ(refusal(file, MountAccess::ro, world), "tare: cannot mount " + file + " (it is not a folder)");
}

TEST(Roots, the_engines_own_files_are_never_writable) {
  const World world;
  for (const fs::path& folder :
       {world.folder(), world.installation().lib, world.installation().node.parent_path()}) {
    EXPECT_EQ(refusal(folder, MountAccess::ro, world), "no error");
    EXPECT_NE(refusal(folder, MountAccess::rw, world).find("a guest could change the engine's own files in "),
              std::string::npos);
  }
}

TEST(Roots, code_is_kept_where_no_guest_can_write) {
  const auto refused = [](const fs::path& cache, const fs::path& root) {
    return line_of([&] { check_apart({cache}, {root}); });
  };
  EXPECT_EQ(refused("/cache", "/project"), "no error");
  EXPECT_EQ(refused("/project/cache", "/project"),
            "tare: cannot keep code in /project/cache (guests may write to /project); name another folder");
  EXPECT_NE(refused("/project", "/project/src"), "no error");
}

TEST(Roots, beneath_means_whole_names) {
  EXPECT_TRUE(is_beneath("/a/b", {"/x", "/a/b"}));
  EXPECT_TRUE(is_beneath("/a/b/c", {"/a/b"}));
  EXPECT_FALSE(is_beneath("/a/bc", {"/a/b"}));
  EXPECT_FALSE(is_beneath("/a", {"/a/b"}));
}

}  // namespace
}  // namespace tare::guest
