// The binding `fs`: Node's calling conventions over the system calls of the engine. A call without a request throws,
// one with an FSReqCallback or kUsePromises has been done when it returns and is told in the next turn of the loop.
'use strict';

const { binding, host: { sys }, plain } = tools;
const handles = tools.handles ??= tools.kit.compile('tare/handles', 'glue')(tools);
const { AsyncWrap, HandleWrap, kReleased, kCounted, fail, lateError, coded } = handles;
const b = plain('fs');

const ENOENT = -2;
const EAGAIN = -11;
const EEXIST = -17;
const ENOTDIR = -20;
const kUsePromises = b.kUsePromises = Symbol('fs_use_promises_symbol');
const statValues = b.statValues = new Float64Array(36);
const bigintStatValues = b.bigintStatValues = new BigInt64Array(36);
const statFsValues = b.statFsValues = new Float64Array(8);
const bigintStatFsValues = b.bigintStatFsValues = new BigInt64Array(8);

b.FSReqCallback = class FSReqCallback extends AsyncWrap {};

/** Settles a request in the next turn. */
function settle(req, result, value, syscall, path, dest) {
  const bad = typeof result === 'number' && result < 0;
  if (req === kUsePromises) {
    return new Promise((resolve, reject) => {
      tools.enqueue(() => (bad ? reject(lateError(result, syscall, path, dest)) : resolve(value)));
    });
  }
  tools.enqueue(() => complete(req, bad ? lateError(result, syscall, path, dest) : null, value));
}

function complete(req, error, value) {
  if (error !== null || value === undefined) req.oncomplete(error);
  else req.oncomplete(null, value);
}

/** What a call gives that ends here and now, or later if there is a request. */
function finish(caller, req, result, value, syscall, path, dest) {
  if (req !== undefined) return settle(req, result, value, syscall, path, dest);
  if (typeof result === 'number' && result < 0) fail(caller, result, syscall, path, dest);
  return value;
}

// Calls that take one path, or two, and give nothing.
function onePath(name, syscall, call) {
  b[name] = function self(path, req) {
    return finish(self, req, call(path), undefined, syscall, path);
  };
}
function pathAndOne(name, syscall, call) {
  b[name] = function self(path, one, req) {
    return finish(self, req, call(path, one), undefined, syscall, path);
  };
}
function pathAndTwo(name, syscall, call) {
  b[name] = function self(path, one, two, req) {
    return finish(self, req, call(path, one, two), undefined, syscall, path);
  };
}
function twoPaths(name, syscall, call) {
  b[name] = function self(path, dest, req) {
    return finish(self, req, call(path, dest), undefined, syscall, path, dest);
  };
}
function twoPathsAndOne(name, syscall, call) {
  b[name] = function self(path, dest, one, req) {
    return finish(self, req, call(path, dest, one), undefined, syscall, path, dest);
  };
}
/** Node's C++ checks a descriptor where its JavaScript doesn't: without it, 1.5 would be stdout. */
function checkDescriptor(caller, fd) {
  if ((fd | 0) === fd && fd >= 0) return;
  tools.library.require('internal/validators').validateInteger(fd, 'fd');
  throw coded(caller, 'ERR_OUT_OF_RANGE', `The value of "fd" is out of range. It must be >= 0 && <= 2147483647. Received ${fd}`, RangeError);
}
/** And the mode of access and copyFile. */
function checkMode(caller, mode) {
  if (mode === undefined || mode === null) return 0;
  if (typeof mode !== 'number') throw coded(caller, 'ERR_INVALID_ARG_TYPE', 'mode must be int32 or null/undefined', TypeError);
  if (!Number.isFinite(mode)) throw coded(caller, 'ERR_OUT_OF_RANGE', 'mode is out of range', RangeError);
  if (mode < 0 || mode > 7) throw coded(caller, 'ERR_OUT_OF_RANGE', 'mode is out of range: >= 0 && <= 7', RangeError);
  return mode | 0;
}
function descriptor(name, syscall, call) {
  b[name] = function self(fd, req) {
    checkDescriptor(self, fd);
    return finish(self, req, call(fd), undefined, syscall);
  };
}
function descriptorAndOne(name, syscall, call) {
  b[name] = function self(fd, one, req) {
    checkDescriptor(self, fd);
    return finish(self, req, call(fd, one), undefined, syscall);
  };
}
function descriptorAndTwo(name, syscall, call) {
  b[name] = function self(fd, one, two, req) {
    checkDescriptor(self, fd);
    return finish(self, req, call(fd, one, two), undefined, syscall);
  };
}

b.access = function access(path, mode, req) {
  return finish(access, req, sys.access(path, checkMode(access, mode)), undefined, 'access', path);
};
onePath('rmdir', 'rmdir', sys.rmdir);
onePath('unlink', 'unlink', sys.unlink);
pathAndOne('chmod', 'chmod', sys.chmod);
pathAndTwo('chown', 'chown', sys.chown);
pathAndTwo('lchown', 'lchown', sys.lchown);
pathAndTwo('utimes', 'utime', sys.utimes);
pathAndTwo('lutimes', 'lutime', sys.lutimes);
twoPaths('rename', 'rename', sys.rename);
twoPaths('link', 'link', sys.link);
twoPathsAndOne('symlink', 'symlink', sys.symlink);
b.copyFile = function copyFile(path, dest, mode, req) {
  return finish(copyFile, req, sys.copyFile(path, dest, checkMode(copyFile, mode)), undefined, 'copyfile', path, dest);
};
descriptor('close', 'close', (fd) => sys.close(fd)); // played while the snapshot is made, as some below
descriptor('fsync', 'fsync', sys.fsync);
descriptor('fdatasync', 'fdatasync', sys.fsync);
descriptorAndOne('ftruncate', 'ftruncate', sys.ftruncate);
descriptorAndOne('fchmod', 'fchmod', sys.fchmod);
descriptorAndTwo('fchown', 'fchown', sys.fchown);
descriptorAndTwo('futimes', 'futime', sys.futimes);

b.existsSync = (path) => sys.access(path, 0) === 0;
b.internalModuleStat = (path) => sys.moduleStat(path);
/** As internalModuleStat; 2 for a file whose path has no links in it, and stands in its URL as it is. */
b.internalModulePlace = (path) => sys.modulePlace(path);
/** The content of a file whose place has been asked for just now, by its URL; undefined when it is not as it was then. */
b.readModule = (href) => {
  const bytes = sys.readModule(href);
  return bytes === undefined ? undefined : new (tools.library.require('internal/buffer').FastBuffer)(bytes);
};
b.open = function open(path, flags, mode, req) {
  const fd = sys.open(path, flags, mode);
  return finish(open, req, fd, fd, 'open', path);
};

// stat: the numbers lie in one array for all calls that answer at once.
function stat(name, call, syscall) {
  b[name] = function self(path, bigint, req, throwIfNoEntry) {
    let values;
    if (req === undefined) values = bigint ? bigintStatValues : statValues;
    else values = bigint ? new BigInt64Array(18) : new Float64Array(18);
    const result = call(path, values);
    if (result < 0 && throwIfNoEntry === false && (result === ENOENT || result === ENOTDIR)) {
      return req === undefined ? undefined : settle(req, 0, undefined);
    }
    return finish(self, req, result, values, syscall, path);
  };
}
stat('stat', sys.stat, 'stat');
stat('lstat', (path, values) => sys.lstat(path, values), 'lstat');
b.fstat = function fstat(fd, bigint, req) {
  checkDescriptor(fstat, fd);
  let values;
  if (req === undefined) values = bigint ? bigintStatValues : statValues;
  else values = bigint ? new BigInt64Array(18) : new Float64Array(18);
  return finish(fstat, req, sys.fstat(fd, values), values, 'fstat');
};
b.statfs = function statfs(path, bigint, req) {
  let values;
  if (req === undefined) values = bigint ? bigintStatFsValues : statFsValues;
  else values = bigint ? new BigInt64Array(8) : new Float64Array(8);
  return finish(statfs, req, sys.statfs(path, values), values, 'statfs', path);
};

// Names: text when the encoding is UTF-8, otherwise made from the bytes.
const isText = (encoding) => encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8';
function inEncoding(bytes, encoding) {
  const { Buffer } = tools.library.require('buffer');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === 'buffer' ? buffer : buffer.toString(encoding);
}
function named(name, syscall, call, suffix = '') {
  b[name] = function self(path, encoding, req) {
    let result = call(path, !isText(encoding));
    if (typeof result === 'object') result = inEncoding(result, encoding);
    return finish(self, req, result, result, syscall, suffix === '' ? path : `${path}${suffix}`);
  };
}
named('readlink', 'readlink', sys.readlink);
named('realpath', 'realpath', sys.realpath);
named('mkdtemp', 'mkdtemp', sys.mkdtemp, 'XXXXXX');
b.readdir = function readdir(path, encoding, withTypes, req) {
  const result = sys.readdir(path, !isText(encoding));
  if (typeof result === 'number') return finish(readdir, req, result, undefined, 'scandir', path);
  if (!isText(encoding)) result[0] = result[0].map((name) => inEncoding(name, encoding));
  return finish(readdir, req, 0, withTypes ? result : result[0], 'scandir', path);
};

function parentOf(path) {
  const stripped = path.replace(/(?<=.)\/+$/, '');
  const at = stripped.lastIndexOf('/');
  if (stripped !== path && at !== -1) return stripped;
  return at === -1 ? path : at === 0 ? '/' : stripped.slice(0, at);
}

/** All that is missing of a path: the first that was made, or undefined, or -errno. */
function makeAll(path, mode) {
  const left = [path];
  const probe = new Float64Array(18);
  let first;
  while (left.length > 0) {
    const next = left.pop();
    const result = sys.mkdir(next, mode);
    if (result === 0) {
      first ??= next;
    } else if (result === ENOENT && parentOf(next) !== next) {
      left.push(next, parentOf(next));
    } else if (result === ENOENT && left.length === 0) {
      return EEXIST;
    } else if (result === EEXIST || result === ENOENT) {
      const found = sys.stat(next, probe);
      if (found < 0) return found;
      if ((probe[1] & 0o170000) !== 0o040000) return left.length > 0 ? ENOTDIR : EEXIST;
    } else {
      return result;
    }
  }
  return first;
}
b.mkdir = function mkdir(path, mode, recursive, req) {
  if (!recursive) return finish(mkdir, req, sys.mkdir(path, mode), undefined, 'mkdir', path);
  const result = makeAll(typeof path === 'string' ? path : inEncoding(path, 'utf8'), mode);
  return finish(mkdir, req, result, result, 'mkdir', path);
};

b.rmSync = function rmSync(path, retries, recursive) {
  const result = recursive ? sys.removeTree(path) : sys.unlink(path);
  if (result < 0 && result !== ENOENT) fail(rmSync, result, 'rm', path);
};

// Reading and writing. Without a request they wait; with one they wait in the loop.
/** Tries until it isn't EAGAIN, whenever the descriptor is ready. */
function whenReady(req, fd, writing, syscall, attempt) {
  const result = attempt();
  if (result !== EAGAIN) return settle(req, result, result, syscall);
  let done;
  const promise = req === kUsePromises ? new Promise((resolve, reject) => {
    done = (value) => (value < 0 ? reject(lateError(value, syscall)) : resolve(value));
  }) : undefined;
  done ??= (value) => AsyncWrap.call(req, complete.bind(undefined, req), value < 0 ? lateError(value, syscall) : null, value);
  const id = sys.watch(fd, writing, () => {
    const now = attempt();
    if (now === EAGAIN) return;
    sys.unwatch(id);
    done(now);
  });
  return promise;
}
const at = (position) => (typeof position === 'number' || typeof position === 'bigint' ? position : -1);

b.read = function read(fd, buffer, offset, length, position, req) {
  checkDescriptor(read, fd);
  const where = at(position);
  if (req !== undefined) return whenReady(req, fd, false, 'read', () => sys.tryRead(fd, buffer, offset, length, where));
  const count = sys.read(fd, buffer, offset, length, where);
  if (count < 0) fail(read, count, 'read');
  return count;
};
b.readBuffers = function readBuffers(fd, buffers, position, req) {
  checkDescriptor(readBuffers, fd);
  const count = sys.readv(fd, buffers, at(position));
  return finish(readBuffers, req, count, count, 'read');
};
b.writeBuffers = function writeBuffers(fd, buffers, position, req) {
  checkDescriptor(writeBuffers, fd);
  const count = sys.writev(fd, buffers, at(position));
  return finish(writeBuffers, req, count, count, 'write');
};

/** Errors of the older convention go into an object. */
function report(caller, context, result) {
  if (result >= 0) return result;
  if (context === undefined) fail(caller, result, 'write');
  context.errno = result;
  context.syscall = 'write';
  context.code = binding('uv').errname(result);
}
b.writeBuffer = function writeBuffer(fd, buffer, offset, length, position, req, context) {
  checkDescriptor(writeBuffer, fd);
  const where = at(position);
  if (req !== undefined) return whenReady(req, fd, true, 'write', () => sys.tryWrite(fd, buffer, offset, length, where));
  return report(writeBuffer, context, sys.write(fd, buffer, offset, length, where));
};
b.writeString = function writeString(fd, text, position, encoding, req, context) {
  checkDescriptor(writeString, fd);
  const where = at(position);
  if (isText(encoding) && req === undefined) return report(writeString, context, sys.writeText(fd, text, where));
  const bytes = tools.library.require('buffer').Buffer.from(text, isText(encoding) ? 'utf8' : encoding);
  if (req !== undefined) return whenReady(req, fd, true, 'write', () => sys.tryWrite(fd, bytes, 0, bytes.length, where));
  return report(writeString, context, sys.write(fd, bytes, 0, bytes.length, where));
};

// Whole files: what is below -65536 was refused by reading or writing, not by opening.
const stage = 65536;
b.readFileUtf8 = function readFileUtf8(path, flags) {
  const result = sys.readFileUtf8(path, flags);
  if (typeof result === 'string') return result;
  if (result === -27 - stage || result === -27) {
    throw coded(readFileUtf8, 'ERR_STRING_TOO_LONG', 'Cannot create a string longer than 0x1fffffe8 characters');
  }
  return result < -stage ? fail(readFileUtf8, result + stage, 'read') : fail(readFileUtf8, result, 'open', path);
};
b.writeFileUtf8 = function writeFileUtf8(path, text, flags, mode) {
  const result = sys.writeFileUtf8(path, text, flags, mode);
  if (result === 0) return;
  if (result < -stage) fail(writeFileUtf8, result + stage, 'write');
  fail(writeFileUtf8, result, 'open', path);
};

b.getFormatOfExtensionlessFile = (path) => (sys.startsLikeWasm(path) === 1 ? 1 : 0);
b.legacyMainResolve = function legacyMainResolve(folder, main, base) {
  const found = sys.legacyMain(folder, main);
  if (found >= 0) return found;
  const { resolve } = tools.library.require('path');
  const from = `${base}`.startsWith('file:') ? tools.library.require('internal/url').fileURLToPath(base) : base;
  const missing = resolve(folder, typeof main === 'string' ? main : 'index.js');
  throw coded(legacyMainResolve, 'ERR_MODULE_NOT_FOUND', `Cannot find package '${missing}' imported from ${from}`);
};

/** What fs.promises.open gives, under the library's own FileHandle. */
b.FileHandle = class FileHandle extends AsyncWrap {
  #fd;

  constructor(fd) {
    super();
    this.#fd = fd;
  }

  get fd() { return this.#fd; }
  get isStreamBase() { return true; }

  close() {
    const fd = this.#fd;
    this.#fd = -1;
    return settle(kUsePromises, sys.close(fd), undefined, 'close');
  }

  closeSync() {
    const fd = this.#fd;
    this.#fd = -1;
    const result = sys.close(fd);
    if (result < 0) fail(this.closeSync, result, 'close');
  }

  releaseFD() {
    const fd = this.#fd;
    this.#fd = -1;
    return fd;
  }
};
b.openFileHandle = function openFileHandle(path, flags, mode, req) {
  const fd = sys.open(path, flags, mode);
  return finish(openFileHandle, req, fd, fd < 0 ? undefined : new b.FileHandle(fd), 'open', path);
};

/** fs.watchFile: looks again every so often. */
b.StatWatcher = class StatWatcher extends HandleWrap {
  #bigint;
  #timer;
  #path;
  #before;

  constructor(bigint) {
    super();
    this.#bigint = bigint === true;
  }

  start(path, interval) {
    this.#path = path;
    this.#before = this.#look();
    const { setInterval } = tools.library.require('timers');
    this.#timer = setInterval(() => this.#check(), interval);
    if (!this.hasRef()) this.#timer.unref();
    // One that isn't there is told at once, as libuv does.
    if (this.#before.status < 0) tools.enqueue(() => this.#tell(this.#before, this.#before));
    return 0;
  }

  #look() {
    const values = this.#bigint ? new BigInt64Array(18) : new Float64Array(18);
    return { status: sys.stat(this.#path, values), values };
  }

  #check() {
    const now = this.#look();
    const before = this.#before;
    // The times of access don't count.
    if (now.status === before.status && now.values.every((value, i) => i === 10 || i === 11 || value === before.values[i])) return;
    this.#before = now;
    this.#tell(now, before);
  }

  #tell(now, before) {
    if (this.#timer === undefined) return;
    const both = this.#bigint ? new BigInt64Array(36) : new Float64Array(36);
    both.set(now.values, 0);
    both.set(before.values, 18);
    AsyncWrap.call(this, this.onchange, now.status < 0 ? -1 : 0, both);
  }

  [kReleased]() {
    if (this.#timer !== undefined) tools.library.require('timers').clearInterval(this.#timer);
    this.#timer = undefined;
  }

  [kCounted](counted) {
    if (counted) this.#timer?.ref();
    else this.#timer?.unref();
  }
};

Object.assign(b, tools.kit.compile('tare/copy', 'glue')(tools));
return b;
