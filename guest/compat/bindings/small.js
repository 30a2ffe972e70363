// The bindings that need little: what is not here and has no file of its own is made from its table and the natives
// of the same name.
'use strict';

const { callbacks, facts, host, kit, lazily, member, plain, read } = tools;
const nothing = () => {};

/** With members that nobody can change: Node's C++ defines its constants like that. */
function fixed(constants) {
  for (const name of Object.keys(constants)) Object.defineProperty(constants, name, { __proto__: null, writable: false, configurable: false });
  return constants;
}

/** A maker that starts from the table and changes some members. */
const over = (name, change) => () => {
  const binding = plain(name);
  return change(binding) ?? binding;
};

return {
  builtins: over('builtins', (b) => {
    b.builtinIds = facts.builtinIds;
    b.builtinCategories = facts.builtinCategories;
    b.config = facts.bootConfig; // the whole of it when somebody asks, see main.js
    b.natives = undefined;
    b.compileFunction = (id) => kit.compile(id, 'module');
    b.hasCachedBuiltins = () => true;
  }),
  // Of two of its tables each has the size of all the others, and few processes load what reads them.
  constants: over('constants', (b) => {
    for (const name of ['crypto', 'zlib']) lazily(b, name, () => fixed(member(read('table/constants')[name], `constants.${name}`)));
  }),
  config: over('config', (b) => {
    b.hasInspector = false;
    b.hasTracing = false;
    b.getDefaultLocale = () => 'en-US';
  }),
  errors: over('errors', (b) => {
    b.exitInfo = new Int32Array(3);
    b.exitInfo.buffer; // out of the heap, where the engine reads it
    callbacks.exitInfo = b.exitInfo;
    // Frames of this folder are the engine's, where Node has C++.
    const ours = (site) => site.getFileName()?.startsWith('node:tare/') === true;
    b.setPrepareStackTraceCallback = (callback) => {
      callbacks.prepareStackTrace = (global, error, sites) => callback(global, error, sites.some(ours) ? sites.filter((site) => !ours(site)) : sites);
    };
    b.triggerUncaughtException = host.uncaught.triggerUncaughtException;
    b.setEnhanceStackForFatalException = (before, after) => { callbacks.enhanceStack = before; callbacks.enhanceStackAfter = after; };
    b.setGetSourceMapErrorSource = nothing;
    b.setMaybeCacheGeneratedSourceMap = nothing;
    b.setSourceMapsEnabled = nothing;
  }),
  util: over('util', (b) => {
    b.privateSymbols = { __proto__: null };
    for (const name of facts.privateSymbols) b.privateSymbols[name] = kit.privateSymbol(name);
    b.shouldAbortOnUncaughtToggle = new Uint32Array(1);
    b.getSharedArrayBufferGrowable = function () { return this.growable; }; // V8 has no such class while a snapshot is made
    // The engine writes without a terminal, and at once: as Node does into a file.
    b.guessHandleType = (fd) => host.sys.handleType(fd);
    host.util.setLazyMaker((id, key) => tools.library.require(id)[key]);
    b.defineLazyProperties = (target, id, keys, enumerable = true) => {
      for (const key of keys) host.util.defineLazy(target, key, id, enumerable);
    };
  }),
  buffer: over('buffer', (b) => {
    b.setBufferPrototype = nothing;
  }),
  async_wrap: over('async_wrap', (b) => {
    const { kExecutionAsyncId, kTriggerAsyncId, kAsyncIdCounter, kDefaultTriggerAsyncId, kStackLength, kCheck } = b.constants;
    b.async_id_fields[kAsyncIdCounter] = 1;
    b.async_id_fields[kDefaultTriggerAsyncId] = -1;
    b.async_hook_fields[kCheck] = 1;
    b.execution_async_resources = [];
    for (const name of ['setCallbackTrampoline', 'registerDestroyHook']) b[name] = nothing;
    b.setupHooks = (hooks) => { b.destroyed = hooks.destroy; };
    // Only called while somebody hooks the ends; they are told of later, together.
    let ended = [];
    b.queueDestroyAsyncId = (id) => {
      if (ended.push(id) > 1) return;
      tools.enqueue(() => {
        const ids = ended;
        ended = [];
        for (const one of ids) b.destroyed(one);
      });
    };
    b.setPromiseHooks = (...hooks) => {
      b.hooks = hooks;
      kit.setPromiseHooks(...hooks);
    };
    b.getPromiseHooks = () => b.hooks ?? [undefined, undefined, undefined, undefined];
    // The library pushes and pops in this array itself, and comes here when it is full.
    b.async_ids_stack = new Float64Array(32);
    b.pushAsyncContext = (id, trigger) => {
      const depth = b.async_hook_fields[kStackLength];
      if (2 * depth >= b.async_ids_stack.length) {
        const larger = new Float64Array(b.async_ids_stack.length * 2);
        larger.set(b.async_ids_stack);
        b.async_ids_stack = larger;
      }
      b.async_ids_stack[2 * depth] = b.async_id_fields[kExecutionAsyncId];
      b.async_ids_stack[2 * depth + 1] = b.async_id_fields[kTriggerAsyncId];
      b.async_hook_fields[kStackLength] = depth + 1;
      b.async_id_fields[kExecutionAsyncId] = id;
      b.async_id_fields[kTriggerAsyncId] = trigger;
    };
    b.popAsyncContext = () => {
      if (b.async_hook_fields[kStackLength] === 0) return false;
      const depth = b.async_hook_fields[kStackLength] -= 1;
      b.async_id_fields[kExecutionAsyncId] = b.async_ids_stack[2 * depth];
      b.async_id_fields[kTriggerAsyncId] = b.async_ids_stack[2 * depth + 1];
      b.execution_async_resources.length = depth;
      return depth > 0;
    };
    b.clearAsyncIdStack = () => {
      b.execution_async_resources.length = 0;
      b.async_hook_fields[kStackLength] = 0;
      b.async_id_fields[kExecutionAsyncId] = 0;
      b.async_id_fields[kTriggerAsyncId] = 0;
    };
    b.executionAsyncResource = (index) => b.execution_async_resources[index];
  }),
  timers: over('timers', (b) => {
    b.setupTimers = (immediate, timers) => {
      callbacks.processImmediate = immediate;
      callbacks.processTimers = timers;
    };
    callbacks.immediateInfo = b.immediateInfo;
  }),
  task_queue: over('task_queue', (b) => {
    b.setTickCallback = (callback) => { callbacks.tick = callback; };
    b.setPromiseRejectCallback = (callback) => { callbacks.promiseReject = callback; };
    callbacks.tickInfo = b.tickInfo;
  }),
  trace_events: over('trace_events', (b) => {
    b.isTraceCategoryEnabled = () => false;
    b.getCategoryEnabledBuffer = () => new Uint8Array(1);
    b.getEnabledCategories = nothing;
    b.setTraceCategoryStateUpdateHandler = nothing;
    b.setLog = nothing;
    b.trace = nothing;
    b.available = false;
  }),
  options: over('options', (b) => {
    b.values = Object.setPrototypeOf(facts.options, null);
    b.getCLIOptionsValues = () => b.values;
    b.getCLIOptionsInfo = () => ({ options: new Map(), aliases: new Map() });
    b.getOptionsAsFlags = () => [];
    b.getEmbedderOptions = () => ({
      shouldNotRegisterESMLoader: false, noGlobalSearchPaths: false, noBrowserGlobals: false, hasEmbedderPreload: false,
    });
  }),
  uv: over('uv', (b) => {
    let found;
    const errors = () => found ??= new Map(read('table/uv_errors'));
    const unknown = (n) => `Unknown system error ${n}`;
    b.getErrorMap = () => new Map(errors());
    b.errname = (n) => errors().get(n)?.[0] ?? unknown(n);
    b.getErrorMessage = (n) => errors().get(n)?.[1] ?? unknown(n);
  }),
  mksnapshot: over('mksnapshot', (b) => {
    for (const name of ['setSerializeCallback', 'setDeserializeCallback', 'setDeserializeMainFunction']) b[name] = nothing;
  }),
  // Loads; making a session says that it is missing.
  http2: over('http2', (b) => { b.setCallbackFunctions = nothing; }),
  permission: over('permission', (b) => { b.has = () => true; }),
  wasm_web_api: over('wasm_web_api', (b) => { b.setImplementation = nothing; }),
  report: over('report', (b) => {
    for (const name of Object.keys(tools.read('table/report'))) {
      if (name.startsWith('set')) b[name] = nothing;
      if (name.startsWith('should')) b[name] = () => false;
    }
  }),
  diagnostics_channel: over('diagnostics_channel', (b) => { b.linkNativeChannel = nothing; }),
  worker: over('worker', (b) => {
    b.getEnvMessagePort = nothing;
    b.threadName = undefined;
  }),
  inspector: over('inspector', (b) => {
    b.isEnabled = () => false;
    b.console = undefined;
  }),
};
