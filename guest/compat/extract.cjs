// Makes the pack of a guest: the library sources of the Node that runs this, the tables of its bindings, and the
// JavaScript of this folder, all as one-byte text that V8 can use in place.
//
//     node --expose-internals extract.cjs OUT
//
// Layout: "TAREPACK", u32 count, then per entry u32 offset, u32 size, u32 length of the id, the id; then the texts.
// Numbers are little endian; offsets count from the start of the file; entries are sorted by id.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { internalBinding } = require('internal/test/binding');
const { trim } = require('./trims.cjs');

const BINDINGS = [
  'async_context_frame', 'async_wrap', 'blob', 'block_list', 'buffer', 'builtins', 'cares_wrap', 'cjs_lexer', 'config',
  'constants', 'contextify', 'credentials', 'crypto', 'diagnostics_channel', 'encoding_binding', 'errors', 'fs',
  'fs_dir', 'fs_event_wrap', 'heap_utils', 'http2', 'http_parser', 'icu', 'inspector', 'internal_only_v8', 'ipc_serdes', 'js_stream',
  'js_udp_wrap', 'locks', 'messaging', 'mksnapshot', 'module_wrap', 'modules', 'options', 'os', 'performance', 'permission',
  'pipe_wrap', 'process_methods', 'process_wrap', 'profiler', 'report', 'sea', 'serdes', 'signal_wrap', 'spawn_sync', 'sqlite',
  'stream_pipe', 'stream_wrap', 'string_decoder', 'symbols', 'task_queue', 'tcp_wrap', 'timers', 'tls_wrap',
  'trace_events', 'tty_wrap', 'types', 'udp_wrap', 'url', 'url_pattern', 'util', 'uv', 'v8', 'wasi', 'wasm_web_api',
  'watchdog', 'webstorage', 'worker', 'zlib',
];

/** What a binding's member is, as boot.js can make it again. `t` is its kind, the rest its value. */
function shapeOf(value, depth = 0) {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return { t: 'v', v: value };
  if (typeof value === 'number') return Number.isFinite(value) ? { t: 'v', v: value } : { t: 'n', v: String(value) };
  if (value === undefined) return { t: 'u' };
  if (typeof value === 'bigint') return { t: 'b', v: String(value) };
  if (typeof value === 'symbol') return { t: 's', v: value.description };
  if (typeof value === 'function') {
    const methods = value.prototype ? Object.getOwnPropertyNames(value.prototype).filter((n) => n !== 'constructor') : [];
    return methods.length ? { t: 'c', v: methods } : { t: 'f' };
  }
  if (ArrayBuffer.isView(value)) return { t: 'a', k: value.constructor.name, n: value.length };
  if (value instanceof ArrayBuffer) return { t: 'ab', n: value.byteLength };
  if (value instanceof Map) return { t: 'map', v: [...value] };
  if (Array.isArray(value)) return { t: 'l', v: value.map((one) => shapeOf(one, depth + 1)) };
  if (depth > 6) return { t: 'u' };
  return { t: 'o', p: Object.getPrototypeOf(value) === null ? 0 : 1, v: membersOf(value, depth + 1) };
}

function membersOf(object, depth) {
  const members = {};
  for (const name of Object.getOwnPropertyNames(object)) {
    if (name === 'natives') continue; // the sources: entries of their own
    let value;
    try {
      value = object[name];
    } catch {
      continue; // an accessor that only answers inside Node
    }
    members[name] = shapeOf(value, depth);
  }
  return members;
}

/** One byte a character; what has none is written as an escape, which means the same in strings and patterns. */
function oneByte(text) {
  return Buffer.from(text.replace(/[\u0100-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`), 'latin1');
}

function tables() {
  const found = new Map();
  for (const name of BINDINGS) {
    let binding;
    try {
      binding = internalBinding(name);
    } catch {
      continue; // this build of Node has none
    }
    found.set(`table/${name}`, JSON.stringify(membersOf(binding, 0)));
  }
  const { getCLIOptionsValues } = internalBinding('options');
  const { getErrorMap } = internalBinding('uv');
  const { privateSymbols } = internalBinding('util');
  const values = getCLIOptionsValues();
  const builtins = internalBinding('builtins');
  found.set('table/tare', JSON.stringify({
    // That the internals are to be had is for this extraction alone.
    options: { ...(values instanceof Map ? Object.fromEntries(values) : values), '--expose-internals': false, '--no-expose-internals': true },
    privateSymbols: Object.getOwnPropertyNames(privateSymbols),
    builtinIds: builtins.builtinIds,
    builtinCategories: builtins.builtinCategories,
    bootConfig: bootConfig(builtins.config),
    version: process.version,
    versions: { ...process.versions },
    release: process.release,
    arch: process.arch,
    features: { ...process.features },
  }));
  found.set('table/uv_errors', JSON.stringify([...getErrorMap()]));
  found.set('table/process_config', builtins.config);
  return found;
}

/** process.config without its lists: reading hundreds of indices would blow a cache of V8 up, in every guest. */
function bootConfig(config) {
  return JSON.stringify(JSON.parse(config, (key, value) => (Array.isArray(value) ? undefined : value)));
}

function entries() {
  const all = new Map();
  const natives = process.binding('natives');
  for (const id of internalBinding('builtins').builtinIds) {
    if (typeof natives[id] === 'string') all.set(id, trim(id, natives[id]));
  }
  for (const [id, text] of tables()) all.set(id, text);
  const here = __dirname;
  for (const file of fs.readdirSync(here, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.js')) all.set(`tare/${file.slice(0, -3)}`, fs.readFileSync(path.join(here, file), 'utf8'));
  }
  all.set('internal/deps/amaro/dist/index', all.get('tare/amaro'));
  return [...all].map(([id, text]) => ({ id: Buffer.from(id), body: oneByte(text) })).sort((a, b) => Buffer.compare(a.id, b.id));
}

function pack(list) {
  const head = 12 + list.reduce((sum, { id }) => sum + 12 + id.length, 0);
  const total = head + list.reduce((sum, { body }) => sum + body.length, 0);
  const out = Buffer.alloc(total);
  out.write('TAREPACK', 0, 'latin1');
  let at = out.writeUInt32LE(list.length, 8);
  let offset = head;
  for (const { id, body } of list) {
    at = out.writeUInt32LE(offset, at);
    at = out.writeUInt32LE(body.length, at);
    at = out.writeUInt32LE(id.length, at);
    at += id.copy(out, at);
    offset += body.copy(out, offset);
  }
  return out;
}

fs.writeFileSync(process.argv[2], pack(entries()));
