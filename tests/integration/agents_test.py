"""`tare agents` over registries that only pretend: what it asks for, checks, writes and prints."""

import json
import os
import re
import sys

import harness
from registries import AgentsTest, fake_registry

sys.path.insert(0, str(harness.ROOT / "tests" / "schema"))
import validate  # noqa: E402

SMALL = ["--runs", "3", "--fanout", "2", "--sweep-rows", "4"]
ROWS = ["spawnPipelineInMemory_2", "spawnPipelineDurable_2", "admission_2", "recoverySweep_4", "duplicateSuppression_4",
        "spawnSettleEndToEnd_2", "mixedLoad_2", "durableCrash_1000"]


class Agents(AgentsTest):
    def test_every_row_is_measured_on_every_lane_in_the_seeds_order(self):
        result = self.agents(*SMALL, "--target", f"mine=driver:{fake_registry()}")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertTrue(document["complete"])
        self.assertEqual(document["invariants"], {"ok": True, "failures": []})
        self.assertEqual([(t["id"], t["kind"]) for t in document["targets"]], [("node", "reference"), ("mine", "subject")])
        self.assertEqual(list(dict.fromkeys(r["row"] for r in document["rows"])), ROWS)
        for name in ROWS:
            for target in ["node", "mine"]:
                row = self.row(document, name, target)
                self.assertEqual((row["bench"], row["status"], row["outcomes"]), ("agents", "ok", {"ok": 3}), row["reason"])
                warmups = 0 if name.startswith("durableCrash") else 1
                self.assertEqual({i["checked"] for i in row["invariants"]}, {3 + warmups})  # warm-ups are judged as well
                total = row["metrics"]["total"]
                self.assertEqual((total["round"], total["process"], len(total["warmup"])), ([0, 1, 2], [0, 0, 0], warmups))
                self.assertEqual(total["atMs"], sorted(total["atMs"]))
                self.assertEqual(row["metrics"]["processMaxRssBytes"]["samples"], [12_000_000] * 3)
        self.assertEqual(self.row(document, "admission_2", "mine")["size"], 2)
        self.assertEqual(self.row(document, "admission_2", "mine")["metrics"]["total"]["samples"], [0.00004] * 3)
        ids = {i["id"] for i in self.row(document, "durableCrash_1000", "mine")["invariants"]}
        self.assertLessEqual({"acknowledged_present", "nothing_else", "intact", "interrupted", "in_flight_bound"}, ids)
        schema = validate.load(harness.ROOT / "docs" / "run.schema.json")
        self.assertEqual(list(validate.problems(schema, document)), [])

    def test_memory_of_lab_and_workers_is_in_the_document(self):
        self.agents("--scenarios", "admission", "--fanout", "1,2", "--runs", "2")
        memory = self.document()["memory"]
        self.assertEqual(memory["workerProcessMaxRssBytes"], 12_000_000)
        self.assertGreater(memory["rssStartBytes"], 1 << 20)
        self.assertGreaterEqual(memory["rssEndBytes"], memory["rssStartBytes"] // 2)

    def test_lanes_take_turns_worker_by_worker_and_the_order_is_seeded(self):
        def order(seed, name):
            self.agents("--scenarios", "admission", "--fanout", "1", "--runs", "1", "--processes", "8", "--warmup", "0",
                        "--target", f"mine=driver:{fake_registry()}", "--seed", seed, "--output", name)
            starts = {r["target"]: r["metrics"]["total"]["atMs"] for r in self.document(name)["rows"]}
            self.assertEqual([len(s) for s in starts.values()], [8, 8])
            # Worker k of each lane has run before worker k+1 of any.
            for k in range(7):
                self.assertLess(max(s[k] for s in starts.values()), min(s[k + 1] for s in starts.values()))
            return [min(starts, key=lambda t: starts[t][k]) for k in range(8)]
        first = order(7, "one.json")
        self.assertEqual(sorted(first), ["mine"] * 4 + ["node"] * 4)
        self.assertEqual(first, order(7, "two.json"))

    def test_each_worker_is_a_fresh_process_and_its_number_stands_at_its_samples(self):
        self.agents("--scenarios", "admission", "--fanout", "2", "--runs", "2", "--processes", "3")
        total = self.row(self.document(), "admission_2", "node")["metrics"]["total"]
        self.assertEqual(total["process"], [0, 0, 1, 1, 2, 2])
        self.assertEqual(total["round"], [0, 1, 2, 3, 4, 5])
        self.assertEqual(len(total["warmup"]), 3)

    def test_workers_are_compared_in_pairs_from_six_on(self):
        def comparison(processes):
            self.agents("--scenarios", "admission", "--fanout", "2", "--runs", "2", "--processes", processes, "--target",
                        f"mine=driver:{fake_registry()}")
            found = [c for c in self.document()["comparisons"] if c["quantile"] == "p50"]
            self.assertEqual([(c["kind"], c["subject"], c["reference"], c["metric"]) for c in found],
                             [("emulation", "mine", "node", "total")])
            return found[0]
        few, enough = comparison(5), comparison(6)
        self.assertEqual((few["pairs"], few["ratio"]), (10, 1))
        self.assertIn("what is odd about a worker is in it", few["method"])
        self.assertEqual((enough["pairs"], enough["ratio"], enough["interval"]), (6, 1, [1, 1]))
        self.assertIn("p50 of each worker", enough["method"])

    def test_large_registries_tell_the_cost_of_a_row(self):
        result = self.agents("--scenarios", "sweepScale,dedupeScale,restartScale", "--scale-rows", "3,1000", "--runs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["sweepScale_1000", "dedupeScale_1000", "restartScale_1000"]:
            metrics = self.row(self.document(), name, "node")["metrics"]
            self.assertEqual(metrics["per_row"]["samples"], [0.00002] * 2)
            self.assertEqual(metrics["total"]["samples"], [0.02] * 2)

    def test_what_a_registry_does_not_have_is_unavailable_with_its_reason(self):
        result = self.agents(*SMALL, "--target", f"mine=driver:{fake_registry('lacks')}")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = self.row(self.document(), "mixedLoad_2", "mine")
        self.assertEqual((row["status"], row["reason"]), ("unavailable", "it does one thing at a time"))
        self.assertIn("it does one thing at a time", result.stderr)

    def test_json_is_all_that_stdout_carries_and_tables_go_to_stderr(self):
        result = self.agents(*SMALL, "--json", "--markdown", "report.md")
        self.assertEqual(json.loads(result.stdout), self.document())
        self.assertIn("admission", result.stderr)
        self.assertNotIn("\x1b", result.stderr)
        self.assertNotIn("\r", result.stderr)
        self.assertIn("admission_2", (self.folder / "report.md").read_text())

    def test_without_json_stdout_is_empty(self):
        self.assertEqual(self.agents("--scenarios", "admission", "--fanout", "1", "--runs", "1").stdout, "")

    def test_table_fits_the_screen_says_n_and_names_its_units(self):
        result = self.agents(*SMALL, "--target", f"mine=driver:{fake_registry()}", env={"COLUMNS": "80"})
        for line in result.stderr.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertTrue(re.search(r"\bn=3\b", result.stderr))
        self.assertIn("µs", result.stderr)
        for width in ["1", "20"]:
            self.assertEqual(self.agents(*SMALL, "--scenarios", "admission", env={"COLUMNS": width}).returncode, 0)

    def test_a_state_folder_is_used_and_left_empty(self):
        state = self.folder / "state"
        state.mkdir()
        result = self.agents("--scenarios", "durableCrash,spawnPipelineDurable", "--fanout", "2", "--runs", "2", "--state", "state")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.document()["config"]["state"], str(state))
        self.assertEqual(os.listdir(state), [])

    def test_runs_leave_no_files(self):
        self.agents(*SMALL)
        self.assertEqual(os.listdir(self.scratch), [])


class Refusals(AgentsTest):
    def test_command_line(self):
        cases = [
            (["--runs", "0"], "--runs must be 1 to 100, got 0"),
            (["--runs", "2", "driver"], "`tare agents driver` takes no flags, got --targets"),
            (["--runs", "101"], "--runs must be 1 to 100, got 101"),
            (["--runs", "ten"], "--runs must be 1 to 100, got ten"),
            (["--runs"], "--runs needs a value"),
            (["--runs", "--json"], "--runs needs a value"),
            (["--runs", "5", "--runs", "6"], "--runs given more than once"),
            (["--warmup", "21"], "--warmup must be 0 to 20, got 21"),
            (["--fanout", "257"], "--fanout must be 1 to 256, got 257"),
            (["--fanout", "8,8"], "--fanout names '8' twice"),
            (["--fanout", "1,,8"], "--fanout has an empty item"),
            (["--sweep-rows", "4097"], "--sweep-rows must be 1 to 4096, got 4097"),
            (["--sweep-rows", "32,32"], "--sweep-rows names '32' twice"),
            (["--scale-rows", "2"], "--scale-rows must be 3 to 1000000, got 2"),
            (["--scenarios", "sweepScale"], "say how many rows with --scale-rows"),
            (["--scenarios", "admision"], "did you mean 'admission'?"),
            (["--state", "none"], "--state: there is no folder 'none'"),
            (["--output", "/proc/run.json"], "cannot write /proc/run.json"),
            (["--output", "a.json", "--markdown", "./a.json"], "--output and --markdown are the same file"),
            (["--target", "x=cmd:true"], "target 'x' is a plain command, which has no rows of the agents bench"),
            (["--target", "x=driver:/no/such/registry"], "/no/such/registry"),
            (["--iterations", "5"], "unknown flag '--iterations'"),
            (["sweep"], "sweep"),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.refused("agents", *self.lanes, *arguments))
        self.assertEqual([p.name for p in self.folder.iterdir()], ["prefix"])

    def test_help_has_examples(self):
        result = self.tare("agents", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for word in ["Examples:", "--scale-rows", "--resume", "driver"]:
            self.assertIn(word, result.stdout)


if __name__ == "__main__":
    harness.main()
