#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/file.hpp"

namespace tare::measure {

/// A folder with the few files of /proc and /sys that a test wants to be there.
class FakeRoot {
 public:
  FakeRoot& add(const std::filesystem::path& path, std::string_view content) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << content;
    return *this;
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  file::TemporaryFolder folder_{"tare-root"};
};

}  // namespace tare::measure
