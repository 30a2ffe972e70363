#include "engine/kernel/program.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/text.hpp"

namespace tare::kernel {
namespace {

constexpr int max_interpreters = 4;

std::optional<Program> well_known(std::string_view file) {
  if (file == "node" || file == "/usr/bin/node") return Program::node;
  if (file == "sh" || file == "/bin/sh") return Program::shell;
  return std::nullopt;
}

/// The words of a `#!` line: the interpreter and its arguments, as the kernel and then env split it.
std::vector<std::string> interpreter_words(std::string_view line) {
  line = text::trim(line.substr(2));
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view interpreter = line.substr(0, end);
  std::string_view rest = text::trim(line.substr(end));
  std::vector<std::string> words;
  if (interpreter != "/usr/bin/env" && interpreter != "/bin/env") {
    words.emplace_back(interpreter);
    if (!rest.empty()) words.emplace_back(rest);
    return words;
  }
  if (!rest.starts_with("-S")) {
    words.emplace_back(rest);
    return words;
  }
  rest.remove_prefix(2);
  for (const std::string& word : text::split(rest, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

class Resolver {
 public:
  Resolver(const FileSystem& files, const Origin& origin, std::string_view search_path)
      : files_(files), origin_(origin), search_path_(search_path) {}

  Result<ProgramStart> resolve(std::string file, std::vector<std::string> argv) {
    for (int interpreters = 0; interpreters <= max_interpreters; ++interpreters) {
      if (const auto program = well_known(file)) return ProgramStart{*program, std::move(argv)};
      auto path = file.find('/') == std::string::npos ? search(file) : Result<std::string>(file);
      if (!path.ok()) return path.failure();
      const auto executable = files_.executable(origin_, *path);
      if (!executable.ok()) return executable.failure();
      if (executable->program) return ProgramStart{*executable->program, std::move(argv)};
      if (!executable->first_line.starts_with("#!")) return Errno{ENOEXEC};
      std::vector<std::string> words = interpreter_words(executable->first_line);
      if (words.empty() || words.front().empty()) return Errno{ENOEXEC};
      file = words.front();
      words.push_back(*std::move(path));
      if (!argv.empty()) words.insert(words.end(), argv.begin() + 1, argv.end());
      argv = std::move(words);
    }
    return Errno{ELOOP};
  }

 private:
  Result<std::string> search(const std::string& name) const {
    // Without files there is nothing to look in.
    if (name.empty() || origin_.fs == Permission::deny) return Errno{ENOENT};
    int refused = ENOENT;
    for (const std::string& directory : text::split(search_path_, ':')) {
      std::string path = (directory.empty() ? "." : directory) + "/" + name;
      const auto executable = files_.executable(origin_, path);
      if (executable.ok()) return path;
      if (executable.error() == EACCES) refused = EACCES;
    }
    return Errno{refused};
  }

  const FileSystem& files_;
  const Origin& origin_;
  const std::string_view search_path_;
};

}  // namespace

Result<ProgramStart> resolve_program(const FileSystem& files, const Origin& origin, std::string_view file,
                                     std::vector<std::string> argv, std::string_view search_path) {
  return Resolver(files, origin, search_path).resolve(std::string(file), std::move(argv));
}

}  // namespace tare::kernel
