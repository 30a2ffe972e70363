// Runs, while the snapshot is made, what nearly every process runs: its functions are then compiled in the
// snapshot. Leaves no trace but that.
'use strict';

const { library, process } = tools;
const { require } = library;
const { Module } = require('internal/modules/cjs/loader');
const { addBuiltinLibsToObject } = require('internal/modules/helpers');
const execution = require('internal/process/execution');
const preExecution = require('internal/process/pre_execution');
const console = require('internal/console/global');

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

function leave() {
  process.exitCode = 0;
  process.emit('exit', 0);
  process.exit(0);
}

// The code of what only the boot needed is not worth its place.
tools.kit.collect();

// There is no process yet: its system calls are played.
const { sys } = tools.host;
const calls = { ...sys };
sys.cwd = () => '/';
sys.access = () => 0;
sys.chdir = () => 0;
sys.write = (fd, bytes, offset, length) => length;
sys.writeText = (fd, text) => text.length;

evaluate();
load();
talk();
leave();
process.chdir('/'); // forgets the directory that it has cached
Object.assign(sys, calls);
process.exitCode = undefined;
process._exiting = false;
delete process._eval;
tools.parsed = undefined;
tools.argv = undefined;
