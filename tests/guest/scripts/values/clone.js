// structuredClone of everything, and what message ports carry.
'use strict';
const { markAsUntransferable, receiveMessageOnPort } = require('worker_threads');

const show = (name, f) => {
  try {
    console.log(name, f());
  } catch (e) {
    console.log(name, e.name, e.code, e.message, e instanceof DOMException);
  }
};
class A { constructor() { this.q = 1; } }
const values = {
  number: 1, text: 'é😀', big: 5n, date: new Date(0), pattern: /a/g, map: new Map([[{ a: 1 }, new Set([1])]]), holes: [1, , 3],
  array: new Uint16Array([1, 2]), memory: new ArrayBuffer(3), view: new DataView(new ArrayBuffer(2)), boxed: Object('s'), nothing: null,
  undef: undefined, object: new A(), shared: new SharedArrayBuffer(4), buffer: Buffer.from('hi'), call: () => {}, symbol: Symbol('x'),
  weak: new WeakMap(), promise: Promise.resolve(), url: new URL('http://a'), params: new URLSearchParams('a=1'), blob: new Blob(['abc']),
  proxy: new Proxy({}, {}), nested: { f() {} }, signal: AbortSignal.abort(), target: new EventTarget(), port: new MessageChannel().port1,
  generator: (function* () {})(), getter: { get a() { throw new Error('in getter'); } },
};
for (const name of Object.keys(values)) show(name, () => structuredClone(values[name]));
show('error', () => { const c = structuredClone(new RangeError('x', { cause: 1 })); return [c.name, c.message, c.cause, c instanceof RangeError]; });
show('exception', () => { const c = structuredClone(new DOMException('m', 'AbortError')); return [c.name, c.message, c.code]; });
show('cycle', () => { const o = {}; o.self = o; const c = structuredClone(o); return c.self === c && c !== o; });
const moved = new ArrayBuffer(8);
new Uint8Array(moved)[0] = 7;
show('transfer', () => { const c = structuredClone({ b: moved, v: new Uint8Array(moved) }, { transfer: [moved] }); return [moved.byteLength, moved.detached, c.b.byteLength, c.v[0], c.v.buffer === c.b]; });
show('detached', () => structuredClone(moved));
show('detached again', () => structuredClone(1, { transfer: [moved] }));
show('twice', () => { const b = new ArrayBuffer(1); structuredClone(b, { transfer: [b, b] }); });
show('object', () => structuredClone(1, { transfer: [{}] }));
show('number', () => structuredClone(1, { transfer: [3] }));
show('none', () => structuredClone());
show('untransferable', () => { const b = new ArrayBuffer(1); markAsUntransferable(b); structuredClone(b, { transfer: [b] }); });
show('shared memory', () => { const s = new SharedArrayBuffer(1); const c = structuredClone(s); new Uint8Array(c)[0] = 9; return [new Uint8Array(s)[0], c !== s]; });
show('too deep', () => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return structuredClone(o) && 1; });
show('new MessagePort', () => new MessagePort());

const { port1, port2 } = new MessageChannel();
port1.postMessage(1);
port1.postMessage({ x: 2 });
console.log(receiveMessageOnPort(port2), receiveMessageOnPort(port2), receiveMessageOnPort(port2));
show('call', () => port2.postMessage(() => {}));
show('port', () => port2.postMessage(new MessageChannel().port1));
show('nothing', () => port2.postMessage());
port1.on('message', (message) => {
  console.log('got', message.port === undefined ? message : message.port.constructor.name);
  if (message === 'end') port1.close();
});
port1.on('close', () => console.log('closed 1'));
port2.on('close', () => console.log('closed 2'));
const memory = new ArrayBuffer(4);
const other = new MessageChannel();
other.port2.onmessage = ({ data, ports }) => { console.log('on the port that moved', data, ports.length); other.port2.close(); };
port2.postMessage({ a: new Map([[1, 2]]) });
port2.postMessage(memory, [memory]);
other.port1.postMessage('before it moved');
port2.postMessage({ port: other.port1 }, [other.port1]);
port2.postMessage('end');
console.log(memory.byteLength);
new Blob(['ab', new Uint8Array([99]), new Blob(['de'])]).slice(1, 4).text().then((text) => console.log('blob', text));
