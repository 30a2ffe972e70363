// The rows in which a registry comes back from disk: after a kill, and with many runs.

import { closeSync, constants, openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { Refusal, param } from "../protocol.mjs";
import { spawn, idleBackend } from "./pipeline.mjs";
import { Registry, Run } from "./registry.mjs";
import { child, nanoseconds, now } from "./sample.mjs";
import { removeState, reopenState } from "./state_file.mjs";
import { memoryStore, restore } from "./store.mjs";

const IN_FLIGHT = 64;
const ROWS_PER_COMMIT = 10_000;

/** The named pipe that takes the acknowledgements. Its reader is there first. */
class Acknowledgements {
  #path;
  #fd;

  constructor(path) {
    this.#path = path;
    this.#try(() => {
      this.#fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    });
  }

  /** One write a line: a line is there in full or not at all. */
  async write(line) {
    while (!this.#try(() => writeSync(this.#fd, line))) await sleep(1); // the reader is behind
  }

  close() {
    closeSync(this.#fd);
  }

  #try(body) {
    try {
      body();
      return true;
    } catch (error) {
      if (error.code === "EAGAIN") return false;
      const why = ["ENXIO", "EPIPE"].includes(error.code) ? "nobody reads it" : error.message;
      throw new Refusal("failed", `cannot write acknowledgements to ${this.#path}: ${why}`);
    }
  }
}

/** A child with a task text of its own. */
const numbered = (nonce, k) => child(nonce, k, { task: String.fromCharCode(97 + (k % 26)).repeat(100) });

async function registerAll(agents, acknowledgements, { n, nonce }) {
  let next = 0;
  let registered = 0;
  const worker = async () => {
    while (next < n) {
      const k = next;
      next += 1;
      const run = await spawn(agents, numbered(nonce, k));
      await acknowledgements.write(`${run.label}\n`);
      registered += 1;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: IN_FLIGHT }, worker));
  for (const { status, reason } of workers) if (status === "rejected") throw reason;
  return registered;
}

async function register(context) {
  const { bench, params, dir, budget } = context;
  const acknowledgements = new Acknowledgements(param(params, "acks", "string"));
  try {
    const started = now();
    const agents = await bench.durable(dir, IN_FLIGHT, budget, { kept: true });
    try {
      const registeredRuns = await registerAll(agents, acknowledgements, context);
      return { ns: { total: nanoseconds(started, now()) }, counters: { registeredRuns } };
    } finally {
      agents.dispose();
    }
  } finally {
    acknowledgements.close();
  }
}

/** Opens the database in a folder and restores its runs; gives the registry, and what was counted and timed. */
async function restart(dir) {
  const registry = new Registry(memoryStore, idleBackend);
  const started = now();
  const database = await reopenState(dir, (opened) => restore(opened, registry));
  const finished = now();
  database.close();
  const runs = [...registry.runs()];
  const interruptedRuns = runs.filter(({ status }) => status === "interrupted").length;
  const counters = { restoredRuns: runs.length, interruptedRuns };
  return { runs, sample: { ns: { total: nanoseconds(started, finished) }, counters } };
}

async function recover({ dir }) {
  const { runs, sample } = await restart(dir);
  removeState(dir);
  return { ...sample, output: runs.map(({ label, status, task }) => `${label} ${status} ${task}\n`).join("") };
}

export function durableCrash(context) {
  const phase = param(context.params, "phase", "string");
  if (phase === "register") return register(context);
  if (phase === "recover") return recover(context);
  throw new Refusal("invalid", `params.phase must be register or recover, got ${JSON.stringify(phase)}`);
}

/** Writes a database of `n` runs that have not ended. */
async function writeRuns({ bench, n, nonce, dir, budget }) {
  const { store, dispose } = await bench.durable(dir, n, budget, { kept: true });
  try {
    for (let written = 0; written < n; written += ROWS_PER_COMMIT) {
      const length = Math.min(ROWS_PER_COMMIT, n - written);
      const run = (_, i) => new Run(numbered(nonce, written + i), written + i + 1, 1, Date.now());
      store.insertAll(Array.from({ length }, run));
    }
  } finally {
    dispose();
  }
}

export async function restartScale(context) {
  const { request, bench, dir } = context;
  if (request.prepared === undefined) {
    request.prepared = true;
    await writeRuns(context);
    request.cleanup = bench.defer(() => removeState(dir));
  }
  return (await restart(dir)).sample;
}
