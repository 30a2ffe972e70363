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

/** SIGKILLs a process and all below it. */
export function killTree(root) {
  const all = processes();
  const doomed = [root];
  for (let i = 0; i < doomed.length; i += 1) {
    for (const { pid, parent } of all) if (parent === doomed[i]) doomed.push(pid);
  }
  for (const pid of doomed) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone
    }
  }
}
