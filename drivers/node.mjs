// The lane of a JavaScript runtime: node:child_process, timed inside the runtime that starts the processes.
// Runs unchanged under Node, Bun and Deno; the processes that it starts are that same runtime.

import process from "node:process";

import { killAll } from "./operation.mjs";
import { PROTOCOL, Refusal, serve } from "./protocol.mjs";
import { ROWS, sampleRow } from "./spawn_rows.mjs";

function runtime() {
  const { versions } = process;
  if (versions.bun) return { name: "bun", version: versions.bun, engine: `javascriptcore ${versions.webkit ?? "?"}` };
  if (versions.deno) return { name: "deno", version: versions.deno, engine: `v8 ${versions.v8}` };
  return { name: "node", version: process.version, engine: `v8 ${versions.v8}` };
}

function hello(request) {
  if (request.protocol !== PROTOCOL) {
    throw new Refusal("unsupported", `this driver speaks ${PROTOCOL}, not ${JSON.stringify(request.protocol)}`);
  }
  return {
    protocol: PROTOCOL,
    ...runtime(),
    pid: process.pid,
    rows: ROWS,
    unavailable: {},
    asynchronousSpawn: false,
  };
}

async function sample(request) {
  const { row, params, iterations = 1 } = request;
  if (typeof row !== "string") throw new Refusal("invalid", "row must be a string");
  if (params === null || typeof params !== "object") throw new Refusal("invalid", "params must be an object");
  if (!Number.isInteger(iterations) || iterations < 1) throw new Refusal("invalid", "iterations must be at least 1");
  const samples = [];
  for (let i = 0; i < iterations; i += 1) samples.push(await sampleRow(row, params));
  return { samples };
}

serve({ hello, sample }, killAll);
