// util beyond inspect.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('promisify, callbackify', async () => {
    const util = require('util');
    const f = (a, cb) => cb(a ? null : new Error('no'), a, 'second');
    await later(() => util.promisify(f)(1), () => util.promisify(f)(0), () => util.promisify(setTimeout)(1, 'v'), () => util.promisify(util.promisify(f)) === undefined);
    const own = () => {}; own[util.promisify.custom] = () => 'custom'; console.log(util.promisify(own)(), util.promisify(own) === own[util.promisify.custom]);
    util.callbackify(async (x) => x)(5, (e, v) => console.log(e, v));
    util.callbackify(async () => { throw null; })((e) => console.log(e.code, e.message, e.reason));
    util.callbackify(async () => { throw new Error('x'); })((e) => console.log(e.message));
    attempt(() => util.promisify(5), () => util.callbackify(5), () => util.callbackify(async () => {})(), () => util.promisify(Object.assign(() => {}, { [util.promisify.custom]: 5 })));
  }),
  program('format', () => {
    const { format, formatWithOptions } = require('util');
    for (const a of [['%s %d %i %f %j %o %O %c %%', 'a', '1.5', '2.7', '3.5x', { a: 1 }, [1], { b: { c: { d: {} } } }, 'css', 'rest'], ['%s', 5n, -0], ['%s', { a: { b: 1 } }], ['%s', class A {}], ['%s', new (class B { toString() { return 'own'; } })()], ['%s', Symbol('s')], ['%d', 5n], ['%d', {}], ['%i', 'x'], ['%x %s', 1], ['%'], ['a%'], [1, 2, '3'], [null, undefined], ['%s'], ['%j', (() => { const c = {}; c.c = c; return c; })()], ['%o', () => {}], ['%s %s', 'one'], ['%s', () => {}], ['%s', new Error('e').message], ['%s', new Date(0)], ['%s', [1, [2, [3]]]]]) console.log(format(...a));
    console.log(formatWithOptions({ colors: true, depth: 0 }, '%O %s', { a: {} }, 'x', { b: [] })); attempt(() => formatWithOptions('x', 'y'), () => format());
  }),
  program('parseArgs', () => {
    const { parseArgs } = require('util');
    const options = { f: { type: 'boolean', short: 'f' }, bar: { type: 'string', short: 'b', multiple: true }, n: { type: 'string', default: 'd' }, no: { type: 'boolean' } };
    for (const args of [['-f', '--bar', 'x', '-bq', '--bar=z', 'pos'], ['-fb', 'v'], ['--', '--f', 'x'], ['--no-f'], ['--f=1'], ['--bar'], ['--nope'], ['-z'], ['--bar', '-f'], ['-'], ['--n=', '--no']])
      attempt(() => JSON.stringify(parseArgs({ args, options, allowPositionals: true })), () => JSON.stringify(parseArgs({ args, options, strict: false, tokens: true, allowNegative: true })));
    attempt(() => parseArgs({ args: ['x'] }), () => parseArgs({ options: { a: {} } }), () => parseArgs({ options: { a: { type: 'x' } } }), () => parseArgs({ options: { a: { type: 'string', short: 'ab' } } }), () => parseArgs({ args: 5 }), () => parseArgs(), () => parseArgs({ options: { a: { type: 'string', default: 5 } } }), () => parseArgs({ args: ['--no-a'], options: { a: { type: 'boolean' } }, allowNegative: true }));
  }, { argv: [] }),
  program('styleText, stripVTControlCharacters', () => {
    const util = require('util');
    for (const f of ['red', 'bold', ['bold', 'underline', 'bgRed'], 'none', []]) attempt(() => JSON.stringify(util.styleText(f, 'a b', { validateStream: false })), () => JSON.stringify(util.styleText(f, 'piped', { stream: process.stdout })));
    attempt(() => util.styleText('nope', 'x'), () => util.styleText('red', 5), () => util.styleText('red', 'x', { stream: {} }), () => util.stripVTControlCharacters('\u001b[31mred\u001b[0m \u001b]8;;x\u0007link'), () => util.stripVTControlCharacters(5), () => JSON.stringify(util.styleText('red', util.styleText('blue', 'in') + ' out', { validateStream: false })));
    console.log(Object.keys(util.inspect.colors).length, util.inspect.styles, JSON.stringify(util.inspect({ a: [1, 'x', null, undefined, /r/, Symbol('s'), new Date(0), 5n, true, () => {}] }, { colors: true })));
  }),
  program('types', () => {
    const { types } = require('util');
    const values = { date: new Date(), re: /x/, err: new Error(), map: new Map(), set: new Set(), wm: new WeakMap(), ws: new WeakSet(), p: Promise.resolve(), prox: new Proxy({}, {}), ab: new ArrayBuffer(1), sab: new SharedArrayBuffer(1), dv: new DataView(new ArrayBuffer(1)), u8: new Uint8Array(1), f64: new Float64Array(1), b64: new BigInt64Array(1), buf: Buffer.alloc(1), gen: (function* () {})(), genf: function* () {}, asf: async () => {}, asg: async function* () {}, mi: new Map().keys(), si: new Set().values(), num: Object(1), str: Object('s'), bool: Object(true), sym: Object(Symbol()), big: Object(1n), args: (function () { return arguments; })(), ns: globalThis, nul: null, prim: 5, dom: new DOMException('x'), ev: new Event('x'), u8c: new Uint8ClampedArray(1), f16: new Float16Array(1) };
    for (const [name, test] of Object.entries(types)) console.log(name, Object.keys(values).filter((k) => { try { return test(values[k]); } catch { return false; } }).join());
  }),
  program('MIMEType, MIMEParams', () => {
    const { MIMEType, MIMEParams } = require('util');
    for (const t of ['text/html; charset=utf-8', 'TEXT/HTML;Charset="a\\"b"', 'a/b;c;d=;e="";f=g', 'x', 'a/', '/b', 'a b/c', 'a/b;x=é', ' text/plain ;  q = 1']) attempt(() => { const m = new MIMEType(t); return [String(m), m.type, m.subtype, m.essence, [...m.params], JSON.stringify(m)]; });
    const m = new MIMEType('a/b;c=d'); m.type = 'X'; m.subtype = 'y'; m.params.set('k', 'v w'); m.params.delete('c'); console.log(String(m), m.params.has('k'), m.params.get('z'), m); attempt(() => { m.type = ''; }, () => { m.essence = 'q'; return m.essence; }, () => m.params.set('a b', 'c'), () => new MIMEParams().toString());
  }),
  program('isDeepStrictEqual, inherits, deprecate, aborted, others', async () => {
    const util = require('util');
    for (const [a, b] of [[{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }], [[1], ['1']], [NaN, NaN], [0, -0], [new Set([1, {}]), new Set([1, {}])], [new Map([[{}, 1]]), new Map([[{}, 1]])], [new Date(1), new Date(1)], [/a/g, /a/i], [[, 1], [undefined, 1]], [Object.create(null), {}], [new Error('a'), new Error('a')], [Symbol.for('a'), Symbol.for('a')], [new Uint8Array(2), Buffer.alloc(2)]]) console.log(util.isDeepStrictEqual(a, b));
    function A() {} function B() {} util.inherits(A, B); console.log(A.super_ === B, new A() instanceof B); attempt(() => util.inherits(A, null), () => util.inherits(5, A), () => util.inherits(A, {}));
    console.log(util.toUSVString('a\ud800'), util.getSystemErrorName(-2), util.getSystemErrorMessage(-13), util.getSystemErrorMap().get(-17), util.isArray([]), util.types === require('util/types'), Object.keys(util).join());
    attempt(() => util.getSystemErrorName(5), () => util.getSystemErrorName('x'), () => util.getSystemErrorName(-9999));
    const c = new AbortController(); const p = util.aborted(c.signal, {}); c.abort(); await p; console.log('aborted', util.transferableAbortController() instanceof AbortController); await later(() => util.aborted(5, {}));
    attempt(() => util.diff('a\nb', 'a\nc'), () => util.diff(['x', 'y'], ['y']), () => util.parseEnv('A=1\n# c\nB="x\\ny" \nexport C=\'q\'\nbad'), () => util.parseEnv(5), () => new util.TextDecoder().decode(new util.TextEncoder().encode('ü')), () => typeof util.setTraceSigInt, () => util.getCallSites(1).map((s) => [s.functionName, s.lineNumber]), () => util.convertProcessSignalToExitCode?.('SIGTERM'));
  }),
  program('inspect: options', () => {
    const { inspect } = require('util');
    const deep = { a: { b: { c: { d: 1 } } }, list: Array.from({ length: 120 }, (_, i) => i), text: 'x'.repeat(50), map: new Map([['k', { v: [1] }]]), get g() { return 1; }, set s(v) {}, [Symbol('y')]: 1 };
    Object.defineProperty(deep, 'hidden', { value: 1 });
    for (const o of [{}, { depth: 0 }, { depth: Infinity, compact: false }, { compact: 1, breakLength: 40 }, { maxArrayLength: 2, maxStringLength: 3 }, { sorted: true, showHidden: true }, { getters: true }, { numericSeparator: true }, { breakLength: Infinity }, { sorted: (a, b) => (a < b ? 1 : -1) }]) console.log(inspect(deep, o));
    console.log(inspect(123456789.123, { numericSeparator: true }), inspect('a\'b"c`'), inspect(new Proxy({ a: 1 }, {}), { showProxy: true }), inspect({ [inspect.custom](d, o, i) { return `custom ${d} ${typeof o.stylize} ${i === inspect}`; } }), inspect(new (class Foo extends Map {})()), inspect(Object.create({ constructor: undefined })), inspect(Object.create(null)), inspect(new Array(3)), inspect([1, , 3]), inspect(Object.assign([1], { x: 2 })), inspect(new (class { get [Symbol.toStringTag]() { return 'tag'; } })()));
    attempt(() => inspect({}, { depth: 'x' }), () => { inspect.defaultOptions.depth = 0; return inspect({ a: {} }); }, () => { inspect.defaultOptions = 5; }, () => inspect(new Error('m', { cause: 'c' })).split('\n')[0], () => inspect(new AggregateError([1], 'agg')).split('\n')[0], () => inspect(new (class X extends Error { name = 'Y'; })('z')).split('\n')[0]);
  }),
];
