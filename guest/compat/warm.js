// Runs, while the snapshot is made, what nearly every process runs: its functions are then compiled in the
// snapshot. Leaves no trace but that.
'use strict';

const { callbacks, host, kit, library, mains, process, run } = tools;
const { require } = library;
const { Module } = require('internal/modules/cjs/loader');
const { addBuiltinLibsToObject } = require('internal/modules/helpers');
const execution = require('internal/process/execution');
const preExecution = require('internal/process/pre_execution');
const console = require('internal/console/global');
const { getOrInitializeCascadedLoader } = require('internal/modules/esm/loader');
const { forget } = getOrInitializeCascadedLoader;
const { dropPool } = Buffer;
const { async_id_fields: asyncIds, constants: { kAsyncIdCounter } } = library.internalBinding('async_wrap');
delete getOrInitializeCascadedLoader.forget;
delete Buffer.dropPool;

/** Programs of this library are ES modules: what others begin with would only make their isolates slower to make. */
const onlyModules = kit.library === 'modules';

/** What nearly every process has in its environment. */
const home = ['HOME', '/root'];

function become() {
  const options = library.internalBinding('options').values;
  const code = options['--eval'];
  callbacks.attach(['node', '-e', 'warm'], home);
  options['--eval'] = code;
  tools.setEnvironment(home);
  process.execArgv = [];
  tools.parsed = { version: true };
  callbacks.start();
  mains.warm = () => {};
  run('warm');
  delete mains.warm;
  for (const id of onlyModules ? ['internal/main/run_main_module'] : ['internal/main/eval_string', 'internal/main/run_main_module']) {
    mains[id] ??= kit.compile(id, 'main');
  }
}

function prepare() {
  tools.parsed = { eval: !onlyModules, execArgv: [] };
  tools.argv = ['node', 'warm'];
  preExecution.prepareMainThreadExecution(true);
}

function evaluate() {
  addBuiltinLibsToObject({}, '<eval>');
  execution.evalTypeScript('[eval]', 'void 0', false, false, false);
  for (const name of ['module', 'exports', '__dirname', '__filename', 'require']) delete globalThis[name];
}

function load() {
  const module = new Module('/warm.js');
  module.filename = '/warm.js';
  module.paths = Module._nodeModulePaths('/');
  module._compile('require("path"); require("node:fs"); module.exports = __filename', '/warm.js');
}

/**
 * What programs import most, but for util and process: to import one loads the workers, which change process.chdir, the
 * other makes the standard streams.
 */
const often = kit.library === 'large' ? [
  'assert', 'buffer', 'crypto', 'events', 'fs', 'fs/promises', 'module', 'os', 'path',
  'perf_hooks', 'stream', 'stream/web', 'timers',
  'timers/promises', 'url', 'zlib',
] : [];

/** Files that the loader of ES modules finds, while there is no file system. */
const graph = {
  '/tare:warm/main.mjs': `import path, { join } from "node:path";
import { warm } from "./warm.mjs";
${onlyModules ? '' : 'import { createRequire } from "node:module";'}
const { later } = await import("./later.mjs");
await import("./kept.mjs");
await Promise.all(${JSON.stringify(often)}.map((name) => import("node:" + name)));
${onlyModules ? '' : 'performance.now();'}
export { join, later };
export default warm;
`,
  '/tare:warm/warm.mjs': 'export const warm = import.meta.url;\n',
  '/tare:warm/later.mjs': 'import { warm as value } from "./warm.mjs";\nexport const later = value;\n',
};

/** A graph as it is kept. */
const keptGraph = [
  '/tare:warm/kept.mjs', 'import path from "node:path";\nimport { warm } from "./warm.mjs";\nimport { one } from "./one.mjs";\n',
  ['node:path', 'node:path', './warm.mjs', 1, './one.mjs', 2],
  '/tare:warm/warm.mjs', graph['/tare:warm/warm.mjs'], [], '/tare:warm/one.mjs', 'export const one = 1;\n', [],
];

/** What a path leads to: 0 is a file, 1 a folder. */
const kindOf = (name) => (name in graph ? 0 : 1);

/** One of them is found by the longer way. */
const isPlain = (name) => name !== '/tare:warm/later.mjs';

function statOf(name, values) {
  const number = values instanceof BigInt64Array ? BigInt : Number;
  values.fill(number(0));
  values[1] = number(kindOf(name) === 0 ? 0o100644 : 0o040755);
  if (kindOf(name) === 0) values[8] = number(graph[name].length);
  return 0;
}

/** System calls that find those files. */
function playFiles() {
  let opened;
  let unread = '';
  return {
    lstat: statOf,
    fstat: (fd, values) => statOf(opened, values),
    moduleStat: kindOf,
    modulePlace: (name) => (kindOf(name) === 0 && isPlain(name) ? 2 : kindOf(name)),
    readModule(href) {
      const name = href.slice('file://'.length);
      return isPlain(name) ? Uint8Array.from(graph[name], (letter) => letter.charCodeAt(0)).buffer : undefined;
    },
    open(name) {
      opened = name;
      unread = graph[name];
      return 9;
    },
    close: () => 0,
    read(fd, buffer, offset) {
      const count = buffer.utf8Write(unread, offset);
      unread = '';
      return count;
    },
  };
}

/** Loads ES modules from the command line to the end, as nearly all of what runs then is the same for any. */
function importModules() {
  const modules = library.internalBinding('modules');
  const real = { ...modules };
  const id = asyncIds[kAsyncIdCounter];
  Object.assign(sys, playFiles());
  Object.assign(modules, {
    getNearestParentPackageJSONType: () => 'none',
    getPackageScopeConfig: () => '/package.json',
    getPackageType: () => undefined,
    getNearestParentPackageJSON: () => undefined,
  });
  const { kept_graph: natives } = host;
  const realNatives = { ...natives };
  Object.assign(natives, { find: (path) => (path === keptGraph[0] ? keptGraph : undefined), keep: () => {} });
  getOrInitializeCascadedLoader.graphs = tools.graphs ??= kit.compile('tare/graphs', 'glue')(tools);
  require('internal/modules/run_main').executeUserEntryPoint('/tare:warm/main.mjs');
  host.task_queue.runMicrotasks();
  process._tickCallback();
  Object.assign(modules, real);
  Object.assign(natives, realNatives);
  delete getOrInitializeCascadedLoader.graphs;
  forget();
  asyncIds[kAsyncIdCounter] = id;
  for (const one of require('internal/bootstrap/realm').BuiltinModule.map.values()) one.module = undefined;
  for (const name of ['entry_point_promise', 'entry_point_module']) delete globalThis[kit.privateSymbol(`${name}_private_symbol`)];
}

function talk() {
  console.log('warm');
  // Of more than a text the console asks its stream first whether it has colors.
  if (!onlyModules) console.log('%s is %d', 'one', 1, { a: [1, 'two'], b: new Map([[1, 2]]) });
  else asyncIds[kAsyncIdCounter] += 2; // that stream's, so that what comes after has the numbers that it has in Node
  console.error('warm');
  process._tickCallback(); // else the first turn of every guest would find the ticks of these writes
  tools.forgetStreams();
}

function measure() {
  process.memoryUsage();
  process.resourceUsage();
}

/** Small buffers out of a pool, which goes again. */
function pool() {
  Buffer.poolSize = 64 * 1024;
  Buffer.from(`${Buffer.allocUnsafe(3).length}`);
  Buffer.poolSize = 0;
  dropPool();
}

function leave() {
  preExecution.markBootstrapComplete();
  callbacks.beforeExit();
  callbacks.exit();
  globalThis.process.exitCode = 0;
  process.exit(0);
}

const { performance, sys } = host;
/** There is no process yet: its system calls are played. */
const played = {
  cwd: () => '/',
  access: () => 0,
  memoryUsage: () => 0,
  resourceUsage: () => 0,
  chdir: () => 0,
  write: (fd, bytes, offset, length) => length,
  writeText: (fd, text) => text.length,
  handleType: () => 3, // a file, as the standard outputs of every guest are
};

function rehearse() {
  const calls = { ...sys };
  const { origin } = performance;
  Object.assign(sys, played);
  performance.origin = () => [0, 0, 0];
  tools.rehearsal = true;
  try {
    become();
    prepare();
    if (!onlyModules) {
      evaluate();
      load();
    }
    measure();
    pool();
    talk();
    if (kit.library !== 'small') importModules();
    leave();
    process.chdir('/'); // forgets the directory that it has cached
  } finally {
    tools.rehearsal = false;
    Object.assign(sys, calls);
    performance.origin = origin;
    process.exitCode = undefined;
    process._exiting = false;
    delete process._eval;
    tools.setEnvironment([]);
    tools.parsed = undefined;
    tools.argv = undefined;
    Buffer.poolSize = 64 * 1024; // as Node has it
  }
}

/**
 * Where an isolate waits for its process, too: what runs then has run in this very heap. The garbage of it is out of the
 * way before, which takes as much again as new objects have room for.
 */
function rehearseAgain() {
  const id = asyncIds[kAsyncIdCounter];
  for (let i = 0; i < 2; i++) rehearse();
  asyncIds[kAsyncIdCounter] = id;
}

// The code of what only the boot needed is not worth its place.
kit.dropCode();
rehearse();
if (kit.library === 'large') callbacks.rehearse = rehearseAgain;
