#include "engine/kernel/mount.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/kernel/kernel_testing.hpp"

namespace tare::kernel {
namespace {

namespace fs = std::filesystem;
using testing::bytes;
using testing::read_some;

constexpr int writer = 7;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Synced all_back(std::uint64_t files) {
  return {files, 0, {}, 0};
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A folder of the host with a file, a folder and a secret beside it, shown as /project.
class MountTest : public ::testing::Test {
 protected:
  MountTest() {
    std::string name = (fs::temp_directory_path() / "tare-mount-XXXXXX").string();
    base_ = ::mkdtemp(name.data());
    host_ = base_ / "project";
    fs::create_directories(host_ / "src");
    put(host_ / "a.txt", "from the host");
    put(base_ / "secret", "secret");
    mount("/project", host_, FileSystem::MountAccess::write);
    for (const int who : {1, 2, writer, writer + 1}) files_->begin_writer(who);
  }
  ~MountTest() override { fs::remove_all(base_); }

  void mount(const std::string& path, const fs::path& host, FileSystem::MountAccess access) {
    auto folder = HostFolder::open(host.string());
    ASSERT_TRUE(folder.ok());
    ASSERT_EQ(files_->mount(path, *std::move(folder), access).error(), 0);
  }

  static Origin origin(int who = writer) {
    Origin origin;
    origin.writer = who;
    return origin;
  }
  std::string read(const std::string& path) { return *files_->read_file(origin(), path); }
  void write(const std::string& path, const std::string& text, int who = writer) {
    ASSERT_EQ(files_->write_file(origin(who), path, text).error(), 0) << path;
  }
  std::vector<std::string> names(const std::string& path) {
    std::vector<std::string> all;
    for (auto& entry : *files_->read_directory(origin(), path)) all.push_back(entry.name);
    return all;
  }
  std::vector<std::string> host_names() {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(host_)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  using Names = std::vector<std::string>;
  const SystemClock clock_;
  const Limits limits_{.file_bytes = 1 << 20};
  const std::shared_ptr<FileSystem> files_ =
      FileSystem::create(limits_, clock_, std::make_shared<Counters>());
  fs::path base_;
  fs::path host_;
};

TEST_F(MountTest, shows_the_folder_as_the_host_has_it_at_that_moment) {
  EXPECT_EQ(read("/project/a.txt"), "from the host");
  EXPECT_EQ(names("/project"), (Names{"a.txt", "src"}));
  put(host_ / "a.txt", "another");
  put(host_ / "b.txt", "new");
  EXPECT_EQ(read("/project/a.txt"), "another");
  EXPECT_EQ(read("/project/b.txt"), "new");
  fs::remove(host_ / "a.txt");
  EXPECT_EQ(names("/project"), (Names{"b.txt", "src"}));
  EXPECT_EQ(files_->stat(origin(), "/project/a.txt").error(), ENOENT);
}

TEST_F(MountTest, stat_is_the_hosts_and_the_owner_is_root) {
  struct stat host{};
  ASSERT_EQ(::stat((host_ / "a.txt").c_str(), &host), 0);
  const auto stat = files_->stat(origin(), "/project/a.txt");
  EXPECT_EQ(stat->ino, host.st_ino);
  EXPECT_EQ(stat->size, 13);
  EXPECT_EQ(stat->mode, host.st_mode);
  EXPECT_EQ(stat->uid, 0U);
  EXPECT_EQ(stat->dev, 2U);
  EXPECT_EQ(stat->mtime_ns, host.st_mtim.tv_sec * 1'000'000'000 + host.st_mtim.tv_nsec);
}

TEST_F(MountTest, nothing_to_write_back_is_no_sync) {
  read("/project/a.txt");
  EXPECT_FALSE(files_->end_writer(writer));
}

TEST_F(MountTest, a_written_file_comes_back_when_its_writer_has_ended) {
  write("/project/new.txt", "made");
  write("/project/a.txt", "changed");
  EXPECT_EQ(read("/project/new.txt"), "made");
  EXPECT_EQ(names("/project"), (Names{"a.txt", "new.txt", "src"}));
  EXPECT_EQ(host_names(), (Names{"a.txt", "src"}));
  EXPECT_EQ(text_of(host_ / "a.txt"), "from the host");

  EXPECT_FALSE(files_->end_writer(writer + 1));
  EXPECT_EQ(files_->end_writer(writer), all_back(2));
  EXPECT_EQ(text_of(host_ / "new.txt"), "made");
  EXPECT_EQ(text_of(host_ / "a.txt"), "changed");
  EXPECT_EQ(host_names(), (Names{"a.txt", "new.txt", "src"}));
  EXPECT_FALSE(files_->end_writer(writer));
  EXPECT_EQ(read("/project/new.txt"), "made");
}

TEST_F(MountTest, appending_keeps_what_is_there) {
  const auto file = files_->open(origin(), "/project/a.txt", O_WRONLY | O_APPEND);
  ASSERT_TRUE((*file)->write(bytes(", and more")).ok());
  EXPECT_EQ(files_->stat(origin(), "/project/a.txt")->size, 23);
  EXPECT_EQ(files_->end_writer(writer)->files, 1U);
  EXPECT_EQ(text_of(host_ / "a.txt"), "from the host, and more");
  // The description goes on with the file, and so does the next sync.
  ASSERT_TRUE((*file)->write(bytes("!")).ok());
  EXPECT_EQ(files_->end_writer(writer)->files, 1U);
  EXPECT_EQ(text_of(host_ / "a.txt"), "from the host, and more!");
}

TEST_F(MountTest, mode_and_times_of_a_written_file_are_kept) {
  write("/project/tool", "#!/bin/sh\n");
  ASSERT_EQ(files_->chmod(origin(), "/project/tool", 04755).error(), 0);
  ASSERT_EQ(files_->utimes(origin(), "/project/tool", {1'000'000'000, 2'000'000'000}).error(), 0);
  files_->end_writer(writer);
  struct stat host{};
  ASSERT_EQ(::stat((host_ / "tool").c_str(), &host), 0);
  EXPECT_EQ(host.st_mode & 07777, 0755U) << "no file runs as somebody else";
  EXPECT_EQ(host.st_mtim.tv_sec, 2);
}

TEST_F(MountTest, names_change_at_once) {
  ASSERT_EQ(files_->mkdir(origin(), "/project/src/deep").error(), 0);
  EXPECT_TRUE(fs::is_directory(host_ / "src/deep"));
  ASSERT_EQ(files_->rename(origin(), "/project/a.txt", "/project/src/deep/b.txt").error(), 0);
  EXPECT_EQ(text_of(host_ / "src/deep/b.txt"), "from the host");
  ASSERT_EQ(files_->symlink(origin(), "deep/b.txt", "/project/src/link").error(), 0);
  EXPECT_EQ(read("/project/src/link"), "from the host");
  EXPECT_EQ(*files_->readlink(origin(), "/project/src/link"), "deep/b.txt");
  ASSERT_EQ(files_->link(origin(), "/project/src/deep/b.txt", "/project/c.txt").error(), 0);
  EXPECT_EQ(files_->stat(origin(), "/project/c.txt")->nlink, 2U);
  EXPECT_EQ(files_->rmdir(origin(), "/project/src/deep").error(), ENOTEMPTY);
  ASSERT_EQ(files_->remove_tree(origin(), "/project/src").error(), 0);
  EXPECT_EQ(host_names(), (Names{"c.txt"}));
  EXPECT_FALSE(files_->end_writer(writer));
}

TEST_F(MountTest, a_written_file_that_is_moved_over_another_is_whole_at_once) {
  write("/project/a.txt.new", "whole");
  ASSERT_EQ(files_->rename(origin(), "/project/a.txt.new", "/project/a.txt").error(), 0);
  EXPECT_EQ(text_of(host_ / "a.txt"), "whole");
  EXPECT_EQ(host_names(), (Names{"a.txt", "src"}));
}

TEST_F(MountTest, new_files_move_with_their_folder) {
  write("/project/src/x", "x");
  EXPECT_EQ(files_->rmdir(origin(), "/project/src").error(), ENOTEMPTY);
  ASSERT_EQ(files_->rename(origin(), "/project/src", "/project/lib").error(), 0);
  EXPECT_EQ(read("/project/lib/x"), "x");
  EXPECT_EQ(files_->end_writer(writer)->files, 1U);
  EXPECT_EQ(text_of(host_ / "lib/x"), "x");
}

TEST_F(MountTest, a_new_file_that_was_removed_never_comes_to_the_host) {
  write("/project/scratch", "x");
  ASSERT_EQ(files_->unlink(origin(), "/project/scratch").error(), 0);
  EXPECT_EQ(names("/project"), (Names{"a.txt", "src"}));
  EXPECT_FALSE(files_->end_writer(writer));
  EXPECT_EQ(host_names(), (Names{"a.txt", "src"}));
}

TEST_F(MountTest, an_open_file_outlives_its_name) {
  const auto file = files_->open(origin(), "/project/a.txt", O_RDWR);
  ASSERT_EQ(files_->unlink(origin(), "/project/a.txt").error(), 0);
  EXPECT_FALSE(fs::exists(host_ / "a.txt"));
  EXPECT_EQ(read_some(**file), "from the host");
  ASSERT_TRUE((*file)->pwrite(bytes("FROM"), 0).ok());
  EXPECT_EQ((*file)->stat()->size, 13);
  EXPECT_FALSE(files_->end_writer(writer));
  EXPECT_FALSE(fs::exists(host_ / "a.txt"));
}

TEST_F(MountTest, links_never_lead_out_of_it) {
  fs::create_symlink("../secret", host_ / "up");
  fs::create_symlink(base_ / "secret", host_ / "absolute");
  fs::create_directory_symlink("..", host_ / "folder");
  // A guest resolves them in its own machine, where there is no such file.
  EXPECT_EQ(files_->read_file(origin(), "/project/up").error(), ENOENT);
  EXPECT_EQ(files_->read_file(origin(), "/project/absolute").error(), ENOENT);
  EXPECT_EQ(files_->read_file(origin(), "/project/folder/secret").error(), ENOENT);
  EXPECT_EQ(files_->read_file(origin(), "/project/../secret").error(), ENOENT);
  EXPECT_EQ(files_->write_file(origin(), "/project/absolute", "x").error(), ENOENT);
  EXPECT_EQ(text_of(base_ / "secret"), "secret");
}

TEST_F(MountTest, a_host_folder_follows_no_link_even_when_asked) {
  fs::create_directory_symlink(base_, host_ / "out");
  const auto folder = HostFolder::open(host_.string());
  EXPECT_EQ(folder->open_file("out/secret").error(), ELOOP);
  EXPECT_EQ(folder->look("../secret").error(), EXDEV);
  EXPECT_EQ(folder->remove_file("out/secret").error(), ELOOP);
  EXPECT_EQ(folder->make_directory("out/x", 0755).error(), ELOOP);
  EXPECT_EQ(folder->rename("a.txt", "out/a.txt").error(), ELOOP);
  EXPECT_EQ(folder
                ->put("out/x", {0, [](const auto&) { return Result<void>(); }}, 0644, {},
                      HostFolder::Existing::refuse)
                .error(),
            ELOOP);
  EXPECT_EQ(folder->remove_directory("src/..").error(), EBUSY);
  EXPECT_EQ(folder->look("/etc").error(), EXDEV);
}

TEST_F(MountTest, a_folder_that_becomes_a_link_is_not_followed) {
  write("/project/src/x", "x");
  fs::remove_all(host_ / "src");
  fs::create_directory_symlink(base_, host_ / "src");
  const auto synced = files_->end_writer(writer);
  EXPECT_EQ(synced->files, 0U);
  ASSERT_EQ(synced->problems.size(), 1U);
  EXPECT_TRUE(synced->problems[0].starts_with("/project/src/x: not written back: ")) << synced->problems[0];
  EXPECT_FALSE(fs::exists(base_ / "x"));
}

TEST_F(MountTest, a_folder_that_was_known_is_seen_as_it_has_become) {
  fs::create_directory(host_ / "one");
  fs::create_directory(host_ / "other");
  std::ofstream(host_ / "one" / "x") << "one";
  std::ofstream(host_ / "other" / "x") << "other";
  EXPECT_EQ(read("/project/one/x"), "one");
  fs::remove_all(host_ / "one");
  fs::create_directory_symlink("other", host_ / "one");
  EXPECT_EQ(read("/project/one/x"), "other");
  fs::remove(host_ / "one");
  fs::create_directory_symlink(base_, host_ / "one");
  EXPECT_EQ(files_->read_file(origin(), "/project/one/secret").error(), ENOENT);
  fs::remove(host_ / "one");
  std::ofstream(host_ / "one") << "a file";
  EXPECT_EQ(files_->read_file(origin(), "/project/one/x").error(), ENOTDIR);
  fs::remove(host_ / "one");
  EXPECT_EQ(files_->read_file(origin(), "/project/one/x").error(), ENOENT);
}

TEST_F(MountTest, other_names_of_a_written_file_keep_the_old_content) {
  fs::create_hard_link(base_ / "secret", host_ / "hard");
  write("/project/hard", "changed");
  files_->end_writer(writer);
  EXPECT_EQ(text_of(base_ / "secret"), "secret");
  EXPECT_EQ(text_of(host_ / "hard"), "changed");
}

TEST_F(MountTest, a_file_that_was_changed_on_the_host_meanwhile_stays_and_the_guests_goes_beside_it) {
  write("/project/a.txt", "of the guest");
  write("/project/new", "of the guest, too");
  put(host_ / "a.txt", "of somebody else");
  put(host_ / "new", "here first");
  const auto synced = files_->end_writer(writer);
  EXPECT_EQ(synced->files, 2U);
  EXPECT_EQ(
      synced->problems,
      (Names{"/project/a.txt: changed on the host meanwhile; what the guest wrote is in /project/a.txt.guest",
             "/project/new: changed on the host meanwhile; what the guest wrote is in /project/new.guest"}));
  EXPECT_EQ(read("/project/a.txt"), "of somebody else");
  EXPECT_EQ(text_of(host_ / "a.txt.guest"), "of the guest");
  EXPECT_EQ(text_of(host_ / "new.guest"), "of the guest, too");
  write("/project/a.txt", "again");
  put(host_ / "a.txt", "again somebody else");
  files_->end_writer(writer);
  EXPECT_EQ(text_of(host_ / "a.txt.guest2"), "again");
}

TEST_F(MountTest, a_file_that_was_removed_on_the_host_meanwhile_comes_back) {
  write("/project/a.txt", "of the guest");
  fs::remove(host_ / "a.txt");
  EXPECT_EQ(names("/project"), (Names{"a.txt", "src"}));
  EXPECT_EQ(files_->end_writer(writer)->problems,
            (Names{"/project/a.txt: removed on the host meanwhile; what the guest wrote is there again"}));
  EXPECT_EQ(text_of(host_ / "a.txt"), "of the guest");
}

TEST_F(MountTest, two_writers_of_one_file_see_each_other) {
  const auto one = files_->open(origin(1), "/project/a.txt", O_RDWR);
  const auto two = files_->open(origin(2), "/project/a.txt", O_RDWR);
  ASSERT_TRUE((*one)->pwrite(bytes("FROM"), 0).ok());
  ASSERT_TRUE((*two)->pwrite(bytes("HOST"), 9).ok());
  EXPECT_EQ(read_some(**one), "FROM the HOST");
  EXPECT_EQ(files_->end_writer(1)->files, 1U);
  EXPECT_EQ(text_of(host_ / "a.txt"), "FROM the HOST");
  ASSERT_TRUE((*two)->pwrite(bytes("GAST"), 9).ok());
  EXPECT_EQ(files_->end_writer(2)->files, 1U);
  EXPECT_EQ(text_of(host_ / "a.txt"), "FROM the GAST");
}

TEST_F(MountTest, what_is_written_after_its_opener_has_ended_comes_back_with_the_next_end) {
  const auto inherited = files_->open(origin(1), "/project/log", O_WRONLY | O_CREAT);
  EXPECT_EQ(files_->end_writer(1), all_back(1));
  ASSERT_TRUE((*inherited)->write(bytes("of the child")).ok());
  EXPECT_EQ(files_->end_writer(2), all_back(1));
  EXPECT_EQ(text_of(host_ / "log"), "of the child");
  ASSERT_TRUE((*inherited)->write(bytes(", and more")).ok());
  EXPECT_EQ(files_->sync(), all_back(1));
  EXPECT_EQ(text_of(host_ / "log"), "of the child, and more");
}

TEST_F(MountTest, a_file_without_its_name_is_truncated_and_never_anothers) {
  const auto file = files_->open(origin(), "/project/a.txt", O_RDWR);
  ASSERT_EQ(files_->unlink(origin(), "/project/a.txt").error(), 0);
  put(host_ / "a.txt", "another");
  ASSERT_EQ((*file)->truncate(4).error(), 0);
  EXPECT_EQ(read_some(**file), "from");
  EXPECT_EQ(text_of(host_ / "a.txt"), "another");
}

TEST_F(MountTest, a_file_without_its_name_is_not_read_from_what_has_it_now) {
  write("/project/a.txt", "of the guest");
  const auto file = files_->open(origin(2), "/project/a.txt", O_RDWR);  // while it is in the shadow
  ASSERT_TRUE(files_->end_writer(writer));
  ASSERT_EQ(files_->unlink(origin(), "/project/a.txt").error(), 0);
  put(host_ / "a.txt", "another");
  ASSERT_TRUE((*file)->pwrite(bytes("x"), 0).ok());
  EXPECT_EQ(read_some(**file), "xf the guest");
  EXPECT_EQ(text_of(host_ / "a.txt"), "another");
}

TEST_F(MountTest, a_written_file_that_the_host_has_changed_cannot_be_moved) {
  write("/project/a.txt", "of the guest");
  put(host_ / "a.txt", "of somebody else");
  EXPECT_EQ(files_->rename(origin(), "/project/a.txt", "/project/b.txt").error(), EBUSY);
  EXPECT_EQ(files_->end_writer(writer)->problems.size(), 1U);
}

TEST_F(MountTest, the_hosts_mode_stays_unless_a_guest_has_set_it) {
  write("/project/a.txt", "x");
  write("/project/b.txt", "x");
  files_->end_writer(writer);
  write("/project/a.txt", "of the guest");
  write("/project/b.txt", "of the guest");
  ASSERT_EQ(files_->chmod(origin(), "/project/b.txt", 0644).error(), 0);
  fs::permissions(host_ / "a.txt", fs::perms(0600));
  fs::permissions(host_ / "b.txt", fs::perms(0600));
  EXPECT_EQ(files_->end_writer(writer), all_back(2));
  EXPECT_EQ(fs::status(host_ / "a.txt").permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(host_ / "b.txt").permissions(), fs::perms(0644));
}

TEST_F(MountTest, a_rename_onto_another_name_of_the_file_changes_nothing) {
  fs::create_hard_link(host_ / "a.txt", host_ / "b.txt");
  const auto file = files_->open(origin(), "/project/b.txt", O_WRONLY | O_APPEND);
  ASSERT_TRUE((*file)->write(bytes("!")).ok());
  EXPECT_EQ(files_->rename(origin(), "/project/a.txt", "/project/b.txt").error(), 0);
  EXPECT_EQ(files_->end_writer(writer), all_back(1));
  EXPECT_EQ(text_of(host_ / "a.txt"), "from the host");
  EXPECT_EQ(text_of(host_ / "b.txt"), "from the host!");
}

TEST_F(MountTest, a_name_without_room_for_another_end_is_cut) {
  const std::string name(255, 'n');
  write("/project/" + name, "of the guest");
  put(host_ / name, "of somebody else");
  EXPECT_EQ(files_->end_writer(writer)->lost, 0U);
  EXPECT_EQ(text_of(host_ / (name.substr(0, 249) + ".guest")), "of the guest");
}

TEST_F(MountTest, a_file_larger_than_the_host_takes_is_refused_at_once) {
  write("/project/a.txt", "x");
  EXPECT_EQ(files_->truncate(origin(), "/project/a.txt", max_file_size).error(), EFBIG);
}

TEST_F(MountTest, problems_are_counted_beyond_a_hundred) {
  for (int i = 0; i < 103; ++i) write("/project/src/" + std::to_string(i), "x");
  fs::remove_all(host_ / "src");
  const auto synced = files_->end_writer(writer);
  EXPECT_EQ(synced->lost, 103U);
  EXPECT_EQ(synced->problems.size(), 100U);
  EXPECT_EQ(synced->more_problems, 3U);
}

TEST_F(MountTest, a_full_disk_loses_nothing) {
  write("/project/a.txt", std::string(8192, 'x'));
  const rlimit full{4096, RLIM_INFINITY};
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &full);
  const auto synced = files_->end_writer(writer);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(synced->files, 0U);
  EXPECT_EQ(synced->lost, 1U);
  EXPECT_EQ(synced->problems.size(), 1U);
  EXPECT_EQ(text_of(host_ / "a.txt"), "from the host");
  EXPECT_EQ(host_names(), (Names{"a.txt", "src"})) << "nothing half-written is left";
  EXPECT_EQ(read("/project/a.txt").size(), 8192U);
  // It is tried again with the next that is written back.
  EXPECT_FALSE(files_->end_writer(writer));
  write("/project/other", "x", writer + 1);
  EXPECT_EQ(files_->end_writer(writer + 1)->files, 2U);
  EXPECT_EQ(text_of(host_ / "a.txt").size(), 8192U);
}

TEST_F(MountTest, the_shadow_is_limited_and_a_host_file_is_not_loaded_by_halves) {
  put(host_ / "large", std::string(2 << 20, 'x'));
  const auto file = files_->open(origin(), "/project/large", O_RDWR);
  EXPECT_EQ((*file)->pwrite(bytes("y"), 0).error(), ENOSPC);
  EXPECT_EQ((*file)->stat()->size, 2 << 20);
  EXPECT_FALSE(files_->end_writer(writer));
  write("/project/a.txt", "there is room again");
}

TEST_F(MountTest, holes_stay_holes) {
  write("/project/sparse", "x");
  ASSERT_EQ(files_->truncate(origin(), "/project/sparse", std::int64_t{1} << 33).error(), 0);
  files_->end_writer(writer);
  struct stat host{};
  ASSERT_EQ(::stat((host_ / "sparse").c_str(), &host), 0);
  EXPECT_EQ(host.st_size, std::int64_t{1} << 33);
  EXPECT_LT(host.st_blocks, 1000);
}

TEST_F(MountTest, one_for_reading_refuses_every_change) {
  mount("/see", host_, FileSystem::MountAccess::read);
  EXPECT_EQ(read("/see/a.txt"), "from the host");
  EXPECT_EQ(files_->open(origin(), "/see/a.txt", O_WRONLY).error(), EROFS);
  EXPECT_EQ(files_->open(origin(), "/see/new", O_WRONLY | O_CREAT).error(), EROFS);
  EXPECT_EQ(files_->truncate(origin(), "/see/a.txt", 0).error(), EROFS);
  EXPECT_EQ(files_->unlink(origin(), "/see/a.txt").error(), EROFS);
  EXPECT_EQ(files_->mkdir(origin(), "/see/x").error(), EROFS);
  EXPECT_EQ(files_->rename(origin(), "/see/a.txt", "/see/b.txt").error(), EROFS);
  EXPECT_EQ(files_->symlink(origin(), "a.txt", "/see/b.txt").error(), EROFS);
  EXPECT_EQ(files_->link(origin(), "/see/a.txt", "/see/b.txt").error(), EROFS);
  EXPECT_EQ(files_->chmod(origin(), "/see/a.txt", 0600).error(), EROFS);
  EXPECT_EQ(files_->utimes(origin(), "/see/a.txt", {1, 1}).error(), EROFS);
  EXPECT_EQ(files_->remove_tree(origin(), "/see/src").error(), EROFS);
  EXPECT_EQ(files_->access(origin(), "/see/a.txt", W_OK).error(), EROFS);
  EXPECT_EQ(files_->access(origin(), "/see/a.txt", R_OK).error(), 0);
}

TEST_F(MountTest, is_a_device_of_its_own) {
  write("/tmp/x", "x");
  EXPECT_EQ(files_->rename(origin(), "/tmp/x", "/project/x").error(), EXDEV);
  EXPECT_EQ(files_->link(origin(), "/project/a.txt", "/tmp/a").error(), EXDEV);
  EXPECT_EQ(files_->copy_file(origin(), "/tmp/x", "/project/x", FileSystem::Existing::refuse).error(), 0);
  EXPECT_EQ(files_->copy_file(origin(), "/project/a.txt", "/tmp/a", FileSystem::Existing::refuse).error(), 0);
  EXPECT_EQ(read("/tmp/a"), "from the host");
  EXPECT_EQ(files_->end_writer(writer)->files, 1U);
  EXPECT_EQ(text_of(host_ / "x"), "x");
}

TEST_F(MountTest, its_place_cannot_be_removed_or_moved) {
  EXPECT_EQ(files_->rmdir(origin(), "/project").error(), EBUSY);
  EXPECT_EQ(files_->remove_tree(origin(), "/project").error(), EBUSY);
  EXPECT_EQ(files_->rename(origin(), "/project", "/tmp/w").error(), EBUSY);
  mount("/a/b/c", host_, FileSystem::MountAccess::write);
  EXPECT_EQ(files_->remove_tree(origin(), "/a").error(), EBUSY);
  EXPECT_EQ(files_->rename(origin(), "/a", "/z").error(), EBUSY);
  EXPECT_TRUE(fs::exists(host_ / "a.txt"));
}

TEST_F(MountTest, places_that_are_taken_are_refused) {
  const auto at = [&](const std::string& path) {
    auto folder = HostFolder::open(host_.string());
    return files_->mount(path, *std::move(folder), FileSystem::MountAccess::read).error();
  };
  EXPECT_EQ(at("/"), EINVAL);
  EXPECT_EQ(at("/project"), EBUSY);
  EXPECT_EQ(at("/project/src"), ENOTSUP);
  EXPECT_EQ(at("/dev"), EBUSY);
  EXPECT_EQ(at("/bin/sh"), EBUSY);
  EXPECT_EQ(at("/bin/sh/x"), ENOTDIR);
  EXPECT_EQ(at("/root"), 0);
  EXPECT_EQ(HostFolder::open((host_ / "a.txt").string()).error(), ENOTDIR);
  EXPECT_EQ(HostFolder::open((host_ / "none").string()).error(), ENOENT);
}

TEST_F(MountTest, a_folder_that_vanished_says_so) {
  write("/project/new", "x");
  fs::remove_all(host_);
  EXPECT_EQ(files_->read_file(origin(), "/project/a.txt").error(), ENOENT);
  EXPECT_EQ(files_->read_directory(origin(), "/project").error(), ENOENT);
  const auto synced = files_->end_writer(writer);
  EXPECT_EQ(synced->files, 0U);
  EXPECT_EQ(synced->problems.size(), 1U);
}

TEST_F(MountTest, what_is_no_file_is_seen_but_not_opened) {
  ASSERT_EQ(::mkfifo((host_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(files_->stat(origin(), "/project/pipe")->mode & S_IFMT, S_IFIFO);
  EXPECT_EQ(files_->open(origin(), "/project/pipe", O_RDONLY).error(), EACCES);
  EXPECT_EQ(files_->read_file(origin(), "/project/pipe").error(), 0) << "what is no file has no content";
}

TEST_F(MountTest, the_place_of_a_module_says_whether_its_path_is_real) {
  using Place = FileSystem::ModulePlace;
  fs::create_symlink("a.txt", host_ / "link");
  const auto place = [&](const std::string& path) { return *files_->module_place(origin(), path); };
  EXPECT_EQ(place("/project"), Place::directory);
  EXPECT_EQ(place("/project/a.txt"), Place::real_file);
  for (const std::string other :
       {"/project/link", "/project/src/../a.txt", "/project//a.txt", "../project/a.txt"})
    EXPECT_EQ(place(other), Place::file) << other;
  EXPECT_EQ(files_->module_place(origin(), "/project/none").error(), ENOENT);
}

TEST_F(MountTest, a_known_file_is_read_as_long_as_it_is_the_same) {
  const auto known = [&](const std::string& path) { return files_->read_known(origin(), path); };
  EXPECT_EQ(known("/project/a.txt"), std::nullopt) << "nobody has looked for it";
  ASSERT_TRUE(files_->module_place(origin(), "/project/a.txt").ok());
  EXPECT_EQ(known("/project/a.txt"), "from the host");
  Origin nobodys = origin();
  nobodys.fs = Permission::deny;
  EXPECT_EQ(files_->read_known(nobodys, "/project/a.txt"), std::nullopt);
  put(host_ / "a.txt", "longer than it was before");
  EXPECT_EQ(known("/project/a.txt"), "longer than it was before");
  put(host_ / "other", "another file");
  fs::rename(host_ / "other", host_ / "a.txt");
  EXPECT_EQ(known("/project/a.txt"), std::nullopt);
  EXPECT_EQ(read("/project/a.txt"), "another file");
  fs::remove(host_ / "a.txt");
  fs::create_symlink(base_ / "secret", host_ / "a.txt");
  EXPECT_EQ(known("/project/a.txt"), std::nullopt);
}

TEST_F(MountTest, what_a_guest_has_written_is_not_read_from_the_host) {
  ASSERT_TRUE(files_->module_place(origin(), "/project/a.txt").ok());
  write("/project/a.txt", "the guest's");
  EXPECT_EQ(files_->read_known(origin(), "/project/a.txt"), std::nullopt);
}

TEST_F(MountTest, names_are_bytes) {
  const std::string odd = "\xff\xfe\n";
  put(host_ / odd, "odd");
  EXPECT_EQ(names("/project")[2], odd);
  EXPECT_EQ(read("/project/" + odd), "odd");
  write("/project/\xc3\x28", "x");
  files_->end_writer(writer);
  EXPECT_EQ(text_of(host_ / "\xc3\x28"), "x");
}

TEST_F(MountTest, many_files_cost_no_inodes) {
  for (int i = 0; i < 3000; ++i) put(host_ / "src" / std::to_string(i), "x");
  EXPECT_EQ(names("/project/src").size(), 3000U);
  for (int i = 0; i < 3000; ++i)
    EXPECT_TRUE(files_->stat(origin(), "/project/src/" + std::to_string(i)).ok());
  const FsStat stat = files_->statfs();
  EXPECT_LT(stat.files - stat.ffree, 1200U);
  EXPECT_EQ(files_->remove_tree(origin(), "/project/src").error(), 0);
  EXPECT_FALSE(fs::exists(host_ / "src"));
}

TEST_F(MountTest, a_process_writes_back_at_its_end_whatever_that_is) {
  const auto threads = std::make_shared<testing::Threads>();
  const auto vm =
      Vm::create({.limits = {},
                  .permissions = {Permission::allow, Permission::deny, Permission::allow, Permission::allow}},
                 clock_, threads);
  auto folder = HostFolder::open(host_.string());
  ASSERT_EQ(vm->files().mount("/project", *std::move(folder), FileSystem::MountAccess::write).error(), 0);
  threads->add("write", [&](const std::shared_ptr<Process>& process) {
    const auto fd = process->open("/project/log", O_WRONLY | O_CREAT);
    (void)(*process->fds().get(*fd))->write(bytes("until the end"));
    (void)process->signal(SIGKILL, "test");
    return Exit::with_code(0);
  });
  const auto written = *vm->processes().create(nullptr, testing::command({"/usr/bin/node", "write"}));
  const auto clean = *vm->processes().create(nullptr, testing::command({"/usr/bin/node", "clean"}));
  ASSERT_TRUE(vm->processes().wait_until_empty(testing::soon()));
  threads->join();
  EXPECT_EQ(written->exit()->signal, SIGKILL);
  EXPECT_EQ(written->files_synced(), 1U);
  EXPECT_FALSE(clean->files_synced());
  EXPECT_EQ(text_of(host_ / "log"), "until the end");
}

}  // namespace
}  // namespace tare::kernel
