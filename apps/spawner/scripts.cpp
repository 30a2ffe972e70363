#include "spawner/scripts.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace tare::spawner {
namespace {

constexpr std::string_view slot = "{script}";

/// A JSON string is a JavaScript string.
std::string quoted(std::string_view text) {
  return json::line(std::string(text));
}

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

std::string capture_script(std::string_view nonce, std::uint64_t bytes) {
  const std::uint64_t times = (bytes + nonce.size() - 1) / nonce.size();
  return "process.stdout.write(" + quoted(nonce) + ".repeat(" + std::to_string(times) + ").slice(0, " +
         std::to_string(bytes) + "))";
}

std::string echo_script() {
  return "process.stdin.pipe(process.stdout)";
}

std::string write_file_script(std::string_view file, std::string_view content) {
  return "require('node:fs').writeFileSync(" + quoted(file) + ", " + quoted(content) + ")";
}

std::string nested_script(unsigned fanout) {
  return "const fanout = " + std::to_string(fanout) + R"(;
const { spawn } = require('node:child_process');
const seen = {
  expectedChildren: fanout, exitCallbacks: 0, closeCallbacks: 0, errorCallbacks: 0,
  nonZeroExitCodes: 0, nonZeroCloseCodes: 0,
};
for (let i = 0; i < fanout; i++) {
  const child = spawn(process.execPath, ['-e', 'process.exit(0)'], { stdio: 'ignore' });
  child.on('error', (error) => { console.error(error.message); process.exit(1); });
  child.on('exit', (code) => { seen.exitCallbacks++; if (code !== 0) seen.nonZeroExitCodes++; });
  child.on('close', (code) => {
    if (code !== 0) seen.nonZeroCloseCodes++;
    if (++seen.closeCallbacks === fanout) console.log('__BENCH098__' + JSON.stringify(seen));
  });
})";
}

}  // namespace tare::spawner
