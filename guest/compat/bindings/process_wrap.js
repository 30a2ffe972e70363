// The binding `process_wrap`: the children of a guest.
'use strict';

const { binding, callbacks, host, plain } = tools;
binding('stream_wrap');
const { AsyncWrap, HandleWrap, kReleased, kCounted, attach } = tools.handles;
const { sys } = host;
const b = plain('process_wrap');
const ESRCH = -3;

const children = new Map();
const signalNames = new Map(Object.entries(binding('constants').os.signals).reverse().map(([name, n]) => [n, name]));
tools.handles.signalName = (signal) => signalNames.get(signal) ?? null;

/** The engine: a child has ended. Told after what its pipes hold, which is read in this turn. */
callbacks.childExit = (pid, code, signal) => {
  const child = children.get(pid);
  children.delete(pid);
  if (child !== undefined) tools.enqueue(() => child.exited(code, signal));
};

function refuseChannel() {
  const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = tools.library.require('internal/errors').codes;
  throw new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM('an IPC channel between processes (child_process.fork)');
}

b.Process = class Process extends HandleWrap {
  #pid = 0;
  #running = false;

  spawn(file, args, cwd, env, stdio, flags, uid, gid) {
    if (stdio.some((one) => one.ipc === true || one.type === 'ipc')) refuseChannel();
    if ((uid ?? 0) !== 0 || (gid ?? 0) !== 0) return -1; // EPERM: there is only one user
    const ours = [];
    const theirs = [];
    const result = this.#open(stdio, ours, theirs) ?? sys.spawn(file, args, cwd ?? undefined, env, theirs);
    stdio.forEach((one, i) => {
      if (ours[i] !== undefined) sys.close(theirs[i]);
    });
    // Even when it failed: then they read the end, as they do on Linux.
    stdio.forEach((one, i) => {
      if (ours[i] !== undefined) attach(one.handle, ours[i]);
    });
    if (result < 0) return result;
    this.pid = this.#pid = result;
    this.#running = true;
    const child = { exited: (code, signal) => this.#exited(code, signal) };
    children.set(result, child);
    if (this.hasRef()) host.loop.count(1);
    return 0;
  }

  /** The descriptors for the child; -errno when there are not enough. */
  #open(stdio, ours, theirs) {
    for (let i = 0; i < stdio.length; i++) {
      const one = stdio[i];
      if (one.type === 'pipe' || one.type === 'overlapped') {
        const pair = sys.duplex();
        if (typeof pair === 'number') return pair;
        [ours[i], theirs[i]] = pair;
      } else if (one.type === 'inherit' || one.type === 'fd') {
        theirs[i] = one.fd;
      } else if (one.type === 'wrap') {
        theirs[i] = one.handle.fd;
      } else {
        theirs[i] = -1;
      }
    }
  }

  kill(signal) {
    return this.#running ? sys.kill(this.#pid, signal) : ESRCH;
  }

  #exited(code, signal) {
    this.#running = false;
    if (this.hasRef()) host.loop.count(-1);
    if (typeof this.onexit === 'function') {
      AsyncWrap.call(this, this.onexit, Math.max(code, 0), signal === 0 ? '' : signalNames.get(signal) ?? `${signal}`);
    }
  }

  [kReleased]() {
    // Not open any more, hence hasRef() is false now: it counted if it ran and was not unref'd.
    if (this.#running && this.#counted) host.loop.count(-1);
    this.#running = false;
  }

  #counted = true;
  [kCounted](counted) {
    this.#counted = counted;
    if (this.#running) host.loop.count(counted ? 1 : -1);
  }
};
return b;
