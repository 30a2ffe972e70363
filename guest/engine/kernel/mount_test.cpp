#include "engine/kernel/mount_for_tests.hpp"

namespace tare::kernel {
namespace {

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

}  // namespace
}  // namespace tare::kernel
