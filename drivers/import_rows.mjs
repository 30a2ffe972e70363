// The rows of `tare import` in a runtime whose isolates are processes: a fresh one loads the entry point of each
// sample. See docs/driver-protocol.md.

import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Worker } from "node:worker_threads";

import { nanoseconds, now, track } from "./operation.mjs";
import { killTree } from "./processes.mjs";
import { Refusal, param } from "./protocol.mjs";
import { roundTrips } from "./transport.mjs";

const FRESH = "fresh-per-sample";
const ENGINE = "shared-across-scenario";
const CONTEXT = "shared-context-across-scenario";

/** Each row, what its samples share, and whether a folder of compiled code is used. */
const SCENARIOS = {
  "isolate-startup": [FRESH, "disabled"],
  "prewarmed-isolate-startup": [ENGINE, "primed"],
  "cold-local-import": [FRESH, "disabled"],
  "warm-local-import": [FRESH, "primed"],
  "same-context-local-import": [CONTEXT, "primed"],
  "prewarmed-local-import": [ENGINE, "primed"],
  "host-local-import": [FRESH, "disabled"],
  "builtin-import": [FRESH, "disabled"],
  "hot-builtin-stream-import": [ENGINE, "primed"],
  "hot-builtin-stream-web-import": [ENGINE, "primed"],
  "hot-builtin-crypto-import": [ENGINE, "primed"],
  "hot-builtin-zlib-import": [ENGINE, "primed"],
  "hot-builtin-assert-import": [ENGINE, "primed"],
  "hot-builtin-url-import": [ENGINE, "primed"],
  "hot-projected-package-file-import": [FRESH, "primed"],
  "large-package-import": [FRESH, "disabled"],
  "projected-package-import": [FRESH, "primed"],
  "pdf-lib-startup": [FRESH, "disabled"],
  "jszip-startup": [FRESH, "disabled"],
  "jszip-end-to-end": [FRESH, "disabled"],
  "jszip-repeated-session-compressed": [FRESH, "primed"],
};

const NO_ENGINE = "it has no engine that outlives a process";

export const isImport = (row) => Object.hasOwn(SCENARIOS, row);

/** Inside one warmed process, an isolate for each sample. */
const isHot = (row) => row.startsWith("hot-builtin-");

/**
 * Which rows there are, and why not the others: `why({row, reuse, primed, hot})` gives the reason for one that the
 * runtime does not have.
 */
export function importRows(why) {
  const rows = ["transport_<n>"];
  const unavailable = {};
  for (const [row, [reuse, cache]] of Object.entries(SCENARIOS)) {
    const reason = why({ row, reuse, primed: cache === "primed", hot: isHot(row) });
    if (reason === undefined) rows.push(row);
    else unavailable[row] = reason;
  }
  return { rows, unavailable };
}

/** How many files lie in a folder and below it. */
export function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

/**
 * Of a lane of processes:
 *
 *   program   what runs an entry point
 *   host      how it does: one of import_hosts.mjs
 *   run       one operation, as operation.mjs describes it
 */
export function processRows({ host }) {
  return importRows(({ reuse, primed, hot }) => {
    if (hot) return host.noWorkers;
    if (reuse !== FRESH) return NO_ENGINE;
    return primed ? host.noCache : undefined;
  });
}

/** The folder of compiled code, if the row has one. */
function cacheOf(params) {
  const cache = param(params, "cache", "string");
  if (cache !== "disabled" && cache !== "primed") {
    throw new Refusal("invalid", `params.cache must be disabled or primed, got ${JSON.stringify(cache)}`);
  }
  return cache === "primed" ? param(params, "cacheDir", "string") : undefined;
}

/** What runs the entry point: {args, env}. */
function commandOf(lane, params, folder) {
  const { args, env } = lane.host.start(folder);
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, ...inherited } = process.env;
  return { args: [...args, param(params, "entry", "string")], env: { ...inherited, ...env } };
}

const ended = ({ exitCode, signal }) => ({
  ...(exitCode === undefined ? {} : { exitCode }),
  ...(signal === undefined ? {} : { signal }),
});

async function freshProcess(lane, params) {
  const [timeoutMs, dir] = [param(params, "timeoutMs", "count"), param(params, "dir", "string")];
  const folder = cacheOf(params);
  const command = { command: lane.program, ...commandOf(lane, params, folder), cwd: dir };
  const result = await lane.run({ ...command, timeoutMs, capture: true, stderr: "inherit" });
  const { outcome, error, output } = result;
  const counters = ended(result);
  if (folder !== undefined) counters.cacheFiles = filesBelow(folder);
  return { ns: { total: nanoseconds(result.started, result.finished) }, outcome, error, counters, output };
}

/** An entry point in a worker of this process, from its making to its exit. */
function inWorker(params) {
  const timeoutMs = param(params, "timeoutMs", "count");
  const entry = join(param(params, "dir", "string"), param(params, "entry", "string"));
  const folder = cacheOf(params);
  const env = folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: folder };
  return new Promise((resolve) => {
    const chunks = [];
    const result = { outcome: "ok" };
    const started = now();
    const worker = new Worker(entry, { stdout: true, env });
    const done = new Promise((read) => worker.stdout.once("end", read));
    const timer = setTimeout(() => {
      Object.assign(result, { outcome: "timeout", error: `not done after ${timeoutMs} ms` });
      void worker.terminate();
    }, timeoutMs);
    worker.stdout.on("data", (chunk) => chunks.push(chunk));
    worker.on("error", (error) => process.stderr.write(`${error?.stack ?? error}\n`)); // its exit tells
    worker.on("exit", async (exitCode) => {
      result.ns = { total: nanoseconds(started, now()) };
      clearTimeout(timer);
      await done;
      result.output = Buffer.concat(chunks).toString("utf8");
      result.counters = result.outcome === "ok" ? { exitCode } : {};
      if (folder !== undefined && result.outcome === "ok") result.counters.cacheFiles = filesBelow(folder);
      resolve(result);
    });
  });
}

/** One sample of such a row. */
export async function sampleImport(lane, row, params) {
  const reuse = param(params, "reuse", "string");
  const { noCache, noWorkers } = lane.host;
  const inWarmProcess = reuse === ENGINE && isHot(row);
  if (inWarmProcess && noWorkers === undefined) return inWorker(params);
  if (reuse !== FRESH) throw new Refusal("unsupported", inWarmProcess ? noWorkers : NO_ENGINE);
  if (noCache !== undefined && cacheOf(params) !== undefined) throw new Refusal("unsupported", noCache);
  return freshProcess(lane, params);
}

/** Samples of a transport row, all over one process. */
export function sampleTransport(lane, params, iterations) {
  const cwd = param(params, "dir", "string");
  const { args, env } = commandOf(lane, params);
  const start = (onOutput) => {
    const child = spawn(lane.program, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    child.stdout.on("data", onOutput);
    child.stdin.on("error", () => {}); // it left without reading: its exit tells
    const left = new Promise((resolve) => {
      child.on("error", (error) => resolve({ error: `cannot start ${lane.program}: ${error.message}` }));
      child.on("close", (exitCode, signal) => {
        resolve(signal === null ? { exitCode } : { signal: constants.signals[signal] });
      });
    });
    track(child, left);
    return {
      ended: left,
      write: (text) => child.stdin.write(text),
      close: () => child.stdin.end(),
      kill: () => killTree(child.pid),
    };
  };
  return roundTrips(start, params, iterations);
}
