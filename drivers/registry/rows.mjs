// The rows of the agents bench. See docs/driver-protocol.md.

import { Refusal, param } from "../protocol.mjs";
import { admission, dedupeScale, duplicateSuppression, recoverySweep, sweepScale } from "./memory_rows.mjs";
import { durableCrash, restartScale } from "./restart_rows.mjs";
import { Budget, Late, memory } from "./sample.mjs";
import { mixedLoad, spawnPipelineDurable, spawnPipelineInMemory, spawnSettleEndToEnd } from "./spawn_rows.mjs";

export { Bench } from "./sample.mjs";

const SCENARIOS = {
  spawnPipelineInMemory,
  spawnPipelineDurable,
  admission,
  recoverySweep,
  duplicateSuppression,
  spawnSettleEndToEnd,
  mixedLoad,
  durableCrash,
  sweepScale,
  dedupeScale,
  restartScale,
};

const IN_MEMORY = new Set([admission, recoverySweep, duplicateSuppression, sweepScale, dedupeScale]);

export const ROWS = Object.keys(SCENARIOS).map((name) => `${name}_<n>`);

function parse(row) {
  const [, name, size] = row.match(/^(\w+)_([1-9][0-9]*)$/) ?? [];
  if (name === undefined || !Object.hasOwn(SCENARIOS, name)) {
    throw new Refusal("unsupported", `no row ${JSON.stringify(row)}`);
  }
  return { scenario: SCENARIOS[name], size: Number(size) };
}

/** One sample of a row. `request` lasts from the first sample of a request to its last. */
export async function sampleRow(bench, request, row, params) {
  const { scenario, size } = parse(row);
  const n = param(params, "size", "count");
  if (n !== size) throw new Refusal("invalid", `params.size must be ${size} in ${row}, got ${n}`);
  const limitMs = param(params, "timeoutMs", "count");
  const nonce = param(params, "nonce", "string");
  const dir = IN_MEMORY.has(scenario) ? undefined : param(params, "dir", "string");

  const { rss: rssStartBytes } = memory();
  const budget = new Budget(limitMs);
  let sample;
  try {
    sample = { outcome: "ok", ...(await scenario({ bench, request, params, n, nonce, dir, budget })) };
    budget.check(sample.ns.total);
  } catch (error) {
    if (!(error instanceof Late)) throw error;
    sample = { outcome: "timeout", error: error.message, ns: { total: budget.age }, counters: {} };
  }
  const { rss: rssEndBytes, peak: processMaxRssBytes } = memory();
  return { ...sample, bytes: { rssStartBytes, rssEndBytes, processMaxRssBytes } };
}
