// Stands for agentOS's SDK: as much of it as the driver calls, with a sidecar that does nothing and guests that end as
// FAKE_AGENTOS says. Everything that a real sidecar of one version might do wrong is done wrong here at will.

import { spawn } from "node:child_process";

const MODE = process.env.FAKE_AGENTOS ?? "exits";
const later = (ms) => new Promise((done) => setTimeout(done, ms));
const forever = new Promise(() => {});

export class SidecarProcess {
  static spawn() {
    return new SidecarProcess();
  }

  constructor() {
    const stay = "process.stdin.resume(); process.stdin.on('end', () => process.exit(0)); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ["-e", stay], { stdio: ["pipe", "ignore", "ignore"] });
    this.protocolClient = { child };
    this.listeners = [];
  }

  onEvent(listener) {
    this.listeners.push(listener);
  }

  async authenticateAndOpenSession() {}

  async execute(_session, _vm, { processId, script }) {
    const refuses = MODE === "refuses" || (MODE === "refuses_to_stay" && /setInterval/.test(script));
    if (refuses) throw new Error(`kernel_error: ENFILE: too many (${processId})`);
  }

  exited(pid, code) {
    const payload = { type: "process_exited", process_id: `proc-${pid}`, exit_code: code };
    for (const listener of this.listeners) listener({ payload });
  }

  async dispose() {
    if (MODE === "stalls") await forever;
    const { child } = this.protocolClient;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) await gone;
  }
}

let nextPid = 1000000;

export class NodeRuntime {
  static async create({ sidecar }) {
    if (MODE === "never_boots") await forever;
    if (MODE === "cannot_boot") throw new Error("no kernel\nat line 1");
    return Object.assign(new NodeRuntime(), { sidecar, guests: 0 });
  }

  spawnCommand(_node, [program, script], { onStdout } = {}) {
    const pid = nextPid++;
    const { sidecar } = this;
    const first = this.guests === 0; // the one that warms the machine up always works
    this.guests += 1;
    if (program.endsWith("transport-echo.mjs")) return this.#echo(pid, onStdout);
    let die;
    const killed = new Promise((resolve) => (die = resolve));
    const ended = this.#end(pid, script, onStdout, first ? "exits" : MODE, killed);
    const kill = () => {
      sidecar.exited(pid, 137);
      die(137);
    };
    return { pid, wait: () => ended, kill, writeStdin() {}, closeStdin() {} };
  }

  /** Sends back what it gets until its input ends. */
  #echo(pid, onStdout) {
    const { sidecar } = this;
    let end;
    const ended = new Promise((resolve) => (end = resolve));
    const leave = (code) => {
      sidecar.exited(pid, code);
      end(code);
    };
    const writeStdin = (text) => {
      if (MODE === "dies") sidecar.protocolClient.child.kill("SIGKILL");
      else if (MODE === "vanishes") leave(5);
      else if (MODE !== "hangs") setImmediate(() => onStdout(Buffer.from(text)));
    };
    return { pid, wait: () => ended, kill: () => leave(137), writeStdin, closeStdin: () => leave(0) };
  }

  async #end(pid, script, onStdout, mode, killed) {
    const { sidecar } = this;
    await later(1);
    try {
      await sidecar.execute({}, {}, { processId: `proc-${pid}`, script });
    } catch {
      return 1; // as the SDK does
    }
    if (mode === "vanishes") return 0;
    if (mode === "hangs") return forever;
    if (mode === "dies") {
      sidecar.protocolClient.child.kill("SIGKILL");
      return 1;
    }
    if (/setInterval/.test(script)) {
      onStdout(Buffer.from("up\n"));
      return killed;
    }
    const code = Number(/process\.exit\((\d+)\)/.exec(script)?.[1] ?? 0);
    sidecar.exited(pid, code);
    return code;
  }

  async dispose() {
    if (MODE === "stalls") await forever;
  }
}

export const createInMemoryFileSystem = () => ({});
export const resolvePublishedSidecarBinary = () => process.execPath;
