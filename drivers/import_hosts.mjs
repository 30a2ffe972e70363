// How each runtime of node.mjs runs an entry point of `tare import`, and where it keeps compiled code.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let scratch;

/** What Deno writes for itself when no folder was given. */
function scratchFolder() {
  scratch ??= mkdtempSync(join(tmpdir(), "tare-import-"));
  return scratch;
}

/** Takes it away again; for the very end. */
export function cleanHosts() {
  if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
}

const node = {
  start: (folder) => ({
    args: [],
    env: folder === undefined ? { NODE_DISABLE_COMPILE_CACHE: "1" } : { NODE_COMPILE_CACHE: folder },
  }),
};

const bun = {
  noCache: "it keeps no compiled code between processes",
  start: () => ({ args: [], env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" } }),
};

const deno = {
  noWorkers: "what one of its workers writes goes to the output of the whole process",
  start: (folder) => ({
    args: ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual", ...(folder === undefined ? ["--no-code-cache"] : [])],
    env: { DENO_DIR: folder ?? scratchFolder() },
  }),
};

/**
 * By the name of the runtime: `start(folder)` gives the arguments before an entry point and the variables, with a folder for
 * compiled code or without; `noCache` says why there is no such folder, `noWorkers` why an isolate of its own process cannot be measured.
 */
export const hosts = { node, bun, deno };
