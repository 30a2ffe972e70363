// util.inspect of values that few programs have.
'use strict';
const util = require('util');
const show = (...values) => { for (const value of values) console.log(util.inspect(value)); };

show(-0, [, 1, , , 2, ,], Object(1), Object('text'), Object(true), Object(1n), Object(Symbol('boxed')), Object.assign(Object('s'), { a: 1 }));
show(new Date(0), new Date(NaN), /re/giu, Object.assign(/x/, { a: 1 }), new Error('').message, Symbol(), Symbol(''), Symbol('a b'));
show(function () {}, function named() {}, () => {}, async () => {}, function* g() {}, async function* ag() {}, class {}, class A {}, class B extends Array {}, class C extends null {});
show(Object.assign(() => {}, { a: 1 }), Object.setPrototypeOf(() => {}, null), Object.setPrototypeOf(function f() {}, Object.prototype));
show(new Map([[{ a: 1 }, new Set([[1]])], ['k', new Map()]]), new Set(), new Map().entries(), new Map([[1, 2]]).keys(), new Set([1, 2]).values(), [1, 2][Symbol.iterator](), 'ab'[Symbol.iterator](), 'a'.matchAll(/a/g));
show(new WeakMap(), new WeakSet(), new WeakRef([1]), Promise.resolve(1), new Proxy({ a: 1 }, {}), new Proxy(function f() {}, {}), globalThis === global);
show(new ArrayBuffer(4), new SharedArrayBuffer(2), new DataView(new ArrayBuffer(2), 1), new Uint8Array(3), new Float64Array([1.5, -0, NaN]), new BigInt64Array([1n]), Buffer.from('hi'), Object.assign(Buffer.from('x'), { p: 1 }), new Uint8ClampedArray(200));
show((function () { return arguments; })(1, 2), Math, JSON, Reflect, Atomics, Intl, globalThis.constructor, new (class Foo { constructor() { this.x = 1; } })(), new (class extends Map {})([[1, 2]]), new (class Sub extends Set {})([1]));
show(Object.create(null), Object.create({}), Object.create({ constructor: 5 }), Object.create(Object.create(null)), Object.create(class Q {}.prototype), Object.assign(Object.create(null), { a: 1 }), { __proto__: { a: 1 }, b: 2 });
show({ get a() { return 1; }, set a(v) {}, get b() { return 2; }, set c(v) {} }, { [Symbol('s')]: 1, [Symbol.toStringTag]: 'Tag' }, { 'a-b': 1, 'a b': 2, 1: 3, ä: 4, $x: 5, '': 6, 'it\'s': 7, '1a': 8, class: 9 });
const cycle = { name: 'c', list: [] };
cycle.self = cycle;
cycle.list.push(cycle, { cycle });
const other = { cycle, map: new Map([['c', cycle]]) };
cycle.other = other;
show(cycle, other);
show({ a: { b: { c: { d: {} } } } }, [[[[[]]]]], new Map([[{ a: { b: { c: {} } } }, 1]]), { a: [[[{}]]] });
show('x'.repeat(200), ['x'.repeat(100)], { text: 'line one\nline two\n'.repeat(5) }, Array.from({ length: 150 }, (none, i) => i), new Set(Array.from({ length: 120 }, (none, i) => i)), 'a'.repeat(20000).length);
show(Array.from({ length: 30 }, (none, i) => `item ${i}`), Array.from({ length: 12 }, (none, i) => 'y'.repeat(i)), Array.from({ length: 8 }, (none, i) => ({ id: i, on: i % 2 === 0 })), { a: 'x'.repeat(30), b: 'y'.repeat(30), c: 'z'.repeat(30) });
show(Object.defineProperty({}, 'hidden', { value: 1 }), Object.defineProperty([1], 'x', { get() { return 1; }, enumerable: true }), Object.freeze({ a: 1 }), Object.assign([1, 2], { key: 'v', '-1': 0 }), Object.assign([], { length: 3 }));
for (const options of [{ depth: 0 }, { depth: -1 }, { depth: Infinity }, { showHidden: true }, { colors: true }, { compact: false }, { compact: 0 }, { compact: 1 }, { breakLength: 20 }, { breakLength: Infinity }, { sorted: true }, { getters: true },
  { getters: 'get' }, { getters: 'set' }, { maxArrayLength: 2 }, { maxStringLength: 5 }, { numericSeparator: true }, { showProxy: true }, { customInspect: false }, { sorted: (a, b) => (a < b ? 1 : -1) }]) {
  console.log(Object.keys(options)[0], util.inspect({ z: 1, a: [1, 2, 3, [4, [5]]], s: 'long string', n: 1234567.891, get g() { return { deep: 1 }; }, set g(v) {}, p: new Proxy([1], {}), m: new Map([['k', { v: 1 }]]), f() {}, d: new Date(1e12), u: undefined, y: Symbol('q'), c: { [util.inspect.custom]: () => 'custom' } }, options));
}
show({ [util.inspect.custom](depth, options, inspect) { return `${depth} ${options.stylize('x', 'special')} ${inspect === util.inspect}`; } }, { [util.inspect.custom]() { return { replaced: true }; } }, { inspect() { return 'not used'; } }, { toString() { return 'not used'; } }, { [util.inspect.custom]: 5 });
show({ get throws() { throw new Error('x'); } }, new Proxy({}, { ownKeys() { throw new Error('never asked'); } }));
console.log(util.inspect({ get throws() { throw new Error('shown'); } }, { getters: true }));
for (const bad of [{ depth: 'x' }, 5, null, undefined, true]) console.log(util.inspect({ a: { b: { c: { d: 1 } } } }, bad));
console.log(util.inspect('a', { colors: true }), util.inspect('it\'s'), util.inspect('"\''), util.inspect('`"\''), util.inspect('\x00\x1b\x7f\u200b\ud83d'), util.inspect('tab\there'), util.inspect('\\'));
console.log(util.format('%o', { f() {}, a: [1] }), util.format('%O', { a: { b: { c: { d: {} } } } }), util.format('%s %s', 'a'), util.format(1, '%s'), util.format('%i', 'x'), util.format('%%%s%%', 1), util.format('a', Symbol('b'), { c: 1 }), util.format('%j', { toJSON() { throw new Error('j'); } }.a), util.formatWithOptions({ colors: true }, '%s %O', 'x', { a: 1 }));
const looped = {};
looped.looped = looped;
console.log(util.format('%j', looped));
console.log(util.isDeepStrictEqual({ a: [1, new Set([1])] }, { a: [1, new Set([1])] }), util.types.isProxy(new Proxy({}, {})), util.types.isExternal({}), util.stripVTControlCharacters('\x1b[31mx\x1b[0m'), util.toUSVString('a\ud800'));
import('fs').then((m) => console.log(util.inspect(m).split('\n').slice(0, 2), util.inspect(Object.assign(Object.create(null), { m: 1 }))));
console.log(util.inspect(process.versions).includes('v8'), util.inspect(new (require('events'))()), util.inspect(new (require('stream').Readable)()).split('\n').length, util.inspect(new URL('http://u:p@h:1/p?q#f')), util.inspect(new URLSearchParams('a=1&b=2')));
console.log(util.inspect(new TextEncoder()), util.inspect(new TextDecoder()), util.inspect(new AbortController()), util.inspect(new Event('x')).replace(/timeStamp: [\d.]+/, 'timeStamp: N'), util.inspect(new Blob(['x'])), util.inspect(new DOMException('m', 'DataError')).split('\n')[0]);
