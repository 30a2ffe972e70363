// The binding `blob`: bytes that do not change any more, in parts that blobs share.
'use strict';

const { plain } = tools;
const b = plain('blob');
const { privateSymbols: { transfer_mode_private_symbol: mode }, constants: { kCloneable } } = tools.binding('util');
const END = 0;
const DATA = 1;

class Handle {
  #parts;
  constructor(parts) {
    this.#parts = parts;
    this[mode] = kCloneable;
  }
  static is(object) { return #parts in object; }
  static partsOf(source) { return #parts in source ? source.#parts : [source]; }

  getReader() {
    const left = [...this.#parts];
    return {
      setWakeup() {}, // all is there: nobody ever waits
      pull(callback) {
        const part = left.shift();
        if (part === undefined) callback(END);
        else callback(DATA, part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
      },
    };
  }
  slice(start, end) {
    const found = [];
    let at = 0;
    for (const part of this.#parts) {
      const from = Math.max(start - at, 0);
      const to = Math.min(end - at, part.length);
      if (from < to) found.push(part.subarray(from, to));
      at += part.length;
    }
    return new Handle(found);
  }
}

/** For structured cloning: a clone has the same bytes. */
tools.isBlobHandle = (object) => Handle.is(object);

const whole = (source) => (ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source));

b.createBlob = (sources) => new Handle(sources.flatMap(Handle.partsOf).filter((part) => part.length > 0));
b.concat = (list) => {
  const parts = list.map(whole);
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.buffer;
};
b.createBlobFromFilePath = (path) => {
  const fs = tools.library.require('fs');
  fs.statSync(path); // throws, as Node does, when there is none
  let bytes;
  try {
    bytes = fs.readFileSync(path);
  } catch {
    return undefined;
  }
  return [b.createBlob([new Uint8Array(bytes)]), bytes.length];
};

const stored = new Map();
b.storeDataObject = (id, handle, size, type) => { stored.set(id, [handle, size, type]); };
b.getDataObject = (id) => stored.get(id);
b.revokeObjectURL = (url) => { stored.delete(/^blob:nodedata:([^:]*)$/.exec(url)?.[1]); };
return b;
