// What the glue of files, streams and processes has in common: Node's C++ base classes, its errors, its completions.
'use strict';

const { binding, host } = tools;
const { async_id_fields: ids, constants: { kAsyncIdCounter } } = binding('async_wrap');
const { getContinuationPreservedEmbedderData: frameNow, setContinuationPreservedEmbedderData: setFrame } =
  host.async_context_frame;
const { captureStackTrace } = Error;
const uv = binding('uv');
const notOnTheStack = () => {};

/** The base of every request and handle: it has an id, and remembers the async context that it was made in. */
class AsyncWrap {
  #id = ids[kAsyncIdCounter] += 1;
  #frame = frameNow();

  getAsyncId() { return this.#id; }

  asyncReset() {
    this.#id = ids[kAsyncIdCounter] += 1;
    this.#frame = frameNow();
  }

  getAsyncContextFrameForDebuggingOnly() { return this.#frame; }
  getProviderType() { return 0; }

  /** Calls back into the library in the context of `wrap`. */
  static call(wrap, callback, ...args) {
    const before = frameNow();
    setFrame(wrap.#frame);
    try {
      return callback.apply(wrap, args);
    } finally {
      setFrame(before);
    }
  }
}

const kReleased = Symbol('released');
const kCounted = Symbol('counted');

/** What can be closed and may keep the process alive. Subclasses hear of both by kReleased and kCounted. */
class HandleWrap extends AsyncWrap {
  #counted = true;
  #open = true;

  hasRef() { return this.#open && this.#counted; }
  ref() { this.#set(true); }
  unref() { this.#set(false); }

  close(callback) {
    if (!this.#open) return;
    this.#open = false;
    this[kReleased]();
    if (typeof callback === 'function') tools.enqueue(() => AsyncWrap.call(this, callback));
  }

  #set(counted) {
    if (!this.#open || this.#counted === counted) return;
    this.#counted = counted;
    this[kCounted](counted);
  }

  [kReleased]() {}
  [kCounted]() {}
}

/** For the text of an error: a path may be bytes. */
function pathText(path) {
  if (path === undefined || typeof path === 'string') return path;
  if (!ArrayBuffer.isView(path)) return `${path}`;
  const { Buffer } = tools.library.require('buffer');
  return Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
}

/** The error of a system call as Node's C++ makes it; `errno` is negative. */
function makeError(errno, syscall, path, dest) {
  const code = uv.errname(errno);
  const from = pathText(path);
  const to = pathText(dest);
  let message = `${code}: ${uv.getErrorMessage(errno)}, ${syscall}`;
  if (from !== undefined) message += ` '${from}'`;
  if (to !== undefined) message += ` -> '${to}'`;
  const error = new Error(message);
  error.errno = errno;
  error.code = code;
  error.syscall = syscall;
  if (from !== undefined) error.path = from;
  if (to !== undefined) error.dest = to;
  return error;
}

/** The same, thrown to whoever called `caller`: the stack has no frame of ours. */
function fail(caller, errno, syscall, path, dest) {
  const error = makeError(errno, syscall, path, dest);
  captureStackTrace(error, caller);
  throw error;
}

/** The same for a completion: there is nobody below it, hence no frame at all. */
function lateError(errno, syscall, path, dest) {
  const error = makeError(errno, syscall, path, dest);
  captureStackTrace(error, notOnTheStack);
  return error;
}

/** An error of Node's C++ that isn't a system call's. */
function coded(caller, code, message, Base = Error) {
  const error = new Base(message);
  error.code = code;
  captureStackTrace(error, caller);
  return error;
}

/**
 * Between two callbacks of one event, what Node does after each: nextTick's queue and the microtasks.
 */
function tick() {
  const { tickInfo, tick: run } = tools.callbacks;
  if (tickInfo[0] === 0) host.task_queue.runMicrotasks();
  if (tickInfo[0] !== 0 || tickInfo[1] !== 0) run.call(tools.process);
}

return { AsyncWrap, HandleWrap, kReleased, kCounted, makeError, fail, lateError, coded, tick };
