// The binding `serdes`: V8's serializer, of which the engine has one call at a time; what is between is here.
'use strict';

const { host: { serdes: native } } = tools;
const HEADER = 0xff;
const VERSION = 15;

function bytesOf(source, name) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  const error = new TypeError(`${name} must be a TypedArray or a DataView`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  throw error;
}

/** Base-128, the lowest digits first. */
function varint(value) {
  const out = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return Uint8Array.from(out);
}

class Serializer {
  #parts = [];
  #transferred = [];
  #viewsAreHosts = false;

  #take() {
    const { length: count } = this.#parts;
    if (count === 1) return this.#parts[0];
    const all = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  writeHeader() { this.#parts.push(Uint8Array.of(HEADER, VERSION)); }

  writeValue(value) {
    const before = this.#take();
    const hooks = {
      makeError: (message) => new (this._getDataCloneError ?? Error)(message),
      writeHost: (object) => {
        if (typeof this._writeHostObject !== 'function') {
          throw new (this._getDataCloneError ?? Error)(`${tools.binding('errors').noSideEffectsToString(object)} could not be cloned.`);
        }
        this.#parts = [];
        this._writeHostObject(object);
        return this.#take();
      },
      sharedId: (buffer) => {
        if (typeof this._getSharedArrayBufferId !== 'function') {
          throw new (this._getDataCloneError ?? Error)('#<SharedArrayBuffer> could not be cloned.');
        }
        return this._getSharedArrayBufferId(buffer);
      },
    };
    this.#parts = [before];
    const all = native.writeValue(before, value, hooks, this.#viewsAreHosts, this.#transferred);
    this.#parts = [all];
    return true;
  }

  releaseBuffer() {
    const bytes = this.#take();
    this.#parts = [];
    return tools.library.require('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  transferArrayBuffer(id, buffer) { this.#transferred.push(id, buffer); }
  writeUint32(value) { this.#parts.push(varint(value >>> 0)); }
  writeUint64(high, low) { this.#parts.push(varint((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0))); }
  writeDouble(value) { this.#parts.push(new Uint8Array(Float64Array.of(value).buffer)); }
  writeRawBytes(source) { this.#parts.push(bytesOf(source, 'source').slice()); }
  _setTreatArrayBufferViewsAsHostObjects(on) { this.#viewsAreHosts = Boolean(on); }
}

class Deserializer {
  #bytes;
  #place = 0;
  #version = 0;
  #transferred = [];

  constructor(buffer) {
    this.#bytes = bytesOf(buffer, 'buffer');
    this.buffer = buffer;
  }

  #fail(message) {
    const error = new Error(message);
    throw error;
  }

  #varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#place];
      if (byte === undefined) return undefined;
      this.#place += 1;
      if (shift < 64n) value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  readHeader() {
    if (this.#bytes[this.#place] === HEADER) {
      this.#place += 1;
      const version = this.#varint();
      if (version !== undefined && version <= BigInt(VERSION)) {
        this.#version = Number(version);
        return true;
      }
    }
    return this.#fail('Unable to deserialize cloned data due to invalid or unsupported version.');
  }

  readValue() {
    const hooks = {
      readHost: (place) => {
        if (typeof this._readHostObject !== 'function') return undefined;
        this.#place = place;
        const object = this._readHostObject();
        if (typeof object !== 'object' && typeof object !== 'function') {
          throw new TypeError('readHostObject must return an object');
        }
        return [object, this.#place];
      },
      sharedOf: (id) => this._getSharedArrayBufferFromId?.(id),
    };
    const result = native.readValue(this.#bytes, this.#place, this.#version, hooks, this.#transferred);
    if (result === undefined) this.#fail('Unable to deserialize cloned data.');
    this.#place = result[1];
    return result[0];
  }

  getWireFormatVersion() { return this.#version; }
  transferArrayBuffer(id, buffer) { this.#transferred.push(id, buffer); }
  readUint32() {
    const value = this.#varint();
    return value === undefined ? this.#fail('ReadUint32() failed') : Number(BigInt.asUintN(32, value));
  }
  readUint64() {
    const value = this.#varint();
    if (value === undefined) this.#fail('ReadUint64() failed');
    return [Number(BigInt.asUintN(32, value >> 32n)), Number(BigInt.asUintN(32, value))];
  }
  readDouble() {
    if (this.#place + 8 > this.#bytes.length) this.#fail('ReadDouble() failed');
    const value = new Float64Array(this.#bytes.slice(this.#place, this.#place + 8).buffer)[0];
    this.#place += 8;
    return value;
  }
  _readRawBytes(length) {
    if (this.#place + length > this.#bytes.length) this.#fail('ReadRawBytes() failed');
    const offset = this.#place;
    this.#place += length;
    return offset;
  }
}

return { Serializer, Deserializer };
