// The binding `zlib`: the classes that the library's streams have as their handles.
'use strict';

const { kit, read } = tools;
tools.handles ??= kit.compile('tare/handles', 'glue')(tools);
const { AsyncWrap, coded } = tools.handles;
const natives = kit.natives('zlib');

class Stream extends AsyncWrap {
  #stream;
  #state;
  #callback;

  constructor(stream) {
    super();
    this.#stream = stream;
  }

  write(flush, input, inputAt, inputLength, output, outputAt, outputLength) {
    natives.write(this.#stream, flush, input, inputAt, inputLength, output, outputAt, outputLength,
      (result) => { if (this.#take(result)) AsyncWrap.call(this, this.#callback); });
  }

  writeSync(flush, input, inputAt, inputLength, output, outputAt, outputLength) {
    this.#take(natives.writeSync(this.#stream, flush, input, inputAt, inputLength, output, outputAt, outputLength));
  }

  close() { natives.close(this.#stream); }
  reset() { this.#report(natives.reset(this.#stream)); }
  params() {}

  /** For the classes below. */
  static streamOf(handle) { return handle.#stream; }
  static report(handle, error) { handle.#report(error); }
  static remember(handle, state, callback) {
    handle.#state = state;
    handle.#callback = callback;
  }

  #report(error) {
    if (error !== undefined) AsyncWrap.call(this, this.onerror, error[0], error[1], error[2]);
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
}

const { streamOf, report, remember } = Stream;
for (const name of ['streamOf', 'report', 'remember']) delete Stream[name];

function initBrotli(handle, parameters, state, callback, dictionary) {
  const error = natives.initCodec(streamOf(handle), parameters, dictionary);
  if (error !== undefined) throw coded(handle.init, 'ERR_ZLIB_INITIALIZATION_FAILED', 'Initialization failed');
  remember(handle, state, callback);
}

function initZstd(handle, parameters, size, state, callback, dictionary, reject) {
  if (size !== undefined) {
    const refuse = (why, code, Base) => coded(handle.init, code, `pledgedSrcSize must be ${why}`, Base);
    if (typeof size !== 'number') throw refuse('a number', 'ERR_INVALID_ARG_TYPE', TypeError);
    if (!Number.isSafeInteger(size)) throw refuse('a safe integer', 'ERR_OUT_OF_RANGE', RangeError);
    if (size < 0) throw refuse('non-negative', 'ERR_OUT_OF_RANGE', RangeError);
  }
  const error = natives.initCodec(streamOf(handle), parameters, dictionary, size, reject);
  if (error !== undefined) throw coded(handle.init, 'ERR_ZLIB_INITIALIZATION_FAILED', error[0]);
  remember(handle, state, callback);
}

return {
  __proto__: null,
  Zlib: class Zlib extends Stream {
    constructor(mode) { super(natives.createZlib(mode)); }
    params(level, strategy) { report(this, natives.params(streamOf(this), level, strategy)); }
    init(windowBits, level, memLevel, strategy, state, callback, dictionary, reject) {
      natives.initZlib(streamOf(this), windowBits, level, memLevel, strategy, dictionary, reject);
      remember(this, state, callback);
    }
  },
  BrotliEncoder: class BrotliEncoder extends Stream {
    constructor() { super(natives.createCodec(0)); }
    init(parameters, state, callback, dictionary) { initBrotli(this, parameters, state, callback, dictionary); }
  },
  BrotliDecoder: class BrotliDecoder extends Stream {
    constructor() { super(natives.createCodec(1)); }
    init(parameters, state, callback, dictionary) { initBrotli(this, parameters, state, callback, dictionary); }
  },
  ZstdCompress: class ZstdCompress extends Stream {
    constructor() { super(natives.createCodec(2)); }
    init(parameters, size, state, callback, dictionary, reject) {
      initZstd(this, parameters, size, state, callback, dictionary, reject);
    }
  },
  ZstdDecompress: class ZstdDecompress extends Stream {
    constructor() { super(natives.createCodec(3)); }
    init(parameters, size, state, callback, dictionary, reject) {
      initZstd(this, parameters, size, state, callback, dictionary, reject);
    }
  },
  crc32: natives.crc32,
  ZLIB_VERSION: read('table/zlib').ZLIB_VERSION.v,
};
