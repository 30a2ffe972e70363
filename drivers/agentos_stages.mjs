// What the sidecar records about its own stages. Only for a run that traces: it rewrites a file at every record.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const KINDS = ["EXECUTE", "JS_START", "JS_EVENT"];

/** The stages that a reader of any runtime's trace looks for. */
const EXPECTED = [
  "resolve_execute_request",
  "kernel_spawn_process",
  "js_create_context",
  "js_start_execution",
  "process_register_and_lifecycle",
  "execute_total",
  "execute_response_to_exit_event_queued",
  "process_exit_event_queue_wait",
  "process_exit_cleanup",
  "process_exit_cleanup_sync_host_writes",
  "process_exit_cleanup_sync_host_writes_clean_skip",
  "process_exit_cleanup_wait_and_reap",
  "child_process_spawn_and_start_execution",
  "child_process_register",
  "child_process_spawn_total",
  "child_process_exit_cleanup",
  "js_start_*",
  "js_event_*",
];

/** Why a stage can be missing though its work was done; others are missing because nothing did their work yet. */
const REASONS = {
  process_exit_cleanup: "the sidecar records the parts of a root process's clean-up, not their sum",
  "js_event_*": "the sidecar names its event stages js_exit_*",
};
const NOT_YET = "the sidecar has not recorded it: no guest has done this yet";

/** What a trace of one process's life would say. The variable that asks for it does nothing in this version. */
const LIFECYCLE = `resolution_route first_waiter waiter_sources
  ts_spawn_to_wait_begin ts_wait_blocked_on_start ts_wait_total ts_trailing_output_drain ts_start_total ts_execute_rpc
  ts_signal_refresh ts_mount_wait ts_exit_event_received ts_exit_finish_begin ts_exit_event_to_finish
  ts_finish_snapshot_update ts_finish_resolve_wait ts_finish_total ts_wait_promise_observed ts_finish_to_wait_observed
  ts_wait_observed_to_return ts_wait_return ts_release_drain ts_release_total ts_output_events ts_output_signal_refresh
  ts_output_listener_dispatch ts_snapshot_poll_sleep ts_snapshot_refresh ts_poll_iterations ts_wait_unattributed_gap`.split(/\s+/);
const NO_LIFECYCLE = "AGENTOS_PROCESS_LIFECYCLE_TRACE has no effect in this version";

const LINE = /^stage=(\S+) calls=(\d+) total_us=(\d+) avg_us=\d+ max_us=(\d+)$/;
const SETTLE_MS = 25;
const SETTLE_LIMIT_MS = 1000;

function add(sum, stages) {
  for (const [name, { calls, totalUs, maxUs }] of Object.entries(stages)) {
    const old = sum[name] ?? { calls: 0, totalUs: 0, maxUs: 0 };
    sum[name] = { calls: old.calls + calls, totalUs: old.totalUs + totalUs, maxUs: Math.max(old.maxUs, maxUs) };
  }
  return sum;
}

export class Stages {
  #folder = mkdtempSync(join(tmpdir(), "tare-stages-"));
  #files;
  #before = {};

  /** Has every sidecar that is started from now on record its stages. */
  constructor() {
    this.#files = KINDS.map((kind) => join(this.#folder, `${kind.toLowerCase()}.txt`));
    KINDS.forEach((kind, i) => {
      process.env[`AGENTOS_${kind}_PHASES`] = "1";
      process.env[`AGENTOS_${kind}_PHASES_FILE`] = this.#files[i];
    });
  }

  #text() {
    const read = (file) => {
      try {
        return readFileSync(file, "utf8");
      } catch {
        return ""; // nothing recorded yet
      }
    };
    return this.#files.map(read).join("\n");
  }

  #read() {
    const stages = {};
    for (const line of this.#text().split("\n")) {
      const [, name, calls, totalUs, maxUs] = LINE.exec(line) ?? [];
      if (name !== undefined) add(stages, { [name]: { calls: +calls, totalUs: +totalUs, maxUs: +maxUs } });
    }
    return stages;
  }

  /** A sidecar has gone, and the next one counts from 0: keeps what the old one counted. */
  retire() {
    add(this.#before, this.#read());
    for (const file of this.#files) rmSync(file, { force: true });
  }

  /** Takes away the files. */
  clean() {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The figures since the first sidecar started, and why others are absent. Waits for what is still being recorded. */
  async report() {
    let text = this.#text();
    for (let waited = 0; waited < SETTLE_LIMIT_MS; waited += SETTLE_MS) {
      await sleep(SETTLE_MS);
      const next = this.#text();
      if (next === text) break;
      text = next;
    }
    const stages = add(add({}, this.#before), this.#read());
    const names = Object.keys(stages);
    const matches = (name, known) => (name.endsWith("*") ? known.startsWith(name.slice(0, -1)) : known === name);
    const has = (name) => names.some((known) => matches(name, known));
    const missing = EXPECTED.filter((name) => !has(name));
    const absent = Object.fromEntries(missing.map((name) => [name, REASONS[name] ?? NOT_YET]));
    for (const name of LIFECYCLE) absent[name] = NO_LIFECYCLE;
    return { stages, absent };
  }
}
