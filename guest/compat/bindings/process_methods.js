// The binding `process_methods`: what the object `process` gets from C++.
'use strict';

const { binding, host: { sys }, plain } = tools;
tools.handles ??= tools.kit.compile('tare/handles', 'glue')(tools);
const { coded, fail } = tools.handles;
const b = plain('process_methods');
const nothing = () => {};

const hrtimeBuffer = b.hrtimeBuffer = new Uint32Array(3);
b.hrtime = () => sys.hrtime(hrtimeBuffer);
b.hrtimeBigInt = () => sys.hrtimeBigInt(hrtimeBuffer);
b.memoryUsage = (values) => { sys.memoryUsage(values); };
b.cpuUsage = (values) => { sys.cpuUsage(values); };
b.threadCpuUsage = (values) => { sys.cpuUsage(values); };
b.resourceUsage = (values) => { sys.resourceUsage(values); };
b.rss = function rss() { return sys.rss(); };
b.uptime = function uptime() { return sys.uptime(); };
b.constrainedMemory = function constrainedMemory() { return sys.memoryLimit(); };
b.availableMemory = function availableMemory() { return sys.memoryLimit() - sys.rss(); };

b.cwd = function cwd() {
  const path = sys.cwd();
  const gone = typeof path === 'number' ? path : sys.access(path, 0);
  if (gone === -2) {
    throw Object.assign(coded(cwd, 'ENOENT', 'ENOENT: process.cwd failed with error no such file or directory, the current ' +
      'working directory was likely removed without changing the working directory, uv_cwd'), { errno: -2, syscall: 'uv_cwd' });
  }
  return path;
};
b.chdir = function chdir(path) {
  const result = sys.chdir(path);
  if (result < 0) fail(chdir, result, 'chdir', sys.cwd(), path);
};
b.umask = (mask) => sys.umask(mask);
b._kill = (pid, signal) => sys.kill(pid, signal);
b.abort = function abort() { sys.abort(); };
b.causeSegfault = () => sys.kill(0, 11);
b.reallyExit = function reallyExit(code) { sys.exit(code ?? 0); };
b._rawDebug = (text) => { sys.writeText(2, `${text}\n`, -1); };
b._debugProcess = nothing;
b._debugEnd = nothing;
b._getActiveRequests = function _getActiveRequests() { return []; };
b._getActiveHandles = function _getActiveHandles() { return []; };
b.getActiveResourcesInfo = function getActiveResourcesInfo() { return []; };
b.setEmitWarningSync = nothing;

b.dlopen = function dlopen(module, path) {
  if (arguments.length < 2) throw coded(dlopen, 'ERR_MISSING_ARGS', 'process.dlopen needs at least 2 arguments', TypeError);
  const why = sys.access(path, 0) < 0 ? 'cannot open shared object file: No such file or directory' :
    'native addons cannot be loaded in a guest';
  throw coded(dlopen, 'ERR_DLOPEN_FAILED', `${path}: ${why}`);
};
b.execve = function execve() {
  const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = tools.library.require('internal/errors').codes;
  throw new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM('process.execve');
};
b.loadEnvFile = function loadEnvFile(path) {
  const text = sys.readFileUtf8(path ?? '.env', 0);
  if (typeof text === 'number') fail(loadEnvFile, text < -65536 ? text + 65536 : text, 'open', path ?? '.env');
  const found = binding('util').parseEnv(text);
  for (const name of Object.keys(found)) tools.process.env[name] ??= found[name];
};

/** Once in the snapshot, and once more when there is a process; what is the same for all is done by then. */
let patched = false;
b.patchProcessObject = (process) => {
  process.argv = tools.argv ?? ['node'];
  process.execPath = '/usr/bin/node';
  const pid = sys.pid();
  if (pid > 0) Object.defineProperty(process, 'pid', { value: pid, writable: false, enumerable: true, configurable: true });
  if (patched) return;
  patched = true;
  const fixed = (name, value) => Object.defineProperty(process, name, { value, writable: false, enumerable: true, configurable: true });
  let title = 'node';
  const accessor = (name, get, set) => Object.defineProperty(process, name, { get, set, enumerable: true, configurable: true });
  accessor('title', () => title, (value) => {
    title = `${value}`;
    sys.setTitle(title);
  });
  for (const name of ['version', 'versions', 'arch', 'platform', 'release']) fixed(name, process[name]);
  accessor('ppid', () => sys.ppid(), undefined);
};
return b;
