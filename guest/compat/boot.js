// Makes Node's own library run in this context, over bindings of ours.
//
// The argument `kit` is what only this file and the glue in bindings/ may use: compile(id, kind), text(id),
// natives(binding), privateSymbol(name), setPromiseHooks(...), collect(), dropCode(), ready(callbacks).
// Evaluates to nothing: what the engine has to call later is handed over by kit.ready.
'use strict';

const read = (id) => {
  const text = kit.text(id);
  return text === undefined ? undefined : JSON.parse(text);
};
/** The natives of the engine by the binding that they belong to, made when they are first asked for. */
const host = new Proxy({ __proto__: null }, { get: (found, name) => found[name] ??= kit.natives(name) });
const facts = read('table/tare');

/** A binding's function that nobody has written yet: it says its name when it is called, not when it is loaded. */
function missing(path) {
  return function () {
    const error = new Error(`${path} of the Node library has no counterpart in a guest`);
    error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
    throw error;
  };
}

function missingClass(path, methods) {
  const made = missing(path);
  for (const name of methods) made.prototype[name] = missing(`${path}.${name}`);
  return made;
}

/** A binding is made when it is first asked for, and by then a program may have changed its Object. */
const { defineProperty, keys, setPrototypeOf } = Object;

/** Makes a member of a binding out of what the table says of it. */
function member(shape, path) {
  switch (shape.t) {
    case 'v': return shape.v;
    case 'n': return Number(shape.v);
    case 'b': return BigInt(shape.v);
    case 's': return Symbol(shape.v);
    case 'f': return missing(path);
    case 'c': return missingClass(path, shape.v);
    case 'a': return new globalThis[shape.k](shape.n);
    case 'ab': return new ArrayBuffer(shape.n);
    case 'map': return new Map(shape.v);
    case 'l': return shape.v.map((one) => member(one, path));
    case 'o': {
      const object = { __proto__: null };
      for (const name of keys(shape.v)) object[name] = member(shape.v[name], `${path}.${name}`);
      return shape.p === 0 ? object : setPrototypeOf(object, Object.prototype);
    }
    default: return undefined;
  }
}

const made = { __proto__: null };

/** Whether a table says that a member is a function or a class. */
const isCode = (shape) => shape.t === 'f' || shape.t === 'c';

/** The last table that was read: a module of the library asks for many members of one binding. */
const latest = { name: undefined, table: undefined };

function tableOf(name) {
  if (latest.name !== name) Object.assign(latest, { name, table: read(`table/${name}`) });
  return latest.table;
}

/**
 * The members of a binding that nobody has written: each is made when the library first asks for it, as hundreds of
 * functions that say that they are missing would be a good part of the snapshot.
 */
function absentees(name) {
  return new Proxy({ __proto__: null }, {
    get(target, key) {
      const shape = typeof key === 'string' ? tableOf(name)[key] : undefined;
      return shape !== undefined && isCode(shape) ? member(shape, `${name}.${key}`) : undefined;
    },
    has: (target, key) => typeof key === 'string' && key in tableOf(name),
  });
}

/** The binding by the table, with the natives of that name in place of what is missing. */
function plain(name) {
  const table = tableOf(name);
  if (table === undefined) throw new Error(`No such binding: ${name}`);
  // Without a prototype V8 keeps a dictionary, which is smaller than a chain of hidden classes for one object each.
  const binding = { __proto__: null, ...kit.natives(name) };
  for (const key of keys(table)) {
    if (!isCode(table[key])) binding[key] ??= member(table[key], `${name}.${key}`);
  }
  return setPrototypeOf(binding, absentees(name));
}

/** A member that is made when somebody asks for it. */
function lazily(object, name, make) {
  const member = { __proto__: null, configurable: true, enumerable: true };
  const get = () => {
    const value = make();
    defineProperty(object, name, { ...member, __proto__: null, value });
    return value;
  };
  Object.defineProperty(object, name, { ...member, __proto__: null, get });
}

const small = kit.compile('tare/bindings/small', 'glue');
const tools = {
  host, kit, facts, plain, member, missing, lazily, read,
  callbacks: { __proto__: null },
  binding: getInternalBinding,
  /** Set when the library is there: its require, internalBinding, process. */
  library: { __proto__: null },
};
kit.compile('tare/queue', 'glue')(tools);
const makers = small(tools);

function getInternalBinding(name) {
  if (made[name] !== undefined) return made[name];
  const make = makers[name] ?? kit.compile(`tare/bindings/${name}`, 'glue');
  made[name] = make === undefined ? plain(name) : make(tools);
  return made[name];
}

const { privateSymbols } = getInternalBinding('util');
const symbols = getInternalBinding('symbols');
const primordials = {};

function perContext(id) {
  const exports = {};
  kit.compile(`internal/per_context/${id}`, 'per_context')(exports, primordials, privateSymbols, symbols);
  return exports;
}

kit.compile('internal/per_context/primordials', 'per_context')({}, primordials, privateSymbols, symbols);
tools.domException = perContext('domexception').DOMException;
tools.emitMessage = perContext('messageport').emitMessage;

/** The object `process`, as Node's C++ makes it: its prototype's constructor is called `process`. */
function makeProcess() {
  const constructor = { process() {} }.process;
  const prototype = Object.create(Object.prototype, {
    constructor: { value: constructor, writable: true, configurable: true },
  });
  const process = Object.create(Object.create(prototype, {
    constructor: { value: constructor, writable: true, configurable: true },
  }));
  Object.defineProperty(process, privateSymbols.exit_info_private_symbol, { value: getInternalBinding('errors').exitInfo });
  process.version = facts.version;
  process.versions = { ...facts.versions };
  process.arch = facts.arch;
  process.platform = 'linux';
  process.release = facts.release;
  process.env = tools.environment;
  process.title = 'node';
  process.argv = ['node'];
  process.execArgv = [];
  process.execPath = '/usr/bin/node';
  process.debugPort = 9229;
  process.pid = 0;
  process.ppid = 0;
  return process;
}

tools.environment = kit.compile('tare/environment', 'glue')(tools);
const process = makeProcess();
tools.process = process;

getInternalBinding('builtins').setInternalLoaders = (internalBinding, require) => {
  tools.library.internalBinding = internalBinding;
  tools.library.require = require;
};
kit.compile('internal/bootstrap/realm', 'realm')(process, missing('linked binding'), getInternalBinding, primordials);

const { internalBinding, require } = tools.library;
tools.consoleOfV8 = globalThis.console;
const mains = { __proto__: null }; // compiled ahead
const run = (id, load = require) => (mains[id] ?? kit.compile(id, 'main'))(process, load, internalBinding, primordials);
for (const id of ['node', 'web/exposed-wildcard', 'web/exposed-window-or-worker', 'switches/does_own_process_state']) {
  run(`internal/bootstrap/${id}`);
}
kit.compile('tare/console', 'glue')(tools);
// is_main_thread ends with what Node wants in its own snapshot. Ours takes what guests need; the rest comes with the
// first who asks for it.
const later = new Set(['internal/perf/utils', 'internal/dns/utils', 'url', 'util']);
run('internal/bootstrap/switches/is_main_thread', (id) => (later.has(id) ? undefined : require(id)));

tools.run = run;
tools.mains = mains;
kit.compile('tare/main', 'glue')(tools);
for (const name of Object.keys(facts)) delete facts[name]; // read by now
Object.assign(latest, { name: undefined, table: undefined });
