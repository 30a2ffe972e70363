// The lane of a JavaScript runtime: node:child_process, timed inside the runtime that starts the processes.
// Runs unchanged under Node, Bun and Deno; the processes that it starts are that same runtime.

import process from "node:process";

import { cleanHosts, hosts } from "./import_hosts.mjs";
import { isImport, processRows, sampleImport, sampleTransport } from "./import_rows.mjs";
import { killAll, run } from "./operation.mjs";
import { PROTOCOL, checkProtocol, sampler, serve } from "./protocol.mjs";
import { ROWS, ownFacts, sampleRow, turn } from "./spawn_rows.mjs";
import { isTransport } from "./transport.mjs";

const NO_RUNTIME = "its processes need no runtime of their own to be started first";

function runtime() {
  const { versions } = process;
  if (versions.bun) return { name: "bun", version: versions.bun, engine: `javascriptcore ${versions.webkit ?? "?"}` };
  if (versions.deno) return { name: "deno", version: versions.deno, engine: `v8 ${versions.v8}` };
  return { name: "node", version: process.version, engine: `v8 ${versions.v8}` };
}

function hello(request) {
  checkProtocol(request);
  const imports = processRows(lane);
  return {
    protocol: PROTOCOL,
    ...runtime(),
    pid: process.pid,
    rows: [...ROWS, ...imports.rows],
    unavailable: {
      ...imports.unavailable,
      cold_start: NO_RUNTIME,
      "memory_<n>": NO_RUNTIME,
      "growth_<n>": NO_RUNTIME,
    },
    asynchronousSpawn: false,
  };
}

const lane = {
  program: process.execPath,
  host: hosts[runtime().name],
  run,
  facts: async () => {
    await turn();
    return ownFacts();
  },
  copyScript: "process.stdin.pipe(process.stdout)",
};

const sample = sampler(
  (row, params) => (isImport(row) ? sampleImport(lane, row, params) : sampleRow(lane, row, params)),
  (row, params, iterations) => (isTransport(row) ? sampleTransport(lane, params, iterations) : undefined),
);

serve({ hello, sample }, () => {
  killAll();
  cleanHosts();
});
