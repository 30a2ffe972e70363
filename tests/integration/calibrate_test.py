"""`tare calibrate` on real processes: what it keeps, who uses it, and what it refuses."""

import json
import unittest

import harness


class Calibrate(harness.TareTest):
    def setUp(self):
        super().setUp()
        self.cache = {"XDG_CACHE_HOME": str(self.folder / "cache")}

    def calibrate(self, *arguments):
        return self.tare("calibrate", "--targets", "sh", "--rows", "exec_true", "--iterations", 4, "--processes", 6, *arguments, env=self.cache)

    def run_row(self, name):
        result = self.tare("spawn", "--targets", "sh", "--rows", "exec_true", "--iterations", 4, "--warmup", 0, "--output", name, env=self.cache)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result, self.document(name)

    def test_what_it_finds_is_kept_and_carried_by_every_run(self):
        before, document = self.run_row("before.json")
        self.assertIsNone(document["calibrations"])
        self.assertIn("detects     unknown: `tare calibrate`", before.stderr)

        result = self.calibrate("--json", "--output", "aa.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = json.loads(result.stdout)
        self.assertEqual({line["metric"] for line in lines}, {"total", "spawn", "wait_reap"})
        self.assertEqual({(line["target"], line["row"], line["processes"], line["iterations"]) for line in lines},
                         {("sh", "exec_true", 6, 4)})
        for line in lines:
            self.assertGreater(line["paired"], 0)
            self.assertGreater(line["unpaired4"], 0)
        self.assertEqual([t["id"] for t in self.document("aa.json")["targets"]], ["sh", "sh_again"])

        after, document = self.run_row("after.json")
        self.assertEqual({(c["target"], c["row"]) for c in document["calibrations"]}, {("sh", "exec_true")})
        self.assertRegex(after.stderr, r"detects     between lanes of this run: sh [0-9.]+ % \(exec_true\)")

    def test_a_user_s_command_can_be_calibrated(self):
        result = self.tare("calibrate", "--target", "app=cmd:/bin/true", "--rows", "command_exit", "--iterations", 2, "--processes", 6, env=self.cache)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"command_exit +total p50")
        self.assertNotIn("node ", result.stderr.split("smallest")[1])

    def test_a_row_that_fails_is_not_calibrated(self):
        result = self.tare("calibrate", "--target", "app=cmd:/bin/false", "--rows", "command_exit", "--iterations", 2, "--processes", 6, env=self.cache)
        self.assertEqual(result.returncode, 1)
        self.assertIn("exit_code: expected exit code 0, got exit code 1", result.stderr)
        self.assertFalse((self.folder / "cache" / "tare" / "calibration.json").exists())

    def test_nothing_to_calibrate_says_why(self):
        line = self.refused("calibrate", "--targets", "sh", "--rows", "node_exit_1", code=1, env=self.cache)
        self.assertIn("nothing was calibrated (no JavaScript)", line)

    def test_a_damaged_cache_costs_no_run(self):
        path = self.folder / "cache" / "tare" / "calibration.json"
        path.parent.mkdir(parents=True)
        path.write_text("{\"schema\": ", encoding="utf-8")
        _, document = self.run_row("run.json")
        self.assertIn("calibration.json", " ".join(f["text"] for f in document["findings"]))

    def test_bad_command_lines(self):
        self.assertIn("--processes must be at least 6 to calibrate, got 5", self.refused("calibrate", "--processes", 5))
        self.assertIn("did you mean 'node'?", self.refused("calibrate", "--targets", "nod"))
        self.assertIn("--iterations", self.refused("calibrate", "--iterations", 0))
        self.assertIn("cannot write /proc/run.json", self.refused("calibrate", "--output", "/proc/run.json"))


if __name__ == "__main__":
    unittest.main()
