"""The drivers of `tare import` on real runtimes: each row does its work, and what goes wrong is told as it is."""

import json
import pathlib
import subprocess

import harness
import import_world
from import_world import Driver, marker_of

FRESH, ENGINE, CONTEXT = "fresh-per-sample", "shared-across-scenario", "shared-context-across-scenario"
NEEDS = {"package": "typescript", "pdf-lib": "pdf-lib", "jszip": "jszip"}

# row: entry point, reuse, compiled code
ROWS = {
    "isolate-startup": ("isolate-startup", FRESH, "disabled"),
    "prewarmed-isolate-startup": ("isolate-startup", ENGINE, "primed"),
    "cold-local-import": ("cold-local-import", FRESH, "disabled"),
    "warm-local-import": ("warm-local-import", FRESH, "primed"),
    "same-context-local-import": ("warm-local-import", CONTEXT, "primed"),
    "prewarmed-local-import": ("warm-local-import", ENGINE, "primed"),
    "host-local-import": ("cold-local-import", FRESH, "disabled"),
    "builtin-import": ("builtin-import", FRESH, "disabled"),
    **{f"hot-builtin-{name}-import": (f"hot-builtin-{name}-import", ENGINE, "primed")
       for name in ["stream", "stream-web", "crypto", "zlib", "assert", "url"]},
    "hot-projected-package-file-import": ("hot-projected-package-file-import", FRESH, "primed"),
    "large-package-import": ("large-package-import", FRESH, "disabled"),
    "projected-package-import": ("projected-package-import", FRESH, "primed"),
    "pdf-lib-startup": ("pdf-lib-startup", FRESH, "disabled"),
    "jszip-startup": ("jszip-startup", FRESH, "disabled"),
    "jszip-end-to-end": ("jszip-end-to-end", FRESH, "disabled"),
    "jszip-repeated-session-compressed": ("jszip-repeated-session-compressed", FRESH, "primed"),
}
COLD = ["cold-local-import", "builtin-import", "large-package-import"]

SAYS_NOTHING = "process.stdin.on('data', () => {});\n"
SHOUTS = "process.stdin.on('data', (chunk) => process.stdout.write(chunk.toString().toUpperCase()));\n"
DROPS_THE_NEWLINE = "process.stdin.on('data', (chunk) => process.stdout.write(chunk.toString().trimEnd()));\n"
LEAVES_AT_THE_SECOND = """
let seen = 0;
process.stdin.on('data', (chunk) => {
  seen += 1;
  if (seen === 2) process.exit(5);
  process.stdout.write(chunk);
});
"""
ENDS_WITH_7 = "process.stdin.on('data', (chunk) => process.stdout.write(chunk)).on('end', () => { process.exitCode = 7; });\n"
TALKS_AT_THE_END = "process.stdin.on('data', (chunk) => process.stdout.write(chunk)).on('end', () => console.log('bye'));\n"


def line_of(nonce, k, size):
    return f"transport:{nonce}-{k}:".ljust(size, "x") + "\n"


def targets():
    return {t["id"]: t for t in json.loads(subprocess.run([harness.TARE, "targets", "--json"], capture_output=True, check=True).stdout)}


class ImportDriver:
    """What holds for every driver; `command` starts it."""

    phases = ()  # of each sample, besides total
    missing = ()  # rows that it does not have

    def setUp(self):
        super().setUp()
        self.known = targets()
        target = self.known[self.target]
        if not target["available"]:
            self.skipTest(target["reason"])
        self.dir = import_world.make_workspace(self.folder / "workspace")

    def driver(self):
        return Driver(self.command(), self.environment())

    def params(self, row, **more):
        entry, reuse, cache = ROWS[row]
        params = {"timeoutMs": 60000, "dir": str(self.dir), "entry": f"bench/{entry}.mjs", "reuse": reuse, "cache": cache}
        if cache == "primed":
            folder = self.dir / "cache" / row
            folder.mkdir(parents=True, exist_ok=True)
            params["cacheDir"] = str(folder)
        if any(word in row for word in NEEDS):
            params["nodeModules"] = str(import_world.packages())
        if row in COLD:
            params["freshProcess"] = True
        return {**params, **more}

    def transport(self, driver, size, count, timeout=20000, nonce="5f3a"):
        params = {"timeoutMs": timeout, "dir": str(self.dir), "entry": "bench/transport-echo.mjs", "bytes": size, "nonce": nonce}
        return driver.samples(f"transport_{size}", count, params)

    def echo(self, program):
        (self.dir / "bench" / "transport-echo.mjs").write_text(program)

    def check_row(self, driver, row):
        samples = driver.samples(row, 2, self.params(row))
        for sample in samples:
            self.assertEqual(sample["outcome"], "ok", (row, sample.get("error")))
            self.assertEqual(sample["counters"]["exitCode"], 0, (row, sample))
            said = marker_of(sample["output"])
            self.assertIsNotNone(said, (row, sample["output"]))
            self.assertEqual("import_ms" in said, "isolate" not in row, row)
            self.assertLessEqual(said.get("import_ms", 0) * 1e6, sample["ns"]["total"] * 1.01, row)
            self.assertGreater(said["resource_usage"]["rss_bytes"], 0)
            self.assertLessEqual(set(self.phases), set(sample["ns"]), row)
            if self.phases:
                self.assertEqual(sum(sample["ns"][phase] for phase in self.phases), sample["ns"]["total"], row)
            self.check_sample(row, sample)
        return samples

    def check_sample(self, row, sample):
        pass

    def test_every_row_does_its_work(self):
        with self.driver() as driver:
            hello = driver.hello()
            self.assertEqual(set(ROWS) - set(hello["rows"]), set(self.missing))
            self.assertLessEqual(set(self.missing), set(hello["unavailable"]))
            self.assertIn("transport_<n>", hello["rows"])
            for row in ROWS:
                needs_packages = any(word in row for word in NEEDS)
                if row in self.missing or (needs_packages and import_world.packages() is None):
                    continue
                with self.subTest(row):
                    self.check_row(driver, row)

    def test_rows_that_it_has_not_are_refused(self):
        with self.driver() as driver:
            for row in [*self.missing, "no-such-import"]:
                params = self.params(row) if row in ROWS else {"timeoutMs": 1000}
                answer = driver.ask("sample", row=row, params=params, iterations=1)
                self.assertEqual(answer["error"]["code"], "unsupported", row)

    def test_a_value_check_that_fails_is_an_exit_code_and_no_marker(self):
        (self.dir / "bench" / "local-graph" / "mod-07.mjs").write_text("export const value = 1;\n")
        with self.driver() as driver:
            sample = driver.samples("cold-local-import", 1, self.params("cold-local-import"))[0]
        self.assertEqual((sample["outcome"], sample["counters"]["exitCode"]), ("ok", 1), sample)
        self.assertIsNone(marker_of(sample["output"]))
        self.assertIn("local graph import returned", driver.log)

    def test_all_output_is_reported_also_a_second_marker(self):
        program = self.dir / "bench" / "isolate-startup.mjs"
        program.write_text(program.read_text() + "emitBenchmarkMetrics(5);\nprocess.stdout.write('no newline');\n")
        with self.driver() as driver:
            output = driver.samples("isolate-startup", 1, self.params("isolate-startup"))[0]["output"]
        self.assertEqual(output.count(import_world.MARKER), 2)
        self.assertTrue(output.startswith("isolate-ready\n") and output.endswith("\nno newline"), output)

    def test_a_program_that_hangs_uses_up_the_budget_and_the_next_does_not(self):
        params = self.params("isolate-startup")
        (self.dir / "bench" / "hangs.mjs").write_text("setInterval(() => {}, 1000);\nconsole.log('up');\n")
        with self.driver() as driver:
            late = driver.samples("isolate-startup", 1, {**params, "entry": "bench/hangs.mjs", "timeoutMs": 700})[0]
            self.assertEqual((late["outcome"], late["error"]), ("timeout", "not done after 700 ms"))
            self.assertGreaterEqual(late["ns"]["total"], 690_000_000)  # a timer can be early by a little
            self.assertEqual(driver.samples("isolate-startup", 1, params)[0]["outcome"], "ok")

    def test_a_program_that_is_not_there_is_an_exit_code(self):
        with self.driver() as driver:
            sample = driver.samples("isolate-startup", 1, self.params("isolate-startup", entry="bench/none.mjs"))[0]
        self.assertEqual((sample["outcome"], sample["counters"]["exitCode"]), ("ok", 1))

    def test_lines_come_back_byte_by_byte(self):
        with self.driver() as driver:
            for size, count in [(1, 3), (32, 25), (4096, 25), (65536, 25)]:
                for k, sample in enumerate(self.transport(driver, size, count)):
                    self.assertEqual(sample["outcome"], "ok", sample.get("error"))
                    self.assertEqual(sample["output"], line_of("5f3a", k, size))
                    self.assertEqual(sample["counters"], {"exitCode": 0})

    def test_a_wrong_echo_is_reported_as_it_is(self):
        self.echo(SHOUTS)
        with self.driver() as driver:
            for k, sample in enumerate(self.transport(driver, 32, 2)):
                self.assertEqual((sample["outcome"], sample["output"]), ("ok", line_of("5f3a", k, 32).upper()))

    def test_an_unclean_end_and_what_is_said_at_the_end_are_seen(self):
        self.echo(ENDS_WITH_7)
        with self.driver() as driver:
            self.assertEqual([s["counters"]["exitCode"] for s in self.transport(driver, 32, 2)], [7, 7])
            self.echo(TALKS_AT_THE_END)
            first, last = self.transport(driver, 32, 2)
        self.assertEqual(first["output"], line_of("5f3a", 0, 32))
        self.assertEqual(last["output"], line_of("5f3a", 1, 32) + "bye\n")

    def test_an_execution_that_leaves_early_is_a_failure_with_its_code(self):
        self.echo(LEAVES_AT_THE_SECOND)
        with self.driver() as driver:
            samples = self.transport(driver, 32, 3)
        self.assertEqual([sample["outcome"] for sample in samples], ["ok", "failed", "failed"])
        for sample in samples:
            self.assertEqual(sample["counters"], {"exitCode": 5})
        self.assertIn("exited with code 5", samples[1]["error"])

    def test_a_line_that_does_not_come_back_is_a_timeout(self):
        for program in [SAYS_NOTHING, DROPS_THE_NEWLINE]:
            self.echo(program)
            with self.driver() as driver:
                first, second = self.transport(driver, 4096, 2, timeout=2500)
            self.assertEqual((first["outcome"], first["error"]), ("timeout", "not done after 2500 ms"))
            self.assertGreaterEqual(first["ns"]["total"], 2_490_000_000)  # a timer can be early by a little
            self.assertEqual(second["outcome"], "failed")

    def test_the_end_of_stdin_ends_a_sample_that_is_under_way(self):
        (self.dir / "bench" / "hangs.mjs").write_text("setInterval(() => {}, 1000);\n")
        params = self.params("isolate-startup", entry="bench/hangs.mjs")
        driver = subprocess.Popen([str(word) for word in self.command()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, env=self.environment(), text=True)
        request = {"id": 1, "op": "sample", "row": "isolate-startup", "params": {**params, "timeoutMs": 3000}, "iterations": 1}
        driver.communicate(json.dumps(request) + "\n", timeout=30)
        self.assertEqual(driver.returncode, 0)


class NodeDriver(ImportDriver, harness.TareTest):
    target = "node"
    missing = ["prewarmed-isolate-startup", "same-context-local-import", "prewarmed-local-import"]

    def command(self):
        return [self.known["node"]["program"], harness.BUILD / "lib" / "tare" / "drivers" / "node.mjs"]

    def check_sample(self, row, sample):
        self.assertEqual(set(sample["ns"]), {"total"})
        primed = ROWS[row][2] == "primed"
        self.assertEqual("cacheFiles" in sample["counters"], primed, row)
        if primed:
            self.assertGreater(sample["counters"]["cacheFiles"], 0, row)

    def test_compiled_code_is_kept_where_it_is_asked_for_and_nowhere_else(self):
        elsewhere = self.folder / "elsewhere"
        with Driver(self.command(), self.environment(NODE_COMPILE_CACHE=str(elsewhere))) as driver:
            warm = driver.samples("warm-local-import", 2, self.params("warm-local-import"))
            # The entry point, its metrics, and the graph with its root.
            self.assertEqual([sample["counters"]["cacheFiles"] for sample in warm], [27, 27])
            before = sorted(elsewhere.rglob("*"))
            driver.samples("cold-local-import", 1, self.params("cold-local-import"))
            self.assertEqual(sorted(elsewhere.rglob("*")), before)

    def test_hot_rows_run_in_isolates_of_one_process(self):
        (self.dir / "bench" / "hot.mjs").write_text(
            "import { isMainThread, threadId } from 'node:worker_threads';\n"
            "console.log(JSON.stringify([isMainThread, threadId, process.pid, globalThis.seen]));\nglobalThis.seen = true;\n")
        with self.driver() as driver:
            hello = driver.hello()
            params = self.params("hot-builtin-url-import", entry="bench/hot.mjs")
            said = [json.loads(s["output"]) for s in driver.samples("hot-builtin-url-import", 3, params)]
        self.assertEqual([main for main, *_ in said], [False] * 3)
        self.assertEqual(len({thread for _, thread, *_ in said}), 3)
        self.assertEqual({pid for _, _, pid, _ in said}, {hello["pid"]})
        self.assertEqual({seen for *_, seen in said}, {None})

    def test_a_hot_program_that_hangs_or_throws(self):
        (self.dir / "bench" / "hangs.mjs").write_text("setInterval(() => {}, 1000);\n")
        (self.dir / "bench" / "throws.mjs").write_text("console.log('before');\nthrow new Error('the check failed');\n")
        row = "hot-builtin-url-import"
        with self.driver() as driver:
            late = driver.samples(row, 1, self.params(row, entry="bench/hangs.mjs", timeoutMs=500))[0]
            self.assertEqual(late["outcome"], "timeout")
            thrown = driver.samples(row, 1, self.params(row, entry="bench/throws.mjs"))[0]
            self.assertEqual((thrown["outcome"], thrown["counters"]["exitCode"], thrown["output"]), ("ok", 1, "before\n"))
            self.assertEqual(driver.samples(row, 1, self.params(row))[0]["counters"]["exitCode"], 0)
        self.assertIn("the check failed", driver.log)


class GuestDriver(ImportDriver, harness.TareTest):
    target = "guest"
    phases = ("context_setup", "startup", "wait")

    def command(self):
        return [harness.TARE, "guest", "driver"]

    def check_row(self, driver, row):
        first, second = super().check_row(driver, row)
        self.assertNotIn("engine_start", second["ns"], row)
        if ROWS[row][2] == "primed":  # the first has filled it
            self.assertGreater(first["counters"]["cacheMissed"], 0, row)
            self.assertGreater(second["counters"]["cacheAccepted"], 0, row)
            self.assertEqual(second["counters"]["cacheMissed"], 0, row)
            self.assertGreater(second["counters"]["cacheFiles"], 0, row)
        self.assertEqual("fresh_process" in first["ns"], row in COLD, row)
        self.assertEqual("fresh_process" in second["ns"], row in COLD, row)

    def check_sample(self, row, sample):
        counters = sample["counters"]
        self.assertEqual("cacheFiles" in counters, ROWS[row][2] == "primed", row)
        self.assertEqual(counters["cacheRejected"], 0, row)
        self.assertEqual(counters["pooled"], 0 if ROWS[row][1] == FRESH else 1, row)
        if ROWS[row][2] == "disabled":
            self.assertEqual(counters["cacheAccepted"], 0, row)
            self.assertGreater(counters["cacheMissed"], 0, row)

    def test_damaged_code_is_not_taken_and_the_program_runs(self):
        params = self.params("warm-local-import")
        with self.driver() as driver:
            driver.samples("warm-local-import", 1, params)
        with self.driver() as driver:
            kept = driver.samples("warm-local-import", 1, params)[0]["counters"]
        self.assertGreater(kept["cacheAccepted"], 0)
        for path in pathlib.Path(params["cacheDir"]).rglob("*"):
            if path.is_file():
                size = path.stat().st_size
                path.write_bytes(path.read_bytes()[: size // 2] + b"\xff" * (size // 2))
        with self.driver() as driver:
            damaged, again = driver.samples("warm-local-import", 2, params)
        for sample in [damaged, again]:
            self.assertEqual((sample["outcome"], sample["counters"]["exitCode"]), ("ok", 0))
            self.assertIsNotNone(marker_of(sample["output"]))
        self.assertLess(damaged["counters"]["cacheAccepted"], kept["cacheAccepted"])

    def test_a_guest_sees_its_folders_and_changes_nothing_in_them(self):
        (self.dir / "bench" / "looks.mjs").write_text(
            "import fs from 'node:fs';\n"
            "const attempt = (act) => { try { return act(); } catch (error) { return error.code; } };\n"
            "console.log(JSON.stringify([process.cwd(), import.meta.url, fs.readdirSync('/root'),\n"
            "  attempt(() => fs.writeFileSync('/root/bench/written', 'x')), attempt(() => fs.readdirSync('/etc/ssl'))]));\n")
        with self.driver() as driver:
            sample = driver.samples("isolate-startup", 1, self.params("isolate-startup", entry="bench/looks.mjs"))[0]
        cwd, url, seen, written, etc = json.loads(sample["output"])
        self.assertEqual((cwd, url, seen, written, etc), ("/root", "file:///root/bench/looks.mjs", ["bench"], "EROFS", "ENOENT"))
        self.assertFalse((self.dir / "bench" / "written").exists())

    def test_an_engine_is_started_once_a_row(self):
        with self.driver() as driver:
            for row in ["isolate-startup", "prewarmed-isolate-startup", "same-context-local-import"]:
                params = self.params(row)
                starts = [driver.samples(row, 1, params)[0]["ns"].get("engine_start") for _ in range(3)]
                self.assertGreater(starts[0] or 0, 0, row)
                self.assertEqual(starts[1:], [None, None], row)


class Packages(harness.TareTest):
    def test_versions_are_exact_and_those_that_guests_are_tested_with(self):
        def manifest(name, file):
            return json.loads((harness.ROOT / "packages" / name / file).read_text())

        ours, theirs = (manifest(name, "package.json")["dependencies"] for name in ["import", "conformance"])
        self.assertEqual(sorted(ours), ["jszip", "pdf-lib", "typescript"])
        self.assertEqual({name: theirs[name] for name in ours}, ours)
        known = manifest("conformance", "package-lock.json")["packages"]
        for path, facts in manifest("import", "package-lock.json")["packages"].items():
            if path:
                self.assertEqual(facts, known[path], path)
                self.assertIn("integrity", facts)
                self.assertNotIn("resolved", facts)

    def test_the_installed_programs_are_those_of_the_sources(self):
        installed = harness.BUILD / "share" / "tare" / "import"
        for program in import_world.FIXTURES.glob("*.mjs"):
            self.assertEqual((installed / program.name).read_bytes(), program.read_bytes(), program.name)


if __name__ == "__main__":
    harness.main()
