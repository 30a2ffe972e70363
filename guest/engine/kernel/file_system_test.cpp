#include "engine/kernel/file_system.hpp"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/kernel/kernel_testing.hpp"

namespace tare::kernel {
namespace {

using testing::bytes;
using testing::read_some;

class Files : public ::testing::Test {
 protected:
  void remake(Limits limits) { files = FileSystem::create(limits, clock, counters); }
  std::shared_ptr<Description> open(std::string_view path, int flags) {
    auto opened = files->open(me, path, flags);
    EXPECT_TRUE(opened.ok()) << path << " " << strerrorname_np(opened.error());
    return opened.ok() ? *opened : nullptr;
  }
  int open_error(std::string_view path, int flags) { return files->open(me, path, flags).error(); }
  void put(std::string_view path, std::string_view text = "x") {
    EXPECT_TRUE(files->write_file(me, path, text).ok()) << path;
  }
  std::string get(std::string_view path) {
    auto text = files->read_file(me, path);
    return text.ok() ? *text : strerrorname_np(text.error());
  }
  void dir(std::string_view path) { EXPECT_TRUE(files->mkdir(me, path).ok()) << path; }
  void ln(std::string_view target, std::string_view path) {
    EXPECT_TRUE(files->symlink(me, target, path).ok()) << path;
  }
  std::uint64_t used_bytes() const { return (files->statfs().blocks - files->statfs().bfree) * 512; }
  std::uint64_t used_inodes() const { return files->statfs().files - files->statfs().ffree; }

  Origin me{.cwd = "/tmp"};
  ManualClock clock;
  std::shared_ptr<Counters> counters = std::make_shared<Counters>();
  std::shared_ptr<FileSystem> files = FileSystem::create({}, clock, counters);
};

TEST_F(Files, begin_with_the_usual_places) {
  std::string names;
  for (const auto& entry : *files->read_directory(me, "/")) names += entry.name + " ";
  EXPECT_EQ(names, "bin dev root tmp usr ");
  EXPECT_EQ(files->stat(me, "/tmp")->mode, static_cast<unsigned>(S_IFDIR | 01777));
  EXPECT_TRUE(files->access(me, "/usr/bin/node", X_OK).ok());
  EXPECT_EQ(files->stat(me, "/proc").error(), ENOENT);
}

TEST_F(Files, devices_work) {
  std::array<std::byte, 4> buffer{std::byte{1}};
  EXPECT_EQ(*open("/dev/null", O_RDWR)->read(buffer), 0u);
  EXPECT_EQ(*open("/dev/null", O_WRONLY)->write(bytes("gone")), 4u);
  EXPECT_EQ(*open("/dev/zero", O_RDONLY)->read(buffer), 4u);
  EXPECT_EQ(buffer[0], std::byte{0});
  std::array<std::byte, 1000> first;
  std::array<std::byte, 1000> second;
  EXPECT_EQ(*open("/dev/urandom", O_RDONLY)->read(first), 1000u);
  EXPECT_EQ(*open("/dev/urandom", O_RDONLY)->read(second), 1000u);
  EXPECT_NE(first, second);
  EXPECT_EQ(open("/dev/null", O_RDONLY)->kind(), Description::Kind::null);
}

TEST_F(Files, keep_what_is_written) {
  const auto file = open("a", O_RDWR | O_CREAT);
  EXPECT_EQ(*file->write(bytes("hello ")), 6u);
  EXPECT_EQ(*file->write(bytes("world")), 5u);
  EXPECT_EQ(get("/tmp/a"), "hello world");
  EXPECT_EQ(*file->seek(6, Description::Whence::set), 6);
  EXPECT_EQ(read_some(*file), "world");
  EXPECT_EQ(*file->pwrite(bytes("J"), 0), 1u);
  EXPECT_EQ(*file->seek(-4, Description::Whence::end), 7);
  EXPECT_EQ(file->seek(-1, Description::Whence::set).error(), EINVAL);
  EXPECT_EQ(get("a"), "Jello world");
  EXPECT_EQ(files->stat(me, "a")->size, 11);
}

TEST_F(Files, open_flags_do_what_linux_does) {
  put("a", "old");
  dir("d");
  ln("a", "link");
  ln("missing", "dangling");
  EXPECT_EQ(open_error("none", O_RDONLY), ENOENT);
  EXPECT_EQ(open_error("a", O_CREAT | O_EXCL | O_WRONLY), EEXIST);
  EXPECT_EQ(open_error("dangling", O_CREAT | O_EXCL | O_WRONLY), EEXIST);
  EXPECT_EQ(open_error("dangling", O_RDONLY), ENOENT);
  EXPECT_EQ(open_error("link", O_RDONLY | O_NOFOLLOW), ELOOP);
  EXPECT_EQ(open_error("a", O_RDONLY | O_DIRECTORY), ENOTDIR);
  EXPECT_EQ(open_error("d", O_WRONLY), EISDIR);
  EXPECT_EQ(open_error("d", O_RDONLY | O_CREAT), EISDIR);
  EXPECT_EQ(open_error("new/", O_WRONLY | O_CREAT), EISDIR);
  EXPECT_EQ(open_error("a/", O_RDONLY), ENOTDIR);
  EXPECT_EQ(open_error("a/b", O_RDONLY), ENOTDIR);
  EXPECT_EQ(open_error("none/b", O_WRONLY | O_CREAT), ENOENT);
  EXPECT_EQ(open_error("", O_RDONLY), ENOENT);
  EXPECT_EQ(open_error(std::string_view("a\0b", 3), O_RDONLY), EINVAL);
  EXPECT_EQ(open_error("a", O_ACCMODE), EINVAL);
  (void)open("dangling", O_WRONLY | O_CREAT);  // through the link
  EXPECT_TRUE(files->stat(me, "missing").ok());
  (void)open("a", O_WRONLY | O_TRUNC);
  EXPECT_EQ(get("a"), "");
  std::array<std::byte, 1> buffer;
  EXPECT_EQ(open("d", O_RDONLY | O_DIRECTORY)->read(buffer).error(), EISDIR);
  EXPECT_EQ(open("a", O_WRONLY)->read(buffer).error(), EBADF);
  EXPECT_EQ(open("a", O_RDONLY)->write(buffer).error(), EBADF);
}

TEST_F(Files, append_always_goes_to_the_end) {
  put("log", "1");
  const auto first = open("log", O_WRONLY | O_APPEND);
  const auto second = open("log", O_WRONLY | O_APPEND);
  EXPECT_TRUE(first->write(bytes("2")).ok());
  EXPECT_TRUE(second->write(bytes("3")).ok());
  EXPECT_TRUE(first->write(bytes("4")).ok());
  EXPECT_TRUE(second->pwrite(bytes("5"), 0).ok());
  EXPECT_EQ(get("log"), "12345");
}

TEST_F(Files, modes_lose_the_umask) {
  me.umask = 027;
  EXPECT_TRUE(files->open(me, "f", O_CREAT | O_WRONLY, 0777).ok());
  dir("d");
  EXPECT_EQ(files->stat(me, "f")->mode, static_cast<unsigned>(S_IFREG | 0750));
  EXPECT_EQ(files->stat(me, "d")->mode, static_cast<unsigned>(S_IFDIR | 0750));
}

TEST_F(Files, paths_walk_as_in_linux) {
  dir("d");
  dir("d/e");
  put("d/e/f", "deep");
  ln("/tmp/d", "abs");
  ln("e/../e", "d/rel");
  ln("loop2", "loop1");
  ln("loop1", "loop2");
  EXPECT_EQ(get("d//e/./f"), "deep");
  EXPECT_EQ(get("/../../tmp/d/e/f"), "deep");
  EXPECT_EQ(get("abs/rel/f"), "deep");
  EXPECT_EQ(*files->realpath(me, "abs/rel/f"), "/tmp/d/e/f");
  EXPECT_EQ(*files->realpath(me, "abs/.."), "/tmp");
  EXPECT_EQ(*files->realpath(me, "/.."), "/");
  EXPECT_EQ(files->stat(me, "loop1").error(), ELOOP);
  EXPECT_TRUE(files->lstat(me, "loop1").ok());
  EXPECT_EQ(files->lstat(me, "abs")->mode & S_IFMT, static_cast<unsigned>(S_IFLNK));
  EXPECT_EQ(files->lstat(me, "abs/")->mode & S_IFMT, static_cast<unsigned>(S_IFDIR));
  EXPECT_EQ(files->stat(me, std::string(256, 'n')).error(), ENAMETOOLONG);
  EXPECT_EQ(files->stat(me, std::string(255, 'n')).error(), ENOENT);
  std::string path = "/tmp";
  while (path.size() < 4095) path += "/.";
  EXPECT_EQ(files->stat(me, path.substr(0, 4095)).error(), 0);
  EXPECT_EQ(files->stat(me, path + "/.").error(), ENAMETOOLONG);
}

TEST_F(Files, forty_links_are_followed_and_no_more) {
  put("l0", "end");
  for (int i = 1; i <= 41; ++i) ln("l" + std::to_string(i - 1), "l" + std::to_string(i));
  EXPECT_EQ(get("l40"), "end");
  EXPECT_EQ(get("l41"), "ELOOP");
}

TEST_F(Files, live_on_unlinked_while_open) {
  const auto before = used_bytes();
  put("a", "still here");
  auto file = open("a", O_RDONLY);
  EXPECT_TRUE(files->unlink(me, "a").ok());
  EXPECT_EQ(files->stat(me, "a").error(), ENOENT);
  EXPECT_EQ(file->stat()->nlink, 0u);
  EXPECT_EQ(read_some(*file), "still here");
  EXPECT_GT(used_bytes(), before);
  file.reset();
  EXPECT_EQ(used_bytes(), before);
}

TEST_F(Files, unlink_and_rmdir_refuse_what_linux_refuses) {
  dir("d");
  put("d/f");
  ln("d", "link");
  EXPECT_EQ(files->unlink(me, "d").error(), EISDIR);
  EXPECT_EQ(files->unlink(me, "none").error(), ENOENT);
  EXPECT_EQ(files->unlink(me, "d/f/").error(), ENOTDIR);
  EXPECT_EQ(files->unlink(me, "link/").error(), ENOTDIR);
  EXPECT_EQ(files->rmdir(me, "d").error(), ENOTEMPTY);
  EXPECT_EQ(files->rmdir(me, "d/f").error(), ENOTDIR);
  EXPECT_EQ(files->rmdir(me, "link").error(), ENOTDIR);
  EXPECT_EQ(files->rmdir(me, "/").error(), EBUSY);
  EXPECT_EQ(files->rmdir(me, "d/.").error(), EINVAL);
  EXPECT_EQ(files->rmdir(me, "d/..").error(), ENOTEMPTY);
  EXPECT_TRUE(files->unlink(me, "d/f").ok());
  EXPECT_TRUE(files->rmdir(me, "d/").ok());
  EXPECT_TRUE(files->unlink(me, "link").ok());
}

TEST_F(Files, mkdir_refuses_what_exists) {
  dir("d/");
  put("f");
  ln("nowhere", "dangling");
  EXPECT_EQ(files->mkdir(me, "d").error(), EEXIST);
  EXPECT_EQ(files->mkdir(me, "f").error(), EEXIST);
  EXPECT_EQ(files->mkdir(me, "dangling").error(), EEXIST);
  EXPECT_EQ(files->mkdir(me, "/").error(), EEXIST);
  EXPECT_EQ(files->mkdir(me, "f/x").error(), ENOTDIR);
  EXPECT_EQ(files->mkdir(me, "no/x").error(), ENOENT);
  EXPECT_EQ(files->stat(me, "/tmp")->nlink, 3u);
}

TEST_F(Files, rename_replaces_and_refuses_as_linux_does) {
  put("a", "A");
  put("b", "B");
  dir("d");
  dir("d/sub");
  dir("empty");
  EXPECT_TRUE(files->rename(me, "a", "b").ok());
  EXPECT_EQ(get("b"), "A");
  EXPECT_EQ(get("a"), "ENOENT");
  EXPECT_EQ(files->rename(me, "d", "d/sub/x").error(), EINVAL);
  EXPECT_EQ(files->rename(me, "d/sub", "d").error(), ENOTEMPTY);
  EXPECT_EQ(files->rename(me, "empty", "d").error(), ENOTEMPTY);
  EXPECT_EQ(files->rename(me, "b", "d").error(), EISDIR);
  EXPECT_EQ(files->rename(me, "d", "b").error(), ENOTDIR);
  EXPECT_EQ(files->rename(me, "b", "c/").error(), ENOTDIR);
  EXPECT_EQ(files->rename(me, "none", "c").error(), ENOENT);
  EXPECT_EQ(files->rename(me, "d/.", "c").error(), EBUSY);
  EXPECT_TRUE(files->rename(me, "d", "empty").ok());
  EXPECT_TRUE(files->stat(me, "empty/sub").ok());
  EXPECT_TRUE(files->rename(me, "b", "b").ok());
  EXPECT_TRUE(files->link(me, "b", "hard").ok());
  EXPECT_TRUE(files->rename(me, "hard", "b").ok());  // the same file: both names stay
  EXPECT_TRUE(files->stat(me, "hard").ok());
}

TEST_F(Files, links_share_a_file) {
  put("a", "one");
  dir("d");
  EXPECT_TRUE(files->link(me, "a", "b").ok());
  put("b", "two");
  EXPECT_EQ(get("a"), "two");
  EXPECT_EQ(files->stat(me, "a")->nlink, 2u);
  EXPECT_EQ(files->stat(me, "a")->ino, files->stat(me, "b")->ino);
  EXPECT_EQ(files->link(me, "d", "e").error(), EPERM);
  EXPECT_EQ(files->link(me, "a", "b").error(), EEXIST);
  EXPECT_EQ(files->link(me, "none", "e").error(), ENOENT);
  EXPECT_EQ(files->symlink(me, "", "e").error(), ENOENT);
  EXPECT_EQ(files->symlink(me, "x", "a").error(), EEXIST);
  EXPECT_EQ(files->readlink(me, "a").error(), EINVAL);
  ln("any thing", "s");
  EXPECT_EQ(*files->readlink(me, "s"), "any thing");
  EXPECT_EQ(files->lstat(me, "s")->size, 9);
}

TEST_F(Files, times_and_modes_change) {
  put("a");
  clock.advance(std::chrono::seconds(5));
  EXPECT_TRUE(files->chmod(me, "a", 0600).ok());
  EXPECT_TRUE(files->utimes(me, "a", {.atime_ns = 1'500'000'000, .mtime_ns = std::nullopt}).ok());
  EXPECT_TRUE(files->chown(me, "a", {.uid = 7, .gid = std::nullopt}).ok());
  const auto stat = files->stat(me, "a");
  EXPECT_EQ(stat->mode, static_cast<unsigned>(S_IFREG | 0600));
  EXPECT_EQ(stat->atime_ns, 1'500'000'000);
  EXPECT_EQ(stat->mtime_ns, stat->birthtime_ns);
  EXPECT_EQ(stat->ctime_ns, stat->birthtime_ns + 5'000'000'000);
  EXPECT_EQ(stat->uid, 7u);
  EXPECT_EQ(stat->gid, 0u);
  EXPECT_EQ(files->access(me, "a", X_OK).error(), EACCES);
  EXPECT_TRUE(files->access(me, "a", R_OK | W_OK).ok());
  EXPECT_EQ(files->access(me, "a", 8).error(), EINVAL);
}

TEST_F(Files, copy_and_temporary_directories) {
  put("a", "text");
  EXPECT_TRUE(files->chmod(me, "a", 0755).ok());
  EXPECT_TRUE(files->copy_file(me, "a", "b", FileSystem::Existing::refuse).ok());
  EXPECT_EQ(get("b"), "text");
  EXPECT_EQ(files->stat(me, "b")->mode & 0777, 0755u);
  EXPECT_EQ(files->copy_file(me, "a", "b", FileSystem::Existing::refuse).error(), EEXIST);
  put("b", "something longer");
  EXPECT_TRUE(files->copy_file(me, "a", "b", FileSystem::Existing::replace).ok());
  EXPECT_EQ(get("b"), "text");
  EXPECT_TRUE(files->copy_file(me, "a", "a", FileSystem::Existing::replace).ok());
  EXPECT_EQ(files->copy_file(me, "/tmp", "c", FileSystem::Existing::replace).error(), EISDIR);
  const auto made = files->mkdtemp(me, "tmp-");
  EXPECT_EQ(made->size(), 10u);
  EXPECT_EQ(files->stat(me, *made)->mode, static_cast<unsigned>(S_IFDIR | 0700));
  EXPECT_EQ(files->mkdtemp(me, "no/tmp-").error(), ENOENT);
}

TEST_F(Files, are_denied_but_for_null) {
  me.fs = Permission::deny;
  EXPECT_EQ(open_error("/tmp/a", O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(files->stat(me, "/none").error(), EACCES);
  EXPECT_EQ(files->read_directory(me, "/").error(), EACCES);
  EXPECT_EQ(files->rename(me, "/dev/null", "/dev/x").error(), EACCES);
  EXPECT_TRUE(files->open(me, "/dev/null", O_RDWR).ok());
  EXPECT_EQ(counters->refusals(Refusal::fs_permission), 4u);
}

}  // namespace
}  // namespace tare::kernel
