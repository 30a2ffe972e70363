// Round trips over the stdio of one long-lived execution: a line goes in, the same line has to come back.

import { now, nanoseconds } from "./operation.mjs";
import { param } from "./protocol.mjs";

const ROW = /^transport_[1-9][0-9]*$/;

export const isTransport = (row) => ROW.test(row);

/** The k-th line, without its newline: so many bytes, but never less than its header. */
const lineOf = (nonce, k, bytes) => `transport:${nonce}-${k}:`.padEnd(bytes, "x");

/** Bytes as they come, up to the newline that somebody waits for. What comes behind it is kept for the next. */
class Echo {
  #parts = [];
  #found;

  /** Waits for the next newline; resolves to the moment at which it came. */
  next() {
    return new Promise((resolve) => {
      this.#found = resolve;
      this.#look(0);
    });
  }

  push(chunk) {
    const moment = now();
    this.#parts.push(chunk);
    this.#look(this.#parts.length - 1, moment);
  }

  #look(from, moment = now()) {
    if (this.#found === undefined || !this.#parts.slice(from).some((part) => part.includes(10))) return;
    this.#found(moment);
    this.#found = undefined;
  }

  /** Takes the line away that has come. */
  take() {
    const all = Buffer.concat(this.#parts);
    const end = all.indexOf(10) + 1;
    this.#parts = end < all.length ? [all.subarray(end)] : [];
    return all.subarray(0, end).toString("utf8");
  }

  /** Takes away all there is. */
  rest() {
    const all = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    return all;
  }
}

const describe = ({ exitCode, signal, error }) =>
  error ?? (signal === undefined ? `it exited with code ${exitCode}` : `it was killed by signal ${signal}`);

const counters = ({ exitCode, signal }) => ({
  ...(exitCode === undefined ? {} : { exitCode }),
  ...(signal === undefined ? {} : { signal }),
});

/** What `promise` gives, or {late: true} after so long. */
async function within(ms, promise) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms, { late: true })));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One round trip as a sample; `execution.over` says why there can be no other. */
async function trip(execution, echo, line, timeoutMs) {
  if (execution.over !== undefined) return { ns: {}, outcome: "failed", error: execution.over };
  const started = now();
  const back = echo.next();
  execution.write(line + "\n");
  const how = await within(timeoutMs, Promise.race([back, execution.ended]));
  if (typeof how === "bigint") return { ns: { total: nanoseconds(started, how) }, outcome: "ok", output: echo.take() };
  const ns = { total: nanoseconds(started, now()) };
  if (how.late) {
    execution.over = "the execution was ended after a round trip that was late";
    execution.kill();
    return { ns, outcome: "timeout", error: `not done after ${timeoutMs} ms`, output: echo.rest() };
  }
  execution.over = `before the line was back: ${describe(how)}`;
  return { ns, outcome: "failed", error: execution.over, output: echo.rest() };
}

/**
 * So many round trips as samples. `start(onOutput)` starts the execution and gives {write(text), close(), kill(), ended}:
 * close() ends its input; `ended` resolves to {exitCode}, {signal} or {error} once the last of its output has come.
 */
export async function roundTrips(start, params, iterations) {
  const [timeoutMs, bytes] = [param(params, "timeoutMs", "count"), param(params, "bytes", "count")];
  const nonce = param(params, "nonce", "string");
  const echo = new Echo();
  const execution = await start((chunk) => echo.push(chunk));
  const samples = [];
  for (let k = 0; k < iterations; k += 1) {
    samples.push(await trip(execution, echo, lineOf(nonce, k, bytes), timeoutMs));
  }
  execution.close();
  const end = await within(timeoutMs, execution.ended);
  const last = samples.at(-1);
  if (last.output !== undefined) last.output += echo.rest();
  if (end.late) {
    execution.kill();
    Object.assign(last, { outcome: "timeout", error: `it did not end within ${timeoutMs} ms after its input` });
  }
  for (const sample of samples) sample.counters = counters(end);
  return samples;
}
