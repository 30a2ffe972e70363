"""The driver of agentOS before a sidecar that misbehaves: what it reports, and that it leaves nothing."""

import json
import shutil
import subprocess

import harness

DRIVER = harness.ROOT / "drivers" / "agentos.mjs"
NAME = "@rivet-dev/agentos-runtime-core"
SDK = f"node_modules/{NAME}"
PINNED = json.loads((harness.ROOT / "packages/agentos/package.json").read_text())["dependencies"][NAME]


class AgentosDriver(harness.TareTest):
    def setUp(self):
        super().setUp()
        listed = json.loads(self.tare("targets", "--json").stdout)
        self.node = next(target["program"] for target in listed if target["id"] == "node")
        self.write_sdk(PINNED)

    def write_sdk(self, version):
        dist = self.folder / SDK / "dist"
        dist.mkdir(parents=True, exist_ok=True)
        (self.folder / SDK / "package.json").write_text(json.dumps({"type": "module", "version": version}))
        for name in ["index.js", "test-runtime.js", "binary.js"]:
            shutil.copy(harness.DRIVERS / "fake_agentos_sdk.mjs", dist / name)

    def drive(self, mode, *requests, folder=None, env=None):
        """What the driver answers to each request, its exit code, and its log."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        log = self.folder / "log"
        arguments = [] if folder == "" else [str(folder or self.folder)]
        with open(log, "w") as stderr:
            driver = subprocess.Popen(
                [self.node, str(DRIVER), *arguments], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                env=self.environment(FAKE_AGENTOS=mode, TMPDIR=str(temporary), **(env or {})))
            answers = []
            for i, request in enumerate(requests):
                driver.stdin.write(json.dumps({"id": i, **request}) + "\n")
                driver.stdin.flush()
                answers.append(json.loads(driver.stdout.readline()))
            driver.communicate(timeout=60)
        self.assertEqual(list(temporary.iterdir()), [], "files were left behind")
        return answers, driver.returncode, log.read_text()

    def sample(self, mode, row, timeout=5000, iterations=1, **params):
        request = {"op": "sample", "row": row, "params": {"timeoutMs": timeout, **params}, "iterations": iterations}
        answers, code, log = self.drive(mode, request, {"op": "bye"})
        self.assertEqual(code, 0, log)
        self.assertTrue(answers[0]["ok"], answers[0])
        return answers[0]["samples"]

    def test_hello_says_what_is_driven_and_starts_nothing(self):
        answers, _, _ = self.drive("exits", {"op": "hello", "protocol": "tare.driver.v1"}, {"op": "bye"})
        hello = answers[0]
        self.assertEqual([hello["name"], hello["version"], hello["asynchronousSpawn"]], ["agentos", PINNED, True])
        self.assertLessEqual({"node_exit_1", "fanout_<n>", "cold_start", "memory_<n>", "growth_<n>"}, set(hello["rows"]))
        self.assertFalse(set(hello["unavailable"]) & set(hello["rows"]))
        self.assertFalse(hello["stages"])

    def test_exit_codes_are_those_of_the_exit_events(self):
        self.assertEqual(self.sample("exits", "node_exit_1")[0]["counters"]["exitCode"], 0)
        self.assertEqual(self.sample("exits", "exit_code_7")[0]["counters"]["exitCode"], 7)
        self.assertEqual(self.sample("exits", "fanout_3", fanout=3)[0]["counters"], {"exits": 3, "nonZero": 0})

    def test_a_guest_that_vanished_has_no_exit_code(self):
        sample = self.sample("vanishes", "node_exit_1")[0]
        self.assertEqual((sample["outcome"], sample["counters"]), ("ok", {}))
        self.assertEqual(self.sample("vanishes", "fanout_2", fanout=2)[0]["counters"]["exits"], 0)

    def test_a_refused_start_is_no_exit(self):
        sample = self.sample("refuses", "fanout_2", fanout=2)[0]
        self.assertEqual((sample["outcome"], sample["counters"]["exits"]), ("refused", 0))
        self.assertIn("ENFILE", sample["error"])

    def test_a_dead_sidecar_fails_the_sample_and_the_next_has_a_new_one(self):
        for sample in self.sample("dies", "node_exit_1", iterations=2):
            self.assertEqual(sample["outcome"], "failed")
            self.assertIn("was killed by SIGKILL", sample["error"])
            self.assertNotIn("exitCode", sample["counters"])

    def test_a_guest_that_hangs_uses_up_the_budget_and_no_more(self):
        for sample in self.sample("hangs", "node_exit_1", timeout=1000, iterations=2):
            self.assertEqual(sample["outcome"], "timeout")
            self.assertGreaterEqual(sample["ns"]["total"], 0)

    def test_a_machine_that_cannot_be_made_is_a_sample_with_a_reason(self):
        sample = self.sample("cannot_boot", "node_exit_1")[0]
        self.assertEqual((sample["outcome"], sample["error"]), ("failed", "cannot create a virtual machine: no kernel"))
        self.assertEqual(self.sample("never_boots", "node_exit_1", timeout=300)[0]["outcome"], "timeout")
        self.assertEqual(self.sample("never_boots", "cold_start", timeout=300)[0]["outcome"], "timeout")

    def test_cold_start_has_its_phases_and_counts_what_dispose_leaves(self):
        sample = self.sample("exits", "cold_start")[0]
        self.assertEqual(set(sample["ns"]), {"total", "create", "first_exec", "warm_exec", "dispose"})
        self.assertEqual(sample["counters"], {"exitCode": 0, "warmExitCode": 0, "leftRunning": 0})
        self.assertEqual(self.sample("stalls", "cold_start")[0]["counters"]["leftRunning"], 1)

    def test_memory_is_weighed_at_five_moments(self):
        sample = self.sample("exits", "memory_4", timeout=30000, guests=4)[0]
        self.assertEqual(sample["counters"], {"guests": 4, "exits": 4})
        self.assertEqual(list(sample["bytes"]), ["idle", "vm", "live_guests", "after_kill", "after_dispose"])
        self.assertTrue(all(size is None or size > 0 for size in sample["bytes"].values()), sample["bytes"])

    def test_a_guest_that_is_refused_in_a_memory_row_is_no_failure_of_the_sidecar(self):
        sample = self.sample("refuses_to_stay", "memory_4", timeout=30000, guests=4)[0]
        self.assertEqual((sample["outcome"], sample["counters"]), ("refused", {}))
        self.assertIn("ENFILE", sample["error"])

    def test_growth_is_weighed_before_and_after_guests_that_are_counted(self):
        sample = self.sample("exits", "growth_10", timeout=30000, processes=10, warmup=3)[0]
        self.assertEqual((sample["outcome"], sample["counters"]), ("ok", {"exits": 10, "nonZero": 0}))
        self.assertEqual(list(sample["bytes"]), ["before", "after"])
        # An exit that got lost is not counted.
        self.assertEqual(self.sample("vanishes", "growth_1", timeout=30000, processes=1, warmup=1)[0]["counters"]["exits"], 0)

    def import_params(self, **more):
        (self.folder / "bench").mkdir(exist_ok=True)
        return {"dir": str(self.folder), "entry": "bench/program.mjs", "reuse": "fresh-per-sample", "cache": "disabled", **more}

    def test_a_program_that_is_loaded_has_phases_and_a_machine_of_its_own(self):
        first, second = self.sample("exits", "isolate-startup", iterations=2, **self.import_params(freshProcess=True))
        for sample in [first, second]:
            self.assertEqual((sample["outcome"], sample["counters"]), ("ok", {"exitCode": 0}))
            ns = sample["ns"]
            self.assertEqual(ns["total"], ns["context_setup"] + ns["startup"] + ns["wait"])
            self.assertGreater(ns["fresh_process"], 0)
        self.assertIn("engine_start", first["ns"])
        self.assertNotIn("engine_start", second["ns"])

    def test_import_rows_that_its_sdk_cannot_have_are_refused_with_the_reason(self):
        hello = self.drive("exits", {"op": "hello", "protocol": "tare.driver.v1"})[0][0]
        self.assertLessEqual({"isolate-startup", "hot-builtin-url-import", "transport_<n>"}, set(hello["rows"]))
        for row, reason in [("warm-local-import", "folder"), ("same-context-local-import", "contexts"), ("large-package-import", "typescript")]:
            self.assertIn(reason, hello["unavailable"][row])
            request = {"op": "sample", "row": row, "params": {"timeoutMs": 100, **self.import_params(cache="primed")}, "iterations": 1}
            self.assertEqual(self.drive("exits", request)[0][0]["error"]["code"], "unsupported")

    def test_import_rows_before_a_sidecar_that_misbehaves(self):
        for sample in self.sample("cannot_boot", "isolate-startup", iterations=2, **self.import_params()):
            self.assertEqual((sample["outcome"], sample["error"]), ("failed", "no kernel"))
        for sample in self.sample("never_boots", "isolate-startup", timeout=300, iterations=2, **self.import_params()):
            self.assertEqual((sample["outcome"], sample["error"]), ("timeout", "not done after 300 ms"))
            self.assertGreaterEqual(sample["ns"]["total"], 300_000_000)

    def test_round_trips(self):
        params = self.import_params(entry="bench/transport-echo.mjs", bytes=32, nonce="ab")
        samples = self.sample("exits", "transport_32", iterations=3, **params)
        self.assertEqual([s["output"] for s in samples], [f"transport:ab-{k}:".ljust(32, "x") + "\n" for k in range(3)])
        self.assertEqual([s["counters"] for s in samples], [{"exitCode": 0}] * 3)
        for mode, outcome, error in [("hangs", "timeout", "not done after 500 ms"), ("vanishes", "failed", "exited with code 5"),
                                     ("dies", "failed", "was killed by SIGKILL")]:
            first, second = self.sample(mode, "transport_32", timeout=500, iterations=2, **params)
            self.assertEqual((first["outcome"], second["outcome"]), (outcome, "failed"))
            self.assertIn(error, first["error"])

    def test_the_end_of_stdin_ends_a_sample_that_is_under_way(self):
        for row in ["node_exit_1", "cold_start"]:
            driver = subprocess.Popen(
                [self.node, str(DRIVER), str(self.folder)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env=self.environment(FAKE_AGENTOS="never_boots"))
            driver.stdin.write(json.dumps({"id": 0, "op": "sample", "row": row, "params": {"timeoutMs": 60000}}) + "\n")
            driver.communicate(timeout=30)
            self.assertEqual(driver.returncode, 0)
            self.assertEqual(self.left_over(), [])

    def test_a_sidecar_that_stalls_at_the_end_does_not_keep_the_driver(self):
        sample = {"op": "sample", "row": "node_exit_1", "params": {"timeoutMs": 5000}, "iterations": 1}
        for requests in [[sample, {"op": "bye"}], [sample]]:
            answers, code, _ = self.drive("stalls", *requests)
            self.assertEqual(code, 0)
            self.assertEqual(answers[0]["samples"][0]["outcome"], "ok")

    def test_stages_are_offered_in_a_trace_only(self):
        refusal = self.drive("exits", {"op": "stages"})[0][0]
        self.assertEqual(refusal["error"]["code"], "unsupported")
        hello, stages = self.drive("exits", {"op": "hello", "protocol": "tare.driver.v1"}, {"op": "stages"},
                                   env={"TARE_TRACE": "1"})[0]
        self.assertTrue(hello["stages"])
        self.assertEqual(stages["stages"], {})
        self.assertIn("kernel_spawn_process", stages["absent"])

    def test_an_installation_that_is_missing_damaged_or_another_version_is_one_line(self):
        def line(folder=None):
            _, code, log = self.drive("exits", folder=folder)
            self.assertEqual((code, len(log.splitlines())), (1, 1), log)
            return log

        self.assertIn("is not installed in", line(folder=self.folder / "none"))
        self.assertIn("name the folder", line(folder=""))
        (self.folder / SDK / "dist" / "binary.js").unlink()
        self.assertIn("cannot be loaded", line())
        self.write_sdk("0.0.1")
        self.assertIn(f"is 0.0.1, not {PINNED}", line())


if __name__ == "__main__":
    harness.main()
