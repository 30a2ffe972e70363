// The wire side of a driver in JavaScript: one JSON object a line on stdin and stdout.
// See docs/driver-protocol.md. Works under Node, Bun and Deno.

import process from "node:process";

export const PROTOCOL = "tare.driver.v1";
const LINE_LIMIT = 16 * 1024 * 1024;

/** An answer of the kind {"ok":false,"error":{code,message}}. Codes: unsupported, failed, timeout, invalid. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** A parameter of a request, or a Refusal. Types: count (at least 1), string. */
export function param(params, name, type) {
  const value = params[name];
  const good = type === "count" ? Number.isInteger(value) && value > 0 : typeof value === type;
  if (!good) throw new Refusal("invalid", `params.${name} must be a ${type}, got ${JSON.stringify(value)}`);
  return value;
}

/** Refuses a hello in another protocol. */
export function checkProtocol(request) {
  if (request.protocol === PROTOCOL) return;
  throw new Refusal("unsupported", `this driver speaks ${PROTOCOL}, not ${JSON.stringify(request.protocol)}`);
}

/**
 * The op `sample`, out of a function that takes one sample of a row. `sampleAll(row, params, iterations)` may take those
 * of a whole request; it gives undefined for a row that it leaves to the other.
 */
export function sampler(sampleRow, sampleAll = () => undefined) {
  return async ({ row, params, iterations = 1 }) => {
    if (typeof row !== "string") throw new Refusal("invalid", "row must be a string");
    if (params === null || typeof params !== "object") throw new Refusal("invalid", "params must be an object");
    if (!Number.isInteger(iterations) || iterations < 1) throw new Refusal("invalid", "iterations must be at least 1");
    const whole = await sampleAll(row, params, iterations);
    if (whole !== undefined) return { samples: whole };
    const samples = [];
    for (let i = 0; i < iterations; i += 1) samples.push(await sampleRow(row, params));
    return { samples };
  };
}

/** Splits a byte stream into lines; a line over the limit is dropped as it arrives and reported as null. */
export class LineSplitter {
  #parts = [];
  #size = 0;

  /** The lines that this chunk ends. */
  push(chunk) {
    const lines = [];
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(10, start);
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      this.#size += part.length;
      if (this.#size > LINE_LIMIT) this.#parts = [];
      else this.#parts.push(part);
      if (end < 0) break;
      lines.push(this.#size > LINE_LIMIT ? null : Buffer.concat(this.#parts));
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
    }
    return lines;
  }
}

function parseRequest(line) {
  if (line === null) throw new Refusal("invalid", "a line is longer than 16 MiB");
  let request;
  try {
    request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch (error) {
    throw new Refusal("invalid", `not JSON: ${error.message}`);
  }
  if (request === null || typeof request !== "object" || Array.isArray(request)) {
    throw new Refusal("invalid", "not a JSON object");
  }
  return request;
}

async function answer(line, handlers) {
  let id = null;
  try {
    const request = parseRequest(line);
    if (Number.isInteger(request.id)) id = request.id;
    if (id === null) throw new Refusal("invalid", "id must be a whole number");
    const handler = Object.hasOwn(handlers, request.op) ? handlers[request.op] : undefined;
    if (handler === undefined) throw new Refusal("unsupported", `no op ${JSON.stringify(request.op)}`);
    return { id, ok: true, ...(await handler(request)) };
  } catch (error) {
    const code = error instanceof Refusal ? error.code : "failed";
    return { id, ok: false, error: { code, message: String(error?.message ?? error) } };
  }
}

function writeLine(object) {
  return new Promise((done) => process.stdout.write(JSON.stringify(object) + "\n", done));
}

/**
 * Answers requests in the order in which they come until `bye` or the end of stdin, then leaves.
 * `handlers` maps an op to an async function of the request; `leave`, which may be async, stops whatever was started.
 */
export function serve(handlers, leave) {
  // stdout belongs to the protocol, also for a library that logs.
  console.log = console.info = console.debug = console.error;
  let left;
  const exit = () => {
    left ??= (async () => {
      try {
        await leave();
      } finally {
        process.exit(0);
      }
    })();
    return left;
  };
  const lines = new LineSplitter();
  const all = { ...handlers, bye: () => ({}) };
  let queue = Promise.resolve();
  const take = async (line) => {
    const reply = await answer(line, all);
    await writeLine(reply);
    if (reply.ok && line !== null && JSON.parse(line).op === "bye") await exit();
  };
  process.stdin.on("data", (chunk) => {
    for (const line of lines.push(chunk)) {
      if (line === null || line.length > 0) queue = queue.then(() => take(line)).catch(exit);
    }
  });
  process.stdin.on("end", exit);
  process.stdin.on("error", exit);
  process.stdout.on("error", exit);
}
