#include "engine/kernel/mount_for_tests.hpp"

namespace tare::kernel {
namespace {

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
