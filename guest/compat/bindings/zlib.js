// The binding `zlib`: the classes that the library's streams have as their handles.
'use strict';

const { kit, read } = tools;
tools.handles ??= kit.compile('tare/handles', 'glue')(tools);
const { AsyncWrap, coded } = tools.handles;
const natives = kit.natives('zlib');

/** A class of handles: `create` makes the stream, `init` sets it up with what the library gives. */
function makeClass(name, create, init) {
  const made = class extends AsyncWrap {
    #stream;
    #state;
    #callback;

    constructor(mode) {
      super();
      this.#stream = create(mode);
    }

    write(flush, input, inputAt, inputLength, output, outputAt, outputLength) {
      natives.write(this.#stream, flush, input, inputAt, inputLength, output, outputAt, outputLength,
        (result) => { if (this.#take(result)) AsyncWrap.call(this, this.#callback); });
    }

    writeSync(flush, input, inputAt, inputLength, output, outputAt, outputLength) {
      this.#take(natives.writeSync(this.#stream, flush, input, inputAt, inputLength, output, outputAt, outputLength));
    }

    close() {
      natives.close(this.#stream);
    }

    init(...args) {
      const [state, callback] = init(this.#stream, this.init, args);
      this.#state = state;
      this.#callback = callback;
    }

    params(level, strategy) {
      if (name === 'Zlib') this.#report(natives.params(this.#stream, level, strategy));
    }

    reset() {
      this.#report(natives.reset(this.#stream));
    }

    #report(error) {
      if (error !== undefined) AsyncWrap.call(this, this.onerror, ...error);
    }

    /** Whether it went well: then the library finds in its state what is left of the output and of the input. */
    #take(result) {
      if (result.length === 3) {
        this.#report(result);
        return false;
      }
      this.#state[0] = result[0];
      this.#state[1] = result[1];
      return true;
    }
  };
  Object.defineProperty(made, 'name', { __proto__: null, value: name, configurable: true });
  return made;
}

function initZlib(stream, caller, [windowBits, level, memLevel, strategy, state, callback, dictionary, reject]) {
  natives.initZlib(stream, windowBits, level, memLevel, strategy, dictionary, reject);
  return [state, callback];
}

function initBrotli(stream, caller, [parameters, state, callback, dictionary]) {
  const error = natives.initCodec(stream, parameters, dictionary);
  if (error !== undefined) throw coded(caller, 'ERR_ZLIB_INITIALIZATION_FAILED', 'Initialization failed');
  return [state, callback];
}

function initZstd(stream, caller, [parameters, size, state, callback, dictionary, reject]) {
  if (typeof size === 'number') {
    if (!Number.isSafeInteger(size)) throw coded(caller, 'ERR_OUT_OF_RANGE', 'pledgedSrcSize must be a safe integer', RangeError);
    if (size < 0) throw coded(caller, 'ERR_OUT_OF_RANGE', 'pledgedSrcSize must be non-negative', RangeError);
  }
  const error = natives.initCodec(stream, parameters, dictionary, size, reject);
  if (error !== undefined) throw coded(caller, 'ERR_ZLIB_INITIALIZATION_FAILED', error[0]);
  return [state, callback];
}

return {
  __proto__: null,
  Zlib: makeClass('Zlib', natives.createZlib, initZlib),
  BrotliEncoder: makeClass('BrotliEncoder', () => natives.createCodec(0), initBrotli),
  BrotliDecoder: makeClass('BrotliDecoder', () => natives.createCodec(1), initBrotli),
  ZstdCompress: makeClass('ZstdCompress', () => natives.createCodec(2), initZstd),
  ZstdDecompress: makeClass('ZstdDecompress', () => natives.createCodec(3), initZstd),
  crc32: natives.crc32,
  ZLIB_VERSION: read('table/zlib').ZLIB_VERSION.v,
};
