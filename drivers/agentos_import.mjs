// The rows of `tare import` on agentOS: a fresh virtual machine of one sidecar loads the entry point of each sample.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

import { Failure, bound } from "./agentos_lifecycle.mjs";
import { REFUSALS } from "./agentos_vm.mjs";
import { importRows } from "./import_rows.mjs";
import { nanoseconds, now } from "./operation.mjs";
import { Refusal, param } from "./protocol.mjs";
import { roundTrips } from "./transport.mjs";

const HOME = "/root";
const NO_CACHE = "its SDK has no folder for compiled code";
const NO_CONTEXT = "its SDK has no contexts: every program gets an isolate of its own";

/** What is before the first round trip: the machine, and a guest, which makes what later ones share. */
const TRANSPORT_SETUP_MS = 20_000;

/** The end of a machine is in no sample. */
const DISPOSE_LIMIT_MS = 8000;

/** Rows in which the engine's own state is what is warm, not the code of the program. */
const isWarmEngine = (row, hot) => hot || row === "prewarmed-isolate-startup";

const whyNot = ({ row, reuse, primed, hot }) => {
  if (reuse === "shared-context-across-scenario") return NO_CONTEXT;
  return primed && !isWarmEngine(row, hot) ? NO_CACHE : undefined;
};

/** As importRows. */
export const agentosImportRows = () => importRows(whyNot);

function mountsOf(params) {
  const mount = (name, hostPath) => ({ guestPath: `${HOME}/${name}`, hostPath, readOnly: true });
  const mounts = [mount("bench", realpathSync(join(param(params, "dir", "string"), "bench")))];
  if (params.nodeModules !== undefined) mounts.push(mount("node_modules", realpathSync(param(params, "nodeModules", "string"))));
  return mounts;
}

/** Starts an entry point in a machine that is there: by its whole path, as a relative one is not looked for in mounts. */
function startEntry(machine, params, onStdout) {
  const onStderr = (chunk) => process.stderr.write(chunk);
  return machine.start([`${HOME}/${param(params, "entry", "string")}`], { cwd: HOME, onStdout, onStderr });
}

/** How it ended, after wait(); throws a Failure when it never started. */
async function endingOf(machine, guest) {
  const { exitCode, error } = await machine.ending(guest);
  if (error !== undefined) throw new Failure({ outcome: REFUSALS.test(error) ? "refused" : "failed", error });
  return exitCode === undefined ? {} : { exitCode };
}

/** A machine, a program in it and its end, in `sample`. */
async function runEntry(machine, params, bounded, sample) {
  const chunks = [];
  const begin = now();
  await bounded(machine.create(undefined, mountsOf(params)));
  const made = now();
  const guest = startEntry(machine, params, (chunk) => chunks.push(Buffer.from(chunk)));
  const started = now();
  await bounded(guest.wait());
  const end = now();
  sample.counters = await endingOf(machine, guest);
  sample.output = Buffer.concat(chunks).toString("utf8");
  sample.ns = {
    total: nanoseconds(begin, end),
    context_setup: nanoseconds(begin, made),
    startup: nanoseconds(made, started),
    wait: nanoseconds(started, end),
  };
}

export class ImportLane {
  #newMachine;
  #machine;

  constructor(newMachine) {
    this.#newMachine = newMachine;
  }

  /** A sidecar that runs; `started` is told how long that took, if it had to be started. */
  async #wake(bounded, started) {
    if (this.#machine !== undefined && !this.#machine.ended) return bounded(this.#machine);
    const begin = now();
    this.#machine = this.#newMachine();
    const limit = bounded(this.#machine);
    await limit(this.#machine.greet());
    started(nanoseconds(begin, now()));
    return limit;
  }

  /** `steps` gets the machine and what holds a promise to the budget; gives the sample's outcome. */
  async #try(timeoutMs, sample, steps) {
    const began = now();
    try {
      await steps((machine) => bound(machine, timeoutMs));
    } catch (error) {
      if (error instanceof Refusal) throw error;
      Object.assign(sample, { outcome: error.outcome ?? "failed", error: String(error.message).split("\n")[0] });
      sample.ns = { total: nanoseconds(began, now()) };
      await this.close();
    }
    return sample;
  }

  /** One sample. */
  async sample(row, params) {
    const why = whyNot({ row, reuse: param(params, "reuse", "string"), primed: params.cache === "primed", hot: row.startsWith("hot-builtin-") });
    if (why !== undefined) throw new Refusal("unsupported", why);
    const timeoutMs = param(params, "timeoutMs", "count");
    const sample = { ns: {}, outcome: "ok", counters: {} };
    return this.#try(timeoutMs, sample, async (bounded) => {
      let engineStart;
      const limit = await this.#wake(bounded, (ns) => (engineStart = ns));
      await runEntry(this.#machine, params, limit, sample);
      await this.#machine.disposeVm(DISPOSE_LIMIT_MS);
      if (engineStart !== undefined) sample.ns.engine_start = engineStart;
      if (params.freshProcess === true) sample.ns.fresh_process = await this.#freshProcess(params, bounded);
    });
  }

  /** How long a whole life in a sidecar of its own takes, without its end. */
  async #freshProcess(params, bounded) {
    const begin = now();
    const machine = this.#newMachine();
    try {
      const life = {};
      await runEntry(machine, params, bounded(machine), life);
      return nanoseconds(begin, now());
    } finally {
      await machine.close();
    }
  }

  /** Samples of a transport row. */
  async transport(params, iterations) {
    const sample = { ns: {}, outcome: "ok", counters: {} };
    let samples = [];
    await this.#try(TRANSPORT_SETUP_MS, sample, async (bounded) => {
      const limit = await this.#wake(bounded, () => {});
      const machine = this.#machine;
      await limit(machine.create(undefined, mountsOf(params)));
      await limit(machine.start(["-e", "process.exit(0)"], {}).wait());
      const start = (onOutput) => {
        const guest = startEntry(machine, params, (chunk) => onOutput(Buffer.from(chunk)));
        const ended = Promise.race([guest.wait().then(() => endingOf(machine, guest)), machine.left]);
        return {
          ended: ended.catch(({ message }) => ({ error: message })),
          write: (text) => guest.writeStdin(text),
          close: () => guest.closeStdin(),
          kill: () => machine.kill(),
        };
      };
      samples = await roundTrips(start, params, iterations);
      await machine.disposeVm(DISPOSE_LIMIT_MS);
    });
    return samples.length > 0 ? samples : Array.from({ length: iterations }, () => sample);
  }

  async close() {
    await this.#machine?.close();
    this.#machine = undefined;
  }
}
