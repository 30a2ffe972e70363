#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tare::cli {

/// A file that a command reads or writes, and what to call it: the flag, or "the base".
struct NamedFile {
  std::string name;
  std::filesystem::path path;
};

/// Whether both are one file, however they are spelled. Either may not exist.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws Error(usage) when an output could not be written at the end, is named twice, or is an input.
void check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// Files that a command was asked for besides what it prints. One that cannot be written does not take
/// the others away.
class Outputs {
 public:
  void write(const std::filesystem::path& path, const std::string& content);
  const std::vector<std::string>& wrote() const { return wrote_; }
  /// Throws what write had to keep for later.
  void finish() const;

 private:
  std::vector<std::string> wrote_;
  std::optional<std::string> first_problem_;
  std::string why_;
};

}  // namespace tare::cli
