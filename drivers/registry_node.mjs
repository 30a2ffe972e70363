// A registry of agent runs on Node's own SQLite: a peer of the built-in one, with the same promises.
//
//   node registry_node.mjs [--group-commit]
//
// SQLite is synchronous in Node, so each change has a commit of its own; with --group-commit all changes of one turn of
// the event loop have one together.

import process from "node:process";

import "./registry/quiet.mjs";
import { PROTOCOL, checkProtocol, sampler, serve } from "./protocol.mjs";

function fail(text) {
  process.stderr.write(`registry driver: ${text}\n`);
  process.exit(1);
}

const GROUP_COMMIT = "--group-commit";
const strange = process.argv.slice(2).find((argument) => argument !== GROUP_COMMIT);
if (strange !== undefined) fail(`it has no argument ${JSON.stringify(strange)}, only ${GROUP_COMMIT}`);
const groupCommit = process.argv.includes(GROUP_COMMIT);

// Once the filter of warnings is there, and so that a Node without it gets a line.
const { Bench, ROWS, sampleRow } = await import("./registry/rows.mjs").catch((error) => {
  fail(`Node ${process.version} can't run it: ${error.message}`);
});

const bench = new Bench({ groupCommit });

function hello(request) {
  checkProtocol(request);
  return {
    protocol: PROTOCOL,
    name: groupCommit ? "node registry (group commit)" : "node registry",
    version: process.version,
    engine: `v8 ${process.versions.v8}`,
    pid: process.pid,
    rows: ROWS,
  };
}

async function sample(message) {
  const request = {};
  try {
    return await sampler((row, params) => sampleRow(bench, request, row, params))(message);
  } finally {
    request.cleanup?.();
  }
}

serve({ hello, sample }, () => bench.leave());
