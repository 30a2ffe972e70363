"""`tare spawn` over the guest engine, warm and cold: every row measured or refused with a reason, every sample judged."""

import json
import pathlib
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "schema"))
import validate  # noqa: E402

NO_PROGRAMS = "a guest is JavaScript: it runs no programs of the machine"
UNAVAILABLE = {"exec_true": NO_PROGRAMS, "spawn_exit": NO_PROGRAMS}
MEASURED = {"node_exit_1", "fanout_1", "fanout_8", "fanout_32", "nested_8", "capture_2b", "capture_256k", "stdin_roundtrip_4k",
            "exit_code_7", "signal_kill", "root_cwd_no_write", "host_cwd_no_write", "host_cwd_write_1file", "reap_storm_32", "cold_start", "memory_1", "memory_16", "growth_10"}


class Guest(harness.TareTest):
    def test_every_row_is_measured_and_judged(self):
        result = self.tare("spawn", "--targets", "guest,guest_cold", "--rows", ",".join(sorted(MEASURED)), "--iterations", "3",
                           "--warmup", "1", timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertEqual(list(validate.problems(validate.load(harness.ROOT / "docs" / "run.schema.json"), document)), [])
        self.assertTrue(document["complete"])
        self.assertEqual(document["invariants"], {"ok": True, "failures": []})
        for target in ["guest", "guest_cold"]:
            rows = {row["row"]: row for row in document["rows"] if row["target"] == target}
            self.assertEqual({name for name in rows if rows[name]["status"] == "ok"}, MEASURED, target)
            for name in MEASURED:
                row = rows[name]
                self.assertEqual(row["outcomes"], {"ok": 3}, name)
                self.assertGreater(row["metrics"]["total"]["summary"]["p50"], 0, name)
                # The warm-up is judged as well; growth has its own inside each sample.
                self.assertEqual({i["checked"] for i in row["invariants"]}, {3 if name.startswith("growth") else 4}, name)
            self.see_details(rows)
        self.assertEqual(self.drivers(document)["guest_cold"][-2:], ["--pool", "0"])
        self.assertEqual(self.drivers(document)["guest"][-1], "driver")
        self.assertIn("its spawn phase is not compared", " ".join(f["text"] for f in document["findings"]))
        self.assertEqual(list(pathlib.Path(self.scratch).iterdir()), [], "files were left behind")

    def test_what_it_does_not_have_says_why(self):
        process = self.start("guest", "driver", stdin=subprocess.PIPE)
        out, err = process.communicate('{"id":0,"op":"hello","protocol":"tare.driver.v1"}\n', timeout=60)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual(json.loads(out)["unavailable"], UNAVAILABLE)

    def test_a_trace_has_every_stage_and_the_lives(self):
        rows = "node_exit_1,fanout_8,nested_8,root_cwd_no_write,host_cwd_no_write,host_cwd_write_1file"
        result = self.tare("spawn", "--targets", "guest,guest_cold", "--rows", rows, "--iterations", "3", "--warmup", "1", "--trace",
                           timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertEqual(list(validate.problems(validate.load(harness.ROOT / "docs" / "run.schema.json"), document)), [])
        expected = {"node_exit_1": 5, "fanout_8": 5, "nested_8": 9, "root_cwd_no_write": 6, "host_cwd_no_write": 6,
                    "host_cwd_write_1file": 6}
        for row in document["rows"]:
            with self.subTest(row=row["row"], target=row["target"]):
                traced = [i for i in row["invariants"] if i["id"].startswith("trace_")]
                self.assertEqual((len(traced), {i["ok"] for i in traced}), (expected[row["row"]], {True}))
                self.see_trace(row)

    def see_trace(self, row):
        trace = row["trace"]
        parents = 8 if row["row"] == "fanout_8" else 1
        children = 8 if row["row"] == "nested_8" else 0
        self.assertEqual(trace["stages"]["execute_total"]["calls"], 3 * parents)
        # Each exit is one or the other.
        sync = "process_exit_cleanup_sync_host_writes"
        calls = {name: stage["calls"] for name, stage in trace["stages"].items() if name.startswith(sync)}
        writes = row["row"] == "host_cwd_write_1file"
        self.assertEqual(calls, {sync if writes else f"{sync}_clean_skip": 3 * (parents + children)})
        self.assertTrue(all(name.startswith("ts_") for name in trace["absent"]))
        self.assertFalse(set(trace["stages"]) & set(trace["absent"]))
        self.assertTrue(all(stage["calls"] > 0 for stage in trace["stages"].values()))
        lives = trace["lifecycle"]
        if row["row"] not in ("node_exit_1", "fanout_8"):
            self.assertIsNone(lives)
            return
        self.assertEqual(lives["processes"], 3 * parents)
        self.assertEqual(sum(lives["resolutionRoutes"].values()), 3 * parents)
        self.assertEqual(lives["firstWaiters"], {"poll_event": 3 * parents})
        self.assertEqual(len(lives["subPhases"]), 27)
        for name, phase in lives["subPhases"].items():
            self.assertEqual(phase is None, name in trace["absent"], name)

    def see_details(self, rows):
        self.assertEqual({"total", "create", "first_exec", "warm_exec", "dispose"}, set(rows["cold_start"]["metrics"]))
        self.assertIn("none_left", {i["id"] for i in rows["cold_start"]["invariants"]})
        self.assertEqual(rows["signal_kill"]["counters"]["signal"], 3 * 9)
        for name in ["root_cwd_no_write", "host_cwd_no_write"]:
            self.assertEqual(rows[name]["counters"], {"exits": 3, "nonZero": 0, "exitCode": 0, "syncSkipped": 3}, name)
        written = rows["host_cwd_write_1file"]
        self.assertEqual(written["counters"], {"exits": 3, "nonZero": 0, "exitCode": 0, "syncFiles": 3})
        self.assertLessEqual({"file_on_host", "sync_skipped"}, {i["id"] for i in written["invariants"]})
        self.assertEqual(rows["fanout_32"]["counters"]["exits"], 3 * 32)
        self.assertEqual({i["id"] for i in rows["nested_8"]["invariants"]}, {"completed", "exit_code", "marker_once", "callbacks"})
        self.assertLessEqual({"no_zombies", "fds_back", "threads_back"}, {i["id"] for i in rows["reap_storm_32"]["invariants"]})
        for n in [1, 16]:
            memory = {name: metric["samples"] for name, metric in rows[f"memory_{n}"]["metrics"].items()}
            for i in range(3):
                # What the pool keeps in reserve can be more than one guest.
                if n > 1:
                    self.assertGreater(memory["live_guests"][i], memory["vm"][i])
                self.assertEqual(memory["per_guest"][i], (memory["live_guests"][i] - memory["vm"][i]) / n)
        growth = {name: metric["samples"] for name, metric in rows["growth_10"]["metrics"].items()}
        self.assertEqual(growth["growth"], [after - before for before, after in zip(growth["before"], growth["after"])])
        self.assertEqual(rows["growth_10"]["counters"], {"exits": 30, "nonZero": 0})

    def drivers(self, document):
        return {target["id"]: target["driver"] for target in document["targets"]}

    def test_its_driver_keeps_the_protocol(self):
        result = self.tare("driver", "check", "--", str(harness.TARE), "guest", "driver")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_nested_script_of_the_seed_runs_as_it_is(self):
        script = harness.ROOT / "tests" / "guest" / "scripts" / "seed" / "nested.js"
        for pool in ["0", "8"]:
            result = self.tare("guest", "run", "--pool", pool, str(script))
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            (line,) = result.stdout.splitlines()
            self.assertEqual(json.loads(line.removeprefix("__BENCH098__")), {
                "expectedChildren": 8, "exitCallbacks": 8, "closeCallbacks": 8, "errorCallbacks": 0, "nonZeroExitCodes": 0,
                "nonZeroCloseCodes": 0})

    def test_it_stands_beside_the_others_with_its_taxes(self):
        result = self.tare("spawn", "--targets", "native,node,guest", "--rows", "node_exit_1", "--iterations", "6", "--warmup", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        taxes = {(c["kind"], c["reference"]): c for c in self.document()["comparisons"]
                 if c["subject"] == "guest" and c["metric"] == "total" and c["quantile"] == "p50"}
        self.assertLessEqual({("emulation", "node"), ("total", "native")}, set(taxes))
        for tax in taxes.values():
            self.assertEqual(tax["pairs"], 6)
        self.assertFalse([c for c in self.document()["comparisons"] if c["subject"] == "guest" and c["metric"] == "spawn"])

    def test_without_its_node_the_lane_says_what_installs_it(self):
        line = self.refused("spawn", "--targets", "guest", env={"XDG_CACHE_HOME": str(self.folder / "none")})
        self.assertIn("target 'guest' is unavailable (node 24.22.3 is not installed)", line)
        self.assertIn("tare targets install node", line)


if __name__ == "__main__":
    harness.main()
