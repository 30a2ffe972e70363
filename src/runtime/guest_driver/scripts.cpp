#include "runtime/guest_driver/scripts.hpp"

#include "base/json.hpp"

namespace tare::guest_driver {

std::string capture_script(std::string_view nonce, std::uint64_t bytes) {
  const std::uint64_t times = (bytes + nonce.size() - 1) / nonce.size();
  // A JSON string is a JavaScript string.
  return fmt::format("process.stdout.write({}.repeat({}).slice(0, {}))", json::line(std::string(nonce)),
                     times, bytes);
}

std::string nested_script(std::uint32_t fanout) {
  return fmt::format("const fanout = {};", fanout) + R"(
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

}  // namespace tare::guest_driver
