// zlib, brotli and zstd: every format in every manner, and what is wrong with bad data.
'use strict';

const COMMON = `
const zlib = require('node:zlib');
const { Readable, Writable, PassThrough, pipeline } = require('node:stream');
const { promisify } = require('node:util');
const C = zlib.constants;
const FORMATS = [['gzip', 'gunzip', 'Gzip', 'Gunzip'], ['deflate', 'inflate', 'Deflate', 'Inflate'],
  ['deflateRaw', 'inflateRaw', 'DeflateRaw', 'InflateRaw'], ['gzip', 'unzip', 'Gzip', 'Unzip'],
  ['brotliCompress', 'brotliDecompress', 'BrotliCompress', 'BrotliDecompress'],
  ['zstdCompress', 'zstdDecompress', 'ZstdCompress', 'ZstdDecompress']];
const text = (size) => { let s = '', n = 1; while (s.length < size) { n = (n * 48271) % 2147483647; s += n.toString(36) + ' the same words again '; } return s.slice(0, size); };
const noise = (size) => { const b = Buffer.alloc(size); let n = 7; for (let i = 0; i < size; i++) { n = (n * 48271) % 2147483647; b[i] = n >> 8; } return b; };
const sum = (bytes) => bytes.length + ':' + zlib.crc32(bytes).toString(16);
const attempt = (name, f) => { try { const r = f(); console.log(name, Buffer.isBuffer(r) ? sum(r) : r); } catch (e) { console.log(name, e.name, e.code, e.errno, e.message, Object.keys(e)); } };
const later = (name, f) => new Promise((done) => f((e, r) => { console.log(name, e ? [e.name, e.code, e.errno, e.message] : Buffer.isBuffer(r) ? sum(r) : r); done(); }));
/** All that a stream does with these pieces; a function is called with the stream. */
const watch = (name, stream, pieces) => new Promise((done) => {
  const log = [];
  stream.setMaxListeners(0);
  stream.on('data', (d) => log.push('data ' + sum(d))).on('end', () => log.push('end')).on('finish', () => log.push('finish'));
  stream.on('error', (e) => log.push('error ' + e.code + ' ' + e.errno + ' ' + e.message)).on('close', () => { log.push('close ' + stream.bytesWritten); console.log(name, log.join(', ')); done(); });
  (async () => {
    for (const piece of pieces) {
      if (stream.destroyed || stream.writableEnded) return;
      await new Promise((next) => { stream.once('close', next); if (typeof piece === 'function') piece(stream, next); else stream.write(piece, next); });
    }
    if (!stream.destroyed) stream.end();
  })();
});
`;

const one = (name, code, argv = []) => [name, { 'main.js': `${COMMON}\n(async () => {\n${code}\n})();` }, [...argv, 'main.js']];

module.exports = [
  one('sync, every format', `for (const [c, d] of FORMATS) for (const input of ['', 'x', text(100), text(100000), noise(70000), Buffer.alloc(300000)]) {
    const packed = zlib[c + 'Sync'](input); const back = zlib[d + 'Sync'](packed);
    console.log(c, d, sum(packed), Buffer.from(input).equals(back)); }`),
  one('callbacks, every format', `for (const [c, d] of FORMATS) for (const input of [Buffer.alloc(0), Buffer.from('x'), Buffer.from(text(100000)), noise(70000)])
    await new Promise((done) => zlib[c](input, (e, packed) => zlib[d](packed, (e2, back) => { console.log(c, e, sum(packed), d, e2, input.equals(back)); done(); })));`),
  one('promises, every format', `for (const [c, d] of FORMATS) { const packed = await promisify(zlib[c])(text(5000)); console.log(c, sum(packed), sum(await promisify(zlib[d])(packed)));
    await promisify(zlib[d])(Buffer.from('certainly not this')).catch((e) => console.log(d, e.code, e.errno, e.message)); }`),
  one('streams, every format', `for (const [, , c, d] of FORMATS) { const parts = [text(1000), text(70000), noise(40000), 'z'];
    await watch(c, zlib['create' + c](), parts);
    const packed = []; for await (const p of Readable.from(parts).pipe(zlib['create' + c]())) packed.push(p);
    await watch(d, zlib['create' + d](), [Buffer.concat(packed)]);
    await watch(d + ' in bytes', zlib['create' + d]({ chunkSize: 1000 }), [...Buffer.concat(packed).subarray(0, 200)].map((b) => Buffer.from([b]))); }`),
  one('what input may be', `const bytes = Buffer.from(text(64)); const copy = new Uint8Array(bytes).buffer;
    for (const input of [bytes, new Uint8Array(copy), new Uint16Array(copy), new DataView(copy, 8, 16), copy, new SharedArrayBuffer(64), text(64), 'héllo €', new Uint8Array(new ArrayBuffer(64, { maxByteLength: 128 })), new Float64Array([1, 2]), new Uint8Array(3)]) {
      attempt('sync', () => zlib.deflateRawSync(input)); await later('async', (cb) => zlib.deflateRaw(input, cb)); }
    for (const input of [undefined, null, 5, {}, [], true, Symbol('s'), () => {}]) { attempt('bad', () => zlib.gzipSync(input)); try { zlib.gzip(input, () => console.log('called')).on('error', () => {}); } catch (e) { console.log(e.code, e.message); } }
    attempt('no callback', () => zlib.gzip('x')); attempt('callback', () => zlib.gzip('x', {}, 5));`),
  one('levels', `const input = text(60000); for (let level = -1; level <= 9; level++) for (const c of ['gzip', 'deflate', 'deflateRaw']) attempt(c + level, () => zlib[c + 'Sync'](input, { level }));
    for (const level of [-2, 10, 1.5, NaN, '5', null, Infinity]) attempt(String(level), () => zlib.gzipSync('x', { level }));`),
  one('windows, memory, strategies', `const input = text(60000);
    for (const windowBits of [7, 8, 9, 12, 15, 16, 0, null, undefined]) for (const c of ['gzip', 'deflate', 'deflateRaw']) attempt(c + windowBits, () => zlib[c + 'Sync'](input, { windowBits }));
    for (const memLevel of [0, 1, 5, 9, 10]) attempt('memLevel ' + memLevel, () => zlib.deflateSync(input, { memLevel }));
    for (let strategy = -1; strategy <= 5; strategy++) attempt('strategy ' + strategy, () => zlib.deflateSync(input, { strategy }));
    const wide = zlib.deflateSync(input); attempt('too narrow', () => zlib.inflateSync(wide, { windowBits: 9 })); attempt('by the header', () => zlib.inflateSync(wide, { windowBits: 0 })); attempt('raw by the header', () => zlib.inflateRawSync(wide, { windowBits: 0 }));`),
  one('bad options', `for (const [, , c, d] of FORMATS) for (const o of [{ chunkSize: 63 }, { chunkSize: 'x' }, { chunkSize: NaN }, { chunkSize: 64 }, { flush: 99 }, { flush: -1 }, { finishFlush: 'no' }, { finishFlush: 7 }, { maxOutputLength: 0 }, { maxOutputLength: 'many' }, { dictionary: 'text' }, { dictionary: 5 }, { rejectGarbageAfterEnd: 1 }, { encoding: 'utf8', objectMode: true }, { params: { 999: 1 } }, { params: { x: 1 } }, { params: { 1: 'x' } }, null])
    for (const name of [c, d]) attempt(name + ' ' + JSON.stringify(o), () => typeof zlib['create' + name](o));`),
  one('dictionaries', `const dictionary = Buffer.from('the same words again and again, these words'); const input = 'these words again, and the same again';
    for (const [c, d] of FORMATS) { attempt(c, () => zlib[c + 'Sync'](input, { dictionary })); const packed = zlib[c + 'Sync'](input, { dictionary });
      attempt(d, () => zlib[d + 'Sync'](packed, { dictionary }).toString()); attempt(d + ' without', () => zlib[d + 'Sync'](packed).length); attempt(d + ' wrong', () => zlib[d + 'Sync'](packed, { dictionary: Buffer.from('others') }).length);
      await later(d + ' later', (cb) => zlib[d](packed, { dictionary }, cb)); await later(d + ' later without', (cb) => zlib[d](packed, (e, r) => cb(e, r?.length)));
      attempt(c + ' empty', () => zlib[c + 'Sync'](input, { dictionary: Buffer.alloc(0) })); attempt(c + ' view', () => zlib[c + 'Sync'](input, { dictionary: new Uint16Array(new Uint8Array(dictionary.subarray(0, 20)).buffer) })); attempt(c + ' buffer', () => zlib[c + 'Sync'](input, { dictionary: new Uint8Array(dictionary).buffer })); }`),
  one('a dictionary on both sides of a stream', `const dictionary = Buffer.from('hello hello world');
    for (const [c, d] of [['createDeflate', 'createInflate'], ['createDeflateRaw', 'createInflateRaw'], ['createZstdCompress', 'createZstdDecompress'], ['createBrotliCompress', 'createBrotliDecompress']]) {
      const out = []; for await (const p of Readable.from(['hello ', 'world ', 'hello']).pipe(zlib[c]({ dictionary })).pipe(zlib[d]({ dictionary }))) out.push(p); console.log(c, Buffer.concat(out).toString()); }
    await watch('missing', zlib.createInflate(), [zlib.deflateSync('hello', { dictionary })]); await watch('bad', zlib.createInflate({ dictionary: Buffer.from('no') }), [zlib.deflateSync('hello', { dictionary })]);`),
  one('flush', `for (const [, , c] of FORMATS) { await watch(c, zlib['create' + c](), [text(500), (s, next) => s.flush(next), text(300), (s, next) => s.flush(1, next), 'x', (s, next) => { s.flush(); next(); }, 'y']); }
    for (const kind of [C.Z_NO_FLUSH, C.Z_PARTIAL_FLUSH, C.Z_SYNC_FLUSH, C.Z_FULL_FLUSH, C.Z_FINISH, C.Z_BLOCK]) await watch('deflate ' + kind, zlib.createDeflate(), [text(500), (s, next) => s.flush(kind, next)]);
    await watch('after the end', zlib.createGzip(), ['a', (s, next) => { s.end(); s.flush(() => { console.log('flushed'); next(); }); }]);
    for (const kind of [-1, 6, 'x', 1.5, {}]) attempt(String(kind), () => zlib.createGzip().flush(kind));`),
  one('flush and finishFlush as options', `for (const flush of [0, 1, 2, 3, 4, 5]) { await watch('flush ' + flush, zlib.createDeflateRaw({ flush }), ['hello', 'world']); attempt('finishFlush ' + flush, () => zlib.deflateRawSync('hello world', { finishFlush: flush })); }
    const half = zlib.gzipSync(text(1000)).subarray(0, 200); attempt('half', () => zlib.gunzipSync(half)); attempt('half, wanted', () => zlib.gunzipSync(half, { finishFlush: C.Z_SYNC_FLUSH }));
    const br = zlib.brotliCompressSync(text(1000)).subarray(0, 200); attempt('half', () => zlib.brotliDecompressSync(br)); attempt('half, wanted', () => zlib.brotliDecompressSync(br, { finishFlush: C.BROTLI_OPERATION_FLUSH }));
    const zs = zlib.zstdCompressSync(noise(1000)).subarray(0, 200); attempt('half', () => zlib.zstdDecompressSync(zs)); attempt('half, wanted', () => zlib.zstdDecompressSync(zs, { finishFlush: C.ZSTD_e_flush }));`),
  one('input that ends too early', `for (const [c, d, , D] of FORMATS) { const packed = zlib[c + 'Sync'](text(3000)); for (const at of [0, 1, 2, 5, 10, 100, packed.length - 1]) { attempt(d + at, () => zlib[d + 'Sync'](packed.subarray(0, at))); await later(d + at, (cb) => zlib[d](packed.subarray(0, at), cb)); await watch(D + at, zlib['create' + D](), [packed.subarray(0, at)]); } }`),
  one('data that is bad', `for (const [c, d] of FORMATS) { const packed = zlib[c + 'Sync'](text(3000)); for (const at of [0, 1, 2, 3, 8, 12, 40, packed.length - 5, packed.length - 1]) { const bad = Buffer.from(packed); bad[at] ^= 0xff; attempt(d + at, () => sum(zlib[d + 'Sync'](bad))); await later(d + at, (cb) => zlib[d](bad, cb)); } }
    for (const [, d] of FORMATS) for (const junk of ['junk', '\\x1f', '\\x1f\\x8b', 'x'.repeat(1000), Buffer.alloc(100), Buffer.alloc(100, 255)]) attempt(d, () => zlib[d + 'Sync'](typeof junk === 'string' ? Buffer.from(junk, 'latin1') : junk));`),
  one('what follows a stream', `const tails = { zeros: Buffer.alloc(5), junk: Buffer.from('some junk'), one: Buffer.from([0x1f]), two: Buffer.from([0x1f, 0x8b]), 'zero and junk': Buffer.from('\\0junk') };
    for (const rejectGarbageAfterEnd of [undefined, false, true]) for (const [c, d, , D] of FORMATS) { const packed = zlib[c + 'Sync']('hello');
      for (const [name, tail] of Object.entries(tails)) { const all = Buffer.concat([packed, tail]); attempt(d + ' ' + name, () => zlib[d + 'Sync'](all, { rejectGarbageAfterEnd })); await later(d, (cb) => zlib[d](all, { rejectGarbageAfterEnd }, cb));
        await watch(D, zlib['create' + D]({ rejectGarbageAfterEnd }), [all]); await watch(D + ' later', zlib['create' + D]({ rejectGarbageAfterEnd }), [packed, tail]); } }`),
  one('members one after another', `for (const [c, d, , D] of FORMATS) { const a = zlib[c + 'Sync']('hello '); const b = zlib[c + 'Sync'](text(50000)); for (const all of [[a, b], [b, a], [a, a, a], [a, Buffer.alloc(3), b]]) {
      attempt(d, () => zlib[d + 'Sync'](Buffer.concat(all))); await watch(D, zlib['create' + D](), all); await watch(D + ' split', zlib['create' + D](), [Buffer.concat(all).subarray(0, a.length + 2), Buffer.concat(all).subarray(a.length + 2)]); await watch(D + ' rejected', zlib['create' + D]({ rejectGarbageAfterEnd: true }), all); } }`),
  one('errors of a stream, and after them', `const s = zlib.createGunzip(); const log = []; s.on('error', (e) => { log.push(e.code); console.log(e instanceof Error, e.name, e, s.destroyed, s._closed); }); s.on('close', () => { console.log('close', log); s.write('x', (e) => console.log('write', e?.code)); s.flush(() => console.log('flushed')); attempt('reset', () => s.reset()); s.close(() => console.log('closed')); }); s.write(Buffer.from('this is no gzip')); s.end();`),
  one('an error that nobody handles', `zlib.createInflate().end('not deflated');`),
  one('an error that is thrown in a callback', `zlib.gzip('x', () => { throw new Error('mine'); });`),
  one('reset', `for (const [, , c, d] of FORMATS) { await watch(c, zlib['create' + c](), ['hello', (s, next) => s.flush(next), (s, next) => { s.reset(); next(); }, 'world']); }
    for (const [c, , , D] of FORMATS) await watch(D, zlib['create' + D](), [zlib[c + 'Sync']('hello').subarray(0, 7), (s, next) => { s.reset(); next(); }, zlib[c + 'Sync']('world')]);
    await watch('at the start', zlib.createDeflate({ dictionary: Buffer.from('world') }), [(s, next) => { s.reset(); next(); }, 'world']);
    await watch('zstd keeps what it was told', zlib.createZstdCompress({ params: { [C.ZSTD_c_compressionLevel]: 19, [C.ZSTD_c_checksumFlag]: 1 } }), ['a', (s, next) => s.flush(next), (s, next) => { s.reset(); next(); }, text(3000)]);
    await watch('brotli does not', zlib.createBrotliCompress({ params: { [C.BROTLI_PARAM_QUALITY]: 1 }, dictionary: Buffer.from(text(300)) }), ['a', (s, next) => s.flush(next), (s, next) => { s.reset(); next(); }, text(3000)]);`),
  one('params', `await watch('deflate', zlib.createDeflate({ level: 9 }), [text(5000), (s, next) => s.params(0, C.Z_DEFAULT_STRATEGY, next), text(5000), (s, next) => s.params(5, C.Z_HUFFMAN_ONLY, next), text(5000)]);
    await watch('gzip', zlib.createGzip({ level: 9 }), [text(5000), (s, next) => s.params(0, 0, next), text(5000)]); await watch('inflate', zlib.createInflate(), [(s, next) => s.params(1, 1, next), zlib.deflateSync('x')]);
    await watch('the same', zlib.createDeflate(), [(s, next) => s.params(-1, 0, (e) => { console.log('same', e); next(); }), 'x']);
    for (const [l, s] of [[-2, 0], [10, 0], [1, 5], [1, -1], ['1', 0], [1]]) attempt([l, s].join(), () => zlib.createDeflate().params(l, s, () => {}));
    const closed = zlib.createDeflate(); closed.params(0, 0, (e) => console.log('closed', e?.code)); closed.destroy();`),
  one('bytesWritten', `for (const [c, d, C2, D] of FORMATS) { const s = zlib['create' + C2](); s.resume(); s.write(text(1000)); s.write('abc'); s.end(); await new Promise((done) => s.on('end', done)); console.log(C2, s.bytesWritten);
      const packed = zlib[c + 'Sync'](text(5000)); const u = zlib['create' + D](); u.resume(); u.end(Buffer.concat([packed, Buffer.from('junk')].slice(0, c === 'gzip' ? 1 : 2))); await new Promise((done) => u.on('end', done)); console.log(D, u.bytesWritten === packed.length); }`),
  one('info', `for (const [c, d] of FORMATS) { const { buffer, engine } = zlib[c + 'Sync'](text(500), { info: true }); console.log(sum(buffer), engine.constructor.name, engine.bytesWritten, engine._closed);
      const back = zlib[d + 'Sync'](buffer, { info: true }); console.log(back.buffer.length, back.engine.constructor.name, back.engine.bytesWritten); await later(c, (cb) => zlib[c]('abc', { info: true }, (e, r) => cb(e, [r.buffer.length, r.engine.bytesWritten, Object.keys(r)]))); }`),
  one('maxOutputLength', `for (const [c, d] of FORMATS) { const packed = zlib[c + 'Sync'](Buffer.alloc(100000)); for (const maxOutputLength of [1, 64, 16384, 99999, 100000]) { attempt(d, () => zlib[d + 'Sync'](packed, { maxOutputLength })); await later(d, (cb) => zlib[d](packed, { maxOutputLength }, cb)); } attempt(c, () => zlib[c + 'Sync'](noise(1000), { maxOutputLength: 100 })); }`),
  one('chunk sizes', `const input = text(20000); for (const [c, d, C2, D] of FORMATS) for (const chunkSize of [64, 1000, 8192, 65536, 1 << 20]) { const packed = zlib[c + 'Sync'](input, { chunkSize }); console.log(c, chunkSize, sum(packed), sum(zlib[d + 'Sync'](packed, { chunkSize }))); await watch(D, zlib['create' + D]({ chunkSize }), [packed]); }`),
  one('crc32', `for (const data of ['', 'hello', 'héllo €', Buffer.from('hello'), new Uint16Array([1, 2]), new DataView(new ArrayBuffer(4)), text(10000), noise(100000), '\\ud800']) { attempt('crc', () => zlib.crc32(data)); attempt('from', () => zlib.crc32(data, 4294967295)); }
    console.log(zlib.crc32(' world', zlib.crc32('hello')) === zlib.crc32('hello world'), zlib.crc32('', -0)); for (const [a, b] of [[5], [undefined], [new ArrayBuffer(3)], ['x', -1], ['x', 1.5], ['x', 2 ** 32], ['x', 'y'], ['x', null]]) attempt('bad', () => zlib.crc32(a, b));`),
  one('closing', `for (const [, , c, d] of FORMATS) for (const name of [c, d]) { const s = zlib['create' + name](); s.on('close', () => console.log('event', name)); s.close(() => console.log('closed', name)); s.close(); s.close(() => console.log('again', name)); await new Promise((done) => setTimeout(done, 5)); console.log(s.destroyed, s._closed, s._handle); s.close((e) => console.log('late', e?.code)); s.destroy(); attempt('reset', () => s.reset()); }`),
  one('closing while it works', `for (const [, , c] of FORMATS) { const s = zlib['create' + c](); s.on('error', (e) => console.log('error', e.code)); s.on('close', () => console.log('close', c)); await new Promise((done) => { s.write(noise(200000), (e) => { console.log('written', c, e?.code); done(); }); s.close(() => console.log('closed', c)); }); }
    const s = zlib.createGzip(); s.on('error', (e) => console.log(e.message)); s.write(text(100000), () => console.log('written')); s.destroy(new Error('mine'));`),
  one('brotli: parameters', `const input = text(20000); for (let quality = 0; quality <= 11; quality++) for (const lgwin of [10, 16, 22, 24]) attempt(quality + ' ' + lgwin, () => zlib.brotliCompressSync(input, { params: { [C.BROTLI_PARAM_QUALITY]: quality, [C.BROTLI_PARAM_LGWIN]: lgwin } }));
    for (const mode of [C.BROTLI_MODE_GENERIC, C.BROTLI_MODE_TEXT, C.BROTLI_MODE_FONT, 9]) attempt('mode ' + mode, () => zlib.brotliCompressSync(input, { params: { [C.BROTLI_PARAM_MODE]: mode } }));
    for (const [k, v] of [['LGBLOCK', 18], ['SIZE_HINT', 20000], ['DISABLE_LITERAL_CONTEXT_MODELING', true], ['NPOSTFIX', 2], ['NDIRECT', 15], ['LARGE_WINDOW', 1], ['LGWIN', 99], ['QUALITY', 99], ['QUALITY', -5]]) attempt(k + v, () => zlib.brotliCompressSync(input, { params: { [C['BROTLI_PARAM_' + k]]: v } }));
    for (const params of [{ [C.BROTLI_DECODER_PARAM_LARGE_WINDOW]: true }, { [C.BROTLI_DECODER_PARAM_DISABLE_RING_BUFFER_REALLOCATION]: true }, { 5: 1 }, { [-1]: 1 }, { x: 1 }]) attempt(JSON.stringify(params), () => zlib.brotliDecompressSync(zlib.brotliCompressSync('hello'), { params }).toString());`),
  one('zstd: parameters', `const input = text(20000); for (const level of [-100, -1, 0, 1, 3, 5, 9, 15, 19, 22, 99]) attempt('level ' + level, () => zlib.zstdCompressSync(input, { params: { [C.ZSTD_c_compressionLevel]: level } }));
    for (const [k, v] of [['windowLog', 10], ['windowLog', 99], ['hashLog', 6], ['chainLog', 20], ['searchLog', 3], ['minMatch', 3], ['targetLength', 100], ['strategy', C.ZSTD_btultra2], ['strategy', 99], ['enableLongDistanceMatching', 1], ['ldmHashLog', 10], ['contentSizeFlag', 0], ['checksumFlag', true], ['dictIDFlag', 0], ['checksumFlag', 5]]) attempt(k + v, () => { const p = zlib.zstdCompressSync(input, { params: { [C['ZSTD_c_' + k]]: v } }); return sum(p) + sum(zlib.zstdDecompressSync(p)); });
    const wide = zlib.zstdCompressSync(input, { params: { [C.ZSTD_c_windowLog]: 14, [C.ZSTD_c_contentSizeFlag]: 0 } }); for (const max of [10, 14, 99]) attempt('windowLogMax ' + max, () => zlib.zstdDecompressSync(wide, { params: { [C.ZSTD_d_windowLogMax]: max } }));
    const sealed = zlib.zstdCompressSync(input, { params: { [C.ZSTD_c_checksumFlag]: 1 } }); sealed[sealed.length - 1] ^= 1; attempt('checksum', () => zlib.zstdDecompressSync(sealed)); for (const params of [{ 7: 1 }, { x: 1 }, { 100: 'x' }]) attempt(JSON.stringify(params), () => zlib.zstdCompressSync('x', { params }));`),
  one('zstd: pledged sizes', `for (const pledgedSrcSize of [0, 4, 5, 6, -1, 1.5, NaN, Infinity, '5', null, 2 ** 60]) { attempt(String(pledgedSrcSize), () => zlib.zstdCompressSync('hello', { pledgedSrcSize })); await later(String(pledgedSrcSize), (cb) => { try { zlib.zstdCompress('hello', { pledgedSrcSize }, cb); } catch (e) { cb(e); } }); }
    for (const pledgedSrcSize of [4, 10, 11]) { await watch(pledgedSrcSize, zlib.createZstdCompress({ pledgedSrcSize }), ['hello', 'world']); await watch(pledgedSrcSize, zlib.createZstdCompress({ pledgedSrcSize }), ['hello', (s, next) => s.flush(next), 'world']); }`),
  one('a pipeline of 5 MB', `const { createHash } = require('node:stream'); for (const [, , c, d] of FORMATS) { let left = 50, crc = 0, size = 0; const source = new Readable({ read() { this.push(left-- > 0 ? (left % 2 ? noise(102400) : Buffer.from(text(102400))) : null); } });
      const params = c === 'BrotliCompress' ? { params: { [C.BROTLI_PARAM_QUALITY]: 4 } } : {};
      await require('node:stream/promises').pipeline(source, zlib['create' + c](params), new PassThrough(), zlib['create' + d](), new Writable({ write(p, e, cb) { crc = zlib.crc32(p, crc); size += p.length; cb(); } })); console.log(c, size, crc); }`),
  one('files through streams', `const fs = require('node:fs'); fs.writeFileSync('a', text(300000)); const { pipeline } = require('node:stream/promises');
    await pipeline(fs.createReadStream('a'), zlib.createGzip(), fs.createWriteStream('a.gz')); await pipeline(fs.createReadStream('a.gz'), zlib.createGunzip(), fs.createWriteStream('b')); console.log(fs.statSync('a.gz').size, fs.readFileSync('a').equals(fs.readFileSync('b')));
    await pipeline(fs.createReadStream('a'), zlib.createInflate(), fs.createWriteStream('c')).catch((e) => console.log(e.code, e.message));`),
  one('200 jobs at once', `const all = await Promise.all(Array.from({ length: 200 }, (_, i) => { const [c, d] = FORMATS[i % FORMATS.length]; const input = Buffer.from(text(1000 + i * 10)); return promisify(zlib[c])(input).then(promisify(zlib[d])).then((back) => back.equals(input)); })); console.log(all.length, all.every(Boolean));`),
  one('the process stays for its jobs', `zlib.deflate(text(1000), (e, r) => { console.log('deflated', sum(r)); zlib.inflate(r, () => console.log('inflated')); }); process.on('exit', (code) => console.log('exit', code)); process.on('beforeExit', () => console.log('before')); setImmediate(() => console.log('immediate'));`),
  one('nothing stays for a stream that waits', `const s = zlib.createGzip(); s.on('data', () => console.log('data')); process.on('exit', () => console.log('exit', s.destroyed));`),
  one('async context', `const { AsyncLocalStorage, executionAsyncId } = require('node:async_hooks'); const als = new AsyncLocalStorage();
    als.run('made', () => { const s = zlib.createGzip(); als.run('written', () => s.write('x', () => console.log('write', als.getStore()))); s.on('data', () => console.log('data', als.getStore())); als.run('ended', () => s.end(() => console.log('end', als.getStore()))); s.on('close', () => zlib.gzip('x', () => console.log('gzip', als.getStore()))); });
    als.run('promise', async () => { await promisify(zlib.brotliCompress)('x'); await promisify(setTimeout)(20); console.log(als.getStore()); });`),
  one('ticks and microtasks behind each callback', `for (let i = 0; i < 3; i++) zlib.gzip('x', () => { console.log('job'); process.nextTick(() => console.log('tick')); Promise.resolve().then(() => console.log('microtask')); });`),
  one('constants, codes, members', `console.log(C, zlib.codes, Object.keys(zlib), Object.isFrozen(zlib.codes)); attempt('frozen', () => { 'use strict'; zlib.constants.Z_OK = 5; return zlib.constants.Z_OK; }); console.log(zlib.Z_BEST_SPEED, zlib.Z_DATA_ERROR, typeof zlib.BROTLI_DECODE, process.versions.zlib);`),
  one('classes and what they look like', `for (const [, , c, d] of FORMATS) for (const name of [c, d]) { const s = zlib['create' + name](); console.log(s instanceof zlib[name], Object.keys(s).join(), s._handle.constructor.name, Object.keys(s._handle).join()); }
    console.log(zlib.createDeflate({ level: 3 }), zlib.createZstdDecompress()); console.log(zlib.Gzip() instanceof zlib.Gzip); attempt('class', () => zlib.ZstdCompress());`),
  one('readable in every manner', `const packed = zlib.gzipSync(text(100000)); const s = zlib.createGunzip({ encoding: 'utf8' }); s.end(packed); let out = ''; for await (const p of s) out += p; console.log(out.length, out === text(100000));
    const t = zlib.createGunzip(); t.end(packed); await new Promise((done) => t.on('readable', () => { let p; while ((p = t.read(5000)) !== null) console.log(p.length); }).on('end', done)); const u = zlib.createGunzip({ highWaterMark: 10, readableHighWaterMark: 20 }); u.setEncoding('hex'); u.end(packed); console.log((await u.toArray()).join('').length); u.on('close', () => {});`),
  one('compression of the web', `for (const format of ['gzip', 'deflate', 'deflate-raw', 'brotli']) { const c = new CompressionStream(format); const w = c.writable.getWriter(); w.write(Buffer.from(text(50000))); w.close(); const parts = []; for await (const p of c.readable) parts.push(p); const packed = Buffer.concat(parts); console.log(format, sum(packed));
      const d = new DecompressionStream(format); const dw = d.writable.getWriter(); dw.write(packed).catch(() => {}); dw.close().catch(() => {}); let n = 0; for await (const p of d.readable) n += p.length; console.log(n);
      const bad = new DecompressionStream(format); const bw = bad.writable.getWriter(); bw.write(Buffer.from('this is certainly bad')).catch((e) => console.log('write', e.name)); bw.close().catch((e) => console.log('close', e.name)); try { for await (const p of bad.readable) n += p.length; console.log('none'); } catch (e) { console.log(e.name, e.code); } }
    try { new CompressionStream('zip'); } catch (e) { console.log(e.name, e.code, e.message); }`),
  one('modules', `const m = await import('node:zlib'); console.log(Object.keys(m).length, m.default === zlib, m.gzipSync === zlib.gzipSync, require('zlib') === zlib); console.log(sum(m.gunzipSync(m.gzipSync('x'))));`),
  one('what differs by who changed Array', `Array.prototype[Symbol.iterator] = () => { throw new Error('changed'); }; Array.prototype.push = undefined; const r = zlib.gunzipSync(zlib.gzipSync('hello')); console.log(r.length);`),
];
