// node:test.
'use strict';

const { program } = require('../../table.js');

const times = (text) => `const { run } = require('child_process').spawnSync; const r = require('child_process').spawnSync(process.execPath, ${text}, { encoding: 'utf8' }); console.log(r.status, (r.stdout + r.stderr).replace(/duration_ms:? [\\d.]+/g, 'TIME').replace(/\\([\\d.]+ms\\)/g, '(TIME)').replaceAll(__dirname, 'HERE'));`;
const runs = (name, argv, files) => [name, { 'main.js': times(JSON.stringify(argv)), ...files }];

module.exports = [
  runs('tests that pass, fail, skip, todo, nest', ['--test-reporter=tap', 't.js'], { 't.js': 'const test = require("node:test"); const assert = require("assert"); test("passes", () => {}); test("async", async () => {}); test("fails", () => { assert.strictEqual(1, 2); }); test("skipped", { skip: "why" }, () => {}); test("todo", { todo: true }, () => { throw new Error("t"); }); test("outer", async (t) => { await t.test("inner", () => {}); t.diagnostic("note"); t.skip("late"); }); test("callback", (t, done) => setImmediate(done)); test("plan", (t) => { t.plan(1); t.assert.ok(true); }); test("times out", { timeout: 5 }, async () => { await new Promise((d) => setTimeout(d, 500)); });' }),
  runs('describe, hooks, only, spec reporter', ['--test-reporter=spec', 't.js'], { 't.js': 'const { describe, it, before, after, beforeEach, afterEach } = require("node:test"); describe("suite", () => { before(() => console.log("before")); after(() => console.log("after")); beforeEach(() => console.log("each")); afterEach(() => console.log("after each")); it("one", () => {}); it("two", () => {}); describe("inner", () => { it.skip("three"); it.todo("four"); }); });' }),
  program('mocks', () => {
    const { mock } = require('node:test'); const f = mock.fn((a) => a + 1); console.log(f(1), f.mock.callCount(), f.mock.calls[0].arguments, f.mock.calls[0].result); const o = { m() { return 'real'; }, get g() { return 1; } }; const m = mock.method(o, 'm', () => 'mocked'); console.log(o.m(), m.mock.callCount()); m.mock.restore(); console.log(o.m()); mock.getter(o, 'g', () => 2); console.log(o.g); mock.restoreAll(); console.log(o.g); mock.timers.enable({ apis: ['setTimeout', 'Date'] }); setTimeout(() => console.log('mock time', Date.now()), 1000); mock.timers.tick(1000); mock.timers.reset(); attempt(() => mock.fn(5), () => mock.method(o, 'none'), () => mock.timers.tick(1)); f.mock.mockImplementationOnce(() => 'once'); console.log(f(1), f(1));
  }),
];
