// The rows that spawn children: until they are registered, until they are settled, and all of it at once for a while.

import { existsSync } from "node:fs";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

import { param } from "../protocol.mjs";
import { spawn } from "./pipeline.mjs";
import { child, nanoseconds, now } from "./sample.mjs";
import { stateFile } from "./state_file.mjs";

const SWEEP_PAUSE_MS = 2;

const children = (nonce, n) => Array.from({ length: n }, (_, k) => child(nonce, k));

const count = (all, predicate) => {
  let counted = 0;
  for (const one of all) counted += predicate(one);
  return counted;
};

/** Removes all runs, and counts what is left of them. */
async function teardown({ registry, store }) {
  await registry.remove([...registry.runs()]);
  const { runs, tasks } = store.countOnDisk();
  return {
    postTeardownRegistryRows: registry.size,
    postTeardownTaskRows: registry.taskCount,
    postTeardownDurableSubagentRows: runs.rows,
    postTeardownDurableTaskRows: tasks.rows,
    postTeardownActiveRootWork: registry.activeWork,
  };
}

/** Settles these runs all together; resolves to how many of them that ended. */
async function settleAll(registry, runs) {
  const settled = await Promise.all(runs.map(({ id }) => registry.settle(id, "ok")));
  return count(settled, Boolean);
}

const endedTasks = (registry) => count(registry.tasks, ({ status }) => status === "ended");

async function pipeline(agents, { n, nonce, dir }) {
  const { registry, store, admission } = agents;
  const requests = children(nonce, n);

  const started = now();
  const runs = await Promise.all(requests.map((request) => spawn(agents, request)));
  const finished = now();

  const reservationsReleased = admission.released;
  const registeredRuns = count(registry.runs(), ({ status }) => status === "running");
  const waits = runs.map(({ id }) => registry.wait(id));
  const { blockedWaits } = registry;
  const onDisk = store.countOnDisk();
  const settledRuns = await settleAll(registry, runs);
  await Promise.all(waits);
  const counters = {
    registeredRuns,
    uniqueRunIds: new Set(runs.map(({ id }) => id)).size,
    reservationsReleased,
    blockedWaits,
    settledRuns,
    settledTasks: endedTasks(registry),
    outstandingWaits: registry.blockedWaits,
    durableSubagentRows: onDisk.runs.rows - onDisk.runs.ended,
    durableTaskRows: onDisk.tasks.rows - onDisk.tasks.ended,
    durableStateFile: Number(existsSync(stateFile(dir))),
    ...(await teardown(agents)),
  };
  return { ns: { total: nanoseconds(started, finished) }, counters };
}

async function withAgents(agents, body) {
  try {
    return await body(agents);
  } finally {
    agents.dispose();
  }
}

export const spawnPipelineInMemory = async (context) =>
  withAgents(context.bench.inMemory(context.n), (agents) => pipeline(agents, context));

async function withDurable({ bench, n, dir, budget }, body) {
  return withAgents(await bench.durable(dir, n, budget), body);
}

export const spawnPipelineDurable = (context) => withDurable(context, (agents) => pipeline(agents, context));

export const spawnSettleEndToEnd = (context) =>
  withDurable(context, async (agents) => {
    const { registry, store } = agents;
    const requests = children(context.nonce, context.n);

    const started = now();
    const runs = await Promise.all(requests.map((request) => spawn(agents, request)));
    const spawned = now();
    const waits = Promise.all(runs.map(({ id }) => registry.wait(id)));
    const settling = settleAll(registry, runs);
    const outcomes = await waits;
    const finished = now();

    const counters = {
      registeredRuns: new Set(runs.map(({ id }) => id)).size,
      waitersNotified: count(outcomes, (outcome) => outcome === "ok"),
      settledRuns: await settling,
      settledTasks: endedTasks(registry),
      outstandingWaits: registry.blockedWaits,
      durableEndedRows: store.countOnDisk().runs.ended,
      ...(await teardown(agents)),
    };
    const ns = {
      total: nanoseconds(started, finished),
      spawn: nanoseconds(started, spawned),
      settle: nanoseconds(spawned, finished),
    };
    return { ns, counters };
  });

/** One client of the mixed load: spawns, waits and settles, over and over until `deadline`. */
async function client(agents, name, deadline, done) {
  const { registry } = agents;
  for (let i = 0; i === 0 || now() < deadline; i += 1) {
    await turn(); // as a request comes in
    const { id } = await spawn(agents, child(name, i, { cleanup: "delete" }));
    done.spawned.push(id);
    const wait = registry.wait(id);
    done.waits += 1;
    const settled = await registry.settle(id, "ok");
    await wait;
    done.settles += settled;
    done.cycles += 1;
  }
}

/** Sweeps, with a pause after each sweep, until it is told to stop. */
async function sweeper(registry, done) {
  do {
    for (const id of (await registry.sweep()).removed) done.swept.add(id);
    done.sweeps += 1;
    await sleep(SWEEP_PAUSE_MS);
  } while (!done.all);
}

export const mixedLoad = (context) =>
  withDurable(context, async (agents) => {
    const { registry } = agents;
    const durationMs = param(context.params, "durationMs", "count");
    const done = { cycles: 0, waits: 0, settles: 0, sweeps: 0, spawned: [], swept: new Set(), all: false };

    const started = now();
    const deadline = started + BigInt(durationMs) * 1_000_000n;
    const names = Array.from({ length: context.n }, (_, k) => `${context.nonce}-${k}`);
    const clients = Promise.all(names.map((name) => client(agents, name, deadline, done)));
    const clientsDone = clients.then(now).finally(() => {
      done.all = true;
    });
    const [finished] = await Promise.all([clientsDone, sweeper(registry, done)]);

    const counters = {
      cycles: done.cycles,
      spawns: done.spawned.length,
      waits: done.waits,
      settles: done.settles,
      sweeps: done.sweeps,
      outstandingWaits: registry.blockedWaits,
      lostRuns: count(done.spawned, (id) => registry.get(id) === undefined && !done.swept.has(id)),
      ...(await teardown(agents)),
    };
    return { ns: { total: Math.round(nanoseconds(started, finished) / done.cycles) }, counters };
  });
