 const {
spawn }
= require("node:child_process");
const fanout = 8;
let exits = 0;
let closes = 0;
let errors = 0;
let nonZeroExitCodes = 0;
let nonZeroCloseCodes = 0;
let failed = false;
let done = false;
const timeout = setTimeout(() => fail("nested child_process fanout timed out"), 5000);
function fail(message) {
if (failed) return;
failed = true;
clearTimeout(timeout);
console.error(message);
process.exit(1);
}
function maybeDone() {
if (!done && closes === fanout) {
done = true;
clearTimeout(timeout);
console.log("__BENCH098__" + JSON.stringify({
expectedChildren: fanout, exitCallbacks: exits, closeCallbacks: closes, errorCallbacks: errors, nonZeroExitCodes, nonZeroCloseCodes, }));
}
}
for (let i = 0;
i < fanout;
i++) {
const child = spawn("node", ["-e", "process.exit(0)"], {
stdio: "ignore" });
child.on("error", (error) => {
errors++;
fail(error && error.message ? error.message : String(error));
});
child.on("exit", (code, signal) => {
if (code !== 0) nonZeroExitCodes++;
exits++;
maybeDone();
});
child.on("close", (code, signal) => {
if (code !== 0) nonZeroCloseCodes++;
closes++;
maybeDone();
});
}
