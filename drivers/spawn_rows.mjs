// The rows of `tare spawn`: what each one starts, and what it reports. See docs/driver-protocol.md.

import { readdirSync } from "node:fs";
import process from "node:process";

import { nanoseconds } from "./operation.mjs";
import { processes } from "./processes.mjs";
import { Refusal, param } from "./protocol.mjs";

export const ROWS = [
  "node_exit_1",
  "fanout_<n>",
  "nested_8",
  "capture_2b",
  "capture_256k",
  "stdin_roundtrip_4k",
  "exit_code_7",
  "signal_kill",
  "root_cwd_no_write",
  "host_cwd_no_write",
  "host_cwd_write_1file",
  "reap_storm_32",
];

const FANOUT = /^fanout_[1-9][0-9]*$/;

/** Is there such a row? */
export const isRow = (row) => FANOUT.test(row) || (ROWS.includes(row) && !row.includes("<"));

const EXIT = "process.exit(0)";

function sample(result, phases, counters) {
  const ns = { total: nanoseconds(result.started, result.finished) };
  if (result.outcome === "ok" && phases !== undefined) {
    ns[phases[0]] = nanoseconds(result.started, result.spawned);
    ns[phases[1]] = nanoseconds(result.spawned, result.finished);
  }
  const { outcome, error, output } = result;
  return { ns, outcome, error, counters, output };
}

async function one(lane, text, options, phases) {
  const result = await lane.run({ command: lane.program, args: ["-e", text], ...options });
  return sample(result, phases, { exitCode: result.exitCode, signal: result.signal });
}

async function batch(lane, timeoutMs, count) {
  const result = await lane.run({ command: lane.program, args: ["-e", EXIT], count, timeoutMs });
  return sample(result, ["spawn_batch", "wait_reap_batch"], { exits: result.exits, nonZero: result.nonZero });
}

/** What of this process the kernel holds: open descriptors, threads, children that nobody waited for. */
export function ownFacts() {
  const fds = readdirSync("/proc/self/fd").length - 1; // without the one that reads the folder
  const threads = readdirSync("/proc/self/task").length;
  const zombies = processes().filter(({ parent, state }) => state === "Z" && parent === process.pid).length;
  return { fds, threads, zombies };
}

/** Lets the event loop go round: handles of children close, and reads are armed again, after their events. */
export const turn = () => new Promise((done) => setTimeout(done, 0));

async function reapStorm(lane, timeoutMs, count) {
  const before = await lane.facts();
  const result = await batch(lane, timeoutMs, count);
  const after = await lane.facts(before);
  Object.assign(result.counters, {
    zombies: after.zombies,
    fdsBefore: before.fds,
    fdsAfter: after.fds,
    threadsBefore: before.threads,
    threadsAfter: after.threads,
  });
  result.ns = { total: result.ns.total };
  return result;
}

/** A parent that starts `fanout` children with child_process, and says what it saw of them. */
function nestedScript(program, fanout) {
  return `
const { spawn } = require("node:child_process");
const fanout = ${fanout};
const seen = { exits: 0, closes: 0, nonZeroExitCodes: 0, nonZeroCloseCodes: 0 };
function maybeDone() {
  if (seen.closes !== fanout) return;
  console.log("__BENCH098__" + JSON.stringify({
    expectedChildren: fanout, exitCallbacks: seen.exits, closeCallbacks: seen.closes, errorCallbacks: 0,
    nonZeroExitCodes: seen.nonZeroExitCodes, nonZeroCloseCodes: seen.nonZeroCloseCodes,
  }));
}
for (let i = 0; i < fanout; i++) {
  const child = spawn(${JSON.stringify(program)}, ["-e", "${EXIT}"], { stdio: "ignore" });
  child.on("error", (error) => { console.error(error.message); process.exit(1); });
  child.on("exit", (code) => { seen.exits++; if (code !== 0) seen.nonZeroExitCodes++; });
  child.on("close", (code) => { seen.closes++; if (code !== 0) seen.nonZeroCloseCodes++; maybeDone(); });
}`;
}

function captureScript(params) {
  const nonce = param(params, "nonce", "string");
  const bytes = param(params, "bytes", "count");
  return `process.stdout.write(${JSON.stringify(nonce)}.repeat(${Math.ceil(bytes / nonce.length)}).slice(0, ${bytes}))`;
}

function writeScript(params) {
  const [file, content] = [param(params, "file", "string"), param(params, "content", "string")];
  return `require("node:fs").writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(content)})`;
}

/**
 * One sample of a row, measured in a lane:
 *
 *   program     what runs `-e SCRIPT`, both from outside and from inside
 *   run         one operation, as operation.mjs describes it
 *   facts       descriptors, threads and zombies that the operation could leave; after it, with those from before
 *   copyScript  the script that copies stdin to stdout
 */
export async function sampleRow(lane, row, params) {
  const timeoutMs = param(params, "timeoutMs", "count");
  const start = (text, options) => one(lane, text, { timeoutMs, ...options });
  if (FANOUT.test(row)) return batch(lane, timeoutMs, param(params, "fanout", "count"));
  switch (row) {
    case "node_exit_1":
      return one(lane, EXIT, { timeoutMs }, ["spawn", "wait_reap"]);
    case "nested_8":
      return start(nestedScript(lane.program, param(params, "fanout", "count")), { capture: true });
    case "capture_2b":
    case "capture_256k":
      return start(captureScript(params), { capture: true });
    case "stdin_roundtrip_4k":
      return start(lane.copyScript, { input: param(params, "input", "string") });
    case "exit_code_7":
      return start("process.exit(7)");
    case "signal_kill":
      return start("process.kill(process.pid, 'SIGKILL')");
    case "root_cwd_no_write":
      return start(EXIT, { cwd: "/" });
    case "host_cwd_no_write":
      return start(EXIT, { cwd: param(params, "dir", "string") });
    case "host_cwd_write_1file":
      return start(writeScript(params), { cwd: param(params, "dir", "string") });
    case "reap_storm_32":
      return reapStorm(lane, timeoutMs, param(params, "fanout", "count"));
    default:
      throw new Refusal("unsupported", `no row ${JSON.stringify(row)}`);
  }
}
