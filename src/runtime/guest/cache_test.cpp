#include "runtime/guest/cache.hpp"

#include <future>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "runtime/guest/world_for_tests.hpp"

namespace tare::guest {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::size_t entries(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.is_directory() ? 1 : 0;
  return count;
}

TEST(GuestCache, what_was_made_once_is_found_again) {
  const World world;
  const Prepared made = prepare(world.installation());
  EXPECT_EQ(file::read(made.pack), "pack");
  EXPECT_EQ(file::read(made.snapshot), "snapshot");
  EXPECT_FALSE(made.notice);
  const auto before = fs::last_write_time(made.snapshot);
  EXPECT_EQ(prepare(world.installation()).snapshot, made.snapshot);
  EXPECT_EQ(fs::last_write_time(made.snapshot), before);
}

TEST(GuestCache, a_damaged_file_is_made_again) {
  const World world;
  const Prepared made = prepare(world.installation());
  file::write_atomically(made.snapshot, "snap");
  EXPECT_EQ(file::read(prepare(world.installation()).snapshot), "snapshot");
  fs::remove(made.pack);
  EXPECT_EQ(file::read(prepare(world.installation()).pack), "pack");
}

TEST(GuestCache, what_is_refused_is_made_again) {
  const World world;
  const Prepared made = prepare(world.installation());
  const auto before = fs::last_write_time(made.snapshot);
  prepare(world.installation(), Library::small, Reuse::refused);
  EXPECT_NE(fs::last_write_time(made.snapshot), before);
}

TEST(GuestCache, a_changed_engine_has_files_of_its_own_and_the_newest_six_stay) {
  World world;
  fs::path newest;
  for (int i = 0; i < 8; ++i) {
    world.set_mode("version " + std::string(static_cast<std::size_t>(i), 'x'));
    newest = prepare(world.installation()).snapshot.parent_path();
  }
  EXPECT_TRUE(fs::exists(newest));
  EXPECT_EQ(entries(world.installation().cache), 6U);
}

TEST(GuestCache, each_library_has_its_own_files) {
  const World world;
  const fs::path small = prepare(world.installation()).snapshot;
  const fs::path large = prepare(world.installation(), Library::large).snapshot;
  EXPECT_NE(large, small);
  EXPECT_TRUE(fs::exists(small));
  EXPECT_EQ(prepare(world.installation(), Library::large).snapshot, large);
  const fs::path modules = prepare(world.installation(), Library::modules).snapshot;
  EXPECT_NE(modules, small);
  EXPECT_NE(modules, large);
}

TEST(GuestCache, several_at_once_make_it_once) {
  const World world;
  std::vector<std::future<Prepared>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(std::async(std::launch::async, [&] { return prepare(world.installation()); }));
  for (auto& one : all) EXPECT_EQ(file::read(one.get().snapshot), "snapshot");
  EXPECT_EQ(entries(world.installation().cache), 1U);
}

TEST(GuestCache, what_a_gone_process_left_unfinished_is_removed) {
  const World world;
  file::write_atomically(world.installation().cache / "24.22.3-0.new-1" / "pack", "half");
  prepare(world.installation());
  EXPECT_EQ(entries(world.installation().cache), 1U);
}

TEST(GuestCache, where_it_cannot_be_a_temporary_folder_is_used_and_said) {
  World world;
  file::write_atomically(world.installation().cache, "a file in the way");
  fs::path snapshot;
  {
    const Prepared made = prepare(world.installation());
    snapshot = made.snapshot;
    EXPECT_EQ(file::read(snapshot), "snapshot");
    EXPECT_THAT(made.notice.value_or(""), HasSubstr(world.installation().cache.string()));
  }
  EXPECT_FALSE(fs::exists(snapshot));
}

TEST(GuestCache, a_tool_that_fails_is_quoted_in_one_line) {
  const World world("build fails");
  EXPECT_EQ(line_of([&] { prepare(world.installation()); }),
            "tare: cannot make the guest engine's start-up snapshot (exited with code 1: no such builtin "
            "module: frobnicate)");
  EXPECT_EQ(entries(world.installation().cache), 0U);
}

TEST(GuestInstallation, says_what_is_missing_and_what_brings_it) {
  const World world;
  Installation other = world.installation();
  EXPECT_EQ(line_of([&] { check(other); }), "no error");
  file::write_atomically(world.folder() / "node" / "package.json", R"({"version": "24.0.0"})");
  EXPECT_THAT(line_of([&] { check(other); }), HasSubstr("it needs node 24.22.3, and "));
  other.node = "/nonexistent/node";
  EXPECT_EQ(line_of([&] { check(other); }),
            "tare: the guest engine is unavailable (node 24.22.3 is not installed); `tare targets install "
            "node` (124 MB from npm) installs it");
  other = world.installation();
  file::write_atomically(world.folder() / "node" / "package.json", R"({"version": "24.22.3"})");
  fs::remove(other.engine());
  EXPECT_THAT(line_of([&] { check(other); }), HasSubstr("engine.js is missing); `make node` builds it"));
}

}  // namespace
}  // namespace tare::guest
