// The rows in which every sample has a sidecar of its own: how long it takes to come and go, and what memory it holds.

import { setTimeout as sleep } from "node:timers/promises";

import { REFUSALS } from "./agentos_vm.mjs";
import { nanoseconds, now } from "./operation.mjs";
import { kill } from "./processes.mjs";
import { param } from "./protocol.mjs";

const EXIT = ["-e", "process.exit(0)"];
const STAY = ["-e", "console.log('up'); setInterval(() => {}, 1000)"];

/** The SDK waits 5 s for the sidecar, then 2 s for its death. */
const DISPOSE_LIMIT_MS = 8000;

/** The exits of guests that were killed at once are told one after the other, 60 of them within seconds. */
const KILL_GRACE_MS = 10_000;

/** Memory counts once it is steady: no more than this change within a window, or after a limit. */
const STEADY_BYTES = 1 << 20;
const STEADY_WINDOW_MS = 300;
const STEADY_LIMIT_MS = 5000;

/** What went wrong, as the outcome of a sample. */
export class Failure extends Error {
  constructor({ outcome, error }) {
    super(error);
    this.outcome = outcome;
  }
}

/** What holds a promise to a budget that begins now, and to the life of the sidecar: it rejects with a Failure. */
export function bound(machine, timeoutMs) {
  const late = { outcome: "timeout", error: `not done after ${timeoutMs} ms` };
  const deadline = sleep(timeoutMs, late, { ref: false });
  const failed = Promise.race([deadline, machine.left]).then((how) => {
    throw new Failure(how);
  });
  failed.catch(() => {}); // it always comes, sooner or later
  return (promise) => Promise.race([promise, failed]);
}

/**
 * Takes one sample on a machine of its own: `steps` gets it, with `bounded`, which holds a promise to the budget and to
 * the sidecar's life. Nothing of the machine is left afterwards.
 */
async function onFreshMachine(newMachine, timeoutMs, steps) {
  const started = now();
  const machine = newMachine();
  const bounded = bound(machine, timeoutMs);
  const sample = { ns: {}, outcome: "ok", counters: {} };
  try {
    await steps(sample, machine, bounded);
  } catch (error) {
    Object.assign(sample, { outcome: error.outcome ?? "failed", error: String(error.message).split("\n")[0] });
    sample.ns = {};
  } finally {
    sample.ns.total ??= nanoseconds(started, now());
    await machine.close();
  }
  return sample;
}

async function runGuest(machine, bounded) {
  const guest = machine.start(EXIT, {});
  await bounded(guest.wait());
  const { exitCode, error } = await machine.ending(guest);
  if (error !== undefined) throw new Failure({ outcome: REFUSALS.test(error) ? "refused" : "failed", error });
  return exitCode;
}

/** Sidecar and virtual machine from nothing, the first and the second guest, and their end. */
function coldStart(newMachine, timeoutMs) {
  const begin = now();
  return onFreshMachine(newMachine, timeoutMs, async (sample, machine, bounded) => {
    await bounded(machine.create());
    const created = now();
    sample.counters.exitCode = await runGuest(machine, bounded);
    const first = now();
    sample.counters.warmExitCode = await runGuest(machine, bounded);
    const warm = now();
    const left = await machine.dispose(DISPOSE_LIMIT_MS);
    const end = now();
    sample.counters.leftRunning = left.length;
    kill(left);
    sample.ns = {
      total: nanoseconds(begin, end),
      create: nanoseconds(begin, created),
      first_exec: nanoseconds(created, first),
      warm_exec: nanoseconds(first, warm),
      dispose: nanoseconds(warm, end),
    };
  });
}

/** The memory once the sidecar's pools have filled or emptied: it does both by itself, a moment later. */
async function steadyMemory(machine) {
  let before = machine.pss();
  for (let waited = 0; waited < STEADY_LIMIT_MS; waited += STEADY_WINDOW_MS) {
    await sleep(STEADY_WINDOW_MS);
    const after = machine.pss();
    if (after === null || before === null || Math.abs(after - before) <= STEADY_BYTES) return after;
    before = after;
  }
  return before;
}

/** Starts a guest that stays, and waits until it has said that it runs. */
function startStaying(machine) {
  let guest;
  const up = new Promise((resolve) => {
    guest = machine.start(STAY, { onStdout: resolve });
  });
  const gone = guest.wait().then((code) => {
    const error = machine.refusal(guest) ?? `exited with ${code}`; // the SDK calls a refusal exit code 1
    const outcome = REFUSALS.test(error) ? "refused" : "failed";
    throw new Failure({ outcome, error: `a guest that should stay: ${error}` });
  });
  gone.catch(() => {}); // it is killed later
  return { guest, up: Promise.race([up, gone]) };
}

/** What the sidecar holds at five moments. */
function memory(newMachine, timeoutMs, count) {
  return onFreshMachine(newMachine, timeoutMs, async (sample, machine, bounded) => {
    const weigh = () => bounded(steadyMemory(machine));
    const bytes = {};
    await bounded(machine.greet());
    bytes.idle = await weigh();

    await bounded(machine.create());
    await runGuest(machine, bounded);
    bytes.vm = await weigh();

    const staying = Array.from({ length: count }, () => startStaying(machine));
    await bounded(Promise.all(staying.map(({ up }) => up)));
    sample.counters.guests = staying.length;
    bytes.live_guests = await weigh();

    for (const { guest } of staying) guest.kill("SIGKILL");
    const endings = await bounded(Promise.all(staying.map(({ guest }) => machine.ending(guest, KILL_GRACE_MS))));
    sample.counters.exits = endings.filter(({ exitCode }) => exitCode !== undefined).length;
    bytes.after_kill = await weigh();

    await bounded(machine.disposeVm(DISPOSE_LIMIT_MS));
    bytes.after_dispose = await weigh();
    sample.bytes = bytes;
  });
}

/** Guests one after another; counts how they ended. */
async function runGuests(machine, bounded, count, counters) {
  Object.assign(counters, { exits: 0, nonZero: 0 });
  for (let i = 0; i < count; i += 1) {
    const exitCode = await runGuest(machine, bounded);
    if (exitCode === undefined) continue; // it got lost: the count says so
    counters.exits += 1;
    if (exitCode !== 0) counters.nonZero += 1;
  }
}

/** What the sidecar holds before and after so many guests. */
function growth(newMachine, timeoutMs, warmup, count) {
  return onFreshMachine(newMachine, timeoutMs, async (sample, machine, bounded) => {
    const bytes = {};
    await bounded(machine.create());
    await runGuests(machine, bounded, warmup, sample.counters);
    bytes.before = await bounded(steadyMemory(machine));
    await runGuests(machine, bounded, count, sample.counters);
    bytes.after = await bounded(steadyMemory(machine));
    sample.bytes = bytes;
  });
}

const MEMORY = /^memory_[1-9][0-9]*$/;
const GROWTH = /^growth_[1-9][0-9]*$/;

export const LIFECYCLE_ROWS = ["cold_start", "memory_<n>", "growth_<n>"];

export const isLifecycle = (row) => row === "cold_start" || MEMORY.test(row) || GROWTH.test(row);

/** One sample of such a row; newMachine starts a sidecar. */
export function sampleLifecycle(newMachine, row, params) {
  const timeoutMs = param(params, "timeoutMs", "count");
  if (row === "cold_start") return coldStart(newMachine, timeoutMs);
  if (MEMORY.test(row)) return memory(newMachine, timeoutMs, param(params, "guests", "count"));
  return growth(newMachine, timeoutMs, param(params, "warmup", "count"), param(params, "processes", "count"));
}
