// What the engine calls: `attach` makes the restored context the process that it is to be, `start` runs its program.
'use strict';

const { binding, callbacks, kit, library, process, run } = tools;
const { require } = library;

const path = require('path');
const { Module, initializeCJS } = require('internal/modules/cjs/loader');
const { initializeESM } = require('internal/modules/esm/utils');
const { initializeDebugEnv } = require('internal/util/debuglog');
const { onWarning } = require('internal/process/warning');
const helpers = require('internal/modules/helpers');
const options = binding('options').values;

// Node prepares every process alike but for its arguments and environment. It is done once, in the snapshot; what
// depends on the process is done again when there is one.
const preExecution = require('internal/process/pre_execution');
const building = binding('mksnapshot').isBuildingSnapshotBuffer;
building[0] = 1; // process.argv0 stays configurable: what is rehearsed is done again
preExecution.prepareMainThreadExecution(false, false);
building[0] = 0;
initializeCJS();
initializeESM(false);
kit.compile('tare/output', 'glue')(tools);

/** Whether a path is absolute and has nothing to resolve in it, for sure. */
const isResolved = (name) => name[0] === '/' && name.length > 1 && !name.endsWith('/') && !name.includes('//') && !name.includes('/.');

/** What Module's paths were made of. */
const pathsOf = { home: undefined, others: undefined };

function initPaths(home, others) {
  if (home === pathsOf.home && others === pathsOf.others) return; // as in the snapshot, most often
  Module._initPaths();
  Object.assign(pathsOf, { home, others });
}

preExecution.prepareMainThreadExecution = (expandArgv1) => {
  binding('process_methods').patchProcessObject(process);
  Object.defineProperty(process, 'argv0', { __proto__: null, enumerable: true, configurable: tools.rehearsal, value: process.argv[0] });
  process.exitCode = undefined;
  process._exiting = false;
  process.argv[0] = process.execPath;
  let entry;
  if (expandArgv1 && process.argv[1] && process.argv[1][0] !== '-') {
    entry = isResolved(process.argv[1]) ? process.argv[1] : path.resolve(process.argv[1]);
    process.argv[1] = entry;
  }
  if (tools.parsed.eval) process._eval = options['--eval'];
  if (process.env.NODE_DEBUG !== undefined) initializeDebugEnv(process.env.NODE_DEBUG);
  if (process.env.NODE_NO_WARNINGS === '1') process.removeListener('warning', onWarning);
  initPaths(process.env.HOME, process.env.NODE_PATH);
  if (tools.parsed.options) applyOptions();
  // Where the command line has something to say about modules, they are not what others find.
  if (tools.keepsGraphs && !tools.parsed.options) {
    require('internal/modules/esm/loader').getOrInitializeCascadedLoader.graphs = tools.graphs ??= kit.compile('tare/graphs', 'glue')(tools);
  }
  if (tools.bootstrap !== undefined) runBootstrap(tools.bootstrap);
  return entry;
};

/** The script that runs before the programs of a context. It is a CommonJS module of the working directory. */
function runBootstrap(text) {
  const module = new Module('bootstrap');
  module.filename = path.join(process.cwd(), '[bootstrap]');
  module.paths = Module._nodeModulePaths(process.cwd());
  module._compile(text, module.filename);
}

/** What Node does before the program when its command line asks for it. */
function applyOptions() {
  for (const [name, option] of Object.entries({
    _print_eval: '--print', _syntax_check_only: '--check', noDeprecation: '--no-deprecation', noProcessWarnings: '--no-warnings',
    traceProcessWarnings: '--trace-warnings', throwDeprecation: '--throw-deprecation', traceDeprecation: '--trace-deprecation',
  })) {
    if (options[option]) Object.defineProperty(process, name, { __proto__: null, writable: false, configurable: true, enumerable: true, value: true });
  }
  if (!options['--warnings']) process.removeListener('warning', onWarning);
  Error.stackTraceLimit = options['--stack-trace-limit'];
  callbacks.traceUncaught = options['--trace-uncaught'];
  if (options['--disable-proto'] === 'delete') delete Object.prototype.__proto__;
  if (options['--expose-internals']) require('internal/bootstrap/realm').BuiltinModule.exposeInternals();
  if (options['--experimental-vm-modules']) {
    const { Module: Base, SourceTextModule, SyntheticModule } = require('internal/vm/module');
    Object.assign(require('vm'), { Module: Base, SourceTextModule, SyntheticModule });
  }
  if (tools.parsed.exposeGc) Object.defineProperty(globalThis, 'gc', { value: () => kit.collect(), writable: true, configurable: true });
  if (options['--enable-source-maps']) {
    const { setSourceMapsSupport } = require('internal/source_map/source_map_cache');
    setSourceMapsSupport(true, { __proto__: null, nodeModules: true, generatedCode: true });
  }
  if (options['--conditions'].length > 0 || options['--require'].length > 0 || options['--frozen-intrinsics']) {
    // It insists that no module has run yet, which some have in the snapshot, to warm it.
    const { hasStartedUserCJSExecution, hasStartedUserESMExecution } = helpers;
    const { initializeModuleLoaders } = preExecution;
    helpers.hasStartedUserCJSExecution = helpers.hasStartedUserESMExecution = () => false;
    try {
      initializeModuleLoaders({ shouldSpawnLoaderHookWorker: false, shouldPreloadModules: true });
    } finally {
      Object.assign(helpers, { hasStartedUserCJSExecution, hasStartedUserESMExecution });
    }
  }
}

// A main program is looked for as CommonJS at first. A file whose name says that it is an ES module needs that loader alone.
const { runEntryPointWithESMLoader, setShortcut } = require('internal/modules/run_main');
setShortcut((main) => {
  if (tools.parsed.options || !main.endsWith('.mjs')) return false;
  const place = tools.host.sys.modulePlace(main);
  if (place !== 0 && place !== 2) return false;
  const url = place === 2 ? `file://${main}` : require('internal/url').pathToFileURL(main);
  runEntryPointWithESMLoader((loader) => loader.import(url, undefined, { __proto__: null }, undefined, true));
  return true;
});

/** The variables of --env-file, for those that are not there. Returns what is wrong with a file. */
function loadEnvironment() {
  for (const [option, needed] of [['--env-file', true], ['--env-file-if-exists', false]]) {
    for (const file of options[option]) {
      try {
        process.loadEnvFile(file);
      } catch {
        if (needed) return `${file}: not found`;
      }
    }
  }
  return undefined;
}

const parse = kit.compile('tare/options', 'glue')(tools);

// Read when somebody asks for it: see bootConfig in extract.cjs.
tools.lazily(process, 'config', () => JSON.parse(kit.text('table/process_config'), (key, value) => Object.freeze(value)));

callbacks.attach = (argv, environment, bootstrap, keepsGraphs) => {
  tools.bootstrap = bootstrap;
  tools.keepsGraphs = keepsGraphs;
  tools.startClock();
  tools.setEnvironment(environment);
  tools.parsed = parse(argv, process.env.NODE_OPTIONS, options);
  const { file, arguments: rest, execArgv } = tools.parsed;
  tools.argv = [argv[0], ...(file === undefined ? [] : [file]), ...rest];
  process.execArgv = execArgv;
};

callbacks.start = () => {
  const { parsed } = tools;
  const bad = parsed.bad ?? (parsed.options ? loadEnvironment() : undefined);
  if (bad !== undefined) {
    binding('process_methods')._rawDebug(`${tools.argv[0]}: ${bad}`);
    process.reallyExit(9);
  }
  if (parsed.version) {
    require('internal/console/global').log(process.version);
  } else if (options['--check']) {
    run('internal/main/check_syntax');
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
kit.ready(callbacks);
