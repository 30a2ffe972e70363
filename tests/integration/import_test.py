"""`tare import` on lanes that pretend: what it asks for, what it makes of the answers, and what it refuses."""

import json
import os
import signal
import sys

import harness
from import_lanes import FEW, PACKAGES, ROWS, SCENARIOS, TRANSPORT, ImportTest, fake_import

sys.path.insert(0, str(harness.ROOT / "tests" / "schema"))
import validate  # noqa: E402


class Import(ImportTest):
    def test_every_row_runs_on_every_lane_and_both_artifacts_are_written(self):
        result = self.bench("--iterations", "2", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertEqual(json.loads(result.stdout), document)
        self.assertEqual(list(validate.problems(validate.load(harness.ROOT / "docs/run.schema.json"), document)), [])
        self.assertTrue(document["complete"])
        self.assertFalse(self.state.exists())
        self.assertEqual({r["row"] for r in document["rows"]}, set(ROWS))
        self.assertEqual(len(document["rows"]), 2 * len(ROWS))
        for row in document["rows"]:
            if row["row"] in PACKAGES:
                self.assertEqual(row["status"], "unavailable")
                self.assertRegex(row["reason"], r"^(typescript|pdf-lib|jszip) is not installed; run: tare targets install import$")
            else:
                self.assertEqual((row["status"], row["outcomes"]), ("ok", {"ok": 2}), row["row"])
        self.assertEqual([s["id"] for s in document["config"]["scenarios"]], SCENARIOS)
        self.assertEqual(document["guidance"], [g for g in document["guidance"] if g.startswith(("node: ", "x: "))])
        for section in ["Transport RTT", "Control Matrix", "Scenario Summary", "Stability And Resource Summary", "Ranked Hotspots",
                        "Hotspot Guidance", "Raw Samples"]:
            self.assertIn(f"\n## {section}\n", self.markdown())
        self.assertEqual(self.markdown().count("\n### "), 13 + 2 * (len(SCENARIOS) - len(PACKAGES)))
        self.assertNotIn("Baseline Comparison", self.markdown())
        self.assert_tidy()

    def test_what_a_driver_is_asked_for(self):
        log = self.folder / "log"
        result = self.bench("--iterations", "2", "--warmup", "1", env={"TARE_TEST_LOG": str(log)})
        self.assertEqual(result.returncode, 0, result.stderr)
        asked = {}
        for line in log.read_text().splitlines():
            request = json.loads(line)
            asked.setdefault(request["row"], []).append(request)
        for row in TRANSPORT:
            self.assertEqual([r["iterations"] for r in asked[row]], [3, 3])
            self.assertEqual(asked[row][0]["params"]["timeoutMs"], 5000)
            self.assertEqual(asked[row][0]["params"]["bytes"], int(row.partition("_")[2]))
            self.assertEqual(asked[row][0]["params"]["entry"], "bench/transport-echo.mjs")
        self.assertEqual(len(asked["cold-local-import"]), 2 * 3)
        self.assertEqual(len(asked["warm-local-import"]), 2 * 4, "a primed row has one more")
        params = asked["warm-local-import"][0]["params"]
        self.assertEqual((params["entry"], params["reuse"], params["cache"]),
                         ("bench/warm-local-import.mjs", "fresh-per-sample", "primed"))
        self.assertNotIn("freshProcess", params)
        self.assertTrue(params["cacheDir"].startswith(params["dir"] + "/cache/warm-local-import/"))
        self.assertEqual(len({r["params"]["cacheDir"] for r in asked["warm-local-import"]}), 2)
        cold = asked["cold-local-import"][0]["params"]
        self.assertIs(cold["freshProcess"], True)
        self.assertNotIn("cacheDir", cold)
        self.assertNotIn("nodeModules", cold)
        self.assertEqual(asked["same-context-local-import"][0]["params"]["reuse"], "shared-context-across-scenario")

    def test_metrics_follow_from_times_and_markers(self):
        result = self.bench(*FEW)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()

        def means(row, target):
            metrics = self.row(document, row, target)["metrics"]
            return {name: m["summary"]["mean"] for name, m in metrics.items()}

        # The samples are the second to the fourth of their worker: 1 %, 2 % and 3 % longer than the first.
        cold = means("cold-local-import", "x")
        for name, expected in {"total": 7e-3 * 1.02, "context_setup": 1e-3 * 1.02, "startup": 2e-3 * 1.02, "guest_execution": 3e-3,
                               "completion": 4e-3 * 1.02 - 3e-3, "startup_overhead": 7e-3 * 1.02 - 3e-3, "engine_start": 0.03,
                               "fresh_process": 0.04, "cpu_user": 2.0, "cpu_system": 0.5, "cpu_total": 2.5, "rss": 50 << 20,
                               "heap_used": 8 << 20}.items():
            self.assertAlmostEqual(cold[name], expected, msg=name)
        self.assertEqual(self.row(document, "cold-local-import", "x")["metrics"]["engine_start"]["summary"]["count"], 1)
        host = means("cold-local-import", "node")
        self.assertAlmostEqual(host["startup"], 0.02 * 1.02 - 3e-3)
        self.assertAlmostEqual(host["startup_overhead"], host["startup"])
        for absent in ["context_setup", "completion", "engine_start", "fresh_process"]:
            self.assertNotIn(absent, host)
        self.assertNotIn("guest_execution", means("isolate-startup", "x"))
        self.assertNotIn("startup_overhead", means("isolate-startup", "x"))
        compared = {(c["row"], c["metric"]) for c in document["comparisons"]}
        self.assertIn(("cold-local-import", "total"), compared)
        self.assertIn(("cold-local-import", "startup_overhead"), compared)
        self.assertNotIn(("cold-local-import", "startup"), compared, "lanes mean different things by it")

    def test_the_older_artifact(self):
        result = self.bench(*FEW, "--export", "old.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        old = json.loads((self.folder / "old.json").read_text())
        self.assertEqual(old["artifact_version"], 5)
        self.assertEqual(old["config"], {"iterations": 3, "warmup_iterations": 1})
        self.assertEqual([t["payload_bytes"] for t in old["transport_rtt"]], [32])
        self.assertEqual([s["id"] for s in old["scenarios"]], ["isolate-startup", "cold-local-import", "warm-local-import"])
        cold = old["scenarios"][1]
        self.assertEqual(cold["runtime"], "native-execution")
        self.assertEqual(len(cold["phase_samples_ms"]["completion_ms"]), 3)
        self.assertAlmostEqual(cold["wall_stats"]["mean_ms"], 7e-3 * 1.02)
        self.assertEqual(len(old["summary"]["hotspot_rankings"]), 13)
        self.assertNotIn("comparison", old)

    def test_a_failed_row_fails_the_run_and_the_next_ones_run(self):
        cases = {
            "no_marker": "marker: expected a marker with import_ms, got no marker",
            "no_output": "marker: expected a marker with import_ms, got no output",
            "indented_marker": "got no marker",
            "malformed_marker": "got '{\"import_ms\":'",
            "text_marker": "got '{\"import_ms\":\"1\"}'",
            "negative_marker": "got '-1'",
            "not_a_number_marker": "got 'NaN'",
            "empty_marker": "got '{}'",
            "marker_without_import": "got a marker without import_ms",
            "long_marker": "got 5,000 ms of imports in a sample of",
            "value_check": "exit_code: expected exit code 0, got exit code 1; its output ends: Error: local graph returned 276",
            "by_signal": "got signal 9",
            "no_exit": "got no exit status",
            "phases_off": "phases_sum: expected phases that make up the total, within 5 %",
            "cache_used_cold": "cache_used: expected no cached code accepted, got 1 accepted",
            "out_of_the_pool": "cold: expected an isolate of its own, out of no pool, got out of a pool",
            "failed_sample": "the program could not be started",
            "negative": "total",
            "missing_total": "total",
            "exit_3": "its stderr ends: the engine is broken",
            "killed": "SIGKILL",
            "stray": "left 1 running",
            "'says:the disk is full'": "the disk is full",
        }
        for mode, expected in cases.items():
            with self.subTest(mode=mode):
                result = self.bench("--scenarios", "cold-local-import,host-local-import", "--iterations", "1", "--warmup", "0",
                                    lanes=self.with_lane(mode, "cold-local-import"))
                self.assertEqual(result.returncode, 1, result.stderr)
                document = self.document()
                self.assertTrue(document["complete"])
                row = self.row(document, "cold-local-import", "x")
                self.assertEqual(row["status"], "failed")
                self.assertIn(expected, row["reason"])
                self.assertEqual(self.row(document, "cold-local-import", "node")["status"], "ok")
                self.assertEqual(self.row(document, "host-local-import", "x")["status"], "ok")
                self.assertFalse(document["invariants"]["ok"])
                self.assertFalse(self.state.exists())
        self.assert_tidy()

    def test_a_cache_that_is_not_used_fails_a_primed_row_but_not_its_first_run(self):
        result = self.bench("--scenarios", "warm-local-import", "--iterations", "2", lanes=self.with_lane("cache_unused"))
        self.assertEqual(result.returncode, 1, result.stderr)
        row = self.row(self.document(), "warm-local-import", "x")
        self.assertIn("cache_used: expected cached code accepted, got 0 accepted, 0 refused (3 of 3 times)", row["reason"])

    def test_round_trips_are_checked_byte_by_byte(self):
        cases = {"drops_newline": "echo_exact: expected its line of 32 bytes, byte for byte, got 32 bytes",
                 "wrong_echo": "the first wrong one at 31", "late_echo": "no echo within 5 s", "early_exit": "got exit code 3"}
        for mode, expected in cases.items():
            with self.subTest(mode=mode):
                result = self.bench("--scenarios", "transport_32,isolate-startup", "--iterations", "2",
                                    lanes=self.with_lane(mode, "transport_32"))
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(expected, self.row(self.document(), "transport_32", "x")["reason"])
                self.assertEqual(self.row(self.document(), "isolate-startup", "x")["status"], "ok")

    def test_a_second_marker_is_a_finding_and_the_last_one_counts(self):
        result = self.bench("--scenarios", "cold-local-import", "--iterations", "2", lanes=self.with_lane("two_markers"))
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        row = self.row(document, "cold-local-import", "x")
        self.assertAlmostEqual(row["metrics"]["guest_execution"]["summary"]["mean"], 0.003)
        found = [f for f in document["findings"] if "more marker lines" in f["text"]]
        self.assertEqual([(f["target"], f["row"], f["level"]) for f in found], [("x", "cold-local-import", "warn")])

    def test_a_shared_engine_whose_pool_was_not_used_is_a_finding(self):
        result = self.bench("--scenarios", "prewarmed-local-import,cold-local-import", "--iterations", "2",
                            lanes=self.with_lane("never_pooled"))
        self.assertEqual(result.returncode, 0, result.stderr)
        texts = [f["text"] for f in self.document()["findings"] if f["target"] == "x"]
        self.assertEqual(texts, ["not every isolate of these rows came out of the pool: prewarmed-local-import (0 of 2)"])

    def test_a_plain_number_is_a_marker(self):
        result = self.bench("--scenarios", "cold-local-import", "--iterations", "2", lanes=self.with_lane("number_marker"))
        self.assertEqual(result.returncode, 0, result.stderr)
        metrics = self.row(self.document(), "cold-local-import", "x")["metrics"]
        self.assertAlmostEqual(metrics["guest_execution"]["summary"]["mean"], 0.003)
        self.assertNotIn("rss", metrics)

    def test_a_late_sample_ends_its_worker(self):
        result = self.bench("--scenarios", "cold-local-import", "--iterations", "5", "--warmup", "0",
                            lanes=self.with_lane("timeout_sample"))
        self.assertEqual(result.returncode, 1, result.stderr)
        row = self.row(self.document(), "cold-local-import", "x")
        self.assertEqual(row["outcomes"], {"timeout": 1})
        self.assertIn("a sample took too long: not done in time", row["reason"])

    def test_a_driver_that_does_not_answer_is_killed_with_its_children(self):
        result = self.bench("--scenarios", "isolate-startup", "--iterations", "1", "--warmup", "0", "--timeout", "1",
                            lanes=self.with_lane("late_with_child"))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("did not answer in time", self.row(self.document(), "isolate-startup", "x")["reason"])

    def test_what_programs_leave_in_the_workspace_goes_with_it(self):
        result = self.bench(*FEW, lanes=self.with_lane("litters"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_tidy()

    def test_a_row_that_a_lane_lacks_says_why(self):
        result = self.bench("--scenarios", "builtin-import", "--iterations", "1", lanes=self.with_lane("lacks", "builtin-import"))
        self.assertEqual(result.returncode, 0, result.stderr)
        row = self.row(self.document(), "builtin-import", "x")
        self.assertEqual((row["status"], row["reason"]), ("unavailable", "it has no zip"))

    def test_a_run_without_one_row_is_no_success(self):
        result = self.bench("--scenarios", "jszip-startup,pdf-lib-startup")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("run: tare targets install import", result.stderr)

    def test_an_interrupted_run_keeps_what_it_has_and_goes_on(self):
        process = self.start("import", *self.lanes, *FEW, env={"TARE_TEST_HOLD": "warm-local-import"})
        self.wait_for_state(process, 3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(err.splitlines()[-1], r"^tare: interrupted after .*; out/import/report.json holds what was measured, "
                                               r"`tare import` with the same flags goes on$")
        self.assertFalse(self.document()["complete"])
        self.assertTrue(self.markdown())
        self.assert_tidy()
        result = self.bench(*FEW)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.splitlines()[0], "tare: resumed 3 stages")
        self.assertTrue(self.document()["complete"])

    def test_a_folder_has_one_run_at_a_time(self):
        process = self.start("import", *self.lanes, *FEW, env={"TARE_TEST_HOLD": "warm-local-import"})
        self.wait_for_state(process, 3)
        line = self.refused("import", *self.lanes, *FEW)
        self.assertIn("cannot run in out/import (another run goes on there); name another --output-dir", line)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    def test_a_closed_stdout_is_an_error_and_the_artifacts_are_there(self):
        read, write = os.pipe()
        os.close(read)
        process = self.start("import", *self.lanes, *FEW, "--json", stdout=write)
        os.close(write)
        _, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 1, err)
        self.assertTrue(err.splitlines()[-1].startswith("tare: "), err)
        self.assertTrue(self.document()["complete"])
        self.assertFalse(self.state.exists())

    def test_a_driver_of_the_bench_passes_the_check(self):
        command = fake_import("guest").split(" ")
        result = self.tare("driver", "check", "--", *command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("row warm-local-import", result.stderr)
        self.assertIn("row transport_65536", result.stderr)
        self.assert_tidy()

    def test_a_wrong_driver_of_the_bench_fails_the_check(self):
        command = fake_import("wrong_echo", "transport_32").split(" ")
        result = self.tare("driver", "check", "--", *command)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"fail +row transport_32 +echo_exact")


class Refusals(ImportTest):
    def import_refused(self, *arguments):
        line = self.refused("import", *self.lanes, *arguments)
        self.assertFalse(self.folder.joinpath("out").exists() and any(self.folder.joinpath("out/import").glob("report*")), line)
        return line

    def test_flags_out_of_range(self):
        for flag, low, high in [("--iterations", 1, 1000), ("--warmup", 0, 1000), ("--processes", 1, 1000), ("--timeout", 1, 3600)]:
            for value in [str(low - 1), str(high + 1), "-1", "1.5", "x", "99999999999999999999"]:
                with self.subTest(flag=flag, value=value):
                    line = self.import_refused(f"{flag}={value}")
                    self.assertIn(f"{flag} must be {low} to {high}", line)

    def test_other_bad_flags(self):
        cases = [
            (["--scenarios", "cold-local-imports"], "did you mean 'cold-local-import'?"),
            (["--scenarios", ""], "--scenarios has an empty item"),
            (["--scenarios", "transport,transport_32"], "--scenarios names 'transport_32' twice"),
            (["--scenarios", "builtin-import,builtin-import"], "names 'builtin-import' twice"),
            (["--seed", "x"], "--seed must be"),
            (["--target", "y=cmd:true"], "has no rows of the import bench"),
            (["--target", "x=driver:true"], "'x' is named twice"),
            (["--resume", "--fresh"], "--resume and --fresh exclude each other"),
            (["--resume"], "nothing to resume"),
            (["--output-dir", ""], "--output-dir needs a folder"),
            (["--output-dir", "/proc/none"], "/proc/none"),
            (["--export", "/proc/none/x.json"], "/proc/none"),
            (["--export", "out/import/report.json"], "are the same file"),
            (["--frobnicate"], "unknown flag '--frobnicate'"),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.import_refused(*arguments))

    def test_a_target_that_is_not_there(self):
        line = self.refused("import", "--targets", "node", "--node", str(self.folder / "nowhere"))
        self.assertIn("node", line)

    def baseline(self):
        result = self.bench("--scenarios", "cold-local-import", "--iterations", "2", "--output-dir", "base")
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.folder / "base/report.json"

    def test_a_bad_baseline_is_refused_before_anything_is_measured(self):
        good = self.baseline()
        text = good.read_text()
        document = json.loads(text)
        spawn = json.loads(text)
        for row in spawn["rows"]:
            row["bench"] = "spawn"
        units = json.loads(text)
        for row in units["rows"]:
            row["metrics"]["total"]["unit"] = "bananas"
        cases = {
            "truncated": (text[: len(text) // 2].encode(), "not JSON"),
            "empty": (b"", "not JSON"),
            "bom": (b"\xef\xbb\xbf" + text.encode(), "byte order mark"),
            "utf16": (text.encode("utf-16"), "UTF-16"),
            "version": (json.dumps({**document, "schema": "tare.run.v2"}).encode(), "tare.run.v2"),
            "other": (b"{}", "not a run document"),
            "spawn": (json.dumps(spawn).encode(), "no baseline of the import bench"),
            "other_rows": (text.replace('"row": "', '"row": "x').replace('"row":"', '"row":"x').encode(), "has no row of this run"),
            "no_rows": (json.dumps({**document, "rows": []}).encode(), "it has no rows"),
            "units": (json.dumps(units).encode(), "'bananas', which is no time"),
        }
        for name, (content, expected) in cases.items():
            with self.subTest(name=name):
                path = self.folder / f"{name}.json"
                path.write_bytes(content)
                self.assertIn(expected, self.import_refused("--baseline", path))
        self.assertIn("nowhere.json", self.import_refused("--baseline", "nowhere.json"))
        line = self.refused("import", *self.lanes, "--baseline", good, "--output-dir", "base")
        self.assertIn("would overwrite the baseline", line)


class Baseline(ImportTest):
    def test_deltas_verdicts_and_what_only_one_side_has(self):
        first = self.bench("--scenarios", "cold-local-import,isolate-startup,builtin-import", "--iterations", "3", "--output-dir", "base")
        self.assertEqual(first.returncode, 0, first.stderr)
        base = json.loads((self.folder / "base/report.json").read_text())
        for row in base["rows"]:  # the baseline took twice as long, and says it in microseconds
            for metric in row["metrics"].values():
                if metric["unit"] != "ms":
                    continue
                metric["unit"] = "us"
                metric["samples"] = [s if s is None else s * 2000 for s in metric["samples"]]
                for name in ("mean", "stddev"):
                    if metric["summary"][name] is not None:
                        metric["summary"][name] *= 2000
        (self.folder / "base.json").write_text(json.dumps(harness.resummarise(base)))
        result = self.bench("--scenarios", "cold-local-import,isolate-startup,host-local-import", "--iterations", "3",
                            "--baseline", "base.json", "--export", "old.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("baseline", result.stderr)
        report = self.markdown()
        self.assertIn("\n## Baseline Comparison\n", report)
        self.assertIn("- Compared scenarios: `4`", report)
        self.assertIn("- Scenarios missing from baseline: host-local-import on node, host-local-import on x", report)
        self.assertIn("- Baseline-only scenarios: builtin-import on node, builtin-import on x", report)
        self.assertRegex(report, r"- Largest wall-time improvement: `\S+` on `node` at -0\.02 \(-50\.0%\)")
        self.assertNotIn("Largest wall-time regression", report)
        schema = validate.load(harness.ROOT / "docs/run.schema.json")
        self.assertEqual(list(validate.problems(schema, self.document())), [])
        compared = [c for c in self.document()["comparisons"] if c["kind"] == "baseline"]
        self.assertEqual({c["metric"] for c in compared}, {"total", "guest_execution", "startup_overhead"})
        self.assertEqual({c["verdict"] for c in compared}, {"inconclusive"}, "one process a side tells nothing")
        old = json.loads((self.folder / "old.json").read_text())["comparison"]
        self.assertEqual(old["summary"]["compared_scenario_count"], 2)
        self.assertEqual(old["scenarios_missing_from_baseline"], ["host-local-import"])
        self.assertAlmostEqual(old["scenario_deltas"][0]["wall_mean_ms"]["delta_pct"], -50)

    def test_four_processes_a_side_can_tell(self):
        arguments = ["--scenarios", "cold-local-import", "--iterations", "2", "--processes", "8"]
        self.assertEqual(self.bench(*arguments, "--output-dir", "base").returncode, 0)
        base = json.loads((self.folder / "base/report.json").read_text())
        for row in base["rows"]:
            for metric in row["metrics"].values():
                metric["samples"] = [s if s is None else s / 2 for s in metric["samples"]]
        base["host"]["psi"] = {"before": None, "after": None}
        (self.folder / "base.json").write_text(json.dumps(harness.resummarise(base)))
        result = self.bench(*arguments, "--baseline", "base.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        total = [c for c in self.document()["comparisons"] if c["kind"] == "baseline" and c["metric"] == "total"]
        self.assertEqual(len(total), 2)
        for one in total:
            self.assertAlmostEqual(one["ratio"], 2, places=6)
            # A busy machine explains much; then the reason says so.
            self.assertTrue(one["verdict"] == "fail" or "differ" in one["reason"], one)


if __name__ == "__main__":
    harness.main()
