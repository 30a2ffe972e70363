// One measured operation: start processes, see each of them exit, kill what is late.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";

import { killTree } from "./processes.mjs";

const running = new Set();
const REFUSALS = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"]);

export const now = () => process.hrtime.bigint();
export const nanoseconds = (from, to) => Number(to - from);

/** Kills everything that is still running; for leaving early. */
export function killAll() {
  for (const child of running) killTree(child.pid);
}

/** Has killAll see a process that was started elsewhere, until `left` is settled. */
export function track(child, left) {
  if (child.pid === undefined) return;
  running.add(child);
  void left.finally(() => running.delete(child));
}

/**
 * Starts `count` processes and waits until each has exited.
 *
 * options: command, args, cwd, env, count, timeoutMs, input (a string for stdin); capture: true collects stdout and
 * then waits for its end as well; stderr: what becomes of that. The processes stay in this process's session: where the kernel schedules by session,
 * one of its own would give each an own share of the CPU.
 *
 * Resolves to {spawned, finished, started, exits, nonZero, exitCode, signal, output, outcome, error}:
 * `started`, `spawned` and `finished` are moments; exitCode and signal are those of the last exit.
 */
export function run(options) {
  const { command, args, cwd, env, count = 1, timeoutMs, input, capture = false, stderr = "ignore" } = options;
  const piped = capture || input !== undefined;
  const stdio = piped ? [input === undefined ? "ignore" : "pipe", "pipe", stderr] : "ignore";
  const result = { exits: 0, nonZero: 0, outcome: "ok" };
  const children = [];
  const chunks = [];

  return new Promise((resolve) => {
    let open = count;
    const fail = (outcome, error) => {
      if (result.outcome === "ok") Object.assign(result, { outcome, error });
      for (const child of children) {
        if (running.has(child) && child.pid !== undefined) killTree(child.pid);
        child.stdout?.destroy(); // what escaped its parent could hold it open for ever
      }
    };
    const timer = setTimeout(() => fail("timeout", `not done after ${timeoutMs} ms`), timeoutMs);
    const finish = () => {
      result.finished ??= now();
      clearTimeout(timer);
      if (piped) result.output = Buffer.concat(chunks).toString("utf8");
      resolve(result);
    };
    const done = (child) => {
      if (running.delete(child)) open -= 1;
      if (open === 0) finish();
    };
    const onExit = (child, code, signal) => {
      result.exits += 1;
      if (result.exits === count && !piped) result.finished = now();
      if (code !== 0) result.nonZero += 1;
      if (code !== null) result.exitCode = code;
      if (signal !== null) result.signal = constants.signals[signal];
      if (!piped) done(child);
    };
    const onError = (child, error) => {
      fail(REFUSALS.has(error.code) ? "refused" : "failed", `cannot start ${command}: ${error.message}`);
      if (child.pid === undefined) done(child); // no exit will follow
    };

    let thrown;
    result.started = now();
    try {
      for (let i = 0; i < count; i += 1) children.push(spawn(command, args, { stdio, cwd, env }));
    } catch (error) {
      thrown = error;
    }
    result.spawned = now();

    open = children.length;
    for (const child of children) {
      running.add(child);
      child.on("exit", (code, signal) => onExit(child, code, signal));
      child.on("error", (error) => onError(child, error));
      if (piped) child.on("close", () => done(child));
      child.stdout?.on("data", (chunk) => chunks.push(chunk));
      child.stdin?.on("error", () => {}); // the process left without reading: its output tells
      child.stdin?.end(input);
    }
    if (thrown !== undefined) {
      fail("failed", `cannot start ${command}: ${thrown.message}`);
      if (open === 0) finish();
    }
  });
}
