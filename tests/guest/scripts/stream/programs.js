// Streams of Node.
'use strict';

const { program, module_program } = require('../../table.js');

module.exports = [
  program('Readable: modes, events, methods', async () => {
    const { Readable } = require('stream');
    const r = new Readable({ read(n) { this.push(this.i < 3 ? `c${this.i = (this.i ?? 0) + 1}` : this.i === undefined ? `c${this.i = 1}` : null); }, highWaterMark: 4 });
    for (const e of ['data', 'end', 'close', 'pause', 'resume']) r.on(e, (d) => console.log(e, d === undefined ? '' : String(d)));
    await new Promise((done) => r.on('close', done));
    const q = new Readable({ read() {} }); q.push('abcdef'); q.push(null); q.on('readable', () => { let c; while ((c = q.read(4)) !== null) console.log('read', String(c), q.readableLength); }); await new Promise((done) => q.on('end', done));
    const p = new Readable({ read() {}, encoding: 'utf8' }); p.push(Buffer.from([0xe2, 0x82])); p.push(Buffer.from([0xac])); p.push(null); for await (const x of p) console.log(x);
    const u = new Readable({ read() {} }); u.push('b'); u.unshift('a'); console.log(String(u.read()), u.readableFlowing, u.isPaused(), u.readableEnded, u.destroyed, u.readableHighWaterMark, u.readableObjectMode, u.readableEncoding); u.destroy();
  }),
  program('Readable.from and operators', async () => {
    const { Readable } = require('stream');
    const r = () => Readable.from([1, 2, 3, 4, 5]);
    await later(() => r().map((x) => x * 2).filter((x) => x > 2).toArray(), () => r().take(2).toArray(), () => r().drop(3).toArray(), () => r().reduce((a, b) => a + b), () => r().reduce((a, b) => a + b, 10), () => r().some((x) => x > 4), () => r().every((x) => x > 4), () => r().find((x) => x > 2), () => r().flatMap((x) => [x, x]).toArray(), () => r().forEach((x) => { if (x === 3) throw new Error('three'); }), () => r().map(async (x) => x, { concurrency: 2 }).toArray(), () => Readable.from('text').toArray(), () => Readable.from(Buffer.from('b')).toArray(), () => Readable.from((async function* () { yield 'a'; throw new Error('gen'); })()).toArray(), () => Readable.from([null]).toArray(), () => Readable.from(5), () => r().compose(async function* (s) { for await (const x of s) yield `${x}!`; }).toArray(), () => Readable.from([]).reduce((a) => a), () => r().take(-1), () => r().map(5));
    for await (const x of r().iterator({ destroyOnReturn: false })) { console.log(x); break; }
  }),
  program('Writable: back-pressure, cork, final, errors', async () => {
    const { Writable } = require('stream');
    const w = new Writable({ highWaterMark: 3, write(c, e, cb) { console.log('write', String(c), e); setImmediate(cb); }, final(cb) { console.log('final'); cb(); } });
    for (const e of ['drain', 'finish', 'close', 'pipe']) w.on(e, () => console.log(e));
    console.log(w.write('ab'), w.write('cd'), w.writableLength, w.writableNeedDrain); w.end('ef', () => console.log('ended')); console.log(w.writableEnded, w.writableFinished);
    await new Promise((d) => w.on('close', d));
    const v = new Writable({ decodeStrings: false, writev(chunks, cb) { console.log('writev', chunks.map((c) => [c.chunk, c.encoding])); cb(); } }); v.cork(); v.write('1'); v.write('32', 'hex'); v.uncork(); v.setDefaultEncoding('latin1'); v.write('é'); v.end(); await new Promise((d) => v.on('finish', d));
    const x = new Writable({ write(c, e, cb) { cb(new Error('bad write')); } }); x.on('error', (e) => console.log('error', e.message)); x.write('a', (e) => console.log('callback', e.message)); await new Promise((d) => x.on('close', d)); console.log(x.errored.message);
    x.write('later', (e) => console.log(e.code));
    const y = new Writable({ write(c, e, cb) { cb(); } }); y.on('error', (e) => console.log(e.code, e.message)); y.end(); y.write('after'); attempt(() => y.write(null), () => y.write(5), () => y.setDefaultEncoding('nope'), () => new Writable().write('x'), () => new Writable({ highWaterMark: -1 }), () => y.write('a', 'nope'));
  }),
  program('Duplex, Transform, PassThrough', async () => {
    const { Duplex, Transform, PassThrough, Readable } = require('stream');
    const t = new Transform({ transform(c, e, cb) { this.push(String(c).toUpperCase()); cb(null, '-'); }, flush(cb) { cb(null, 'END'); } }); t.write('a'); t.end('b'); console.log(await t.setEncoding('utf8').toArray());
    const d = new Duplex({ read() { this.push('r'); this.push(null); }, write(c, e, cb) { console.log('w', String(c)); cb(); }, allowHalfOpen: false }); d.write('x'); d.on('end', () => console.log('end')).on('finish', () => console.log('finish')).resume(); await new Promise((done) => d.on('close', done));
    const o = new Transform({ objectMode: true, transform(c, e, cb) { c.n === 2 ? cb(new Error('two')) : cb(null, { m: c.n }); } }); o.on('data', (x) => console.log(x)).on('error', (e) => console.log(e.message)); o.write({ n: 1 }); o.write({ n: 2 }); await new Promise((done) => o.on('close', done));
    await later(() => Duplex.from(async function* (s) { for await (const c of s) yield String(c) + '?'; }).end('q').toArray(), () => Duplex.from(Promise.resolve('p')).toArray(), () => Duplex.from({ readable: Readable.from(['a']) }).toArray(), () => Duplex.from(5), () => { const [a, b] = require('stream').duplexPair(); a.end('pair'); return b.toArray(); });
    attempt(() => new Transform().write('x'), () => new PassThrough().readableHighWaterMark, () => Transform({}) instanceof Transform);
  }),
  program('pipeline, finished, addAbortSignal', async () => {
    const { pipeline, finished, addAbortSignal, Readable, PassThrough, Writable } = require('stream'); const p = require('stream/promises');
    const sink = () => new Writable({ write(c, e, cb) { cb(); } });
    pipeline(Readable.from(['a']), new PassThrough(), sink(), (e) => console.log('done', e)); pipeline(Readable.from((function* () { yield 'a'; throw new Error('source'); })()), sink(), (e) => console.log(e.message));
    await later(() => p.pipeline(Readable.from(['a', 'b']), async function* (s) { for await (const c of s) yield `${c}${c}`; }, async (s) => { let all = ''; for await (const c of s) all += c; return all; }), () => p.pipeline(Readable.from(['x']), sink(), { end: false }), () => p.pipeline(new PassThrough(), sink(), { signal: AbortSignal.abort() }), () => p.pipeline('abc', async (s) => { const r = []; for await (const c of s) r.push(c); return r; }), () => p.pipeline(Readable.from([])), () => p.pipeline());
    const r = new PassThrough(); finished(r, (e) => console.log('finished', e?.code)); r.destroy(); await later(() => p.finished(r), () => { const x = new PassThrough(); x.end(); x.resume(); return p.finished(x); }, () => p.finished(5));
    const c = new AbortController(); const s = addAbortSignal(c.signal, new PassThrough()); s.on('error', (e) => console.log(e.name, e.code)); c.abort(new Error('reason')); attempt(() => addAbortSignal(5, s), () => addAbortSignal(c.signal, 5), () => pipeline(s));
  }),
  program('pipe, unpipe, errors in pipes', async () => {
    const { PassThrough, Readable } = require('stream');
    const a = new PassThrough(), b = new PassThrough(), c = new PassThrough(); b.on('pipe', (s) => console.log('pipe', s === a)).on('unpipe', () => console.log('unpipe')); a.pipe(b); a.pipe(c, { end: false }); a.write('1'); await new Promise(setImmediate); console.log(String(b.read()), String(c.read())); a.unpipe(b); a.end('2'); await new Promise(setImmediate); await new Promise(setImmediate); console.log(b.read(), String(c.read()), c.writableEnded, b.writableEnded);
    const d = new PassThrough(); d.on('error', (e) => console.log('error', e.message)); Readable.from(['x']).pipe(d).destroy(new Error('dest')); await new Promise(setImmediate);
  }),
  program('destroy, construct, autoDestroy, static tests', async () => {
    const stream = require('stream'); const { Readable, Writable } = stream;
    const r = new Readable({ construct(cb) { console.log('construct'); setImmediate(cb); }, read() { console.log('read'); this.push(null); }, destroy(e, cb) { console.log('destroy', e); cb(e); } }); r.resume(); await new Promise((d) => r.on('close', d));
    const f = new Writable({ construct(cb) { cb(new Error('no construct')); } }); f.on('error', (e) => console.log(e.message)); await new Promise((d) => f.on('close', d));
    const k = new Readable({ read() {}, autoDestroy: false, emitClose: false }); k.push(null); k.resume(); await new Promise((d) => k.on('end', d)); console.log(k.destroyed, stream.isReadable(k), stream.isErrored(f), stream.isDisturbed(k), stream.isDestroyed?.(k), Readable.isDisturbed(r), stream.isWritable(f)); k.destroy(new Error('after')); k.on('error', (e) => console.log(e.message)); await new Promise(setImmediate); await k[Symbol.asyncDispose]?.();
    attempt(() => stream.getDefaultHighWaterMark(false), () => stream.getDefaultHighWaterMark(true), () => { stream.setDefaultHighWaterMark(true, 5); return new Readable({ objectMode: true }).readableHighWaterMark; }, () => stream.setDefaultHighWaterMark(false, 'x'), () => Object.keys(stream).join(), () => stream.Stream === stream, () => stream.promises === require('stream/promises'));
    await later(async () => { for await (const x of new Readable({ read() { this.destroy(new Error('in loop')); } })); }, async () => { const s = new Readable({ read() {} }); s.destroy(); for await (const x of s); });
  }),
  program('push after EOF, bad chunks, uncaught error', () => {
    const { Readable } = require('stream'); const r = new Readable({ read() {} }); r.on('error', (e) => console.log(e.code, e.message)); r.push(null); r.push('x');
    const q = new Readable({ read() {} }); q.on('error', (e) => console.log(e.code, e.message)); q.push(5); const n = new Readable(); n.on('error', (e) => console.log(e.code)); n.read();
    setImmediate(() => { const u = new Readable({ read() {} }); u.destroy(new Error('nobody listens')); });
  }),
  program('compose; consumers', async () => {
    const { compose, Readable, PassThrough, Transform } = require('stream'); const c = require('stream/consumers');
    const s = compose(async function* (src) { for await (const x of src) yield String(x).toUpperCase(); }, new PassThrough()); s.end('abc'); await later(() => c.text(s), () => c.json(Readable.from(['{"a":', '1}'])), () => c.buffer(Readable.from(['x'])), async () => [...new Uint8Array(await c.arrayBuffer(Readable.from(['yz'])))], async () => (await c.blob(Readable.from(['b']))).size, () => c.json(Readable.from(['{'])), () => c.text(Readable.from([Buffer.from([0xc3]), Buffer.from([0xa9])])), () => c.bytes?.(Readable.from(['q'])), () => compose(5), () => compose());
  }),
  module_program('ES module', `import { Readable, pipeline } from 'node:stream'; import { pipeline as p } from 'node:stream/promises'; import * as all from 'node:stream';
const out = []; await p(Readable.from(['a', 'b']), async (s) => { for await (const x of s) out.push(x); }); console.log(out, Object.keys(all).length > 20, typeof pipeline);`),
];
