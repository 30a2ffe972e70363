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

function become() {
  const options = library.internalBinding('options').values;
  const code = options['--eval'];
  callbacks.attach(['node', '-e', 'warm'], ['HOME', '/']);
  options['--eval'] = code;
  tools.setEnvironment([]);
  process.execArgv = [];
  tools.parsed = { version: true };
  callbacks.start();
  mains.warm = () => {};
  run('warm');
  delete mains.warm;
  for (const id of ['internal/main/eval_string', 'internal/main/run_main_module']) mains[id] = kit.compile(id, 'main');
}

function evaluate() {
  tools.parsed = { eval: true, execArgv: [] };
  tools.argv = ['node', 'warm'];
  preExecution.prepareMainThreadExecution(true);
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

function talk() {
  console.log('%s is %d', 'one', 1, { a: [1, 'two'], b: new Map([[1, 2]]) });
  console.error('warm');
  process._tickCallback(); // else the first turn of every guest would find the ticks of these writes
  for (const name of ['_stdout', '_stderr']) console[name] = undefined;
  library.internalBinding('process_methods').resetStdioForTesting();
}

function measure() {
  process.memoryUsage();
  process.resourceUsage();
}

function leave() {
  preExecution.markBootstrapComplete();
  process.exitCode = 0;
  process.emit('exit', 0);
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
  become();
  evaluate();
  load();
  measure();
  talk();
  leave();
  process.chdir('/'); // forgets the directory that it has cached
  tools.rehearsal = false;
  Object.assign(sys, calls);
  performance.origin = origin;
  process.exitCode = undefined;
  process._exiting = false;
  delete process._eval;
  tools.parsed = undefined;
  tools.argv = undefined;
}

// The code of what only the boot needed is not worth its place.
kit.dropCode();
rehearse();
Buffer.poolSize = 64 * 1024; // as Node has it
