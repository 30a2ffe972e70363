// The binding `spawn_sync`: a child that its parent waits for.
'use strict';

const { binding, host: { sys } } = tools;
binding('process_wrap');

function stdioOf(one) {
  switch (one.type) {
    case 'pipe':
    case 'overlapped': return { readable: one.readable, writable: one.writable, input: one.input };
    case 'inherit':
    case 'fd': return one.fd;
    default: return -1;
  }
}

function spawn(options) {
  const { Buffer } = tools.library.require('buffer');
  const result = sys.spawnSync(options.file, options.args, options.cwd ?? undefined, options.envPairs,
    options.stdio.map(stdioOf), options.timeout ?? 0, options.maxBuffer, options.killSignal ?? 0);
  if (typeof result === 'number') return { error: result, status: null, signal: null, output: null, pid: 0 };
  const [pid, code, signal, error, outputs] = result;
  return {
    ...(error !== 0 ? { error } : undefined),
    status: signal !== 0 ? null : code,
    signal: signal !== 0 ? tools.handles.signalName(signal) : null,
    output: outputs.map((one) => (one === null ? null : Buffer.from(one.buffer))),
    pid,
  };
}
return { spawn };
