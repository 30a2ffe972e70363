#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "runtime/guest/engine.hpp"

namespace tare::guest {

/// What `act` says when it fails.
inline std::string line_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

/// An installation around the fake Node, in a folder of its own. See fake_node.py for the modes.
class World {
 public:
  explicit World(const std::string& mode = "") {
    const std::filesystem::path prefix = folder_.path() / "node";
    file::write_atomically(prefix / "package.json", R"({"version": "24.22.3"})");
    std::filesystem::create_directories(prefix / "bin");
    std::filesystem::create_symlink(TARE_FAKE_NODE, prefix / "bin" / "node");
    installation_.node = prefix / "bin" / "node";
    installation_.lib = folder_.path() / "lib";
    installation_.cache = folder_.path() / "cache";
    file::write_atomically(installation_.engine(), "");
    set_mode(mode);
  }

  void set_mode(const std::string& mode) { file::write_atomically(installation_.lib / "mode", mode); }

  const Installation& installation() const { return installation_; }
  std::filesystem::path folder() const { return folder_.path(); }

  EngineOptions options() {
    EngineOptions options;
    options.installation = installation_;
    options.log = [this](Level, const std::string& text) {
      const std::lock_guard lock(mutex_);
      log_.push_back(text);
    };
    return options;
  }

  std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  file::TemporaryFolder folder_{"tare-guest-test"};
  Installation installation_;
  std::mutex mutex_;
  std::vector<std::string> log_;
};

}  // namespace tare::guest
