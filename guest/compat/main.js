// What the engine calls: `attach` makes the restored context the process that it is to be, `start` runs its program.
'use strict';

const { binding, callbacks, kit, library, process, run } = tools;
const { require } = library;

const path = require('path');
const { Module, initializeCJS } = require('internal/modules/cjs/loader');
const { initializeESM } = require('internal/modules/esm/utils');
const { initializeDebugEnv } = require('internal/util/debuglog');
const { onWarning } = require('internal/process/warning');
const options = binding('options').values;

// Node prepares every process alike but for its arguments and environment. It is done once, in the snapshot; what
// depends on the process is done again when there is one.
const preExecution = require('internal/process/pre_execution');
const building = binding('mksnapshot').isBuildingSnapshotBuffer;
let warming = true; // what runs in the snapshot stays open to change
building[0] = 1; // process.argv0 stays configurable
preExecution.prepareMainThreadExecution(false, false);
building[0] = 0;
initializeCJS();
initializeESM(false);

preExecution.prepareMainThreadExecution = (expandArgv1) => {
  binding('process_methods').patchProcessObject(process);
  Object.defineProperty(process, 'argv0', { __proto__: null, enumerable: true, configurable: warming, value: process.argv[0] });
  process.exitCode = undefined;
  process._exiting = false;
  process.argv[0] = process.execPath;
  let entry;
  if (expandArgv1 && process.argv[1] && process.argv[1][0] !== '-') {
    entry = path.resolve(process.argv[1]);
    process.argv[1] = entry;
  }
  if (tools.parsed.eval) process._eval = options['--eval'];
  if (options['--print']) process._print_eval = true;
  if (process.env.NODE_DEBUG !== undefined) initializeDebugEnv(process.env.NODE_DEBUG);
  if (process.env.NODE_NO_WARNINGS === '1') process.removeListener('warning', onWarning);
  Module._initPaths();
  return entry;
};

/** argv as the kernel has it: `node [options] [-e CODE | FILE] [arguments]`. Returns what is to be run. */
function parse(argv) {
  const rest = argv.slice(1);
  const found = { file: undefined, arguments: [], execArgv: [] };
  while (rest.length > 0 && rest[0].startsWith('-') && rest[0] !== '-') {
    const flag = rest.shift();
    found.execArgv.push(flag);
    if (flag === '--') break;
    if (flag === '-e' || flag === '--eval' || flag === '-p' || flag === '--print' || flag === '-pe') {
      if (rest.length === 0) return { ...found, bad: `${flag} requires an argument` };
      options['--eval'] = rest.shift();
      found.execArgv.push(options['--eval']);
      if (flag.includes('p')) options['--print'] = true;
      found.eval = true;
    } else if (flag.startsWith('--input-type=')) {
      options['--input-type'] = flag.slice('--input-type='.length);
    } else if (flag === '-v' || flag === '--version') {
      found.version = true;
    } else if (flag in options && typeof options[flag] === 'boolean') {
      options[flag] = true;
    } else if (flag.startsWith('--no-') && typeof options[`--${flag.slice(5)}`] === 'boolean') {
      options[`--${flag.slice(5)}`] = false;
    } else {
      return { ...found, bad: `bad option: ${flag}` };
    }
  }
  if (!found.eval) found.file = rest.shift();
  found.arguments = rest;
  return found;
}

// Read when somebody asks for it: see bootConfig in extract.cjs.
Object.defineProperty(process, 'config', {
  __proto__: null,
  configurable: true,
  enumerable: true,
  get() {
    const value = JSON.parse(kit.text('table/process_config'), (key, member) => Object.freeze(member));
    Object.defineProperty(process, 'config', { __proto__: null, value, configurable: true, enumerable: true });
    return value;
  },
});

callbacks.attach = (argv, environment, pid, ppid) => {
  tools.startClock();
  tools.setEnvironment(environment);
  tools.parsed = parse(argv);
  const { file, arguments: rest, execArgv } = tools.parsed;
  tools.argv = [argv[0], ...(file === undefined ? [] : [file]), ...rest];
  process.execArgv = tools.parsed.eval || execArgv.length > 0 ? execArgv : [];
  process.pid = pid;
  tools.ppid = ppid;
};

callbacks.start = () => {
  const { parsed } = tools;
  if (parsed.bad !== undefined) {
    binding('process_methods')._rawDebug(`${tools.argv[0]}: ${parsed.bad}`);
    process.reallyExit(9);
  }
  if (parsed.version) {
    require('internal/console/global').log(process.version);
  } else if (parsed.eval) {
    // Node would make node:module a global of that name, and load it to find out whether it is one: with it comes
    // the whole loader of ES modules.
    globalThis.module = undefined;
    run('internal/main/eval_string');
  } else if (parsed.file !== undefined && parsed.file !== '-') {
    run('internal/main/run_main_module');
  } else {
    run('internal/main/eval_stdin');
  }
};

/** Null when the program has put something else in place of it. */
callbacks.fatalException = (error, fromPromise) => (
  typeof process._fatalException === 'function' ? process._fatalException(error, fromPromise) : null);

callbacks.inspect = (value) => require('internal/util/inspect').inspect(value);

callbacks.beforeExit = () => {
  process.emit('beforeExit', process.exitCode || 0);
};

/** The program has come to its end: its exit code. */
callbacks.exit = () => {
  if (!process._exiting) {
    // Nothing is left to do, yet the main module still awaits something.
    const waiting = tools.host.module_wrap.unsettledAwait();
    if (waiting !== undefined) {
      if (waiting !== '') binding('process_methods')._rawDebug(waiting.slice(0, -1));
      process.exitCode ??= 13;
    }
    process._exiting = true;
    process.emit('exit', process.exitCode || 0);
  }
  return process.exitCode || 0;
};

callbacks.process = process;
kit.compile('tare/warm', 'glue')(tools);
warming = false;
kit.ready(callbacks);
