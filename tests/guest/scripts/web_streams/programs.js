// Streams of the web.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('ReadableStream', async () => {
    const r = new ReadableStream({ start(c) { c.enqueue('a'); }, pull(c) { c.enqueue('b'); c.close(); }, cancel(x) { console.log('cancel', x); } });
    console.log(r, r.locked); const reader = r.getReader(); console.log(await reader.read(), await reader.read(), await reader.read(), r.locked); await reader.closed; reader.releaseLock(); await later(() => reader.read(), () => reader.closed);
    const x = ReadableStream.from([1, 2, 3]); for await (const v of x) console.log(v); const [p, q] = ReadableStream.from(['t']).tee(); console.log(await Array.fromAsync(p), await Array.fromAsync(q));
    const e = new ReadableStream({ pull() { throw new Error('pull'); } }); await later(() => e.getReader().read()); const k = new ReadableStream({ cancel(w) { console.log('cancelled', w); } }); await k.cancel('why'); for await (const v of k.values({ preventCancel: true })) console.log(v);
    attempt(() => new ReadableStream(5), () => new ReadableStream({ type: 'x' }), () => r.getReader({ mode: 'byob' }), () => { x.getReader(); x.getReader(); }, () => new ReadableStream({}, { highWaterMark: -1 }), () => ReadableStream.from(5), () => ReadableStream.prototype.getReader.call({}));
  }),
  program('byte streams', async () => {
    const r = new ReadableStream({ type: 'bytes', autoAllocateChunkSize: 4, pull(c) { const b = c.byobRequest; b.view[0] = 7; b.view[1] = 8; b.respond(2); if (this.n = (this.n ?? 0) + 1, this.n === 3) c.close(); } });
    const reader = r.getReader({ mode: 'byob' }); const { value } = await reader.read(new Uint8Array(3)); console.log(value); const again = await reader.read(new Uint16Array(2)); console.log(again); await later(() => reader.read(new Uint8Array(0)), () => reader.read(5)); reader.releaseLock();
    const s = new ReadableStream({ type: 'bytes', start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.enqueue(Buffer.from('x')); c.close(); attempt(() => c.enqueue(new Uint8Array(1)), () => c.desiredSize); } }); console.log(await Array.fromAsync(s));
  }),
  program('WritableStream, TransformStream, pipes', async () => {
    const got = []; const w = new WritableStream({ write(c) { got.push(c); }, close() { got.push('closed'); }, abort(r) { got.push(['abort', r]); } }, new CountQueuingStrategy({ highWaterMark: 2 }));
    const writer = w.getWriter(); console.log(writer.desiredSize, w.locked); await writer.ready; writer.write(1); await writer.write(2); await writer.close(); console.log(got, w); await later(() => writer.write(3), () => writer.closed);
    const t = new TransformStream({ transform(c, k) { k.enqueue(c * 2); }, flush(k) { k.enqueue('end'); } }); console.log(await Array.fromAsync(ReadableStream.from([1, 2]).pipeThrough(t)), t);
    await later(() => ReadableStream.from(['a']).pipeTo(new WritableStream({ write() { throw new Error('sink'); } })), () => ReadableStream.from([1]).pipeTo(new WritableStream(), { signal: AbortSignal.abort('stop') }), () => ReadableStream.from([1]).pipeTo(5), () => new WritableStream().abort('x'), () => new WritableStream({ start() { throw new Error('start'); } }));
    console.log(new ByteLengthQueuingStrategy({ highWaterMark: 5 }).highWaterMark, new CountQueuingStrategy({ highWaterMark: 1 }).size(), new ByteLengthQueuingStrategy({ highWaterMark: 1 }).size(new Uint8Array(9)));
  }),
  program('text streams, and to and from Node', async () => {
    const { Readable, Writable, Duplex } = require('stream');
    console.log(await Array.fromAsync(ReadableStream.from([new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac, 0x41])]).pipeThrough(new TextDecoderStream())), await Array.fromAsync(ReadableStream.from(['é', '\ud83d', '\ude00']).pipeThrough(new TextEncoderStream())), new TextDecoderStream('latin1', { fatal: true }), new TextEncoderStream().encoding);
    console.log(await Array.fromAsync(Readable.toWeb(Readable.from(['a', 'b']))), await Readable.fromWeb(ReadableStream.from(['c'])).toArray()); const got = []; const w = Writable.toWeb(new Writable({ write(c, e, cb) { got.push(String(c)); cb(); } })).getWriter(); await w.write('x'); await w.close(); const n = Writable.fromWeb(new WritableStream({ write(c) { got.push(c); } })); n.end('y'); await new Promise((d) => n.on('finish', d)); console.log(got); const d = Duplex.fromWeb(new TransformStream()); d.end('z'); console.log(await d.toArray()); const pair = Duplex.toWeb(new (require('stream').PassThrough)()); console.log(Object.keys(pair));
    const sw = require('stream/web'); console.log(Object.keys(sw).join(), sw.ReadableStream === ReadableStream, await require('stream/consumers').text(ReadableStream.from([Buffer.from('con')])));
    await later(() => Readable.fromWeb(new ReadableStream({ start(c) { c.error(new Error('web error')); } })).toArray(), () => Readable.fromWeb(5), () => Readable.toWeb(5));
  }),
];
