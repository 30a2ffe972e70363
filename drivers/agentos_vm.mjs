// One agentOS machine: a sidecar process and the virtual machine in it, and operations that are timed through its SDK.
//
// The SDK's wait() gives a number and nothing else: 0 for a process that vanished, 1 for one that was refused, 1 when
// the sidecar died. So the driver listens to what the sidecar itself says: its exit events, and its answers to starts.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { now } from "./operation.mjs";
import { alive, kill, processes, pssOf, tree } from "./processes.mjs";

const GUEST_FOLDER = "/tare"; // where the host's folder is mounted; its own path fails below other folders
export const REFUSALS = /\b(ENFILE|EMFILE|EAGAIN|ENOMEM|ERR_RESOURCE)/;
const EXIT_EVENT_GRACE_MS = 1000;
const LEAVE_LIMIT_MS = 500;
const ALLOW_ALL = { fs: "allow", network: "allow", childProcess: "allow", process: "allow", env: "allow" };

/** Resolves to what `promise` gives, or to undefined after `ms`. Rejects as it does. */
async function within(ms, promise) {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, sleep(Math.max(ms, 0), undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
    promise.catch(() => {}); // it may still fail, and nobody waits any more
  }
}

const oneLine = (error) => String(error?.message ?? error).split("\n")[0];

export class Machine {
  #sdk;
  #sidecar;
  #child;
  #vm;
  #dir;
  #scratch = mkdtempSync(join(tmpdir(), "tare-agentos-"));
  #exits = new Map();
  #rejected = new Map();
  #end;

  /** Starts a sidecar, without a virtual machine. */
  constructor(sdk) {
    this.#sdk = sdk;
    this.#sidecar = this.#spawn();
    this.#child = this.#sidecar.protocolClient.child;
    /** Resolves to {outcome, error} when the sidecar has left, for whatever reason. */
    this.left = new Promise((resolve) => {
      const leave = (how) => {
        this.#end ??= how;
        resolve({ outcome: "failed", error: `the agentOS sidecar ${how} in the middle` });
      };
      this.#child.once("error", (error) => leave(`cannot be started: ${oneLine(error)}`));
      this.#child.once("exit", (code, signal) => leave(signal ? `was killed by ${signal}` : `exited with ${code}`));
    });
    this.#sidecar.onEvent(({ payload }) => {
      if (payload.type === "process_exited") this.#exits.set(payload.process_id, payload.exit_code);
    });
    this.#listenToStarts();
  }

  /** A sidecar keeps some 400 files in the temporary folder, and leaves them when it is killed: it gets its own. */
  #spawn() {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = this.#scratch;
    try {
      return this.#sdk.SidecarProcess.spawn();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  }

  /** The sidecar's process id. */
  get pid() {
    return this.#child.pid;
  }

  get usable() {
    return this.#end === undefined && this.#vm !== undefined;
  }

  /** Has it left, or is it about to? */
  get ended() {
    return this.#end !== undefined;
  }

  /** The folder that it mounts, or undefined. */
  get dir() {
    return this.#dir;
  }

  /** The answer to a start that was refused is seen by the SDK alone: it turns it into exit code 1. */
  #listenToStarts() {
    const execute = this.#sidecar.execute.bind(this.#sidecar);
    this.#sidecar.execute = async (session, vm, request) => {
      try {
        return await execute(session, vm, request);
      } catch (error) {
        this.#rejected.set(request.processId, oneLine(error));
        throw error;
      }
    };
  }

  /** Opens a session, so that the sidecar surely runs. */
  async greet() {
    await this.#sidecar.authenticateAndOpenSession();
  }

  /** Creates the virtual machine. dir: a folder of the host that it mounts, writable, or undefined; or other mounts. */
  async create(dir, mounts = dir === undefined ? [] : [{ guestPath: GUEST_FOLDER, hostPath: dir, readOnly: false }]) {
    this.#vm = await this.#sdk.NodeRuntime.create({
      filesystem: this.#sdk.createInMemoryFileSystem(),
      permissions: ALLOW_ALL,
      jsRuntime: { highResolutionTime: true },
      sidecar: this.#sidecar,
      ...(mounts.length === 0 ? {} : { mounts }),
    });
    this.#dir = dir;
  }

  /** Starts a guest; what the SDK gives. */
  start(args, options) {
    return this.#vm.spawnCommand("node", args, options);
  }

  /**
   * How a guest ended, once wait() has returned: {exitCode} when the sidecar reported an exit, {error} when it refused
   * the start, and neither when nothing tells. The event usually comes first; one that is late is waited for.
   */
  async ending({ pid }, graceMs = EXIT_EVENT_GRACE_MS) {
    const id = `proc-${pid}`;
    const deadline = Date.now() + graceMs;
    while (!this.#exits.has(id) && !this.#rejected.has(id) && this.#end === undefined && Date.now() < deadline) {
      await sleep(5);
    }
    const found = { exitCode: this.#exits.get(id), error: this.#rejected.get(id) };
    this.#exits.delete(id);
    this.#rejected.delete(id);
    return found;
  }

  /** Why its start was refused, if it was; the sidecar's words. */
  refusal({ pid }) {
    return this.#rejected.get(`proc-${pid}`);
  }

  /**
   * One timed operation: options and result are those of `run` in operation.mjs. leftMs: what is left of timeoutMs,
   * when the machine had to be made first.
   */
  async run({ args, cwd, count = 1, timeoutMs, leftMs = timeoutMs, input, capture = false }) {
    const result = { exits: 0, nonZero: 0, outcome: "ok" };
    const chunks = [];
    const guests = [];
    const options = { cwd: cwd !== undefined && cwd === this.#dir ? GUEST_FOLDER : cwd };
    if (capture || input !== undefined) options.onStdout = (chunk) => chunks.push(Buffer.from(chunk));

    let thrown;
    result.started = now();
    try {
      for (let i = 0; i < count; i += 1) guests.push(this.start(args, options));
    } catch (error) {
      thrown = { outcome: "failed", error: `cannot start a guest: ${oneLine(error)}` };
    }
    result.spawned = now();
    if (input !== undefined && thrown === undefined) {
      guests[0].writeStdin(input);
      guests[0].closeStdin();
    }
    const late = { outcome: "timeout", error: `not done after ${timeoutMs} ms` };
    const all = Promise.all(guests.map((guest) => guest.wait())).then(() => ({}));
    const how = thrown ?? (await within(leftMs, Promise.race([all, this.left]))) ?? late;
    result.finished = now();

    Object.assign(result, how);
    if (result.outcome === "ok") await this.#account(guests, result);
    if (result.outcome === "failed") Object.assign(result, await within(LEAVE_LIMIT_MS, this.left)); // is it dead?
    if (result.outcome === "failed" || result.outcome === "timeout") this.kill();
    if (options.onStdout !== undefined) result.output = Buffer.concat(chunks).toString("utf8");
    return result;
  }

  async #account(guests, result) {
    for (const ending of await Promise.all(guests.map((guest) => this.ending(guest)))) {
      if (ending.error !== undefined) {
        const outcome = REFUSALS.test(ending.error) ? "refused" : "failed";
        Object.assign(result, { outcome, error: ending.error });
      } else if (ending.exitCode !== undefined) {
        result.exits += 1;
        if (ending.exitCode !== 0) result.nonZero += 1;
        result.exitCode = ending.exitCode;
      }
    }
    if (this.#end !== undefined && result.exits < guests.length) result.outcome = "failed";
  }

  /** The sidecar and all below it. */
  pids() {
    return this.#child.pid === undefined ? [] : tree(this.#child.pid);
  }

  /** Descriptors and threads of the sidecar's processes, and dead children that they did not wait for. */
  facts() {
    const pids = this.pids();
    const entries = (folder) => {
      let sum = 0;
      for (const pid of pids) {
        try {
          sum += readdirSync(`/proc/${pid}/${folder}`).length;
        } catch {
          // gone
        }
      }
      return sum;
    };
    const zombies = processes().filter(({ parent, state }) => state === "Z" && pids.includes(parent)).length;
    return { fds: entries("fd"), threads: entries("task"), zombies };
  }

  /** The memory of the sidecar's processes, proportional set size in bytes; null when the kernel does not tell. */
  pss() {
    const sizes = alive(this.pids()).map(pssOf);
    return sizes.includes(null) ? null : sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Ends the virtual machine as the SDK does, within a time. */
  async disposeVm(limitMs) {
    await within(limitMs, this.#vm?.dispose() ?? Promise.resolve()).catch(() => {});
    this.#vm = undefined;
  }

  /**
   * Ends the virtual machine and the sidecar as the SDK does, within a time. Gives the pids that still run; they are
   * not killed yet.
   */
  async dispose(limitMs) {
    const pids = this.pids();
    const end = async () => {
      await this.#vm?.dispose().catch(() => {});
      await this.#sidecar.dispose().catch(() => {});
    };
    await within(limitMs, end());
    this.#vm = undefined;
    return alive(pids);
  }

  /** Kills the sidecar and all below it, waits until it has left, and takes away its files. */
  async close() {
    this.kill();
    await within(LEAVE_LIMIT_MS, this.left);
    this.clean();
  }

  /** Takes away its files; for the very end. */
  clean() {
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  /** Kills the sidecar and all below it. */
  kill() {
    this.#end ??= "was ended by the driver";
    kill(this.pids());
  }
}
