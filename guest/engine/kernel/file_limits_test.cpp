// Files at their limits, in odd shapes, and under several threads.
#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

#include "engine/kernel/file_system.hpp"
#include "engine/kernel/kernel_testing.hpp"

namespace tare::kernel {
namespace {

using testing::bytes;

class FileLimits : public ::testing::Test {
 protected:
  std::shared_ptr<FileSystem> make(Limits limits) { return FileSystem::create(limits, clock, counters); }
  static std::uint64_t used_bytes(const FileSystem& files) {
    return (files.statfs().blocks - files.statfs().bfree) * 512;
  }
  static std::uint64_t used_inodes(const FileSystem& files) {
    return files.statfs().files - files.statfs().ffree;
  }

  const Origin me{.cwd = "/tmp"};
  SystemClock clock;
  std::shared_ptr<Counters> counters = std::make_shared<Counters>();
};

TEST_F(FileLimits, write_stops_at_the_byte_limit) {
  const auto files = make({.file_bytes = 1 << 20});
  const auto file = *files->open(me, "a", O_RDWR | O_CREAT);
  EXPECT_EQ(*file->write(bytes(std::string((1 << 20) - 1024, 'x'))), (1u << 20) - 1024);
  EXPECT_EQ(*file->write(bytes(std::string(5000, 'y'))), 1024u);
  EXPECT_EQ(file->write(bytes("z")).error(), ENOSPC);
  EXPECT_EQ(file->stat()->size, 1 << 20);
  EXPECT_EQ(counters->refusals(Refusal::file_byte_limit), 2u);
  EXPECT_EQ(files->copy_file(me, "a", "b", FileSystem::Existing::replace).error(), ENOSPC);
  EXPECT_EQ(files->stat(me, "b").error(), ENOENT);
  EXPECT_TRUE(files->truncate(me, "a", 1).ok());
  EXPECT_EQ(used_bytes(*files), 512u);
  EXPECT_TRUE(files->copy_file(me, "a", "b", FileSystem::Existing::replace).ok());
  EXPECT_TRUE(files->unlink(me, "a").ok());
  EXPECT_EQ(used_bytes(*files), 1024u);  // `file` is still open
}

TEST_F(FileLimits, refused_write_leaves_nothing_behind) {
  const auto files = make({.file_bytes = 4096});
  const auto file = *files->open(me, "a", O_RDWR | O_CREAT);
  EXPECT_EQ(file->pwrite(bytes("x"), 10'000).error(), ENOSPC);
  EXPECT_EQ(file->stat()->size, 0);
  EXPECT_EQ(used_bytes(*files), 0u);
}

TEST_F(FileLimits, holes_are_zero_and_take_nothing) {
  const auto files = make({.file_bytes = 1 << 20});
  const auto file = *files->open(me, "a", O_RDWR | O_CREAT);
  const std::int64_t far = std::int64_t{1} << 40;
  EXPECT_EQ(*file->pwrite(bytes("end"), far), 3u);
  EXPECT_EQ(file->stat()->size, far + 3);
  EXPECT_LE(file->stat()->blocks, 128u);
  std::array<std::byte, 6> buffer{std::byte{1}, std::byte{1}, std::byte{1}};
  EXPECT_EQ(*file->pread(buffer, far - 3), 6u);
  EXPECT_EQ(buffer[0], std::byte{0});
  EXPECT_EQ(buffer[3], std::byte{'e'});
  EXPECT_EQ(files->read_file(me, "a").error(), EFBIG);
  EXPECT_TRUE(file->truncate(far).ok());
  EXPECT_TRUE(file->truncate(far + 3).ok());
  EXPECT_EQ(*file->pread(buffer, far), 3u);
  EXPECT_EQ(buffer[0], std::byte{0});  // what was cut off does not come back
}

TEST_F(FileLimits, largest_size_is_efbig) {
  const auto files = make({});
  const auto file = *files->open(me, "a", O_RDWR | O_CREAT);
  EXPECT_EQ(file->pwrite(bytes("x"), max_file_size).error(), EFBIG);
  EXPECT_EQ(*file->pwrite(bytes("xy"), max_file_size - 1), 1u);
  EXPECT_EQ(file->truncate(max_file_size + 1).error(), EFBIG);
  EXPECT_EQ(file->truncate(-1).error(), EINVAL);
  EXPECT_EQ(file->pread({}, -1).error(), EINVAL);
}

TEST_F(FileLimits, contents_agree_with_a_plain_string) {
  const auto files = make({});
  const auto file = *files->open(me, "a", O_RDWR | O_CREAT);
  std::string model;
  std::uint64_t seed = 1;
  const auto next = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int i = 0; i < 400; ++i) {
    const std::size_t at = next(200'000);
    if (next(8) == 0) {
      model.resize(at);
      ASSERT_TRUE(file->truncate(static_cast<std::int64_t>(at)).ok());
      continue;
    }
    const std::string text(next(90'000) + 1, static_cast<char>('a' + i % 26));
    if (model.size() < at + text.size()) model.resize(at + text.size());
    model.replace(at, text.size(), text);
    ASSERT_EQ(*file->pwrite(bytes(text), static_cast<std::int64_t>(at)), text.size());
  }
  EXPECT_TRUE(*files->read_file(me, "a") == model);
}

TEST_F(FileLimits, a_million_files_are_refused_at_the_limit) {
  const auto files = make({});
  std::size_t made = 0;
  int error = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto file = files->open(me, "f" + std::to_string(i), O_WRONLY | O_CREAT);
    if (file.ok()) {
      ++made;
    } else {
      error = file.error();
    }
  }
  EXPECT_EQ(error, ENOSPC);
  EXPECT_EQ(used_inodes(*files), 100'000u);
  EXPECT_GT(made, 99'000u);
  EXPECT_EQ(counters->refusals(Refusal::inode_limit), 1'000'000 - made);
  EXPECT_EQ(files->read_directory(me, "/tmp")->size(), made);
  EXPECT_TRUE(files->remove_tree(me, "/tmp").ok());
  EXPECT_LT(used_inodes(*files), 20u);
}

TEST_F(FileLimits, names_and_link_targets_are_limited_too) {
  const auto files = make({.file_bytes = 10'000, .inodes = 20});
  ASSERT_TRUE(files->write_file(me, "a", "").ok());
  int error = 0;
  for (int i = 0; i < 100 && error == 0; ++i) error = files->link(me, "a", "l" + std::to_string(i)).error();
  EXPECT_EQ(error, ENOSPC);
  EXPECT_EQ(files->mkdir(me, "d").error(), ENOSPC);
  EXPECT_EQ(make({.file_bytes = 100})->symlink(me, std::string(101, 'x'), "s").error(), ENOSPC);
}

TEST_F(FileLimits, deep_trees_are_built_and_removed_without_recursion) {
  const auto files = make({});
  // Deeper than any path: the deep end is moved under a new top again and again.
  std::string chain = "/tmp/c";
  ASSERT_TRUE(files->mkdir(me, chain).ok());
  for (int i = 1; i < 1'000; ++i) ASSERT_TRUE(files->mkdir(me, chain += "/c").ok());
  for (int round = 0; round < 20; ++round) {
    std::string top = "/tmp/n";
    ASSERT_TRUE(files->mkdir(me, top).ok());
    for (int i = 1; i < 1'000; ++i) ASSERT_TRUE(files->mkdir(me, top += "/c").ok());
    ASSERT_TRUE(files->rename(me, "/tmp/c", top + "/c").ok());
    ASSERT_TRUE(files->rename(me, "/tmp/n", "/tmp/c").ok());
  }
  EXPECT_GT(used_inodes(*files), 21'000u);
  EXPECT_TRUE(files->copy_file(me, "/bin/sh", "keep", FileSystem::Existing::replace).ok());
  EXPECT_TRUE(files->remove_tree(me, "/tmp/c").ok());
  EXPECT_EQ(files->remove_tree(me, "/tmp/c").error(), ENOENT);
  EXPECT_TRUE(files->stat(me, "keep").ok());
  EXPECT_LT(used_inodes(*files), 20u);
}

TEST_F(FileLimits, deep_tree_goes_with_its_file_system) {
  auto files = make({});
  std::string chain = "/tmp";
  for (int i = 0; i < 2'000; ++i) ASSERT_TRUE(files->mkdir(me, chain += "/c").ok());
  const auto open = *files->open(me, chain + "/f", O_WRONLY | O_CREAT);
  files.reset();
  EXPECT_TRUE(open->write(bytes("the description keeps it")).ok());
}

TEST_F(FileLimits, threads_may_do_anything_at_once) {
  const auto files = make({.inodes = 500});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string name = "f" + std::to_string((i + t) % 10);
        (void)files->write_file(me, name, std::string(static_cast<std::size_t>(i) * 10, 'x'));
        (void)files->rename(me, name, "g");
        (void)files->read_file(me, "g");
        (void)files->mkdir(me, "d" + std::to_string(i % 3));
        (void)files->read_directory(me, "/tmp");
        (void)files->remove_tree(me, "d" + std::to_string(i % 3));
        (void)files->unlink(me, name);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  (void)files->remove_tree(me, "/tmp");
  EXPECT_EQ(used_bytes(*files), 0u);
  EXPECT_LT(used_inodes(*files), 20u);
}

}  // namespace
}  // namespace tare::kernel
