// The lane of agentOS: guests of one virtual machine, started and waited for through the SDK's own calls.
//
//   node agentos.mjs FOLDER    FOLDER holds the node_modules of `tare targets install agentos`
//
// One sidecar and one virtual machine serve all samples of a row. TARE_TRACE=1 has the sidecar record its stages.

import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { ImportLane, agentosImportRows } from "./agentos_import.mjs";
import { LIFECYCLE_ROWS, isLifecycle, sampleLifecycle } from "./agentos_lifecycle.mjs";
import { loadSdk } from "./agentos_sdk.mjs";
import { Stages } from "./agentos_stages.mjs";
import { Machine } from "./agentos_vm.mjs";
import { isImport } from "./import_rows.mjs";
import { nanoseconds, now } from "./operation.mjs";
import { pssOf } from "./processes.mjs";
import { PROTOCOL, Refusal, checkProtocol, param, sampler, serve } from "./protocol.mjs";
import { ROWS, isRow, ownFacts, sampleRow, turn } from "./spawn_rows.mjs";
import { isTransport } from "./transport.mjs";

const FACTS_WINDOW_MS = 100;
const FACTS_LIMIT_MS = 3000;

/** The sidecar tells of every worker that it takes and makes; what else it and the SDK say goes on to the log. */
const CHATTER = /warm worker|restored session isolate|heap=\d+|pool_size=\d+|^[0-9a-f]{8}$/;

function quietLog() {
  const write = process.stderr.write.bind(process.stderr);
  let open = "";
  process.stderr.write = (chunk, ...rest) => {
    const lines = (open + Buffer.from(chunk).toString("utf8")).split("\n");
    open = lines.pop();
    const kept = lines.filter((line) => line !== "" && !CHATTER.test(line));
    if (kept.length > 0) write(kept.join("\n") + "\n");
    const done = rest.find((argument) => typeof argument === "function");
    if (done !== undefined) process.nextTick(done);
    return true;
  };
}

/** Rows that this version or this machine cannot measure, as {row: reason}. */
function unavailableRows(version) {
  const defects = JSON.parse(readFileSync(new URL("./agentos_defects.json", import.meta.url), "utf8"));
  // Some of the sizes of a row stand there as a pattern: the others are offered, and those are refused when asked for.
  const whole = defects.filter((known) => {
    return known.version === version && known.effect === "unavailable" && /^[\w-]+$/.test(known.row ?? "");
  });
  return { ...Object.fromEntries(whole.map(({ row, text }) => [row, text])), ...rowsWithoutMemory() };
}

function rowsWithoutMemory() {
  if (pssOf(process.pid) !== null) return {};
  const why = "the kernel does not tell a process's share of memory (/proc/PID/smaps_rollup)";
  return { "memory_<n>": why, "growth_<n>": why };
}

class Lane {
  program = "node";
  copyScript = "process.stdin.on('data', (chunk) => process.stdout.write(chunk))"; // its stdin has no pipe()
  #sdk;
  #stages;
  #machine; // the one that serves the samples of a row
  #machines = new Set(); // all that have not left yet
  #spentMs = 0;
  #imports = new ImportLane(() => this.newMachine());

  constructor(sdk, stages) {
    this.#sdk = sdk;
    this.#stages = stages;
  }

  newMachine() {
    const machine = new Machine(this.#sdk);
    this.#machines.add(machine);
    void machine.left.then(() => {
      this.#machines.delete(machine);
      this.#stages?.retire();
    });
    return machine;
  }

  /** Starts the sidecar, if there is none: from now on it records. */
  async wake() {
    await this.#awaken();
    await this.#machine.greet();
  }

  async #awaken() {
    if (this.#machine?.ended) await this.#machine.close();
    if (this.#machine === undefined || this.#machine.ended) this.#machine = this.newMachine();
  }

  async #boot(dir, timeoutMs) {
    if (this.#machine?.usable) await this.#machine.close(); // it mounts another folder
    await this.#awaken();
    const machine = this.#machine;
    const boot = async () => {
      await machine.create(dir);
      // The first guest makes what later ones share. A trace counts every guest, and expects those of the row alone.
      if (this.#stages === undefined) await machine.start(["-e", "process.exit(0)"], {}).wait();
      return { outcome: "ok" };
    };
    const error = `no virtual machine after ${timeoutMs} ms`;
    const late = sleep(timeoutMs, { outcome: "timeout", error }, { ref: false });
    const how = await Promise.race([boot(), machine.left, late]).catch((error) => {
      return { outcome: "failed", error: `cannot create a virtual machine: ${String(error.message).split("\n")[0]}` };
    });
    if (how.outcome !== "ok") machine.kill();
    return how;
  }

  /** Has the machine ready for a sample; gives the sample's outcome when that fails. */
  async #ready(dir, timeoutMs) {
    this.#spentMs = 0;
    if (this.#machine?.usable && this.#machine.dir === dir) return { outcome: "ok" };
    const started = now();
    const how = await this.#boot(dir, timeoutMs);
    const finished = now();
    this.#spentMs = Math.ceil(nanoseconds(started, finished) / 1e6);
    return { ...how, ns: { total: nanoseconds(started, finished) } };
  }

  async run(options) {
    return this.#machine.run({ ...options, leftMs: Math.max(options.timeoutMs - this.#spentMs, 1) });
  }

  #facts() {
    const [own, machine] = [ownFacts(), this.#machine.facts()];
    return {
      fds: own.fds + machine.fds,
      threads: own.threads + machine.threads,
      zombies: own.zombies + machine.zombies,
    };
  }

  /**
   * Driver and sidecar together. The sidecar fills and empties its pools by itself a moment later: waits until nothing
   * changes or, with the facts from before, until it is back.
   */
  async facts(before) {
    let facts;
    for (let waited = 0; waited < FACTS_LIMIT_MS; waited += FACTS_WINDOW_MS) {
      const last = facts;
      await turn();
      facts = this.#facts();
      const back = before !== undefined && facts.fds <= before.fds && facts.threads <= before.threads;
      const steady = before === undefined && last?.fds === facts.fds && last?.threads === facts.threads;
      if (back || steady) break;
      await sleep(FACTS_WINDOW_MS);
    }
    return facts;
  }

  async sample(row, params) {
    if (isLifecycle(row)) {
      await this.close(); // its memory and its CPU are not this row's
      return sampleLifecycle(() => this.newMachine(), row, params);
    }
    if (isImport(row)) {
      await this.#retire();
      return this.#imports.sample(row, params);
    }
    if (!isRow(row)) throw new Refusal("unsupported", `no row ${JSON.stringify(row)}`);
    await this.#imports.close();
    const timeoutMs = param(params, "timeoutMs", "count");
    const { dir } = params;
    const how = await this.#ready(dir, timeoutMs);
    return how.outcome === "ok" ? sampleRow(this, row, params) : { ...how, counters: {} };
  }

  /** Samples of a whole request, for the rows that take them together. */
  async samples(row, params, iterations) {
    if (!isTransport(row)) return undefined;
    await this.#retire();
    return this.#imports.transport(params, iterations);
  }

  async #retire() {
    await this.#machine?.close(); // it may have died before: its files
    this.#machine = undefined;
  }

  /** Ends what runs, whatever it is in the middle of. */
  async close() {
    await Promise.all([...this.#machines].map((machine) => machine.close()));
    await this.#retire();
    await this.#imports.close();
  }
}

const [folder] = process.argv.slice(2);
const sdk = await loadSdk(folder ?? "").catch((error) => {
  const why = folder === undefined ? "name the folder that holds node_modules" : error.message;
  process.stderr.write(`agentos driver: ${why}\n`);
  process.exit(1);
});

process.on("unhandledRejection", (error) => process.stderr.write(`agentos driver: ${error?.message ?? error}\n`));
quietLog();
for (const [signal, number] of [["SIGHUP", 1], ["SIGINT", 2], ["SIGTERM", 15]]) {
  process.on(signal, () => void leave().finally(() => process.exit(128 + number)));
}

const stages = process.env.TARE_TRACE === "1" ? new Stages() : undefined;
const lane = new Lane(sdk, stages);
const imports = agentosImportRows();
const unavailable = { ...imports.unavailable, ...unavailableRows(sdk.version) };
const rows = [...ROWS, ...LIFECYCLE_ROWS, ...imports.rows].filter((row) => !(row in unavailable));

function hello(request) {
  checkProtocol(request);
  return {
    protocol: PROTOCOL,
    name: "agentos",
    version: sdk.version,
    engine: sdk.engine,
    pid: process.pid,
    rows,
    unavailable,
    asynchronousSpawn: true,
    stages: stages !== undefined,
  };
}

async function reportStages() {
  if (stages === undefined) throw new Refusal("unsupported", "stages are recorded with TARE_TRACE=1 only");
  await lane.wake();
  return stages.report();
}

const sample = sampler(
  (row, params) => {
    if (row in unavailable) throw new Refusal("unsupported", unavailable[row]);
    return lane.sample(row, params);
  },
  (row, params, iterations) => lane.samples(row, params, iterations),
);

/** Leaves nothing, at once: the sidecar's own way to end takes seconds when a guest has a timer. */
async function leave() {
  await lane.close();
  stages?.clean();
}

serve({ hello, sample, stages: reportStages }, leave);
