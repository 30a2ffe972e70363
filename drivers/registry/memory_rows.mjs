// The rows of what a registry does in memory: admission, sweeping, and finding the newest runs.

import { Admission, atMost } from "./admission.mjs";
import { newestPerChild } from "./dedupe.mjs";
import { Run } from "./registry.mjs";
import { child, nanoseconds, now } from "./sample.mjs";

const CONTROLLER = "agent:main:main";
const GENERATIONS = 3;

export async function admission({ n }) {
  const slots = new Admission();
  const policy = atMost(n);
  const reservations = [];
  let released = 0;

  const started = now();
  for (let i = 0; i < n; i += 1) reservations.push(slots.reserve(CONTROLLER, policy));
  const overflow = slots.reserve(CONTROLLER, policy);
  if (reservations[0].release()) released += 1;
  const again = reservations[0].release();
  for (let i = 1; i < n; i += 1) if (reservations[i].release()) released += 1;
  const reused = slots.reserve(CONTROLLER, policy);
  const finished = now();

  const taken = slots.pending(CONTROLLER);
  reused.release();
  const counters = {
    admissionCap: reservations.filter(({ granted }) => granted).length,
    overflowRejected: Number(!overflow.granted),
    released,
    doubleReleaseHarmless: Number(!again && taken === 1),
    slotReused: Number(reused.granted),
  };
  return { ns: { total: nanoseconds(started, finished) }, counters };
}

/** Runs of `n` children, three generations each, oldest first: the last was interrupted, the others are archived. */
function generations(n, nonce) {
  const at = Date.now() - 3_600_000;
  const runs = [];
  for (let k = 0; k < n; k += 1) {
    for (let generation = 1; generation <= GENERATIONS; generation += 1) {
      const newest = generation === GENERATIONS;
      const request = child(nonce, k, { cleanup: newest ? "keep" : "delete" });
      const run = new Run(request, runs.length + 1, generation, at);
      if (newest) run.status = "interrupted";
      else Object.assign(run, { status: "terminal", outcome: "ok", endedAt: at, archiveAt: at });
      runs.push(run);
    }
  }
  return runs;
}

async function sweep({ bench, nonce }, n) {
  const { registry, dispose } = bench.inMemory(n);
  for (const run of generations(n, nonce)) {
    const status = run.status === "terminal" ? "ended" : "running";
    registry.adopt(run, { id: run.id, status, endedAt: run.endedAt });
  }
  const seededRows = registry.size;

  const started = now();
  const swept = await registry.sweep();
  const finished = now();

  const counters = {
    seededRows,
    removedRows: swept.removed.length,
    retainedCurrent: [...registry.runs()].filter(({ generation }) => generation === GENERATIONS).length,
    sessionEffects: swept.sessionEffects,
    recoveryProjections: swept.recoveryProjections,
    lostContextCompletions: swept.lostContextCompletions,
    repeatedProjections: (await registry.sweep()).recoveryProjections,
  };
  dispose();
  return { ns: { total: nanoseconds(started, finished) }, counters };
}

async function dedupe({ nonce }, n) {
  const oldestFirst = generations(n, nonce);
  const newestFirst = oldestFirst.toReversed();

  const started = now();
  const ofNewestFirst = newestPerChild(newestFirst);
  const ofOldestFirst = newestPerChild(oldestFirst);
  const finished = now();

  const newest = (runs) => runs.filter(({ generation }) => generation === GENERATIONS).length;
  const counters = {
    inputRowsPerOrdering: oldestFirst.length,
    newestFirstSelectedRows: ofNewestFirst.length,
    oldestFirstSelectedRows: ofOldestFirst.length,
    newestFirstSelectedNewest: newest(ofNewestFirst),
    oldestFirstSelectedNewest: newest(ofOldestFirst),
  };
  return { ns: { total: nanoseconds(started, finished) }, counters };
}

const childrenOf = ({ n }) => Math.floor(n / GENERATIONS);

export const recoverySweep = (context) => sweep(context, context.n);
export const sweepScale = (context) => sweep(context, childrenOf(context));
export const duplicateSuppression = (context) => dedupe(context, context.n);
export const dedupeScale = (context) => dedupe(context, childrenOf(context));
