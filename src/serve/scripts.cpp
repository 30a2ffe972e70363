#include "serve/scripts.hpp"

#include "base/json.hpp"

namespace tare::serve {

std::string quoted(std::string_view text) {
  return json::line(std::string(text));  // a JSON string is a JavaScript string
}

std::string capture_script(std::string_view nonce, std::uint64_t bytes) {
  const std::uint64_t times = (bytes + nonce.size() - 1) / nonce.size();
  return "process.stdout.write(" + quoted(nonce) + ".repeat(" + std::to_string(times) + ").slice(0, " +
         std::to_string(bytes) + "))";
}

std::string write_script(std::string_view file, std::string_view content) {
  return "require('node:fs').writeFileSync(" + quoted(file) + ", " + quoted(content) + ")";
}

std::string nested_script(std::uint32_t fanout) {
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

}  // namespace tare::serve
