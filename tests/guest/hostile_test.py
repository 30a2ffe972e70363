"""Guests that mean harm: each fails with a clear reason, while a neighbour in the same engine goes on and answers
afterwards, and nothing of it is left: no thread, no descriptor, no process."""

import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time
import unittest

import engine_client
from engine_client import Engine, EngineGone

MB = 1 << 20
POOL = 1
ECHO = "process.stdin.on('data', (data) => process.stdout.write(data))"
HELD = "setInterval(() => {}, 1000)"
UP = "require('fs').writeSync(1, 'up');"


def settled(condition, seconds=30):
    """Waits for what ends by itself a moment later: threads, descriptors, processes."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def children_of(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text(encoding="ascii").split()]
    return found


@unittest.skipUnless(engine_client.available(), "the guest engine is not there")
class EngineTest(unittest.TestCase):
    """One engine for all tests of a class, with a neighbour in it that echoes."""

    CONFIG = {}

    @classmethod
    def setUpClass(cls):
        cls.engine = Engine(pool=POOL, **cls.CONFIG)
        cls.neighbour = cls.engine.spawn(cls.engine.vm(), ["node", "-e", ECHO])
        cls.answers("warm-up")
        cls.full_pool()
        # What is opened once and then kept is opened by now.
        cls.engine.run(cls.engine.vm(), "require('child_process').execSync('echo 1')")
        assert settled(lambda: cls.live() == 1)
        cls.full_pool()
        cls.before = cls.holdings()

    @classmethod
    def tearDownClass(cls):
        cls.neighbour.drop()
        assert cls.engine.close() == 0, "the engine ended badly"

    @classmethod
    def answers(cls, text):
        cls.neighbour.streams[1].clear()
        cls.neighbour.write(text.encode())
        cls.neighbour.read_until(text.encode())

    @classmethod
    def live(cls):
        return cls.engine.stats()["liveGuests"]

    @classmethod
    def full_pool(cls):
        assert settled(lambda: cls.engine.stats()["poolReady"] == POOL), "the pool never filled"

    @classmethod
    def holdings(cls):
        stats = cls.engine.stats()
        return {"threads": stats["threads"], "live": stats["liveGuests"], "abandoned": stats["abandoned"],
                "descriptors": cls.engine.descriptors()}

    def setUp(self):
        self.machines = []

    def tearDown(self):
        self.answers(self.id())
        for vm in self.machines:
            self.engine.dispose(vm)
        # Less is no leak: a thread may still have been ending when the class began.
        if not settled(lambda: all(now <= self.before[name] for name, now in self.holdings().items())):
            before, type(self).before = self.before, self.holdings()
            self.fail(f"was {before}, is {self.before}")

    def vm(self, limits=None, **permissions):
        self.machines.append(self.engine.vm(limits, **permissions))
        return self.machines[-1]

    def run_guest(self, code, *arguments, limits=None, **options):
        return self.engine.run(self.vm(limits), code, *arguments, **options)

    def assert_killed(self, result, reason, text="SIGKILL"):
        self.assertEqual((result.code, result.signal, result.reason), (None, text, reason), result)

    def assert_output(self, code, output, **options):
        result = self.run_guest(code, **options)
        self.assertEqual((result.code, result.stdout.decode()), (0, output), result)


class EndlessGuests(EngineTest):
    ENDLESS = {
        "loop": "for (;;);",
        "microtasks": "const f = () => Promise.resolve().then(f); f()",
        "queueMicrotask": "const f = () => queueMicrotask(f); f()",
        "nextTick": "const f = () => process.nextTick(f); f()",
        "immediates": "const f = () => setImmediate(f); f()",
        "await": "(async () => { for (;;) await 0 })()",
        "async iterator": "(async () => { for await (const x of { [Symbol.asyncIterator]: () => ({ next: () => ({}) }) }); })()",
        "thenable": "Promise.resolve({ then() { for (;;); } })",
        "regexp": "/^(a+)+$/.exec('a'.repeat(60) + 'b')",
        "regexp replace": "'a'.repeat(60).concat('b').replace(/(a*)*$/, '')",
        "catch and finally": "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
        "recursion that catches": "function f() { try { f() } catch { f() } finally { f() } } f()",
        "sort": "[1, 2, 3].sort(() => { for (;;); })",
        "atomics": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        "atomics again": "for (;;) try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) } catch {}",
        "exit handler": "process.on('exit', () => { for (;;); })",
        "exception handler": "process.on('uncaughtException', () => { for (;;); }); throw 1",
        "stack trace": "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')",
        "stack trace again": "Error.prepareStackTrace = () => { for (;;); }; for (;;) try { new Error('x').stack } catch {}",
        "getter of a thrown error": "throw Object.defineProperty(new Error('x'), 'stack', { get() { for (;;); } })",
        "thrown proxy": "throw new Proxy(new Error('x'), { get() { for (;;); }, getPrototypeOf() { for (;;); } })",
        "rejected proxy": "Promise.reject(new Proxy({}, { get() { for (;;); } })); for (;;);",
        "patched fatal handler": "process._fatalException = () => { for (;;); }; throw 1",
        "patched write": "process.stdout.write = () => { for (;;); }; console.log(1)",
        "finalizers": "const r = new FinalizationRegistry(() => { for (;;); }); setInterval(() => { for (let i = 0; i < 1e4; i++) r.register({}, 1) }, 1)",
        "vm with a timeout": "for (;;) try { require('vm').runInNewContext('for (;;);', {}, { timeout: 5 }) } catch {}",
        "clone with a getter": "for (;;) try { structuredClone({ get a() { for (;;); } }) } catch {}",
        "inspect with a getter": "for (;;) try { require('util').inspect({ get a() { for (;;); } }, { getters: true }) } catch {}",
        "inspect with a custom function": "for (;;) try { console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } }) } catch {}",
        "toString of an argument": "for (;;) try { require('fs').statSync({ toString() { for (;;); } }) } catch {}",
        "JSON": "JSON.stringify({ toJSON() { for (;;); } })",
        "eval": "for (let i = 0; ; i++) eval('a' + i + ' = 1; delete a' + i)",
        "waiting for a child": "require('child_process').spawnSync('node', ['-e', 'for (;;);'])",
        "waiting for a shell": "require('child_process').execSync('node -e \"for (;;);\"')",
        "waiting for input": "require('fs').readFileSync(0)",
        "timers": "for (;;) setTimeout(() => {}, 1e6).unref()",
        "big numbers": "let b = 3n ** 100000n; for (;;) b * b",
        "pbkdf2": "require('crypto').pbkdf2Sync('p', 's', 2 ** 31 - 1, 64, 'sha512')",
        "pbkdf2 elsewhere": "for (let i = 0; i < 9; i++) require('crypto').pbkdf2('p', 's', 2 ** 31 - 1, 64, 'sha512', () => {})",
        "a long key": "require('crypto').pbkdf2Sync('p', 's', 1e5, 2 ** 26, 'sha1')",
        "scrypt": "require('crypto').scryptSync('p', 's', 8, { N: 2 ** 16, r: 1, p: 2 ** 18, maxmem: 2 ** 40 })",
        "scrypt elsewhere": "require('crypto').scrypt('p', 's', 8, { N: 2 ** 16, r: 1, p: 2 ** 18, maxmem: 2 ** 40 }, () => {})",
        "a prime": "for (;;) require('crypto').generatePrimeSync(8000, { safe: true })",
        "checks of a prime": "require('crypto').checkPrimeSync(2n ** 3217n - 1n, { checks: 2 ** 31 - 1 })",
        "random bytes": "for (;;) require('crypto').randomBytes(1 << 24)",
    }

    def test_what_never_ends_is_killed(self):
        vm = self.vm()
        for name, code in self.ENDLESS.items():
            with self.subTest(name):
                guest = self.engine.spawn(vm, ["node", "-e", UP + code])
                guest.read_until(b"up")
                guest.kill()
                self.assert_killed(guest.wait(), "killed")

    def test_many_at_once(self):
        vm = self.vm()
        guests = [self.engine.spawn(vm, ["node", "-e", UP + "for (;;) try { for (;;); } catch {}"]) for _ in range(8)]
        for guest in guests:
            guest.read_until(b"up")
        for guest in guests:
            guest.kill()
        for guest in guests:
            self.assert_killed(guest.wait(), "killed")

    def test_many_are_profiled_at_once(self):
        vm = self.vm()
        before = self.engine.stats()
        codes = ["function f() { for (const end = Date.now() + 300; Date.now() < end;); } f()",
                 UP + "for (;;) try { for (;;); } catch {}",
                 "const all = []; for (;;) all.push(new Array(1e5).fill({}))",
                 "(function deep(n) { try { deep(n + 1) } catch { for (const end = Date.now() + 100; Date.now() < end;); } })(0)",
                 "for (let i = 0; i < 5000; i++) eval(`(function n${i}() { return ${i} })()`)",
                 "process.exit(3)"]
        guests = [self.engine.spawn(vm, ["node", "-e", code], profiles=["cpu", "heap"]) for code in codes * 2]
        for guest in (guests[1], guests[7]):
            guest.read_until(b"up")
            guest.kill()
        for guest in guests:
            guest.wait()
            kinds = self.engine.profiles.pop(guest.id)
            self.assertEqual(sorted(kinds), ["cpu", "heap"])
            self.assertIn("nodes", json.loads(kinds["cpu"]))
            self.assertIn("head", json.loads(kinds["heap"]))
        late = self.engine.spawn(vm, ["node", "-e", "for (;;);"], profiles=["cpu"])
        late.kill()
        self.assert_killed(late.wait(), "killed")
        self.assertIn("cpu", self.engine.profiles.pop(late.id))
        self.assertEqual(self.engine.stats()["abandoned"], before["abandoned"])

    def test_killed_while_it_starts(self):
        vm = self.vm()
        for _ in range(30):
            guest = self.engine.spawn(vm, ["node", "-e", "for (;;);"])
            guest.kill()
            self.assert_killed(guest.wait(), "killed")

    def test_limits_of_time(self):
        result = self.run_guest("for (;;);", limits={"wallMs": 200})
        self.assert_killed(result, "wallTime")
        self.assert_killed(self.run_guest(HELD, limits={"wallMs": 200}), "wallTime")
        self.assert_killed(self.run_guest("for (;;);", limits={"cpuMs": 100}), "cpuTime")
        self.assert_killed(self.run_guest(HELD, timeoutMs=100), "wallTime")
        self.assert_killed(self.run_guest("for (;;) try { for (;;); } finally { continue }", timeoutMs=100), "wallTime")
        # Time that it waits is no processor time.
        self.assert_output("setTimeout(() => console.log('ok'), 300)", "ok\n", limits={"cpuMs": 250})

    def test_a_child_has_the_limits_of_its_machine(self):
        code = "console.log(require('child_process').spawnSync('node', ['-e', 'for (;;);']).signal)"
        self.assert_output(code, "SIGKILL\n", limits={"cpuMs": 200})


class GreedyGuests(EngineTest):
    MEMORY = {
        "objects": "const a = []; for (;;) a.push({ a })",
        "array doubling": "let a = [1]; for (;;) a = a.concat(a)",
        "spread": "let a = [1]; for (;;) a = [...a, ...a]",
        "map": "const m = new Map; for (let i = 0; ; i++) m.set(i, i)",
        "typed arrays": "const a = []; for (;;) a.push(new Uint8Array(10))",
        "strings": "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1 << 20) + i), a.at(-1).charCodeAt(5)",
        "clones": "const a = [], b = 'x'.repeat(1 << 20); for (;;) a.push(structuredClone(b))",
        "promises": "for (;;) Promise.resolve().then(() => {})",
        "ticks": "for (;;) process.nextTick(() => {})",
        "microtasks": "for (;;) queueMicrotask(() => {})",
        "contexts": "const a = [], vm = require('vm'); for (;;) a.push(vm.createContext({}))",
        "one that catches": "const a = []; for (;;) try { for (;;) a.push(new Array(1000).fill(a)) } catch {} finally { a.push(1) }",
        "in an exception handler": "process.on('uncaughtException', () => { const a = []; for (;;) a.push([a]) }); throw 1",
    }
    LIMITS = {"memoryBytes": 32 * MB, "arrayBufferBytes": 32 * MB}

    CONFIG = {"memoryLimitBytes": 768 * MB}

    def test_the_heap_ends(self):
        vm = self.vm(self.LIMITS)
        for name, code in self.MEMORY.items():
            with self.subTest(name):
                self.assert_killed(self.engine.run(vm, code), "memory")

    RANGE = {
        "2 GB": "Buffer.alloc(2 ** 31)",
        "2 GB, unset": "Buffer.allocUnsafe(2 ** 31)",
        "2 GB, raw": "new ArrayBuffer(2 ** 31)",
        "2 GB, shared": "new SharedArrayBuffer(2 ** 31)",
        "ArrayBuffers": "const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))",
        "SharedArrayBuffers": "const a = []; for (;;) a.push(new SharedArrayBuffer(1 << 20))",
        "a huge string": "let s = 'x'; for (;;) s += s",
        "a huge array": "new Array(-1)",
        "recursion": "function f() { f() } f()",
        "recursion of eval": "const f = () => eval('f()'); f()",
        "parentheses": "eval('('.repeat(1e6))",
        "arrows": "eval('a=>'.repeat(1e5) + '1')",
        "arguments": "Math.max(...new Array(1e6))",
        "proxies": "let o = {}; for (let i = 0; i < 1e5; i++) o = new Proxy(o, {}); o.x",
        "numbers": "2n ** (2n ** 40n)",
    }

    def test_what_is_refused_can_be_caught(self):
        vm = self.vm(self.LIMITS)
        for name, code in self.RANGE.items():
            with self.subTest(name):
                result = self.engine.run(vm, code)
                self.assertEqual((result.code, result.reason), (1, None), result)
                self.assertIn(b"RangeError", result.stderr)
                result = self.engine.run(vm, "try { %s } catch (error) { console.log(error.name) }" % code)
                self.assertEqual((result.code, result.stdout), (0, b"RangeError\n"), result)

    def test_natives_that_recurse(self):
        code = """
          let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep];
          const { inspect } = require('util');
          const steps = [() => JSON.stringify(deep), () => deep.flat(Infinity), () => deep.toString(), () => structuredClone(deep),
            () => inspect(deep, { depth: Infinity }), () => require('v8').serialize(deep), () => require('assert').deepEqual(deep, [deep])];
          for (const step of steps) { try { step() } catch (error) { if (!/RangeError|AssertionError/.test(error.name)) throw error } }
          const all = [() => new Error('x').stack, () => inspect(new Error('x')), () => Buffer.from('x'), () => structuredClone({ a: 1 }),
            () => require('fs').readdirSync('/'), () => process.emitWarning, () => new URL('http://x/'), () => import('fs').catch(() => {}),
            () => require('fs').existsSync('/x'), () => require('vm').runInNewContext('1'), () => queueMicrotask(() => {}),
            () => require('module').createRequire('/x')('fs'), () => setTimeout(() => {}, 1), () => process.hrtime(), () => Promise.reject(1).catch(() => {})];
          for (const step of all) {  // where the stack ends, and somewhat above
            let left = 50; const f = () => { try { f() } catch {} if (left-- > 0) try { step() } catch {} }; f();
          }
          Error.prepareStackTrace = function f(error, sites) { return f(error, sites) };
          const g = () => g();
          try { g() } catch (error) { try { error.stack } catch {} }
          Error.prepareStackTrace = undefined; Error.stackTraceLimit = Infinity;
          try { g() } catch (error) { error.stack.length }
          console.log('ok')"""
        self.assert_output(code, "ok\n")

    def test_the_last_byte_of_the_budget(self):
        # Node's own natives need a little even then.
        code = """
          const all = []; let n = 1 << 20;
          while (n >= 128) { try { all.push(new ArrayBuffer(n)) } catch { n >>= 1 } }
          require('fs').writeSync(1, new Uint8Array([111, 107, 10]));
          for (const f of [() => Buffer.from('x'.repeat(100)), () => structuredClone('x'.repeat(1000)), () => new TextEncoder().encode('x'.repeat(100)),
            () => require('fs').readFileSync('/dev/null'), () => require('v8').serialize('x'.repeat(1000)),
            () => new SharedArrayBuffer(100), () => new ArrayBuffer(8).transfer(1000)]) { try { f() } catch (error) { if (error.name !== 'RangeError') throw error } }"""
        self.assert_output(code, "ok\n", limits=self.LIMITS)

    def test_array_buffers_that_grow(self):
        code = """
          const all = []; const fill = (b) => { new Uint8Array(b).fill(1); all.push(b) };
          try { for (;;) fill(new %s(1 << 20, { maxByteLength: 1 << 20 })) } catch (error) { if (error.name !== 'RangeError') throw error }
          console.log('refused')"""
        self.assert_killed(self.run_guest(code % "ArrayBuffer", limits=self.LIMITS), "arrayBuffer")
        # What is shared is counted for nobody: it is the engine that has a limit.
        self.assert_killed(self.run_guest(code % "SharedArrayBuffer", limits=self.LIMITS), "memory")

    def test_web_assembly_is_refused(self):
        module = "new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])"
        result = self.run_guest(f"new WebAssembly.Module({module})")
        self.assertEqual(result.code, 1, result)
        self.assertIn(b"CompileError: WebAssembly.Module(): Wasm code generation disallowed by embedder", result.stderr)
        self.assert_output(f"WebAssembly.instantiate({module}).catch((error) => console.log(error.name))", "CompileError\n")
        result = self.run_guest("new WebAssembly.Memory({ initial: 1 })")
        self.assertEqual(result.code, 1, result)

    def test_files_end(self):
        code = "const fs = require('fs'); try { for (let i = 0; i < 1e6; i++) %s } catch (error) { console.log(error.code) }"
        self.assert_output(code % "fs.writeFileSync('/tmp/' + i, '')", "ENOSPC\n", limits={"inodes": 2000})
        self.assert_output(code % "fs.mkdirSync('/tmp/' + i)", "ENOSPC\n", limits={"inodes": 2000})
        self.assert_output(code % "fs.appendFileSync('/tmp/x', 'x'.repeat(1e5))", "ENOSPC\n", limits={"fileBytes": 4 * MB})
        self.assert_output(code % "fs.openSync('/tmp/x', 'w')", "EMFILE\n", limits={"openFiles": 20})
        self.assert_output(code % "fs.openSync('/tmp/x', 'w')", "EMFILE\n")

    def test_a_million_files(self):
        code = "const fs = require('fs'); try { for (let i = 0; i < 1e6; i++) fs.writeFileSync('/tmp/' + i, '') } catch (error) { console.log(error.code) }"
        self.assert_output(code, "ENOSPC\n")

    def test_files_larger_than_memory(self):
        code = """
          const fs = require('fs'); fs.writeFileSync('/tmp/s', '');
          for (const size of [2 ** 40, 2 ** 29]) {
            fs.truncateSync('/tmp/s', size);
            for (const encoding of [undefined, 'utf8', 'latin1']) { try { fs.readFileSync('/tmp/s', encoding) } catch (error) { console.log(error.code) } }
          }"""
        self.assert_output(code, "ERR_FS_FILE_TOO_LARGE\nENOMEM\nERR_FS_FILE_TOO_LARGE\nERR_MEMORY_ALLOCATION_FAILED\nENOMEM\nERR_MEMORY_ALLOCATION_FAILED\n")

    def test_a_file_without_an_end(self):
        for encoding in ("", ", 'utf8'"):
            result = self.run_guest(f"require('fs').readFileSync('/dev/zero'{encoding})", limits=self.LIMITS)
            self.assertEqual((result.code, result.reason), (1, None), result)


class GuestsWithSecrets(EngineTest):
    LIMITS = {"memoryBytes": 128 * MB, "arrayBufferBytes": 32 * MB}

    def test_many_hashes(self):
        code = """
          const crypto = require('crypto'); const all = [];
          for (const make of [() => crypto.createHash('sha256'), () => crypto.createHmac('sha256', 'k'), () => crypto.createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12))]) {
            all.length = 0; for (let i = 0; i < 10000; i++) all.push(make().update('x')); }
          all.length = 0; for (let i = 0; i < 200000; i++) crypto.createHash('sha256'); console.log('collected');
          try { for (;;) all.push(crypto.createHash('sha256')) } catch (error) { all.length = 0; console.log(error.name, error.code) }
          console.log(crypto.createHash('sha1').digest('hex').length)"""
        self.assert_output(code, "collected\nRangeError ERR_MEMORY_ALLOCATION_FAILED\n40\n", limits=self.LIMITS)

    def test_memory_to_derive_with(self):
        code = """
          const crypto = require('crypto'); const say = (error) => console.log(error.name, error.code);
          const costs = { N: 2 ** 16, r: 8, maxmem: 2 ** 40 };
          try { crypto.scryptSync('p', 's', 8, costs) } catch (error) { say(error) }
          try { crypto.scrypt('p', 's', 8, costs, () => {}) } catch (error) { say(error) }
          try { for (let i = 0; i < 3; i++) crypto.scrypt('p', 's', 8, { N: 2 ** 13, r: 8 }, () => {}) ; for (let i = 0; i < 9; i++) crypto.scrypt('p', 's', 8, { N: 2 ** 13, r: 8 }, () => {}) } catch (error) { say(error) }
          try { crypto.pbkdf2Sync('p', 's', 1, 2 ** 31 - 1, 'sha1') } catch (error) { say(error) }
          try { crypto.createHash('shake256', { outputLength: 2 ** 32 - 1 }).digest() } catch (error) { say(error) }
          try { crypto.generateKeySync('hmac', { length: 2 ** 31 - 1 }) } catch (error) { say(error) }
          for (let i = 0; i < 20; i++) crypto.scryptSync('p', 's', 8, { N: 2 ** 10, r: 8 });"""
        refused = "RangeError ERR_MEMORY_ALLOCATION_FAILED\n"
        self.assert_output(code, refused * 6, limits=self.LIMITS)

    def test_a_process_that_leaves_its_jobs(self):
        jobs = "for (let i = 0; i < 20; i++) require('crypto').pbkdf2('p', 's', 2 ** 31 - 1, 64, 'sha512', () => {});"
        result = self.run_guest(jobs + "process.exit(3)")
        self.assertEqual((result.code, result.reason), (3, None), result)
        result = self.run_guest(jobs + "setTimeout(() => process.exit(3), 20)")
        self.assertEqual((result.code, result.reason), (3, None), result)
        # And the threads are free again.
        self.assert_output("require('crypto').pbkdf2('p', 's', 1, 4, 'sha1', (error, key) => console.log(key.length))", "4\n")

    def test_many_jobs(self):
        code = """
          const crypto = require('crypto'); let n = 0;
          for (let i = 0; i < 20000; i++) crypto.randomBytes(8, () => { if (++n === 20000) console.log(n) })"""
        self.assert_output(code, "20000\n")

    def test_primes_that_do_not_exist(self):
        code = """
          const { generatePrimeSync, checkPrimeSync } = require('crypto');
          for (const make of [() => generatePrimeSync(64, { add: 15n, rem: 3n }), () => generatePrimeSync(64, { add: 30n, rem: 10n }), () => generatePrimeSync(64, { add: 12n, safe: true }),
            () => generatePrimeSync(64, { add: 15n, rem: 1n, safe: true }), () => generatePrimeSync(2 ** 31 - 1), () => checkPrimeSync(Buffer.alloc(1 << 20, 255))]) try { console.log(make()) } catch (error) { console.log(error.code) }"""
        self.assert_output(code, "ERR_OUT_OF_RANGE\n" * 6)

    def test_buffers_that_go_away(self):
        code = """
          const crypto = require('crypto'); const tell = (error) => { if (error) throw error };
          for (let i = 0; i < 50; i++) {
            const gone = new Uint8Array(1 << 16); crypto.randomFill(gone, tell); structuredClone(gone, { transfer: [gone.buffer] });
            const less = new ArrayBuffer(1 << 16, { maxByteLength: 1 << 16 }); crypto.randomFill(less, tell); less.resize(i);
            const key = new Uint8Array(1 << 10); crypto.scrypt(key, key, 8, { N: 2 }, tell); crypto.hkdf('sha1', key, key, '', 8, tell); key.buffer.transfer();
            const data = new ArrayBuffer(1 << 10, { maxByteLength: 1 << 12 }); crypto.subtle.digest('SHA-256', data).catch(tell); data.resize(i % 3 ? 0 : 1 << 12);
          }
          const view = new Uint8Array(new ArrayBuffer(100, { maxByteLength: 100 }), 50); view.buffer.resize(10);
          for (const f of [() => crypto.randomFillSync(view), () => crypto.createHash('sha1').update(view).digest(), () => crypto.timingSafeEqual(view, view), () => crypto.createSecretKey(view)]) try { f() } catch {}
          console.log('ok')"""
        self.assert_output(code, "ok\n")

    def test_natives_of_crypto_take_no_harm(self):
        code = """
          const crypto = require('crypto'); const made = [];
          const handle = (object) => object[Object.getOwnPropertySymbols(object).find((one) => one.description === 'kHandle')];
          made.push(handle(crypto.createHash('sha1')), handle(crypto.createHmac('sha1', 'k')), handle(crypto.createMac('siphash', Buffer.alloc(16))), handle(crypto.createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12))), handle(crypto.createDecipheriv('aes-128-ccm', Buffer.alloc(16), Buffer.alloc(12), { authTagLength: 4 })));
          const jobs = []; const keep = function () { jobs.push(this) };
          crypto.pbkdf2('p', 's', 1, 1, 'sha1', keep); crypto.scrypt('p', 's', 1, { N: 2 }, keep); crypto.hkdf('sha1', 'k', '', '', 1, keep); crypto.randomBytes(1, keep); crypto.generateKey('aes', { length: 128 }, keep);
          const strange = [undefined, null, -1, 1.5, 2 ** 32, 2n, {}, [], Symbol('s'), () => {}, 'x', 'sha1', true, new ArrayBuffer(64), Buffer.alloc(3), { toString() { throw 1 } }, new Proxy({}, {})];
          setTimeout(() => {
            // What a program may have made of arrays and functions shows it no handle.
            for (const name of ['call', 'apply', 'bind']) { const f = Function.prototype[name]; Function.prototype[name] = function (...args) { if (args.some((one) => one instanceof ArrayBuffer && one.byteLength > 500)) process.exit(9); return Reflect.apply(f, this, args) } }
            const next = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function () { for (let i = 0; i < this.length; i++) if (this[i] instanceof ArrayBuffer && this[i].byteLength > 500) process.exit(9); return Reflect.apply(next, this, []) };
            for (const object of [...made, ...jobs]) {
              const Class = object.constructor;
              for (const name of Object.getOwnPropertyNames(Class.prototype)) for (const a of strange) for (const b of strange) {
                for (const call of [() => object[name](a, b), () => Class.prototype[name].call(a, b), () => Class.prototype[name].call(made[0], a, b), () => Reflect.construct(Class, [a, b, a, b, a, b, a])]) try { const done = call(); done?.catch?.(() => {}) } catch {}
              }
              for (const a of strange) for (let at = 0; at < 8; at++) for (const mode of [0, 1, 2]) { const args = [mode, 'sha1', Buffer.alloc(2), 1, 1, 'sha1', 1, 8]; args[at] = a; try { const job = Reflect.construct(Class, args); job.ondone = () => {}; job.run?.(); job.run?.(); } catch {} }
            }
            require('fs').writeSync(1, 'ok\\n'); process.reallyExit(0);
          }, 50)"""
        self.assert_output(code, "ok\n")

    def test_what_is_not_there_says_so(self):
        code = """
          const crypto = require('crypto'); const tls = require('tls');
          for (const f of [() => crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }), () => crypto.generateKeyPair('ed25519', () => {}), () => crypto.createPrivateKey('x'), () => crypto.createPublicKey('x'), () => crypto.createSign('sha1'), () => crypto.createVerify('sha1'),
            () => crypto.createDiffieHellman(512), () => crypto.createECDH('prime256v1'), () => new crypto.X509Certificate('x'), () => crypto.publicEncrypt('x', Buffer.alloc(1)), () => crypto.argon2Sync('argon2id', { message: '', nonce: '12345678', parallelism: 1, tagLength: 4, memory: 8, passes: 1 }),
            () => crypto.setFips(true), () => tls.createSecureContext()]) try { f(); console.log('?') } catch (error) { console.log(error.code, error.message.split(' ')[0]) }
          crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']).catch(({ name, cause }) => console.log(name, cause.code, cause.message.split(' ')[0]))"""
        names = ["RsaKeyPairGenJob", "NamedKeyPairGenJob", "createPrivateKey", "createPublicKey", "Sign", "Verify", "DiffieHellman", "ECDH", "X509Certificate", "publicEncrypt",
                 "Argon2Job", "setFips", "SecureContext"]
        said = "".join(f"ERR_FEATURE_UNAVAILABLE_ON_PLATFORM crypto.{name}\n" for name in names)
        self.assert_output(code, said + "OperationError ERR_FEATURE_UNAVAILABLE_ON_PLATFORM crypto.EcKeyPairGenJob\n")


class CompressingGuests(EngineTest):
    LIMITS = {"memoryBytes": 64 * MB, "arrayBufferBytes": 32 * MB}
    # Streams that are all held, each with its memory.
    HELD_STREAMS = """
      const zlib = require('zlib'); const all = []; const input = Buffer.alloc(100, 'abc');
      const hold = (make, n = 1e4) => { try { for (let i = 0; i < n; i++) { const one = make(); one.on('error', () => {}); all.push(one);
        one._handle.writeSync(0, input, 0, 100, one._outBuffer, 0, 64); if (one.errored) throw one.errored; } return 'all' } catch (e) { return e.code ?? e.name } };
      %s"""

    def test_ten_thousand_streams(self):
        for kind, limit in (("Deflate", "Z_MEM_ERROR"), ("Inflate", None), ("BrotliCompress", "ERR_"), ("BrotliDecompress", None),
                            ("ZstdCompress", "ZSTD_error_memory_allocation"), ("ZstdDecompress", None)):
            with self.subTest(kind):
                options = "{ chunkSize: 64, params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 24 } }" if kind == "BrotliCompress" else "{ chunkSize: 64 }"
                code = self.HELD_STREAMS % f"console.log(hold(() => zlib.create{kind}({options})))"
                result = self.run_guest(code, limits=self.LIMITS)
                self.assertEqual((result.code, result.reason), (0, None), result)
                if limit:
                    self.assertTrue(result.stdout.decode().startswith(limit), result)

    def test_streams_that_nobody_holds_are_collected(self):
        code = self.HELD_STREAMS % "console.log(hold(() => { all.length = 0; return zlib.createDeflate({ chunkSize: 64 }) }, 3000))"
        self.assert_output(code, "all\n", limits=self.LIMITS)

    def test_a_stream_too_large(self):
        code = """
          const zlib = require('zlib'); const C = zlib.constants; const input = Buffer.alloc(1 << 20, 'abc');
          const steps = [() => zlib.zstdCompressSync(input, { params: { [C.ZSTD_c_compressionLevel]: 22, [C.ZSTD_c_windowLog]: 30 } }),
            () => { const s = zlib.createBrotliCompress({ params: { [C.BROTLI_PARAM_LARGE_WINDOW]: 1, [C.BROTLI_PARAM_LGWIN]: 30 } }); s.on('error', (e) => console.log(e.code));
              s._handle.writeSync(0, input, 0, 1 << 20, s._outBuffer, 0, 64); s._handle.writeSync(2, input, 0, 1 << 20, s._outBuffer, 0, 64); },
            () => zlib.brotliCompressSync(input, { dictionary: Buffer.alloc(20 << 20, 'x') })];
          for (const step of steps) try { step() } catch (e) { console.log(e.code) }
          console.log(zlib.gunzipSync(zlib.gzipSync('on')).toString())"""
        result = self.run_guest(code, limits=self.LIMITS)
        self.assertEqual((result.code, result.reason), (0, None), result)
        self.assertIn("on", result.stdout.decode().split("\n"), result)

    def test_bombs(self):
        bomb = "const zlib = require('zlib'); let b = zlib.%sCompressSync(Buffer.alloc(16 << 20), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }); const all = Array(40).fill(b); "
        for kind in ("zstd", "brotli"):
            code = bomb % kind if kind == "brotli" else bomb.replace("BROTLI_PARAM_QUALITY", "ZSTD_c_compressionLevel") % kind
            one = {"zstd": "zlib.zstdDecompressSync(Buffer.concat(all))", "brotli": "all.map((one) => zlib.brotliDecompressSync(one))"}[kind]
            self.assert_output(code + f"try {{ {one} }} catch (e) {{ console.log(e.name) }}", "RangeError\n", limits=self.LIMITS)
        code = "const zlib = require('zlib'); const all = Array(40).fill(zlib.gzipSync(Buffer.alloc(16 << 20))); "
        self.assert_output(code + "try { zlib.gunzipSync(Buffer.concat(all)) } catch (e) { console.log(e.name) }", "RangeError\n", limits=self.LIMITS)
        self.assert_output(code + "zlib.gunzip(Buffer.concat(all), { maxOutputLength: 1e6 }, (e) => console.log(e.code))", "ERR_BUFFER_TOO_LARGE\n", limits=self.LIMITS)
        result = self.run_guest(code + "zlib.gunzip(Buffer.concat(all), () => {})", limits=self.LIMITS)
        self.assertEqual(result.code, 1, result)
        self.assertIn(b"RangeError", result.stderr)

    JOBS = """
      const zlib = require('zlib'); const input = Buffer.alloc(4 << 20); for (let i = 0; i < input.length; i++) input[i] = i * i >> 5;
      const C = zlib.constants; let n = 0; const more = () => { n++; zlib.brotliCompress(input, { chunkSize: 1 << 20 }, more) };
      for (let i = 0; i < 8; i++) more();
      require('fs').writeSync(1, 'up');"""

    def test_killed_while_its_jobs_run(self):
        vm = self.vm()
        for after in ("", "for (;;);", "process.exit(3)", "setTimeout(() => process.exit(3), 10)"):
            with self.subTest(after):
                guest = self.engine.spawn(vm, ["node", "-e", self.JOBS + after])
                guest.read_until(b"up")
                if "exit" not in after:
                    guest.kill()
                    self.assert_killed(guest.wait(), "killed")
                else:
                    self.assertEqual(guest.wait().code, 3)

    def test_many_jobs_do_not_keep_others_waiting(self):
        vm = self.vm()
        greedy = [self.engine.spawn(vm, ["node", "-e", self.JOBS]) for _ in range(2)]
        for guest in greedy:
            guest.read_until(b"up")
        self.assert_output("require('zlib').gzip('x', () => console.log('done'))", "done\n")
        for guest in greedy:
            guest.kill()
            self.assert_killed(guest.wait(), "killed")
        processors = os.cpu_count()
        self.assertLessEqual(self.engine.stats()["workers"], processors)

    def test_ten_thousand_jobs(self):
        code = """
          const zlib = require('zlib'); let n = 0;
          for (let i = 0; i < 10000; i++) { const s = zlib.createInflateRaw({ chunkSize: 64 }); s.on('data', () => {}).on('end', () => { if (++n === 10000) console.log('all') }); s.end(Buffer.from([3, 0])); }"""
        self.assert_output(code, "all\n")

    def test_the_time_of_jobs_is_the_guests(self):
        self.assert_killed(self.run_guest(self.JOBS.replace("1 << 20 }", "1 << 14 }"), limits={"cpuMs": 300}), "cpuTime")

    def test_what_the_library_would_never_do(self):
        code = """
          process.on('uncaughtException', () => {});  // assertions of the library
          const zlib = require('zlib'); const out = [];
          const t = (f) => { try { f(); out.push('-') } catch (e) { out.push(e.code ?? e.name) } };
          const b = Buffer.alloc(100); const handle = () => { const s = zlib.createDeflate(); s.on('error', () => {}); return s._handle };
          for (const v of [undefined, null, -1, 1e9, NaN, 2 ** 53, 'x', {}, [], Symbol.iterator, b, 1n]) {
            for (let at = 0; at < 7; at++) for (const sync of ['write', 'writeSync']) { const args = [0, b, 0, 10, Buffer.alloc(100), 0, 10]; args[at] = v; t(() => handle()[sync](...args)) }
            for (const kind of ['Zlib', 'BrotliEncoder', 'BrotliDecoder', 'ZstdCompress', 'ZstdDecompress']) {
              const make = { Zlib: 'createGzip', BrotliEncoder: 'createBrotliCompress', BrotliDecoder: 'createBrotliDecompress', ZstdCompress: 'createZstdCompress', ZstdDecompress: 'createZstdDecompress' }[kind];
              const Class = zlib[make]()._handle.constructor;
              t(() => new Class(v)); t(() => { const h = new Class(1); h.init(v, v, v, v, v, v, v, v) }); t(() => { const h = new Class(2); h.write(0, b, 0, 1, b, 0, 1) });
              t(() => { const h = new Class(3); h.close(); h.close(); h.reset(); }); t(() => zlib[make]()._handle.params(v, v)); t(() => Class.prototype.write.call(v, 0, b, 0, 1, b, 0, 1));
            }
          }
          const moved = zlib.createGzip(); moved.on('data', () => {}); const big = new Uint8Array(1 << 20); moved.on('error', () => {}); moved.write(big); t(() => structuredClone(big.buffer, { transfer: [big.buffer] })); t(() => moved._outBuffer.buffer.transfer());
          const shrinking = new ArrayBuffer(1 << 20, { maxByteLength: 1 << 20 }); zlib.gzip(new Uint8Array(shrinking), (e, r) => { console.log(e, r.length > 100) }); shrinking.resize(0);
          const busy = zlib.createDeflate(); busy.on('error', () => {}).on('data', () => {}); busy.write(Buffer.alloc(1 << 20)); for (let i = 0; i < 10; i++) { t(() => busy._handle.params(i % 10, 0)); t(() => busy._handle.reset()); t(() => busy._handle.write(0, b, 0, 1, b, 0, 1)) } busy._handle.close();
          const raw = zlib.createDeflate()._handle; { const small = Buffer.alloc(70000); raw.writeSync(0, Buffer.alloc(70000, 'ab'), 0, 70000, small, 0, 10) } t(() => raw.params(0, 0)); t(() => raw.params(9, 1));
          console.log(out.length > 200)"""
        result = self.run_guest(code)
        self.assertEqual((result.code, result.reason), (0, None), result)
        self.assertEqual(sorted(result.stdout.decode().split("\n")), ["", "null true", "true"], result)


class ProcessesOfGuests(EngineTest):
    def test_a_fork_bomb(self):
        bomb = """
          const { spawn } = require('child_process');
          for (let i = 0; i < 12; i++) spawn(process.execPath, ['-e', process.env.BOMB], { env: process.env }).on('error', () => {});
          for (;;) try { require('child_process').spawnSync(process.execPath, ['-e', process.env.BOMB]) } catch {}"""
        vm = self.vm({"processes": 24})
        guest = self.engine.spawn(vm, ["node", "-e", UP + bomb], env={"BOMB": bomb, "PATH": "/usr/bin:/bin"})
        guest.read_until(b"up")
        self.assertTrue(settled(lambda: self.engine.stats()["threads"] >= 20), "it never grew")
        self.answers("in the middle")
        self.assertGreater(self.engine.dispose(vm)["killed"], 0)
        self.machines.remove(vm)
        guest.wait()

    def test_the_limit_of_processes(self):
        code = """
          const { spawn, spawnSync } = require('child_process'); const all = []; let n = 0;
          const next = () => { const one = spawn('node', ['-e', 'setInterval(() => {}, 1000)']); one.on('error', (error) => {
            console.log(error.code, n, spawnSync('node', ['-e', '1']).error.code); for (const one of all) one.kill('SIGKILL'); });
            one.on('spawn', () => { n++; all.push(one); next(); }); };
          next()"""
        self.assert_output(code, "EAGAIN 4 EAGAIN\n", limits={"processes": 5})

    def test_a_pipeline_of_a_shell(self):
        vm = self.vm({"processes": 16})
        guest = self.engine.spawn(vm, ["sh", "-c", "echo up; node -e 'for (;;) console.log(1)' | node -e 'for (;;);' | node -e 'setInterval(() => {}, 1000)'"])
        guest.read_until(b"up")
        guest.kill()
        self.engine.dispose(vm)
        self.machines.remove(vm)
        guest.wait()

    def test_orphans_are_adopted(self):
        code = """
          const { spawn } = require('child_process');
          const one = spawn('node', ['-e', "setInterval(() => { if (process.ppid === 1) { require('fs').writeFileSync('/tmp/adopted', ''); process.exit() } }, 5)"], { stdio: 'ignore', detached: true });
          one.unref(); console.log('parent')"""
        vm = self.vm()
        result = self.engine.run(vm, code)
        self.assertEqual((result.code, result.stdout), (0, b"parent\n"), result)
        result = self.engine.run(vm, "const t = setInterval(() => { if (require('fs').existsSync('/tmp/adopted')) clearInterval(t) }, 5)")
        self.assertEqual(result.code, 0, result)

    def test_an_orphan_that_holds_the_output(self):
        code = "require('child_process').spawn('node', ['-e', 'for (;;);'], { stdio: 'inherit' }); require('fs').writeSync(1, 'up'); process.exit(3)"
        vm = self.vm()
        guest = self.engine.spawn(vm, ["node", "-e", code])
        result = guest.wait()
        self.assertEqual((result.code, result.stdout), (3, b"up"), result)
        self.assertEqual(self.engine.dispose(vm)["killed"], 1)
        self.machines.remove(vm)

    def test_a_tree_is_killed_with_its_machine(self):
        code = """
          const { spawn } = require('child_process'); const depth = Number(process.env.DEPTH);
          if (depth === 0) require('fs').writeSync(1, 'up');
          else spawn('node', ['-e', process.env.CODE], { stdio: 'inherit', env: { ...process.env, DEPTH: depth - 1 } });
          for (;;) try { for (;;); } catch {}""".replace("for (;;) try", "setTimeout(() => { for (;;) try", 1) + " }, 200)"
        vm = self.vm()
        guest = self.engine.spawn(vm, ["node", "-e", code], env={"CODE": code, "DEPTH": "4", "PATH": "/usr/bin:/bin"})
        guest.read_until(b"up")
        self.assertEqual(self.engine.dispose(vm)["killed"], 5)
        self.machines.remove(vm)
        guest.wait()

    def test_a_tree_is_killed_with_its_root(self):
        loop = "for (;;) try { for (;;); } catch {}"
        code = f"""const {{ spawn }} = require('child_process'); spawn('node', ['-e', {loop!r}], {{ stdio: 'ignore', detached: true }});
          const one = spawn('node', ['-e', "require('child_process').spawn('node', ['-e', 'console.log(1); for (;;);'], {{ stdio: 'inherit' }})"], {{ stdio: 'inherit' }});"""
        vm = self.vm()
        for limit in (None, 400):
            guest = self.engine.spawn(vm, ["node", "-e", code], **({"timeoutMs": limit} if limit else {}))
            if limit is None:
                guest.read_until(b"1")
                guest.kill()
            self.assert_killed(guest.wait(), "wallTime" if limit else "killed")
            self.assertTrue(settled(lambda: self.holdings() == self.before), "the tree lives on")

    def test_signals_stay_in_the_machine(self):
        code = """
          const codes = []; const kill = (...to) => { try { process.kill(...to); codes.push('ok') } catch (error) { codes.push(error.code) } };
          kill(1); kill(1, 'SIGKILL'); kill(99999); kill(-1); kill(-99999); kill(%d); kill(process.pid, 0);
          console.log(codes.join())""" % self.engine.pid
        result = self.run_guest(code)
        self.assertEqual(result.code, 0, result)
        codes = result.stdout.decode().strip().split(",")
        self.assertEqual(codes[1], "EPERM")
        self.assertEqual(codes[-1], "ok")
        self.assertEqual(codes[2], "ESRCH")

    def test_handlers_of_signals(self):
        self.assert_output("process.on('SIGTERM', () => console.log('got')); process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 20)", "got\n")
        code = """
          for (const name of Object.keys(require('os').constants.signals)) try { process.on(name, () => {}) } catch {}
          for (const name of ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGTRAP', 'SIGUSR1', 'SIGUSR2', 'SIGPROF', 'SIGTERM']) process.kill(process.pid, name);
          setTimeout(() => console.log('on'), 20)"""
        self.assert_output(code, "on\n")
        for name in ("SIGSEGV", "SIGTRAP", "SIGILL", "SIGABRT", "SIGKILL", "SIGUSR1"):
            result = self.run_guest(f"process.kill(process.pid, '{name}'); setInterval(() => {{}}, 1000)")
            self.assertEqual((result.code, result.signal), (None, name), result)
        self.assertEqual(self.run_guest("process.abort()").signal, "SIGABRT")
        vm = self.vm()
        guest = self.engine.spawn(vm, ["node", "-e", "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)"])
        guest.read_until(b"up")
        guest.kill("SIGTERM")
        guest.kill()
        self.assert_killed(guest.wait(), "killed")

    def test_ends_in_strange_ways(self):
        self.assertEqual(self.run_guest("process.on('exit', () => process.exit(4)); process.exit(2)").code, 4)
        self.assertEqual(self.run_guest("process.reallyExit(3)").code, 3)
        self.assertEqual(self.run_guest("process.on('exit', () => { throw 1 })").code, 1)
        self.assertEqual(self.run_guest("process.on('uncaughtException', () => { throw 2 }); throw 1").code, 7)
        self.assertEqual(self.run_guest("process._fatalException = undefined; throw 1").code, 6)

    def test_a_thousand_short_processes(self):
        vm = self.vm()
        self.engine.run(vm, "1")
        before = None
        for round_number in range(20):
            numbers = [self.engine.quick(vm, ["sh", "-c", "exit 3"]) for _ in range(35)]
            numbers += [self.engine.quick(vm, ["node", "-e", "process.exit(3)"]) for _ in range(15)]
            for number in numbers:
                self.assertEqual(self.engine.wait_exit(number)["code"], 3)
            if round_number == 9:
                before = self.engine.resident_bytes()
        # The last isolates may still be on their way out, and the pool on its way in.
        self.assertTrue(settled(lambda: self.engine.resident_bytes() - before < 15 * MB),
                        f"{(self.engine.resident_bytes() - before) // MB} MB more")

    def test_heap_pages_stay_for_the_next_isolate(self):
        self.run_guest("1")
        self.assertTrue(settled(lambda: self.engine.stats()["keptHeapPages"] > 0), "they went back to the system")


class StreamsOfGuests(EngineTest):
    def test_a_reader_that_does_not_read(self):
        vm = self.vm()
        for code in ("for (let i = 0; i < 16384; i++) process.stdout.write('x'.repeat(65536))",
                     "for (let i = 0; i < 16384; i++) require('fs').writeSync(1, 'x'.repeat(65536))",
                     "require('child_process').spawnSync('node', ['-e', 'for (;;) console.log(String(1e9).repeat(5000))'], { stdio: 'inherit' })"):
            with self.subTest(code):
                before = self.engine.resident_bytes()
                guest = self.engine.spawn(vm, ["node", "-e", code])
                guest.started()
                # It fills the socket, and nothing more.
                self.assertTrue(settled(lambda guest=guest: unread(guest.socket) > 32 << 10), "it never wrote")
                self.answers("while it waits")
                self.assertLess(self.engine.resident_bytes() - before, 100 * MB)
                guest.kill()
                self.assert_killed(guest.wait(), "killed")

    def test_a_gigabyte_goes_through(self):
        guest = self.engine.spawn(self.vm(), ["node", "-e", "const b = Buffer.alloc(1 << 20, 120); for (let i = 0; i < 256; i++) require('fs').writeSync(1, b)"])
        total = 0
        while guest.open:
            guest.until(lambda: guest.streams[1] or not guest.open)
            total += len(guest.streams[1])
            guest.streams[1].clear()
        self.assertEqual((total, guest.wait().code), (256 * MB, 0))

    def test_the_limit_of_output(self):
        for code in ("for (;;) require('fs').writeSync(1, 'x'.repeat(1000))", "for (;;) console.log('x'.repeat(1000))",
                     "for (;;) console.error('x'.repeat(1000))", "process.stdout.write('x'.repeat(1e6)); setInterval(() => {}, 1000)"):
            with self.subTest(code):
                result = self.run_guest(code, limits={"outputBytes": 100_000})
                self.assert_killed(result, "output")
                self.assertLessEqual(len(result.stdout) + len(result.stderr), 100_000)

    def test_a_reader_that_leaves(self):
        vm = self.vm()
        guest = self.engine.spawn(vm, ["node", "-e", UP + "for (;;) require('fs').writeSync(1, 'x'.repeat(1000))"])
        guest.read_until(b"up")
        guest.drop()
        self.engine.until(lambda: guest.id in self.engine.exits)
        self.assertNotEqual(self.engine.exits.pop(guest.id)["code"], 0)

    def test_input_that_ends_early_or_is_not_read(self):
        vm = self.vm()
        guest = self.engine.spawn(vm, ["node", "-e", "process.stdin.on('end', () => console.log('end')).resume()"])
        guest.close_stdin()
        self.assertEqual(guest.wait().stdout, b"end\n")
        guest = self.engine.spawn(vm, ["node", "-e", "console.log('done'); process.stdin.destroy()"])
        guest.write(b"x" * 100_000)
        result = guest.wait()
        self.assertEqual((result.code, result.stdout), (0, b"done\n"), result)
        guest = self.engine.spawn(vm, ["node", "-e", "process.stdin.on('data', () => {})"])
        guest.drop()
        self.engine.until(lambda: guest.id in self.engine.exits)

    def test_uncaught_errors_that_fight_back(self):
        throws = {
            "getter": "throw Object.defineProperty(new Error('x'), 'foo', { enumerable: true, get() { for (;;); } })",
            "throwing getters": "const e = new Error('x'); for (const k of ['name', 'message', 'stack', 'cause']) Object.defineProperty(e, k, { get() { throw e } }); throw e",
            "custom inspection": "throw { [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } }",
            "toString": "throw { toString() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } }",
            "tag": "throw { get [Symbol.toStringTag]() { throw 1 } }",
            "null prototype": "throw Object.create(null)",
            "symbol": "throw Symbol('x')",
            "null": "throw null",
            "circular": "const e = new Error('a'); e.cause = e; e.errors = [e]; throw e",
            "revoked proxy": "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy",
            "revoked proxy of an error": "const { proxy, revoke } = Proxy.revocable(new Error('x'), {}); revoke(); throw proxy",
            "rejected revoked proxy": "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); Promise.reject(proxy)",
            "frozen": "throw Object.freeze(new Error('x'))",
            "stack trace": "Error.prepareStackTrace = () => { throw new Error('y') }; throw new Error('x')",
            "stack trace of itself": "Error.prepareStackTrace = function f() { f() }; throw new Error('x')",
            "a deep chain": "let e = new Error('0'); for (let i = 0; i < 1e4; i++) e = new Error('x', { cause: e }); throw e",
            "no Error": "globalThis.Error = globalThis.Array = globalThis.Promise = globalThis.Object = globalThis.Symbol = undefined; throw 1",
            "no process": "for (const k of Reflect.ownKeys(process)) try { delete process[k] } catch {} setTimeout(() => { throw 1 }, 1)",
        }
        vm = self.vm({"wallMs": 20000})
        for name, code in throws.items():
            with self.subTest(name):
                result = self.engine.run(vm, code)
                self.assertIn(result.code, (1, 6, 7), result)
                self.assertIn(b"Node.js v", result.stderr)

    def test_prototypes_that_were_changed(self):
        scripts = {
            "setters of indices": "for (const k of ['0', '1', '2']) Object.defineProperty(Object.prototype, k, { get() { throw 1 }, set() { throw 2 } });",
            "setters of names": """for (const k of ['get', 'code', 'path', 'then', 'length', 'cwd', 'env', 'stdio', 'name', 'functionName', 'scriptId', 'errno', 'syscall'])
              Object.defineProperty(Object.prototype, k, { __proto__: null, configurable: true, get() { throw 1 }, set() { throw 2 } });""",
            "methods": """Array.prototype.push = Array.prototype.map = Array.prototype.slice = Array.prototype.shift = Array.prototype[Symbol.iterator] = Function.prototype.call =
              Function.prototype.apply = Function.prototype.bind = Object.prototype.toString = String.prototype.startsWith = String.prototype.slice = Map.prototype.get =
              Map.prototype.set = Map.prototype.delete = Set.prototype.add = Promise.prototype.then = RegExp.prototype.exec = () => { throw 1 };""",
            "frozen": "for (const c of [Object, Array, Function, Error, Map, Promise, String]) Object.freeze(c.prototype);",
            "no globals": "for (const k of Object.getOwnPropertyNames(globalThis)) if (k !== 'process' && k !== 'require') try { delete globalThis[k] } catch {}",
        }
        steps = """
          const { spawnSync, spawn } = require('child_process'); const fs = require('fs'); const util = require('util'); const vm = require('vm'); const v8 = require('v8');
          const clone = structuredClone, later = setTimeout, log = console.log, U = URL, E = Error;
          log('x'); util.inspect({});
          %s
          for (const f of [() => fs.writeFileSync('/tmp/x', '1'), () => fs.readdirSync('/'), () => fs.statSync('/none'), () => spawnSync('node', ['-e', '1']), () => spawn('node', ['-e', '1']),
            () => spawn('none'), () => util.inspect({ a: [1, new E('x')] }), () => clone({ a: [1, 2] }), () => new U('http://a/?b'), () => vm.runInNewContext('[1]'), () => v8.serialize([1]),
            () => v8.deserialize(v8.serialize({ a: 1 })), () => require('os').cpus(), () => process.memoryUsage(), () => util.parseArgs({ args: [] }), () => util.getCallSites(),
            () => import('fs'), () => process.emitWarning('w'), () => later(() => {}, 1), () => new E('x').stack, () => Buffer.from('abc').indexOf('b'), () => log('y'), () => util.parseEnv('A=1'),
            () => { try { new E('x').foo.bar } catch {} }]) { try { f() } catch {} }
          process.exit(0)"""
        machine = self.vm({"wallMs": 20000})
        for name, code in scripts.items():
            with self.subTest(name):
                result = self.engine.run(machine, steps % code)
                self.assertIn(result.code, (0, 1, 7), result)
                self.assertEqual(result.reason, None, result)

    def test_what_a_guest_must_not_reach(self):
        code = """
          const tries = [() => process.dlopen({ exports: {} }, '/x.node'), () => process.binding('fs').open('/etc/passwd'), () => process._linkedBinding('x'),
            () => new (require('worker_threads').Worker)('1', { eval: true }), () => require('inspector').open(0), () => require('v8').writeHeapSnapshot('/tmp/x'),
            () => require('child_process').fork('/x.js').on('error', () => {}).kill(), () => process.chdir('/none'), () => process.setuid(1000), () => require('fs').readFileSync('/etc/passwd'),
            () => require('fs').readFileSync('/proc/self/environ'), () => require('net').connect(80, '127.0.0.1').on('error', () => {}), () => process._debugProcess(1), () => process._debugEnd(),
            () => process._kill(1, 9), () => require('v8').setFlagsFromString('--allow-natives-syntax') || eval('%Abort(1)'), () => require('v8').setFlagsFromString('--stack-size=1000000') || (function f() { f() })(),
            () => require('v8').setFlagsFromString('--expose-gc'), () => require('vm').runInNewContext('this.constructor.constructor("return process")().binding("fs")')];
          for (const one of tries) { try { one() } catch {} }
          console.log('ok'); process.exit(0)"""
        self.assert_output(code, "ok\n", limits={"wallMs": 20000})


    def test_native_addons_are_refused(self):
        self.assert_output(
            """const fs = require('fs'); process.chdir('/tmp'); fs.writeFileSync('x.node', '\\x7fELF');
            for (const load of [() => require('/tmp/x.node'), () => require('/tmp/x'), () => process.dlopen({ exports: {} }, '/tmp/x.node'),
              () => process.dlopen({ exports: {} }, '/tmp/none.node'), () => process.dlopen(5, 5), () => process.dlopen()])
              try { load(); console.log('loaded'); } catch (e) { console.log(e.code, e.message); }""",
            "ERR_DLOPEN_FAILED /tmp/x.node: native addons cannot be loaded in a guest\n" * 3
            + "ERR_DLOPEN_FAILED /tmp/none.node: cannot open shared object file: No such file or directory\n"
            + "ERR_DLOPEN_FAILED 5: cannot open shared object file: No such file or directory\n"
            + "ERR_MISSING_ARGS process.dlopen needs at least 2 arguments\n")

    def test_there_is_no_proc(self):
        self.assert_output(
            """const fs = require('fs'); for (const p of ['/proc', '/proc/self/environ', '/proc/1/mem', '/sys', '/dev/mem', '/dev/fd/0'])
              try { fs.readFileSync(p); console.log(p); } catch (e) { console.log(e.code); }""", "ENOENT\n" * 6)

    def test_a_folder_with_very_many_files(self):
        self.assert_output(
            """const fs = require('fs'); fs.mkdirSync('/tmp/many'); let made = 0;
            try { for (; made < 100000; made++) fs.writeFileSync('/tmp/many/' + made, ''); } catch (e) { console.log(e.code); }
            const names = fs.readdirSync('/tmp/many'); console.log(names.length === made, made > 99000);
            let n = 0; const d = fs.opendirSync('/tmp/many'); while (d.readSync()) n++; d.closeSync(); console.log(n === made);
            fs.rmSync('/tmp/many', { recursive: true }); console.log(fs.existsSync('/tmp/many')); fs.writeFileSync('/tmp/again', '');""",
            "ENOSPC\ntrue true\ntrue\nfalse\n")

    def test_natives_take_no_harm_from_their_arguments(self):
        code = """
          const vm = require('vm'), module_ = require('module'); const strange = [undefined, null, 1, 2n, {}, [], Symbol('s'), () => {}, 'x'];
          const natives = [module_.prototype._compile, module_.prototype.load, module_._load, module_._resolveFilename, Object.getPrototypeOf(vm.Script), vm.Script,
            vm.Script.prototype.runInContext, vm.Script.prototype.createCachedData, Object.getPrototypeOf(vm.Script.prototype).runInContext, vm.compileFunction, vm.createContext,
            ...Object.values(require('v8').Serializer.prototype), ...Object.values(require('v8').Deserializer.prototype), ...Object.values(Buffer.prototype).filter((f) => typeof f === 'function')];
          for (const f of natives) for (const a of strange) for (const b of strange) {
            for (const call of [() => Reflect.apply(f, a, [b, a]), () => Reflect.apply(f, new module_('x'), [a, b]), () => Reflect.construct(f, [a, b])]) try { call() } catch {}
          }
          require('fs').writeSync(1, 'ok\\n'); process.reallyExit(0)"""
        self.assert_output(code, "ok\n")

    def test_lists_that_are_none_or_endless(self):
        code = """
          const fs = process.binding('fs'), { Process } = process.binding('process_wrap'), sync = process.binding('spawn_sync');
          const endless = new Array(4294967295), file = '/usr/bin/node';
          const lists = [{ length: 2147483647 }, { length: -1 }, 'x'.repeat(24), 5, null, undefined, endless, [5, null, {}]];
          for (const list of lists) for (const call of [() => fs.writeBuffers(1, list, null), () => fs.readBuffers(0, list, null), () => new Process().spawn({ file, args: list }),
            () => new Process().spawn({ file, args: ['node', '-v'], envPairs: list }), () => new Process().spawn({ file, args: ['node', '-v'], stdio: list }),
            () => sync.spawn({ file, args: list, stdio: [] }), () => list !== endless && sync.spawn({ file, args: ['node', '-v'], stdio: list })]) try { call() } catch {}
          require('fs').writeSync(1, 'ok\\n'); process.reallyExit(0)"""
        self.assert_output(code, "ok\n")

    def test_compiled_code_of_a_guests_own_making_is_refused(self):
        code = """
          const { Script } = require('vm'); let n = 1; const source = () => `function f() { return ${n++} } f()`;
          const made = new Script(source(), { produceCachedData: true }).cachedData;
          const say = (cachedData) => console.log(new Script(source(), { cachedData }).cachedDataRejected);
          say(Buffer.from(made)); made[made.length - 1] ^= 1; say(made); say(Buffer.alloc(0)); say(Buffer.alloc(1000))"""
        self.assert_output(code, "false\ntrue\ntrue\ntrue\n")


@unittest.skipUnless(engine_client.available(), "the guest engine is not there")
class Lost(unittest.TestCase):
    """What costs an engine of its own."""

    def engine(self, **config):
        engine = Engine(pool=1, **config)
        self.addCleanup(engine.process.wait)
        self.addCleanup(engine.process.kill)
        self.addCleanup(engine.drop)
        return engine

    def test_v8_gives_up_on_one_guest_alone(self):
        engine = self.engine(stderr=subprocess.DEVNULL)
        vm = engine.vm({"memoryBytes": 1024 * MB})
        neighbour = engine.spawn(vm, ["node", "-e", ECHO])
        result = engine.run(vm, "'x'.repeat(2 ** 27 + 100).split('')")
        self.assertEqual((result.signal, result.reason), ("SIGABRT", "crashed"), result)
        self.assertIn("V8 gave up on guest", engine.logs[-1]["text"])
        neighbour.write(b"there?")
        neighbour.read_until(b"there?")
        self.assertEqual(engine.run(vm, "console.log(1)").stdout, b"1\n")
        self.assertEqual(engine.stats()["abandoned"], 1)
        self.assertEqual(engine.close(), 0)

    def test_what_v8_cannot_stop_is_left_behind(self):
        engine = self.engine()
        vm = engine.vm()
        neighbour = engine.spawn(vm, ["node", "-e", ECHO])
        guest = engine.spawn(vm, ["node", "-e", UP + "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"])
        guest.read_until(b"up")
        guest.kill()
        result = guest.wait()
        self.assertEqual((result.signal, result.reason), ("SIGKILL", "killed"), result)
        neighbour.write(b"there?")
        neighbour.read_until(b"there?")
        self.assertEqual(engine.close(), 0)

    def test_an_engine_that_holds_too_much_ends_and_says_so(self):
        read, write = os.pipe()
        with open(read, encoding="utf-8") as words:
            engine = self.engine(memoryLimitBytes=300 * MB, stderr=write)
            os.close(write)
            # A step of V8 that nothing ends, and that takes more and more.
            with self.assertRaises(EngineGone):
                engine.run(engine.vm({"memoryBytes": 2048 * MB}), "const a = []; a.length = 2 ** 32 - 1; a.fill(1)")
            self.assertIn("over its limit of 300 MB", words.read())

    def test_a_client_that_is_killed_takes_the_engine_along(self):
        code = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from engine_client import *
engine = Engine(pool=1); guest = engine.spawn(engine.vm(), ["node", "-e", {UP + 'for (;;);'!r}]); guest.read_until(b"up")
print(engine.pid, flush=True); import time; time.sleep(600)"""
        with subprocess.Popen(["/usr/bin/python3", "-B", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            pid = int(client.stdout.readline())
            client.kill()
        self.assertTrue(settled(lambda: gone(pid)), "the engine is still there")

    def test_a_client_that_hangs_up(self):
        for code in ("for (;;);", "setInterval(() => {}, 1000)", "for (;;) require('fs').writeSync(1, 'x'.repeat(1000))"):
            with self.subTest(code):
                engine = self.engine()
                guest = engine.spawn(engine.vm(), ["node", "-e", UP + code])
                guest.read_until(b"up")
                self.assertEqual(engine.close(), 0)

    def test_a_client_that_hangs_up_in_the_middle_of_a_frame(self):
        engine = self.engine()
        engine.send_bytes(struct.pack("<IBI", 500, 3, 1) + b'{"vm":')
        self.assertEqual(engine.close(), 0)

    def test_frames_that_make_no_sense(self):
        engine = self.engine()
        vm = engine.vm()
        for kind, payload in ((1, b"no json"), (1, b'{"permissions": 5}'), (2, b""), (5, b"\xff\xfe"), (6, b"no newline"), (6, b'{"path":"relative"}\nx'),
                              (6, b'{"path":"/a\\u0000b"}\nx'), (7, b"{}"), (8, b"{}"), (99, b"{}"), (255, b"")):
            with self.subTest(kind=kind, payload=payload):
                number = engine.next_id()
                engine.send(kind, number, payload)
                engine.until(lambda number=number: number in engine.replies)
        for payload in (b"no json", b"[]", b'{"vm": 12345, "argv": ["node"]}', json.dumps({"vm": vm, "argv": []}).encode(),
                        json.dumps({"vm": vm, "argv": ["none"]}).encode(), json.dumps({"vm": vm, "argv": ["node"], "stdio": "pipe"}).encode(),
                        json.dumps({"vm": vm, "argv": ["node", "x" * 200_000]}).encode(), json.dumps({"vm": vm, "argv": ["node", "a\0b"]}).encode(),
                        json.dumps({"vm": vm, "argv": ["node"], "profiles": ["wall"]}).encode(),
                        json.dumps({"vm": vm, "argv": ["node"], "profiles": "cpu"}).encode(),
                        json.dumps({"vm": vm, "argv": ["node"], "cwd": "/none"}).encode(), json.dumps({"vm": vm, "argv": ["node"], "context": 7}).encode()):
            with self.subTest(payload=payload[:60]):
                number = engine.next_id()
                engine.send(engine_client.SPAWN, number, payload)
                exited = engine.wait_exit(number)
                self.assertEqual(exited["reason"], "refused", exited)
                self.assertTrue(exited["detail"])
        for payload in (b"no json", b"{}", b'{"signal":"SIGNOTHING"}', b'{"signal":9}'):
            engine.send(engine_client.KILL, 4711, payload)
        self.assertEqual(engine.run(vm, "console.log(1)").stdout, b"1\n")
        engine.send_bytes(b"\xff" * 64)
        self.assertNotEqual(engine.process.wait(engine_client.LONG), 0)

    def test_descriptors_that_nobody_asked_for(self):
        engine = self.engine()
        vm = engine.vm()
        before = engine.descriptors()
        a, b = socket.socketpair()
        with a, b:
            engine.send(engine_client.SPAWN, 900, {"vm": 12345, "argv": ["node"], "stdio": "pipe"}, [b.fileno()])
            self.assertEqual(engine.wait_exit(900)["reason"], "refused")
            engine.send(engine_client.SPAWN, 901, b"no json", [])
            self.assertEqual(engine.wait_exit(901)["reason"], "refused")
        self.assertTrue(settled(lambda: engine.descriptors() == before))
        self.assertEqual(engine.run(vm, "console.log(1)").stdout, b"1\n")


@unittest.skipUnless(engine_client.available() and engine_client.TARE.exists(), "the program is not there")
class CommandLine(unittest.TestCase):
    def guest(self, *arguments):
        return subprocess.run([engine_client.TARE, "guest", "run", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=engine_client.LONG, check=False)

    def test_reasons_are_said(self):
        result = self.guest("--timeout", "0.3", "-e", "for (;;) try { for (;;); } catch {}")
        self.assertEqual(result.returncode, 137)
        self.assertIn(b"tare: the guest was stopped (time: 0.3 s)", result.stderr)
        result = self.guest("--memory", "32", "-e", "let a = [1]; for (;;) a = a.concat(a)")
        self.assertEqual(result.returncode, 137)
        self.assertIn(b"tare: the guest was stopped (memory: 32 MB)", result.stderr)

    def test_a_tree_ends_with_its_time(self):
        result = self.guest("--timeout", "0.5", "-e", "require('child_process').spawn('node', ['-e', 'for (;;);'], { stdio: 'inherit' }); for (;;);")
        self.assertEqual(result.returncode, 137)

    def test_an_orphan_does_not_hold_the_command(self):
        result = self.guest("--timeout", "20", "-e", "require('child_process').spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true }).unref()")
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_an_engine_that_is_killed_is_named(self):
        with subprocess.Popen([engine_client.TARE, "guest", "run", "-e", "console.log('up'); setInterval(() => {}, 1000)"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
            command.stdout.readline()
            engine = children_of(command.pid)
            self.assertEqual(len(engine), 1)
            os.kill(engine[0], signal.SIGKILL)
            self.assertEqual(command.wait(engine_client.LONG), 125)
            self.assertIn(b"SIGKILL", command.stderr.read())

    def test_a_driver_goes_on_with_a_new_engine(self):
        with subprocess.Popen([engine_client.TARE, "guest", "driver", "--pool", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as driver:
            def ask(request):
                driver.stdin.write(json.dumps(request).encode() + b"\n")
                driver.stdin.flush()
                return json.loads(driver.stdout.readline())

            sample = {"op": "sample", "row": "node_exit_1", "params": {"timeoutMs": 30000}, "iterations": 1}
            self.assertTrue(ask({"id": 0, "op": "hello", "protocol": "tare.driver.v1"})["ok"])
            self.assertEqual(ask({"id": 1, **sample})["samples"][0]["outcome"], "ok")
            for engine in children_of(driver.pid):
                os.kill(engine, signal.SIGKILL)
            # The one that notices may still be told of the loss.
            answers = [ask({"id": number, **sample}) for number in (2, 3)]
            self.assertEqual(answers[-1]["samples"][0]["outcome"], "ok", answers)
            self.assertTrue(ask({"id": 4, "op": "bye"})["ok"])
            self.assertEqual(driver.wait(engine_client.LONG), 0)


def unread(stream):
    """Bytes that wait in a socket."""
    return struct.unpack("i", __import__("fcntl").ioctl(stream, 0x541B, b"\0\0\0\0"))[0]


if __name__ == "__main__":
    unittest.main(verbosity=1)
