#include "base/file.hpp"

#include <csignal>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tare::file {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string error_line(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

TEST(File, writes_and_reads_back) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "new" / "run.json";
  write_atomically(path, "one");
  write_atomically(path, "two");
  EXPECT_EQ(read(path), "two");
  EXPECT_EQ(files_in(path.parent_path()), 1U);
}

TEST(File, follows_a_link_and_keeps_it) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "real", "old");
  fs::create_symlink("real", folder.path() / "link");
  write_atomically(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read(folder.path() / "real"), "new");
}

/// A file size limit stands in for a full disk: the write fails half-way. Leaves the process.
[[noreturn]] void overwrite_with_too_much(const fs::path& path) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = 1000;
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    write_atomically(path, std::string(100'000, 'x'));
  } catch (const Error& error) {
    fputs(error.line().c_str(), stderr);
    _exit(0);
  }
  _exit(2);
}

TEST(File, full_disk_leaves_the_old_file_and_nothing_else) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.json";
  write_atomically(path, "old");
  EXPECT_EXIT(overwrite_with_too_much(path), ::testing::ExitedWithCode(0),
              "cannot write .*run.json .File too large");
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(File, names_the_path_and_the_reason) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_line([&] { read(folder.path() / "none"); }),
              HasSubstr("none (No such file or directory)"));
  EXPECT_THAT(error_line([&] { read(folder.path()); }), HasSubstr("(it is a folder)"));
  EXPECT_THAT(error_line([&] { write_atomically(folder.path(), "x"); }), HasSubstr("(Is a directory)"));
  write_atomically(folder.path() / "file", "x");
  EXPECT_THAT(error_line([&] { write_atomically(folder.path() / "file" / "below", "x"); }),
              HasSubstr("(Not a directory)"));
  EXPECT_THAT(error_line([&] { read(folder.path() / "file", 0); }), HasSubstr("the limit is 0"));
}

TEST(File, check_writable_says_beforehand_what_writing_would_say) {
  const TemporaryFolder folder;
  check_writable(folder.path() / "new" / "run.json");
  EXPECT_EQ(files_in(folder.path()), 0U);
  EXPECT_THAT(error_line([&] { check_writable(folder.path()); }), HasSubstr("(Is a directory)"));
  EXPECT_THAT(error_line([&] { check_writable("/proc/run.json"); }),
              HasSubstr("cannot write /proc/run.json"));
}

TEST(File, a_pipe_that_nobody_holds_is_refused_instead_of_waited_for) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_line([&] { read(pipe); }), HasSubstr("(it is not a regular file)"));
  EXPECT_THAT(error_line([&] { check_writable(pipe); }), HasSubstr("cannot write"));
  EXPECT_THAT(error_line([&] { write_atomically(pipe, "x"); }), HasSubstr("cannot write"));
}

TEST(File, a_path_that_names_no_file_is_refused) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_line([&] { check_writable(""); }), HasSubstr("cannot write ''"));
  EXPECT_THAT(error_line([&] { check_writable(folder.path() / "none" / ""); }),
              HasSubstr("(Is a directory)"));
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_THAT(error_line([&] { check_writable(folder.path() / "loop"); }), HasSubstr("cannot write"));
}

TEST(File, temporary_folder_goes_with_its_scope) {
  fs::path path;
  {
    const TemporaryFolder folder("tare-test");
    path = folder.path();
    write_atomically(path / "a" / "b", "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(File, finds_programs_on_the_path) {
  EXPECT_EQ(find_program("sh").filename(), "sh");
  EXPECT_TRUE(find_program("no-such-program-here").empty());
}

}  // namespace
}  // namespace tare::file
