#include "spawner/scripts.hpp"

#include <algorithm>

#include "serve/scripts.hpp"

namespace tare::spawner {
namespace {

constexpr std::string_view slot = "{script}";

}  // namespace

bool has_script_slot(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.find(slot) != std::string::npos; });
}

std::vector<std::string> with_script(const std::vector<std::string>& words, std::string_view script) {
  std::vector<std::string> result = words;
  for (std::string& word : result) {
    for (std::size_t at = 0; (at = word.find(slot, at)) != std::string::npos; at += script.size()) {
      word.replace(at, slot.size(), script);
    }
  }
  return result;
}

std::string exit_script(int code) {
  return "process.exit(" + std::to_string(code) + ")";
}

std::string kill_script() {
  return "process.kill(process.pid, 'SIGKILL')";
}

std::string echo_script() {
  return "process.stdin.pipe(process.stdout)";
}

std::string write_file_script(std::string_view file, std::string_view content) {
  return "require('node:fs').writeFileSync(" + serve::quoted(file) + ", " + serve::quoted(content) + ")";
}

}  // namespace tare::spawner
