// What the samples of all rows have in common: a budget, the memory of this process, a registry that goes with them.

import { readFileSync } from "node:fs";

import { Admission, atMost } from "./admission.mjs";
import { idleBackend } from "./pipeline.mjs";
import { Registry } from "./registry.mjs";
import { createState, removeState } from "./state_file.mjs";
import { DurableStore, memoryStore } from "./store.mjs";

export const now = () => process.hrtime.bigint();
export const nanoseconds = (from, to) => Number(to - from);

/** The budget of a sample is used up. */
export class Late extends Error {}

export class Budget {
  #started = now();
  #limitMs;

  constructor(limitMs) {
    this.#limitMs = limitMs;
  }

  get age() {
    return nanoseconds(this.#started, now());
  }

  check(age = this.age) {
    if (age > this.#limitMs * 1e6) throw new Late(`not done after ${this.#limitMs} ms`);
  }
}

/** The resident memory of this process, now and at its most, in bytes. */
export function memory() {
  const status = readFileSync("/proc/self/status", "latin1");
  const kibibytes = (name) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"))?.[1]);
  return { rss: kibibytes("VmRSS") * 1024, peak: kibibytes("VmHWM") * 1024 };
}

const TASK = "count the files of the folder and report";
const PAYLOAD = JSON.stringify({ model: "gpt-5.6-luna", thinking: "low", timeoutSeconds: 600 });

/** The k-th child of a request. */
export function child(nonce, k, { cleanup = "keep", task = TASK } = {}) {
  const label = `${nonce}-${k}`;
  return {
    child: `agent:main:subagent:${label}`,
    requester: "agent:main:main",
    controller: "agent:main:main",
    group: "bench",
    label,
    task,
    payload: PAYLOAD,
    cleanup,
  };
}

/** Makes what the samples need, and takes away what is left of it when the driver leaves. */
export class Bench {
  #groupCommit;
  #cleanups = new Set();

  constructor({ groupCommit }) {
    this.#groupCommit = groupCommit;
  }

  /** A function that runs `cleanup` once; it is also run at the latest when the driver leaves. */
  defer(cleanup) {
    const once = () => {
      if (this.#cleanups.delete(once)) cleanup();
    };
    this.#cleanups.add(once);
    return once;
  }

  leave() {
    for (const cleanup of [...this.#cleanups].reverse()) cleanup();
  }

  /** A registry in memory, and whatever `spawn` needs. The controller may have `cap` children at a time. */
  inMemory(cap) {
    return this.#agents(memoryStore, cap, () => {});
  }

  /** The same with a database in `dir`, which `dispose` takes away again, unless it is `kept`. */
  async durable(dir, cap, budget, { kept = false } = {}) {
    const database = await createState(dir);
    const options = { groupCommit: this.#groupCommit, checkBudget: () => budget.check() };
    const store = new DurableStore(database, dir, options);
    return this.#agents(store, cap, () => {
      store.close();
      if (!kept) removeState(dir);
    });
  }

  #agents(store, cap, cleanup) {
    const registry = new Registry(store, idleBackend);
    const dispose = this.defer(cleanup);
    return { registry, store, admission: new Admission(), policy: atMost(cap), backend: idleBackend, dispose };
  }
}
