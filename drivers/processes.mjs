// The process table, as /proc shows it.

import { readFileSync, readdirSync } from "node:fs";
import process from "node:process";

/** Every process as {pid, parent, state}. One that leaves while we look is left out. */
export function processes() {
  const found = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      found.push({ pid: Number(name), parent: Number(parent), state });
    } catch {
      // gone
    }
  }
  return found;
}

/** A process and all below it, as pids; the root comes first, whether or not it is there. */
export function tree(root) {
  const all = processes();
  const pids = [root];
  for (let i = 0; i < pids.length; i += 1) {
    for (const { pid, parent } of all) if (parent === pids[i]) pids.push(pid);
  }
  return pids;
}

/** Which of these processes run: they exist and are no zombies. */
export function alive(pids) {
  const running = new Set(processes().filter(({ state }) => state !== "Z").map(({ pid }) => pid));
  return pids.filter((pid) => running.has(pid));
}

/** The proportional set size of a process in bytes; null when the kernel does not tell. */
export function pssOf(pid) {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))[1]) * 1024;
  } catch {
    return null;
  }
}

/** SIGKILLs these processes. */
export function kill(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone
    }
  }
}

/** SIGKILLs a process and all below it. */
export const killTree = (root) => kill(tree(root));
