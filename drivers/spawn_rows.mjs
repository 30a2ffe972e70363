// The rows of `tare spawn`: what each one starts, and what it reports. See docs/driver-protocol.md.

import { readdirSync } from "node:fs";
import process from "node:process";

import { nanoseconds, run } from "./operation.mjs";
import { processes } from "./processes.mjs";
import { Refusal } from "./protocol.mjs";

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

const EXIT = "process.exit(0)";

/** This runtime, running `script`. */
const script = (text) => ({ command: process.execPath, args: ["-e", text] });

function param(params, name, type) {
  const value = params[name];
  const good = type === "count" ? Number.isInteger(value) && value > 0 : typeof value === type;
  if (!good) throw new Refusal("invalid", `params.${name} must be a ${type}, got ${JSON.stringify(value)}`);
  return value;
}

function sample(result, phases, counters) {
  const ns = { total: nanoseconds(result.started, result.finished) };
  if (result.outcome === "ok" && phases !== undefined) {
    ns[phases[0]] = nanoseconds(result.started, result.spawned);
    ns[phases[1]] = nanoseconds(result.spawned, result.finished);
  }
  const { outcome, error, output } = result;
  return { ns, outcome, error, counters, output };
}

async function one(options, phases) {
  const result = await run(options);
  return sample(result, phases, { exitCode: result.exitCode, signal: result.signal });
}

async function batch(timeoutMs, count) {
  const result = await run({ ...script(EXIT), count, timeoutMs });
  return sample(result, ["spawn_batch", "wait_reap_batch"], { exits: result.exits, nonZero: result.nonZero });
}

/** What of this process the kernel holds: open descriptors, threads, children that nobody waited for. */
function ownFacts() {
  const fds = readdirSync("/proc/self/fd").length - 1; // without the one that reads the folder
  const threads = readdirSync("/proc/self/task").length;
  const zombies = processes().filter(({ parent, state }) => state === "Z" && parent === process.pid).length;
  return { fds, threads, zombies };
}

/** Lets the event loop go round: handles of children close, and reads are armed again, after their events. */
const settle = () => new Promise((turn) => setTimeout(turn, 0));

async function reapStorm(timeoutMs, count) {
  await settle();
  const before = ownFacts();
  const result = await batch(timeoutMs, count);
  await settle();
  const after = ownFacts();
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
function nestedScript(fanout) {
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
  const child = spawn(${JSON.stringify(process.execPath)}, ["-e", "${EXIT}"], { stdio: "ignore" });
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

/** One sample of a row. */
export async function sampleRow(row, params) {
  const timeoutMs = param(params, "timeoutMs", "count");
  if (/^fanout_[1-9][0-9]*$/.test(row)) return batch(timeoutMs, param(params, "fanout", "count"));
  switch (row) {
    case "node_exit_1":
      return one({ ...script(EXIT), timeoutMs }, ["spawn", "wait_reap"]);
    case "nested_8":
      return one({ ...script(nestedScript(param(params, "fanout", "count"))), timeoutMs, capture: true });
    case "capture_2b":
    case "capture_256k":
      return one({ ...script(captureScript(params)), timeoutMs, capture: true });
    case "stdin_roundtrip_4k":
      return one({ ...script("process.stdin.pipe(process.stdout)"), timeoutMs, input: param(params, "input", "string") });
    case "exit_code_7":
      return one({ ...script("process.exit(7)"), timeoutMs });
    case "signal_kill":
      return one({ ...script("process.kill(process.pid, 'SIGKILL')"), timeoutMs });
    case "root_cwd_no_write":
      return one({ ...script(EXIT), timeoutMs, cwd: "/" });
    case "host_cwd_no_write":
      return one({ ...script(EXIT), timeoutMs, cwd: param(params, "dir", "string") });
    case "host_cwd_write_1file":
      return one({ ...script(writeScript(params)), timeoutMs, cwd: param(params, "dir", "string") });
    case "reap_storm_32":
      return reapStorm(timeoutMs, param(params, "fanout", "count"));
    default:
      throw new Refusal("unsupported", `no row ${JSON.stringify(row)}`);
  }
}
