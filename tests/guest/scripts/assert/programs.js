// Assertions, and how they tell what failed.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('each method: what holds and what fails', async () => {
    const assert = require('assert');
    const shown = (f) => { try { f(); console.log('holds'); } catch (e) { console.log(e.name, e.code, e.generatedMessage, e.operator, '|', e.message); } };
    for (const f of [() => assert(true), () => assert.ok(1), () => assert.equal(1, '1'), () => assert.equal(1, 2), () => assert.notEqual(1, 1), () => assert.strictEqual(1, '1'), () => assert.strictEqual('a\nb', 'a\nc'), () => assert.notStrictEqual(1, 1), () => assert.deepEqual({ a: 1 }, { a: '1' }), () => assert.deepEqual([1], [2]), () => assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }), () => assert.notDeepStrictEqual({}, {}), () => assert.notDeepEqual([1], [1]), () => assert.throws(() => {}), () => assert.throws(() => { throw new Error('a'); }, /b/), () => assert.throws(() => { throw new Error('a'); }, { message: 'c' }), () => assert.throws(() => { throw new Error('a'); }, /a/), () => assert.doesNotThrow(() => { throw new Error('x'); }, 'why'), () => assert.match('abc', /x/), () => assert.match(5, /x/), () => assert.doesNotMatch('abc', /b/), () => assert.fail(), () => assert.fail('text'), () => assert.fail(new TypeError('mine')), () => assert.ifError(null), () => assert.ifError(new Error('given')), () => assert.partialDeepStrictEqual({ a: 1, b: 2 }, { a: 1 }), () => assert.partialDeepStrictEqual({ a: 1 }, { a: 2 }), () => assert.strictEqual(1, 2, 'own message'), () => assert.strictEqual(NaN, 0), () => assert.deepStrictEqual(-0, 0), () => assert.strictEqual(1), () => assert.throws('x'), () => assert.match('a')]) shown(f);
    for (const f of [() => assert.rejects(Promise.resolve()), () => assert.rejects(Promise.reject(new Error('r')), /r/), () => assert.rejects(async () => { throw new Error('r'); }, { message: 's' }), () => assert.doesNotReject(Promise.reject(new Error('d'))), () => assert.rejects(5), () => assert.rejects(() => 5)]) try { await f(); console.log('holds'); } catch (e) { console.log(e.name, e.code, e.message); }
  }),
  program('deep equality', () => {
    const assert = require('assert');
    const circular = () => { const a = { x: 1 }; a.self = a; return a; };
    const pairs = [[new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]])], [new Map([[{}, 1]]), new Map([[{}, 1]])], [new Set([[1], [2]]), new Set([[2], [1]])], [circular(), circular()], [[1, , 3], [1, undefined, 3]], [new Date(0), new Date(0)], [/a/g, /a/g], [Object.create(null), {}], [new (class A {})(), {}], [Object(1), Object(1)], [Buffer.from('a'), Buffer.from('b')], [new Error('a'), new Error('b')], [Symbol.iterator, Symbol.iterator], [{ [Symbol.for('k')]: 1 }, { [Symbol.for('k')]: 2 }], [new Float32Array([-0]), new Float32Array([0])], [new WeakMap(), new WeakMap()], [Promise.resolve(1), Promise.resolve(1)], [new Proxy({ a: 1 }, {}), { a: 1 }], [() => {}, () => {}], [1n, 1], ['a', Object('a')], [null, undefined], [NaN, NaN]];
    for (const [a, b] of pairs) { const got = []; for (const f of ['deepEqual', 'deepStrictEqual', 'notDeepStrictEqual', 'partialDeepStrictEqual']) try { assert[f](a, b); got.push(true); } catch (e) { got.push(e.message.split('\n').slice(0, 6).join('~')); } console.log(got); }
  }),
  program('messages: diffs, long and short', () => {
    const assert = require('assert');
    const shown = (f) => { try { f(); } catch (e) { console.log(e.message); console.log(require('util').inspect(e).split('\n    at')[0].slice(0, 3000)); } };
    const lines = (n, change) => Array.from({ length: n }, (_, i) => (change.includes(i) ? `changed ${i}` : `line ${i}`));
    shown(() => assert.deepStrictEqual(lines(60, [30]), lines(60, [])));
    shown(() => assert.strictEqual(lines(40, [3, 20]).join('\n'), lines(40, []).join('\n')));
    shown(() => assert.deepStrictEqual({ a: { b: { c: [1, 2, { d: 'x' }] } } }, { a: { b: { c: [1, 2, { d: 'y' }] } }, e: null }));
    shown(() => assert.strictEqual('x'.repeat(600), 'y'.repeat(600)));
    shown(() => assert.deepStrictEqual([1, 2, 3], [3, 2, 1])); shown(() => assert.deepEqual(new Set([1]), new Set([2]))); shown(() => assert.strictEqual({ a: 1 }, { a: 1 })); shown(() => assert.notDeepStrictEqual({ a: 'x'.repeat(30) }, { a: 'x'.repeat(30) }));
  }),
  program('assert.ok tells the source', () => {
    const assert = require('assert');
    const x = { y: [] };
    for (const f of [() => assert(x.y.length > 0), () => assert.ok(typeof x === 'string'), () => assert(x.y[0]?.z === 1, undefined), () => assert(), () => assert.ok(null,
      'message'), () => assert.equal(
      1,
      2)]) try { f(); } catch (e) { console.log(e.message, e.generatedMessage, e.actual, e.expected); }
  }),
  program('AssertionError, strict, Assert', () => {
    const assert = require('assert');
    const e = new assert.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' });
    console.log(e.message, e.name, e.code, Object.keys(e), String(e), new assert.AssertionError({ message: 'm' }).message, e instanceof Error, e.toString());
    attempt(() => new assert.AssertionError(), () => new assert.AssertionError({ operator: 'x' }).message, () => assert.strict === require('assert/strict'), () => assert.strict.equal === assert.strictEqual, () => require('assert/strict').strict === assert.strict, () => Object.keys(assert).join());
    const mine = new assert.Assert({ diff: 'full', strict: true }); attempt(() => mine.equal(1, '1'), () => mine.deepEqual([1], [1]), () => assert.Assert(), () => new assert.Assert({ diff: 'x' }));
  }),
  program('uncaught', () => { const assert = require('assert'); process.on('exit', (c) => console.log('exit', c)); assert.deepStrictEqual({ a: 1 }, { a: 2 }); }),
];
