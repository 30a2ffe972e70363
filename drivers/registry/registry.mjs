// The runs of child agents in memory. A store, which may be durable, is told of every change first.

export const ROLES = ["child", "requester", "controller", "group"];

/** How long a run may be without its context before it counts as lost. */
const ORPHAN_GRACE_MS = 60_000;

/** One run of a child agent. Status: queued, running, interrupted, terminal. Times are Unix milliseconds. */
export class Run {
  status = "queued";
  endedAt = null;
  outcome = null;
  archiveAt = null; // from then on a sweep may take it, if its cleanup is "delete"
  recovered = false; // its interruption has been projected
  orphanedAt = null; // its context was lost then
  settling = false;
  waiters = [];

  constructor(request, id, generation, createdAt) {
    this.id = id;
    this.child = request.child;
    this.requester = request.requester;
    this.controller = request.controller;
    this.group = request.group;
    this.label = request.label;
    this.task = request.task;
    this.payload = request.payload; // JSON, for whoever wants it
    this.cleanup = request.cleanup;
    this.generation = generation;
    this.createdAt = createdAt;
  }
}

/** Runs by a name that they have in one of their roles. */
class Index {
  #runs = new Map();

  add(name, run) {
    const runs = this.#runs.get(name);
    if (runs === undefined) this.#runs.set(name, new Set([run]));
    else runs.add(run);
  }

  delete(name, run) {
    const runs = this.#runs.get(name);
    if (runs.size === 1) this.#runs.delete(name);
    else runs.delete(run);
  }

  get(name) {
    return this.#runs.get(name) ?? new Set();
  }
}

export class Registry {
  blockedWaits = 0; // waiters that nobody has woken yet
  spawning = 0; // pipelines on their way
  #runs = new Map();
  #tasks = new Map(); // the task of a run has the run's id
  #by = Object.fromEntries(ROLES.map((role) => [role, new Index()]));
  #lastId = 0;
  #sweeping;
  #store;
  #backend;
  #now;

  constructor(store, backend, now = Date.now) {
    this.#store = store;
    this.#backend = backend;
    this.#now = now;
  }

  get size() {
    return this.#runs.size;
  }

  get tasks() {
    return this.#tasks.values();
  }

  get taskCount() {
    return this.#tasks.size;
  }

  get(id) {
    return this.#runs.get(id);
  }

  runs() {
    return this.#runs.values();
  }

  /** The runs that have this name in this role. */
  runsOf(role, name) {
    return this.#by[role].get(name);
  }

  /** The run of the newest generation of a child session. */
  newest(child) {
    let newest;
    for (const run of this.runsOf("child", child)) {
      if (newest === undefined || run.generation > newest.generation) newest = run;
    }
    return newest;
  }

  /** Pipelines on their way, and runs that have not ended. */
  get activeWork() {
    let active = this.spawning;
    for (const run of this.#runs.values()) active += run.status !== "terminal";
    return active;
  }

  /** Resolves to the run once the store has it; until then it is queued. */
  async register(request) {
    this.#lastId += 1;
    const generation = (this.newest(request.child)?.generation ?? 0) + 1;
    const run = new Run(request, this.#lastId, generation, this.#now());
    const task = { id: run.id, status: "running", endedAt: null };
    this.#add(run, task);
    try {
      await this.#store.insert(run);
    } catch (error) {
      this.#drop(run);
      throw error;
    }
    run.status = "running";
    return run;
  }

  /** Takes in a run as it is, without telling the store; for what was stored before. */
  adopt(run, task) {
    this.#lastId = Math.max(this.#lastId, run.id);
    this.#add(run, task);
  }

  #add(run, task) {
    this.#runs.set(run.id, run);
    this.#tasks.set(task.id, task);
    for (const role of ROLES) this.#by[role].add(run[role], run);
  }

  #drop(run) {
    if (!this.#runs.delete(run.id)) return;
    this.#tasks.delete(run.id);
    for (const role of ROLES) this.#by[role].delete(run[role], run);
  }

  /** Resolves to the outcome of a run, once it has one. Any number may wait for the same. */
  wait(id) {
    const run = this.#runs.get(id);
    if (run === undefined) return Promise.reject(new Error(`there is no run ${id}`));
    if (run.status === "terminal") return Promise.resolve(run.outcome);
    this.blockedWaits += 1;
    return new Promise((resolve) => run.waiters.push(resolve));
  }

  /** Ends a run and its task and, once the store has that, wakes who waits. False unless it is the first to do so. */
  async settle(id, outcome) {
    const run = this.#runs.get(id);
    if (run === undefined || run.settling || run.status === "terminal") return false;
    run.settling = true;
    const endedAt = this.#now();
    const archiveAt = run.cleanup === "delete" ? endedAt : null;
    try {
      await this.#store.settle(id, outcome, endedAt, archiveAt);
    } finally {
      run.settling = false;
    }
    Object.assign(run, { status: "terminal", outcome, endedAt, archiveAt });
    Object.assign(this.#tasks.get(id), { status: "ended", endedAt });
    const { waiters } = run;
    run.waiters = [];
    this.blockedWaits -= waiters.length;
    for (const resolve of waiters) resolve(outcome);
    return true;
  }

  /** Forgets runs, in the store and here. */
  async remove(runs) {
    await this.#store.update({ removed: runs });
    for (const run of runs) this.#drop(run);
  }

  /** One pass over all runs. Calls while a pass is under way share it and its result. */
  sweep() {
    this.#sweeping ??= this.#pass().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #pass() {
    const now = this.#now();
    const found = { removed: [], recovered: [], lost: [], sessions: [] };
    for (const run of this.#runs.values()) this.#examine(run, now, found);
    const { removed, recovered, lost, sessions } = found;
    if (removed.length + recovered.length > 0) await this.#store.update({ removed, recovered });
    for (const run of removed) this.#drop(run);
    for (const run of recovered) run.recovered = true;
    for (const child of sessions) this.#backend.endSession(child);
    for (const run of lost) await this.settle(run.id, "lost");
    return {
      removed: removed.map(({ id }) => id),
      recoveryProjections: recovered.length,
      lostContextCompletions: lost.length,
      sessionEffects: sessions.length,
    };
  }

  /** What a sweep has to do with a run: the first of these that fits. */
  #examine(run, now, { removed, recovered, lost, sessions }) {
    const { status } = run;
    if (status === "terminal") {
      if (run.cleanup !== "delete" || run.archiveAt === null || run.archiveAt > now) return;
      removed.push(run);
      if (this.newest(run.child) === run) sessions.push(run.child); // with an older one the session lives on
    } else if (status === "interrupted") {
      if (!run.recovered) recovered.push(run);
    } else if (run.orphanedAt !== null && run.orphanedAt + ORPHAN_GRACE_MS <= now) {
      lost.push(run);
    }
  }
}
