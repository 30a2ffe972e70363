#include "outputs.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::cli {

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  const auto real = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return real(a) == real(b) || std::filesystem::equivalent(a, b, ignored);
}

void check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    for (const NamedFile& other : outputs.first(i)) {
      if (same_file(output.path, other.path)) {
        throw Error(ErrorCode::usage, fmt::format("{} and {} are the same file, {}", other.name, output.name,
                                                  output.path.string()));
      }
    }
    for (const NamedFile& input : inputs) {
      if (same_file(output.path, input.path)) {
        throw Error(ErrorCode::usage,
                    fmt::format("{} would overwrite {}, {}", output.name, input.name, input.path.string()));
      }
    }
    try {
      file::check_writable(output.path);
    } catch (const Error& error) {
      throw Error(ErrorCode::usage, error.what(), error.why());
    }
  }
}

void Outputs::write(const std::filesystem::path& path, const std::string& content) {
  try {
    file::write_atomically(path, content);
    wrote_.push_back(path.string());
  } catch (const Error& error) {
    if (first_problem_) return;
    first_problem_ = error.what();
    why_ = error.why();
  }
}

void Outputs::finish() const {
  if (first_problem_) throw Error(ErrorCode::failed, *first_problem_, why_);
}

}  // namespace tare::cli
