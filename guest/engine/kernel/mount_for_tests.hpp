#pragma once

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/kernel/kernel_testing.hpp"
#include "engine/kernel/mount.hpp"

namespace tare::kernel {
namespace fs = std::filesystem;
using testing::bytes;
using testing::read_some;

constexpr int writer = 7;

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Synced all_back(std::uint64_t files) {
  return {files, 0, {}, 0};
}

inline void put(const fs::path& path, const std::string& text) {
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

}  // namespace tare::kernel
