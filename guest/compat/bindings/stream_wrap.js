// The binding `stream_wrap`: byte streams over the guest's descriptors, as the library uses libuv's.
'use strict';

const { host: { sys }, plain } = tools;
tools.handles ??= tools.kit.compile('tare/handles', 'glue')(tools);
const { AsyncWrap, HandleWrap, kReleased, kCounted, tick } = tools.handles;
const b = plain('stream_wrap');
const { kReadBytesOrError, kArrayBufferOffset, kBytesWritten, kLastWriteWasAsync, kLastWriteErr } = b;
const state = b.streamBaseState = new Int32Array(5);

const EAGAIN = -11;
const EBADF = -9;
const ECANCELED = -125;
const EOF = -4095;
/** So many pieces are read in one turn at most, as libuv does it. */
const pieces = 32;
/** What sys.receive gives at most. After less than that the host has no more for now. */
const piece = 65536;

b.WriteWrap = class WriteWrap extends AsyncWrap {
  writeStatus = null;
};
b.ShutdownWrap = class ShutdownWrap extends AsyncWrap {};

function bytesOf(text, encoding) {
  return tools.library.require('buffer').Buffer.from(text, encoding);
}

class LibuvStreamWrap extends HandleWrap {
  #fd = -1;
  #reading;
  #ofHost = false;
  #writing;
  #queue = [];
  #shutdown;
  #userBuffer;
  #bytesRead = 0;
  #bytesWritten = 0;
  #onread;

  /** No member of its own: stack traces would name it. */
  get onread() { return this.#onread; }
  set onread(callback) { this.#onread = callback; }
  get fd() { return this.#fd; }
  get bytesRead() { return this.#bytesRead; }
  get bytesWritten() { return this.#bytesWritten; }
  get isStreamBase() { return true; }
  get writeQueueSize() { return this.#queue.reduce((sum, one) => sum + one.bytes.byteLength - one.at, 0); }
  get hasPendingRead() { return false; }
  setBlocking() { return 0; }

  readStart() {
    if (this.#fd < 0) return EBADF;
    if (this.#reading !== undefined) return 0;
    const id = sys.watch(this.#fd, false, () => this.#readable());
    if (id < 0) return id;
    this.#reading = id;
    this.#ofHost = sys.isOfHost(this.#fd);
    if (!this.hasRef()) sys.setCounted(id, false);
    return 0;
  }

  readStop() {
    if (this.#reading !== undefined) sys.unwatch(this.#reading);
    this.#reading = undefined;
    return 0;
  }

  useUserBuffer(buffer) {
    this.#userBuffer = buffer;
    return 0;
  }

  shutdown(req) {
    if (this.#fd < 0) return EBADF;
    this.#shutdown = req;
    if (this.#queue.length === 0) this.#finishShutdown();
    return 0;
  }

  writev(req, chunks, allBuffers) {
    const { Buffer } = tools.library.require('buffer');
    const all = [];
    if (allBuffers) {
      all.push(...chunks);
    } else {
      for (let i = 0; i < chunks.length; i += 2) {
        all.push(typeof chunks[i] === 'string' ? bytesOf(chunks[i], chunks[i + 1]) : chunks[i]);
      }
    }
    return this.#write(Buffer.concat(all));
  }

  writeBuffer(req, bytes) { return this.#write(bytes); }
  writeAsciiString(req, text) { return this.#write(bytesOf(text, 'latin1')); }
  writeLatin1String(req, text) { return this.#write(bytesOf(text, 'latin1')); }
  writeUtf8String(req, text) { return this.#write(bytesOf(text, 'utf8')); }
  writeUcs2String(req, text) { return this.#write(bytesOf(text, 'utf16le')); }

  /** 0 when all of it went out now, -errno, or the request of what is left. */
  #write(bytes) {
    state[kBytesWritten] = bytes.byteLength;
    state[kLastWriteWasAsync] = 0;
    state[kLastWriteErr] = 0;
    if (this.#fd < 0) return EBADF;
    this.#bytesWritten += bytes.byteLength;
    const one = { bytes, at: 0, req: undefined };
    if (this.#queue.length === 0) {
      const result = this.#push(one);
      if (result !== EAGAIN) return result;
    }
    one.req = new b.WriteWrap();
    this.#queue.push(one);
    state[kLastWriteWasAsync] = 1;
    this.#writing ??= sys.watch(this.#fd, true, () => this.#writable());
    return one.req;
  }

  #push(one) {
    while (one.at < one.bytes.byteLength) {
      const count = sys.tryWrite(this.#fd, one.bytes, one.at, one.bytes.byteLength - one.at, -1);
      if (count < 0) return count;
      one.at += count;
    }
    return 0;
  }

  #writable() {
    while (this.#queue.length > 0) {
      const result = this.#push(this.#queue[0]);
      if (result === EAGAIN) return;
      const { req } = this.#queue.shift();
      if (this.#queue.length === 0) this.#stopWriting();
      AsyncWrap.call(req, req.oncomplete, result, this, undefined);
      if (this.#queue.length > 0) tick();
    }
    if (this.#shutdown !== undefined) this.#finishShutdown();
  }

  #stopWriting() {
    if (this.#writing !== undefined) sys.unwatch(this.#writing);
    this.#writing = undefined;
  }

  /** In the next turn, as libuv does it: so the other side can't answer before this side has heard. */
  #finishShutdown() {
    tools.enqueue(() => {
      const req = this.#shutdown;
      if (req === undefined) return; // closed meanwhile
      this.#shutdown = undefined;
      AsyncWrap.call(req, req.oncomplete, sys.shutdown(this.#fd), this, undefined);
    });
  }

  #readable() {
    for (let i = 0; i < pieces; i++) {
      if (i > 0) tick();
      if (this.#reading === undefined) return;
      const got = this.#userBuffer === undefined ? sys.receive(this.#fd) : this.#intoUserBuffer();
      if (got === EAGAIN) return;
      if (typeof got === 'number' && got <= 0) return this.#tell(got === 0 ? EOF : got, undefined);
      const count = typeof got === 'number' ? got : got.byteLength;
      this.#bytesRead += count;
      const room = this.#userBuffer === undefined ? piece : this.#userBuffer.byteLength;
      const next = this.#tell(count, typeof got === 'number' ? undefined : got);
      if (this.#userBuffer !== undefined && next !== undefined) this.#userBuffer = next;
      if (this.#ofHost && count < room) return;
    }
  }

  #intoUserBuffer() {
    return sys.tryRead(this.#fd, this.#userBuffer, 0, this.#userBuffer.byteLength, -1);
  }

  #tell(count, buffer) {
    if (count < 0) this.readStop();
    state[kReadBytesOrError] = count;
    state[kArrayBufferOffset] = 0;
    return AsyncWrap.call(this, this.#onread, buffer);
  }

  [kReleased]() {
    this.readStop();
    this.#stopWriting();
    const left = this.#queue.splice(0);
    for (const { req } of left) tools.enqueue(() => AsyncWrap.call(req, req.oncomplete, ECANCELED, this, undefined));
    const req = this.#shutdown;
    this.#shutdown = undefined;
    if (req !== undefined) tools.enqueue(() => AsyncWrap.call(req, req.oncomplete, ECANCELED, this, undefined));
    // The standard streams stay open, as libuv leaves them.
    if (this.#fd > 2) sys.close(this.#fd);
    this.#fd = -1;
  }

  [kCounted](counted) {
    if (this.#reading !== undefined) sys.setCounted(this.#reading, counted);
  }

  static {
    tools.handles.attach = (stream, fd) => { stream.#fd = fd; };
  }
}

tools.handles.LibuvStreamWrap = LibuvStreamWrap;
return b;
