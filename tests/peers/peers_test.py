"""agentOS, bun and deno as npm brings them: installed where they are not yet, and measured for real."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

PEERS = ["agentos", "bun", "deno"]
DEFECTS = harness.ROOT / "drivers" / "agentos_defects.json"

# Every kind of row, each as often as it takes to see it work; none is timed.
ROWS = [
    "node_exit_1", "fanout_8", "nested_8", "capture_2b", "capture_256k", "stdin_roundtrip_4k", "exit_code_7", "signal_kill",
    "root_cwd_no_write", "host_cwd_no_write", "host_cwd_write_1file", "cold_start", "memory_4",
    "memory_64", "growth_5"]


class Peers(harness.TareTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for peer in PEERS:
            installed = harness.subprocess.run([str(harness.TARE), "targets", "install", peer], capture_output=True, text=True, timeout=900)
            assert installed.returncode == 0, installed.stderr

    def rows_of(self, document, target):
        return {row["row"]: row for row in document["rows"] if row["target"] == target}

    def test_every_row_of_every_peer(self):
        result = self.tare("spawn", "--targets", "native,node,agentos,bun,deno", "--rows", ",".join(ROWS), "--iterations", 1,
                           "--warmup", 0, "--trace", "--output", "run.json", "--markdown", "report.md", timeout=600)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document("run.json")
        self.assertTrue(document["complete"])
        self.assertEqual(document["invariants"], {"ok": True, "failures": []})

        agentos = self.rows_of(document, "agentos")
        unavailable = [defect["row"] for defect in harness.json.loads(DEFECTS.read_text()) if defect["effect"] == "unavailable"]
        known = {"memory_64" if row.startswith("memory_@(6[4-9]") else row for row in unavailable}
        for name in ROWS:
            expected = "unavailable" if name in known else "ok"
            self.assertEqual(agentos[name]["status"], expected, (name, agentos[name]["reason"]))
            if expected == "unavailable":
                self.assertIn("known defect of 0.2.21", agentos[name]["reason"])
        for peer in ["native", "node", "bun", "deno"]:
            for name, row in self.rows_of(document, peer).items():
                self.assertIn(row["status"], ["ok", "unavailable"], (peer, name, row["reason"]))
        for peer in ["node", "bun", "deno"]:
            rows = self.rows_of(document, peer)
            self.assertEqual([r for r in ROWS if rows[r]["status"] != "ok"], ROWS[-4:], peer)

        versions = {target["id"]: target["version"] for target in document["targets"]}
        self.assertEqual((versions["agentos"], versions["bun"], versions["deno"]), ("0.2.21", "1.4.5", "2.9.6"))

        cold = agentos["cold_start"]["metrics"]
        self.assertEqual(sorted(cold), ["create", "dispose", "first_exec", "total", "warm_exec"])
        memory = agentos["memory_4"]["metrics"]
        self.assertEqual(memory["vm"]["unit"], "bytes")
        # Four live guests are more than none: the figures are of the right processes.
        self.assertGreater(memory["live_guests"]["samples"][0], memory["vm"]["samples"][0])
        self.assertGreater(memory["vm"]["samples"][0], memory["idle"]["samples"][0])

        trace = agentos["node_exit_1"]["trace"]
        self.assertGreaterEqual(trace["stages"]["kernel_spawn_process"]["calls"], 1)
        self.assertIn("process_exit_cleanup", trace["absent"])
        self.assertIn("no effect", trace["absent"]["ts_wait_total"])
        covered = {i["id"] for i in agentos["nested_8"]["invariants"]}
        self.assertLessEqual({"trace_kernel_spawn_process", "trace_child_process_spawn_total"}, covered)
        findings = " ".join(f["text"] for f in document["findings"])
        self.assertIn("known defect of 0.2.21", findings)
        self.assertIn("its spawn phase is not compared", findings)

    def test_drivers_keep_the_protocol(self):
        targets = {t["id"]: t for t in harness.json.loads(self.tare("targets", "--json").stdout)}
        drivers = harness.BUILD / "lib" / "tare" / "drivers"
        node = targets["node"]["program"]
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "tare"
        commands = {
            "agentos": [node, drivers / "agentos.mjs", cache / "agentos"],
            "bun": [targets["bun"]["program"], drivers / "node.mjs"],
            "deno": [targets["deno"]["program"], "run", "--allow-all", "--no-config", "--no-lock", drivers / "node.mjs"],
        }
        for peer, command in commands.items():
            with self.subTest(peer):
                result = self.tare("driver", "check", "--", *command, timeout=280)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
