// Values of every kind as util.inspect shows them, and what util says of them.
'use strict';
const util = require('util');

class Foo { constructor() { this.a = 1; } }
const error = new Error('with cause', { cause: new TypeError('inner') });
error.extra = 1;
const values = [
  1, -0, 'a', 10n, Symbol('q'), null, undefined, new Proxy({ a: 1 }, {}), new Proxy(() => {}, {}), Promise.resolve({ x: 1 }),
  new Promise(() => {}), new Map([[1, { a: 2 }]]), new Map([[1, 2]]).entries(), new Map([[1, 2]]).keys(), new Set([5]).values(),
  new WeakMap(), new WeakSet(), new Uint8Array(3), new Float64Array([1.5, 2]), new ArrayBuffer(4), new SharedArrayBuffer(2),
  new DataView(new ArrayBuffer(3)), new Date(0), /x/gi, () => {}, class A extends Map {}, async function q() {}, function* g() {},
  (function* () {})(), Object.create(null), Object.create({}), new Foo(), [, 1, , 2], Object.assign([1], { x: 2 }), Buffer.from('hi'),
  Object(1), Object('s'), Object(Symbol('o')), new URL('http://u:p@a.b:8/c?d=e#f'), new URLSearchParams('a=1&b=2'), new TextEncoder(),
  new TextDecoder('utf-16le'), new AbortController().signal, new Blob(['a']), (function () { return arguments; })(1, 2),
  new MessageChannel().port1,
];
for (const value of values) {
  console.log(util.inspect(value, { depth: 3 }), util.inspect(value, { compact: false, depth: 1 }).length);
  console.log(Object.keys(util.types).filter((name) => !/Key/.test(name) && util.types[name](value)).join());
}
console.log(util.inspect(new Proxy({ a: 1 }, { get() {} }), { showProxy: true }), util.inspect([[[[1]]]], { depth: 0 }));
console.log(util.inspect({ get a() { return 1; }, set b(v) {} }, { getters: true }), util.inspect(error).split('\n')[0]);
console.log(util.isDeepStrictEqual(new Map([[1, { a: 2 }]]), new Map([[1, { a: 2 }]])), util.getCallSites(1).length);
console.log(util.format('%s %d %i %j %o %%', 1n, '3', 4.5, { a: 1 }, [1]), util.stripVTControlCharacters('\x1b[1ma'));
console.log(util.parseEnv('A=1\nexport B="x\\ny"\n# no\nC=`a\nb` # z\nD\n E = f # g\nF="open\nG=')); // eslint-disable-line
console.table([{ a: 1, b: '中文' }, { a: 2, b: '👍🏽' }, { a: '🇩🇪', b: 'e\u0301' }]);
