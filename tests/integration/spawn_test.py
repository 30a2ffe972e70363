"""`tare spawn` on real processes: what it measures, checks, writes and prints."""

import json
import re

import harness
from harness import python_driver

FAST = ["--targets", "sh", "--iterations", "8", "--warmup", "1"]
JAVASCRIPT_ROWS = ["node_exit_1", "fanout_3", "nested_8", "capture_2b", "capture_256k", "stdin_roundtrip_4k", "exit_code_7",
                   "signal_kill", "root_cwd_no_write", "host_cwd_no_write", "host_cwd_write_1file", "reap_storm_32"]


class Spawn(harness.TareTest):
    def test_native_and_node_do_every_row_and_every_sample_is_checked(self):
        result = self.tare("spawn", "--targets", "native,sh,node", "--iterations", "2", "--warmup", "1", "--fanout", "3",
                           timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertTrue(document["complete"])
        self.assertTrue(document["invariants"]["ok"])
        self.assertEqual([t["kind"] for t in document["targets"]], ["floor", "floor", "reference"])
        for target in ["native", "node"]:
            for name in JAVASCRIPT_ROWS:
                row = self.row(document, name, target)
                if target == "native" and name == "nested_8":
                    self.assertEqual((row["status"], row["reason"]), ("unavailable", "no child_process"))
                    continue
                self.assertEqual(row["status"], "ok", row["reason"])
                self.assertEqual(row["outcomes"], {"ok": 2})
                self.assertGreater(row["metrics"]["total"]["summary"]["p50"], 0)
                # Warm-ups are judged as well.
                self.assertEqual({i["checked"] for i in row["invariants"]}, {3})
                self.assertGreater(row["resources"]["cpuUserMs"], 0)
                self.assertGreater(row["resources"]["maxRssBytes"], 1 << 20)
        self.assertEqual(self.row(document, "fanout_3", "node")["size"], 3)
        self.assertEqual(self.row(document, "fanout_3", "node")["counters"]["exits"], 6)
        self.assertEqual(self.row(document, "signal_kill", "native")["counters"], {"signal": 18})
        self.assertEqual(self.row(document, "exec_true", "sh")["status"], "ok")
        node = next(t for t in document["targets"] if t["id"] == "node")
        self.assertEqual(node["version"], "v24.22.3")
        self.assertRegex(node["sha256"], "^[0-9a-f]{64}$")

    def test_phases_add_up_and_rounds_are_shared(self):
        self.tare("spawn", "--targets", "native,node", "--rows", "node_exit_1", "--iterations", "6", "--warmup", "0")
        document = self.document()
        for target in ["native", "node"]:
            metrics = self.row(document, "node_exit_1", target)["metrics"]
            self.assertEqual(metrics["total"]["round"], list(range(6)))
            self.assertEqual(metrics["total"]["process"], [0] * 6)
            for total, spawn, wait in zip(*(metrics[m]["samples"] for m in ["total", "spawn", "wait_reap"])):
                self.assertAlmostEqual(total, spawn + wait, delta=0.5)
        tax = [c for c in document["comparisons"] if c["kind"] == "total" and c["metric"] == "total" and c["quantile"] == "p50"]
        self.assertEqual([(c["subject"], c["reference"], c["pairs"]) for c in tax], [("node", "native", 6)])
        self.assertLessEqual(tax[0]["interval"][0], tax[0]["ratio"])
        self.assertGreaterEqual(tax[0]["interval"][1], tax[0]["ratio"])

    def test_order_of_lanes_is_balanced_and_seeded(self):
        def order(seed, name):
            self.tare("spawn", "--target", "a=cmd:/bin/true", "--targets", "sh", "--target", "b=cmd:/bin/true", "--rows",
                      "command_exit", "--iterations", "10", "--warmup", "0", "--seed", seed, "--output", name)
            rows = [r for r in self.document(name)["rows"]]
            starts = {r["target"]: r["metrics"]["total"]["atMs"] for r in rows}
            return [min(starts, key=lambda t: starts[t][i]) for i in range(10)]
        first = order(7, "one.json")
        self.assertEqual(sorted(first), ["a"] * 5 + ["b"] * 5)
        self.assertEqual(first, order(7, "two.json"))

    def test_fresh_processes_repeat_the_row(self):
        self.tare("spawn", *FAST, "--rows", "exec_true", "--processes", "3")
        total = self.row(self.document(), "exec_true", "sh")["metrics"]["total"]
        self.assertEqual(total["process"], [0] * 8 + [1] * 8 + [2] * 8)
        self.assertEqual(total["round"], list(range(24)))
        self.assertEqual(len(total["warmup"]), 3)

    def test_json_is_all_that_stdout_carries_and_tables_go_to_stderr(self):
        result = self.tare("spawn", *FAST, "--json", "--markdown", "report.md")
        self.assertEqual(json.loads(result.stdout), self.document())
        self.assertIn("exec_true", result.stderr)
        self.assertIn("n=8", result.stderr)
        self.assertNotIn("\x1b", result.stderr)
        self.assertNotIn("\r", result.stderr)
        self.assertIn("exec_true", (self.folder / "report.md").read_text())

    def test_a_driver_in_python_stands_in_the_table(self):
        result = self.tare("spawn", "--targets", "sh", "--target", f"mine=driver:{python_driver()}", "--rows",
                           "exec_true,spawn_exit", "--iterations", "6", "--warmup", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = self.row(self.document(), "exec_true", "mine")
        self.assertEqual(row["status"], "ok")
        self.assertIn("mine", result.stderr)

    def test_a_command_template_runs_the_script_or_the_command_as_it_is(self):
        node = next(t for t in json.loads(self.tare("targets", "--json").stdout) if t["id"] == "node")["program"]
        result = self.tare("spawn", "--targets", "native", "--target", f"again=cmd:{node} -e {{script}}", "--target",
                           "plain=cmd:/bin/true", "--rows", "capture_2b,signal_kill,host_cwd_no_write,command_exit",
                           "--iterations", "2", "--warmup", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertEqual(self.row(document, "capture_2b", "again")["status"], "ok")
        self.assertEqual(self.row(document, "signal_kill", "again")["status"], "ok")
        self.assertEqual(self.row(document, "host_cwd_no_write", "again")["reason"], "a command template has no mounts")
        self.assertEqual(self.row(document, "command_exit", "plain")["status"], "ok")

    def test_environment_of_the_seed_works_and_flags_beat_it(self):
        env = {"BENCH_ITERATIONS": "3", "BENCH_WARMUP": "2", "BENCH_PROCESS_LIFECYCLE_TRACE": "1"}
        result = self.tare("spawn", "--targets", "sh", env=env)
        total = self.row(self.document(), "exec_true", "sh")["metrics"]["total"]
        self.assertEqual((len(total["samples"]), len(total["warmup"])), (3, 2))
        self.assertIn("trace: no target of this run has stages", result.stderr)
        self.tare("spawn", "--targets", "sh", "--iterations", "4", env=env)
        self.assertEqual(len(self.row(self.document(), "exec_true", "sh")["metrics"]["total"]["samples"]), 4)

    def test_pin_keeps_everything_on_one_cpu(self):
        result = self.tare("spawn", *FAST, "--pin", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.document()["config"]["pin"], 0)
        self.assertEqual(self.document()["host"]["cpusAllowed"], "0")

    def test_numbers_do_not_follow_the_locale(self):
        result = self.tare("spawn", *FAST, "--json", env={"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"})
        json.loads(result.stdout)
        self.assertNotRegex(result.stderr, r"\d,\d\d?\b(?!\d)")

    def test_a_terminal_of_one_column_is_no_reason_to_crash(self):
        for width in ["1", "20"]:
            self.assertEqual(self.tare("spawn", *FAST, env={"COLUMNS": width}).returncode, 0)

    def test_a_reader_that_went_away_is_an_error_of_its_own(self):
        import os
        read, write = os.pipe()
        os.close(read)
        result = self.tare("spawn", *FAST, "--json", stdout=write)
        os.close(write)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to standard output (Broken pipe)", result.stderr.splitlines()[-1])
        self.assertTrue(self.document()["complete"])

    def test_table_fits_the_screen_and_says_n(self):
        result = self.tare("spawn", "--targets", "native,sh,node", "--rows", "node_exit_1,exec_true", "--iterations", "2",
                           "--warmup", "0", env={"COLUMNS": "80"})
        for line in result.stderr.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertTrue(re.search(r"\bn=2\b", result.stderr))


if __name__ == "__main__":
    harness.main()
