// Programs of several files, run by the Node that runs this: what their modules find, print and complain about.
'use strict';

const cases = [
  ['cjs: a cycle sees what is exported so far', {
    'main.js': 'const a = require("./a"); console.log(a, require("./b"));',
    'a.js': 'exports.early = 1; const b = require("./b"); exports.seen = b.seen; exports.late = 2;',
    'b.js': 'const a = require("./a"); exports.seen = { ...a }; console.log(Object.keys(a));',
  }],
  ['cjs: json, directories, extensions', {
    'main.js': 'console.log(require("./data"), require("./data.json") === require("./data"), require("./dir"), require("./pkg"), require("./x.txt"));',
    'data.json': '{"a": [1, 2, {"b": null}]}',
    'dir/index.js': 'module.exports = "index";',
    'pkg/package.json': '{"main": "lib/start"}',
    'pkg/lib/start.js': 'module.exports = __filename;',
    'x.txt': 'exports.text = true;',
  }],
  ['cjs: bad json', { 'main.js': 'require("./bad.json")', 'bad.json': '{"a": }' }],
  ['cjs: node_modules above', {
    'main.js': 'require("./deep/er/a.js")',
    'deep/er/a.js': 'console.log(require("one"), require("one/sub"), require("@s/two"), module.paths);',
    'node_modules/one/index.js': 'module.exports = "one " + __filename;',
    'deep/node_modules/one/package.json': '{"name": "one", "main": "./m.js"}',
    'deep/node_modules/one/m.js': 'module.exports = "nearer " + module.id;',
    'deep/node_modules/one/sub.js': 'module.exports = "sub";',
    'node_modules/@s/two/index.js': 'module.exports = "scoped";',
  }],
  ['cjs: module, require and their members', {
    'main.js': 'console.log(require.main === module, module.id, module.filename, module.loaded, module.children.length, module.parent, Object.keys(require), typeof require.cache[__filename]); require("./child"); console.log(module.children.map((m) => m.id));',
    'child.js': 'console.log(module.parent.id, require.main.filename, require.resolve("./main"), require.resolve.paths("x"), require.resolve.paths("./x"), require.resolve.paths("fs"), require.resolve("fs"), require.resolve("node:fs"));',
  }],
  ['cjs: cache', {
    'main.js': 'const one = require("./counter"); delete require.cache[require.resolve("./counter")]; console.log(one !== require("./counter")); require.cache[require.resolve("./counter")].exports = "mine"; console.log(require("./counter"));',
    'counter.js': 'module.exports = {};',
  }],
  ['cjs: this, arguments, wrapper', { 'main.js': 'console.log(this === module.exports, arguments.length, require("module").wrapper, require("module").builtinModules.includes("fs"), typeof require("module")._extensions[".js"]);' }],
  ['cjs: missing module', { 'main.js': 'require("./a")', 'a.js': '\n\nrequire("nowhere")' }],
  ['cjs: missing, caught', { 'main.js': 'try { require("./nowhere") } catch (e) { console.log(e.code, e.requireStack, e.message) } try { require("node:nowhere") } catch (e) { console.log(e.code, e.message) } try { require("") } catch (e) { console.log(e.code, e.message) } try { require(1) } catch (e) { console.log(e.code, e.message) }' }],
  ['cjs: syntax error', { 'main.js': 'require("./bad")', 'bad.js': 'let ok = 1;\n  let a b = 2;\n' }],
  ['cjs: throws', { 'main.js': 'require("./bad")', 'bad.js': 'function f() {\n\tthrow new TypeError("no");\n}\nf();' }],
  ['cjs: throws what is no error', { 'main.js': 'throw { a: 1 }' }],
  ['cjs: main with a syntax error', { 'main.js': 'foo bar' }],
  ['cjs: a module loads after it threw', { 'main.js': 'for (let i = 0; i < 2; i++) try { require("./bad") } catch (e) { console.log(e.message) }', 'bad.js': 'throw new Error("again")' }],
  ['cjs: createRequire', { 'main.js': 'const { createRequire } = require("module"); const r = createRequire(__dirname + "/sub/x.js"); console.log(r("./y"), r.resolve("./y")); console.log(createRequire(require("url").pathToFileURL(__filename))("./sub/y")); try { createRequire("rel") } catch (e) { console.log(e.code, e.message) }', 'sub/y.js': 'module.exports = "y"' }],
  ['cjs: dynamic import', { 'main.js': 'import("./m.mjs").then((m) => console.log(m)); import("fs").then((m) => console.log(m.default === require("fs"), typeof m.readFileSync)); import("./nope.mjs").catch((e) => console.log(e.code, e.message.split("\\n")[0]));', 'm.mjs': 'export const a = 1; export default function named() {}' }],
  ['cjs: strict, sloppy', { 'main.js': 'x = 1; console.log(x, (function () { return this === globalThis })());' }],
  ['cjs: shebang and BOM', { 'main.js': '#!/usr/bin/env node\nconsole.log(require("./bom"), require("./bom.json"))', 'bom.js': '\ufeffmodule.exports = 1', 'bom.json': '\ufeff{"a": 1}' }],
  ['package: exports', {
    'main.js': 'console.log(require("p"), require("p/sub"), require("p/dir/x"), require("p/dir/y.js")); for (const s of ["p/hidden", "p/lib/main.js", "p/dir/none", "p/null"]) try { require(s); } catch (e) { console.log(e.code, e.message) } import("p").then((m) => console.log(m.default));',
    'node_modules/p/package.json': '{"name": "p", "exports": {".": {"import": "./lib/main.mjs", "require": "./lib/main.js"}, "./sub": ["./not-valid/", "./lib/sub.js"], "./dir/*": "./d/*.js", "./dir/*.js": "./d/*.js", "./null": null}}',
    'node_modules/p/lib/main.js': 'module.exports = "cjs main"', 'node_modules/p/lib/main.mjs': 'export default "esm main"',
    'node_modules/p/lib/sub.js': 'module.exports = "sub"', 'node_modules/p/d/x.js': 'module.exports = "x"', 'node_modules/p/d/y.js': 'module.exports = "y"', 'node_modules/p/hidden.js': '',
  }],
  ['package: exports, conditions', {
    'main.js': 'console.log(require("p")); console.log(require("q")); try { require("r") } catch (e) { console.log(e.code, e.message) }',
    'node_modules/p/package.json': '{"exports": {"mine": "./mine.js", "node": {"module-sync": "./sync.js", "default": "./node.js"}, "default": "./other.js"}}',
    'node_modules/p/mine.js': 'module.exports = "mine"', 'node_modules/p/sync.js': 'module.exports = "sync"', 'node_modules/p/node.js': 'module.exports = "node"', 'node_modules/p/other.js': 'module.exports = "other"',
    'node_modules/q/package.json': '{"exports": "./q.js"}', 'node_modules/q/q.js': 'module.exports = "q"',
    'node_modules/r/package.json': '{"exports": {"import": "./r.js"}}',
  }, ['main.js']],
  ['package: exports, a condition of ours', {
    'main.js': 'console.log(require("p"));',
    'node_modules/p/package.json': '{"exports": {"mine": "./mine.js", "default": "./other.js"}}',
    'node_modules/p/mine.js': 'module.exports = "mine"', 'node_modules/p/other.js': 'module.exports = "other"',
  }, ['--conditions=mine', 'main.js']],
  ['package: imports and self', {
    'package.json': '{"name": "me", "exports": {"./a": "./a.js"}, "imports": {"#a": "./a.js", "#fs": "fs", "#deep/*": "./deep/*.js", "#p": "p"}}',
    'main.js': 'console.log(require("#a"), require("me/a"), require("#fs") === require("fs"), require("#deep/x"), require("#p")); for (const s of ["#none", "#", "me/b"]) try { require(s) } catch (e) { console.log(e.code, e.message) }',
    'a.js': 'module.exports = "a"', 'deep/x.js': 'module.exports = "x"', 'node_modules/p/index.js': 'module.exports = "p"',
  }],
  ['package: type module', { 'package.json': '{"type": "module"}', 'main.js': 'import a from "./a.cjs"; import { b } from "./b.js"; console.log(a, b, import.meta.url, typeof require, this);', 'a.cjs': 'module.exports = { cjs: true }', 'b.js': 'export const b = 1' }],
  ['package: type module, require is not defined', { 'package.json': '{"type": "module"}', 'main.js': 'const fs = require("fs")' }],
  ['package: type commonjs with module syntax', { 'package.json': '{"type": "commonjs"}', 'main.js': 'import fs from "fs"' }],
  ['package: broken', { 'package.json': '{"type": }', 'main.js': 'console.log(1)' }],
  ['package: broken dependency', { 'main.js': 'require("p")', 'node_modules/p/package.json': '{"main": 1, ', 'node_modules/p/index.js': '' }],
  ['package: broken dependency, imported', { 'main.mjs': 'import "p"', 'node_modules/p/package.json': '{', 'node_modules/p/index.js': '' }, ['main.mjs']],
  ['package: main that is not there', { 'main.js': 'console.log(require("p")); require("q")', 'node_modules/p/package.json': '{"main": "none.js"}', 'node_modules/p/index.js': 'module.exports = "fallback"', 'node_modules/q/package.json': '{"main": "none.js"}' }],
  ['esm: static imports, in order', {
    'main.mjs': 'import "./one.mjs"; import * as two from "./two.mjs"; import d, { x as y } from "./two.mjs"; console.log("main", two, d, y);',
    'one.mjs': 'console.log("one")', 'two.mjs': 'console.log("two"); export let x = 1; export default class A {} export * from "./three.mjs"; export * as ns from "./three.mjs";', 'three.mjs': 'console.log("three"); export const t = 3;',
  }, ['main.mjs']],
  ['esm: cycles and live bindings', {
    'main.mjs': 'import { a, inc } from "./a.mjs"; import { seen } from "./b.mjs"; console.log(a, seen()); inc(); console.log(a, seen());',
    'a.mjs': 'import { seen } from "./b.mjs"; export let a = 1; export function inc() { a++; }', 'b.mjs': 'import { a } from "./a.mjs"; export const seen = () => a; try { seen() } catch (e) { console.log(e.message) }',
  }, ['main.mjs']],
  ['esm: top-level await', {
    'main.mjs': 'import { v } from "./slow.mjs"; import "./fast.mjs"; console.log("main", v); await null; console.log("after");',
    'slow.mjs': 'console.log("slow starts"); export const v = await new Promise((r) => setTimeout(r, 5, 42)); console.log("slow ends");', 'fast.mjs': 'console.log("fast")',
  }, ['main.mjs']],
  ['esm: top-level await that never ends', { 'main.mjs': 'console.log(1);\nawait new Promise(() => {});\nconsole.log(2)' }, ['main.mjs']],
  ['esm: top-level await that rejects', { 'main.mjs': 'import "./bad.mjs"', 'bad.mjs': 'await 0; throw new RangeError("late")' }, ['main.mjs']],
  ['esm: import.meta', {
    'main.mjs': 'console.log(import.meta.url, import.meta.dirname, import.meta.filename, import.meta.main, Object.keys(import.meta), import.meta); console.log(import.meta.resolve("./a.mjs"), import.meta.resolve("fs"), import.meta.resolve("p"), import.meta.resolve("./none.mjs")); try { import.meta.resolve("none") } catch (e) { console.log(e.code, e.message) } import "./a b.mjs";',
    'a b.mjs': 'console.log(import.meta.url, import.meta.filename, import.meta.main)', 'node_modules/p/index.js': '',
  }, ['main.mjs']],
  ['esm: what CommonJS exports', {
    'main.mjs': 'import def, { a, b as bb } from "./c.cjs"; import * as ns from "./c.cjs"; import * as re from "./re.cjs"; import { default as d2, "module.exports" as me } from "./c.cjs"; console.log(def, a, bb, ns, re, d2 === def, me === def);',
    'c.cjs': 'exports.a = 1; exports.b = 2; module.exports.c = 3; Object.defineProperty(exports, "d", { enumerable: true, value: 4 });', 're.cjs': 'module.exports = { ...require("./c.cjs"), own: 1 };',
  }, ['main.mjs']],
  ['esm: a name that CommonJS hides', { 'main.mjs': 'import { hidden } from "./c.cjs";\nconsole.log(hidden)', 'c.cjs': 'module["exports"] = { hidden: 1 }' }, ['main.mjs']],
  ['esm: a name that is not exported', { 'main.mjs': 'import { nope } from "./a.mjs";', 'a.mjs': 'export const a = 1' }, ['main.mjs']],
  ['esm: missing file', { 'main.mjs': 'import "./a.mjs"', 'a.mjs': 'import "./none.mjs"' }, ['main.mjs']],
  ['esm: missing package', { 'main.mjs': 'import x from "none"' }, ['main.mjs']],
  ['esm: directory', { 'main.mjs': 'import "./dir"', 'dir/index.js': '' }, ['main.mjs']],
  ['esm: no extension, with a hint', { 'main.mjs': 'import "./a"', 'a.mjs': '' }, ['main.mjs']],
  ['esm: unknown extension', { 'main.mjs': 'import "./a.txt"', 'a.txt': 'x' }, ['main.mjs']],
  ['esm: unknown builtin', { 'main.mjs': 'import "node:none"' }, ['main.mjs']],
  ['esm: unknown scheme', { 'main.mjs': 'import "foo:bar"' }, ['main.mjs']],
  ['esm: syntax error', { 'main.mjs': 'import "./bad.mjs"', 'bad.mjs': 'export const a = 1;\nconst b c;\n' }, ['main.mjs']],
  ['esm: throws', { 'main.mjs': 'import "./bad.mjs"', 'bad.mjs': 'function f() { throw new Error("no") }\nf()' }, ['main.mjs']],
  ['esm: json', { 'main.mjs': 'import data from "./d.json" with { type: "json" }; import * as ns from "./d.json" with { type: "json" }; console.log(data, ns); await import("./d.json").catch((e) => console.log(e.code, e.message)); await import("./bad.json", { with: { type: "json" } }).catch((e) => console.log(e.name, e.message)); await import("./d.json", { with: { type: "css" } }).catch((e) => console.log(e.code, e.message)); await import("./main.mjs", { with: { type: "json" } }).catch((e) => console.log(e.code, e.message));', 'd.json': '{"a": 1}', 'bad.json': '{' }, ['main.mjs']],
  ['esm: dynamic import', { 'main.mjs': 'const m = await import("./a.mjs"); console.log(m, (await import("./a.mjs")) === m, (await import("./a.mjs?x")) === m, Object.keys(await import("./c.cjs"))); console.log(await import("data:text/javascript,export default import.meta.url"));', 'a.mjs': 'export const a = 1', 'c.cjs': 'exports.q = 1' }, ['main.mjs']],
  ['esm: builtins', { 'main.mjs': 'import fs, { readFileSync } from "fs"; import * as path from "node:path"; console.log(fs.readFileSync === readFileSync, path.join("a", "b"), typeof path.default.join); import { createRequire, syncBuiltinESMExports } from "module"; fs.readFileSync = 1; syncBuiltinESMExports(); console.log(readFileSync); console.log(createRequire(import.meta.url)("./c.cjs"));', 'c.cjs': 'module.exports = "c"' }, ['main.mjs']],
  ['esm: order of ticks', { 'main.mjs': 'setTimeout(() => console.log("timeout")); setImmediate(() => console.log("immediate")); process.nextTick(() => console.log("tick")); Promise.resolve().then(() => console.log("micro")); queueMicrotask(() => console.log("queued")); console.log("sync"); await null; console.log("awaited"); process.on("exit", (c) => console.log("exit", c)); process.on("beforeExit", () => console.log("beforeExit"));' }, ['main.mjs']],
  ['esm: process.exitCode and exit', { 'main.mjs': 'process.exitCode = 3; await null; process.on("exit", (c) => console.log(c)); process.exit();' }, ['main.mjs']],
  ['require(esm)', { 'main.js': 'const m = require("./m.mjs"); console.log(m, m.__esModule, require("./d.mjs"), require("./me.mjs"), m === require("./m.mjs")); import("./m.mjs").then((n) => console.log(n === m));', 'm.mjs': 'export const a = 1; export function f() {}', 'd.mjs': 'export default class D {} export const x = 1', 'me.mjs': 'export { x as "module.exports" }; const x = { mine: true };' }],
  ['require(esm) with top-level await', { 'main.js': 'try { require("./m.mjs") } catch (e) { console.log(e.code, e.message) } import("./m.mjs").then((m) => console.log(m));', 'm.mjs': 'await null; export const a = 1' }],
  ['require(esm) that throws', { 'main.js': 'try { require("./m.mjs") } catch (e) { console.log(e.message) } require("./m.mjs")', 'm.mjs': 'throw new Error("in module")' }],
  ['require(esm) with a syntax error', { 'main.js': 'require("./m.mjs")', 'm.mjs': 'export let a b' }],
  ['require(esm) with a missing name', { 'main.js': 'require("./m.mjs")', 'm.mjs': 'import { no } from "./n.mjs"', 'n.mjs': '' }],
  ['require(esm) in a cycle', { 'main.js': 'require("./m.mjs")', 'm.mjs': 'import "./c.cjs"', 'c.cjs': 'require("./m.mjs")' }],
  ['detect: module syntax in a file without type', { 'main.js': 'import { a } from "./a.js"; console.log(a, import.meta.filename)', 'a.js': 'export const a = 1' }],
  ['detect: top-level await', { 'main.js': 'const x = await Promise.resolve(1); console.log(x, typeof require)' }],
  ['detect: required', { 'main.js': 'console.log(require("./a.js"))', 'a.js': 'export const a = 1' }],
  ['detect: require and await', { 'main.js': 'const fs = require("fs"); await 1;' }],
  ['detect: a redeclared variable', { 'main.js': 'import { createRequire } from "module"; const require = createRequire(import.meta.url); console.log(require("./b.cjs"))', 'b.cjs': 'module.exports = "b"' }],
  ['-e', {}, ['-e', 'console.log(__filename, __dirname, require.main === module, module.id, module.paths[0], typeof exports, this === globalThis, process.argv.length)', 'x', 'y']],
  ['-e: require and import', { 'a.js': 'module.exports = 1', 'b.mjs': 'export default 2' }, ['-e', 'console.log(require("./a")); import("./b.mjs").then((m) => console.log(m.default))']],
  ['-e: module syntax', { 'b.mjs': 'export default 2' }, ['-e', 'import b from "./b.mjs"; console.log(b, import.meta.url, typeof require)']],
  ['-e: top-level await', {}, ['-e', 'console.log(await 5)']],
  ['-e: syntax error', {}, ['-e', 'let a b']],
  ['-e: throws', {}, ['-e', '\n  throw new Error("x")']],
  ['-e: throws in a module', {}, ['-e', 'import "fs"; throw new Error("x")']],
  ['-e: typescript', {}, ['-e', 'let a: number = 1; console.log(a)']],
  ['-p', {}, ['-p', '[1, 2, {a: 3}]']],
  ['-p: module syntax', {}, ['-p', 'import "fs"; 1']],
  ['--input-type=module', {}, ['--input-type=module', '-e', 'import fs from "fs"; console.log(typeof fs, import.meta.url, this)']],
  ['--input-type=commonjs', {}, ['--input-type=commonjs', '-e', 'import "fs"']],
  ['--input-type=module: syntax error', {}, ['--input-type=module', '-e', 'let a b']],
  ['--require and --import', { 'main.js': 'console.log("main")', 'r.js': 'console.log("required", module.parent && module.parent.id)', 'i.mjs': 'console.log("imported")' }, ['--require', './r.js', '--import', './i.mjs', 'main.js']],
  ['missing main', {}, ['none.js']],
  ['missing main, a module', {}, ['none.mjs']],
  ['a folder as main', { 'app/index.js': 'console.log(__filename)' }, ['app']],
  ['vm: this context', { 'main.js': 'const vm = require("vm"); console.log(vm.runInThisContext("typeof require + (globalThis.q = 1)"), q, new vm.Script("1 + 1", { filename: "x.js" }).runInThisContext()); try { vm.runInThisContext("let a b", "bad.js") } catch (e) { console.log(e.stack.split("\\n").slice(0, 5).join("\\n")) } try { new vm.Script("throw new Error(1)", { filename: "t.js", lineOffset: 5 }).runInThisContext() } catch (e) { console.log(e.stack.split("\\n").slice(0, 5).join("\\n")) } try { vm.runInThisContext("for(;;);", { timeout: 5 }) } catch (e) { console.log(e.code, e.message) } console.log(vm.compileFunction("return a + b", ["a", "b"])(1, 2)); const s = new vm.Script("1", { produceCachedData: true }); console.log(Buffer.isBuffer(s.cachedData), new vm.Script("1", { cachedData: s.cachedData }).cachedDataRejected, s.createCachedData().length > 0);' }],
  ['vm: contexts', { 'main.js': 'const vm = require("vm"); const c = vm.createContext({ x: 1, log: console.log }); console.log(vm.isContext(c), vm.runInContext("x += 1; var y = 2; this.z = 3; function f() {} let hidden = 1; typeof globalThis.f + typeof process + Object.keys(globalThis)", c), Object.keys(c), c.x, c.y, c.z); console.log(vm.runInContext("[] instanceof Array", c), vm.runInContext("[]", c) instanceof Array, vm.runInNewContext("a * 2", { a: 21 })); try { vm.runInContext("\\"use strict\\"; nope = 1", c) } catch (e) { console.log(e.name, e.message, e instanceof ReferenceError) } console.log(vm.runInContext("delete globalThis.x; typeof x", c), "x" in c); Object.defineProperty(c, "acc", { get() { return "got" }, set(v) { c.was = v }, configurable: true }); console.log(vm.runInContext("acc = 5; acc", c), c.was, vm.runInContext("Object.getOwnPropertyNames(globalThis).includes(\\"acc\\")", c)); console.log(vm.runInContext("eval(\\"1+1\\")", vm.createContext({})), require("util").inspect(vm.runInContext("({a: [1]})", c))); try { vm.runInContext("throw new TypeError(1)", c, "ctx.js") } catch (e) { console.log(e.stack.split("\\n").slice(0, 3)) }' }],
  ['vm: modules of import()', { 'main.js': 'const vm = require("vm"); vm.runInThisContext("import(\\"fs\\")").catch((e) => console.log(e.code, e.message)); new vm.Script("import(\\"./a.mjs\\")", { filename: __filename, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext().then((m) => console.log(m));', 'a.mjs': 'export const a = 1' }],
  ['symbolic links', { 'main.js': 'const fs = require("fs"); fs.mkdirSync("node_modules", { recursive: true }); fs.symlinkSync("../real/p", "node_modules/p"); fs.symlinkSync("a.js", "link.js"); console.log(require("p"), require.resolve("p"), require("./link")); import("p").then((m) => console.log(m.default));', 'real/p/index.js': 'module.exports = [__filename, require("q")]', 'real/node_modules/q/index.js': 'module.exports = "q"', 'a.js': 'module.exports = __filename' }],
];

// ---

const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');

const home = '/tmp/tare-guest-modules';
for (const [name, files, argv = ['main.js']] of cases) {
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home, { recursive: true });
  for (const file of Object.keys(files)) {
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    fs.writeFileSync(path.join(home, file), files[file]);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: home, encoding: 'utf8' });
  console.log(`== ${name}: ${status}`);
  console.log((stdout + stderr).replaceAll(/\(node:\d+\)/g, '(node:PID)').replaceAll(process.execPath, 'node'));
}
fs.rmSync(home, { recursive: true, force: true });
