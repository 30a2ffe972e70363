"""Drivers that misbehave and runs that are cut short: the run document stays valid, the other lanes are measured, and
nothing is left running."""

import json
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import resummarise, faulty_driver, python_driver

ROWS = ["--targets", "sh", "--rows", "exec_true", "--iterations", "6", "--warmup", "1", "--timeout", "1"]


class Faults(harness.TareTest):
    def wait_for(self, condition, what, seconds=60):
        """Polls for something that another process does; the limit only bounds a broken test."""
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"never came: {what}")
            time.sleep(0.01)

    def test_a_driver_that_breaks_the_protocol_fails_its_row_and_no_other(self):
        cases = {
            "garbage": "Segmentation fault",
            "twice": "",
            "late": "",
            "late_with_child": "",
            "dies_exit_3": "exit code 3",
            "dies_sigkill": "SIGKILL",
            "dies_with_child": "exit code 3",
            "leaves": "",
            "half_line": "",
            "closes_stdout": "",
            "long_line": "16 MiB",
            "nan": "",
            "infinite": "",
            "negative": "total",
            "missing_ns": "",
            "missing_total": "total",
            "wrong_id": "",
            "few_samples": "",
            "error_failed": "it is like that",
        }
        for mode, expected in cases.items():
            with self.subTest(mode=mode):
                result = self.tare("spawn", *ROWS, "--target", f"x=driver:{faulty_driver(mode)}", "--output", f"{mode}.json")
                self.assertEqual(result.returncode, 1, result.stderr)
                document = self.document(f"{mode}.json")
                row = self.row(document, "exec_true", "x")
                self.assertEqual(row["status"], "failed")
                self.assertIn(expected, row["reason"])
                self.assertNotIn("\n", row["reason"])
                self.assertFalse(document["invariants"]["ok"])
                self.assertTrue(document["complete"])
                self.assertEqual(self.row(document, "exec_true", "sh")["outcomes"], {"ok": 6})
                self.assertIn("exec_true on x", result.stderr)
                self.assertEqual(self.left_over(), [])

    def test_a_wrong_answer_fails_the_run_and_is_counted(self):
        for mode, invariant in {"wrong_code": "exit_code", "lost_code": "exit_code", "failed_sample": "completed",
                                "refused_sample": "completed"}.items():
            with self.subTest(mode=mode):
                result = self.tare("spawn", *ROWS, "--target", f"x=driver:{faulty_driver(mode)}")
                self.assertEqual(result.returncode, 1, result.stderr)
                row = self.row(self.document(), "exec_true", "x")
                broken = next(i for i in row["invariants"] if i["id"] == invariant)
                self.assertEqual((broken["ok"], broken["checked"], broken["broken"]), (False, 7, 7))
                self.assertNotIn("ok", row["outcomes"])
                self.assertEqual(row["metrics"]["total"]["summary"]["count"], 0)
                self.assertEqual([c for c in self.document()["comparisons"] if c["subject"] == "x"], [])

    def test_a_failed_sample_is_no_sample_of_the_summary(self):
        self.tare("spawn", *ROWS, "--target", f"x=driver:{faulty_driver('failed_sample')}")
        summary = self.row(self.document(), "exec_true", "x")["metrics"]["total"]["summary"]
        self.assertEqual((summary["count"], summary["p50"], summary["p50Interval"]), (0, None, None))

    def test_a_lane_that_only_times_out_is_given_up(self):
        result = self.tare("spawn", *ROWS, "--target", f"x=driver:{faulty_driver('timeout_sample')}")
        self.assertEqual(result.returncode, 1)
        row = self.row(self.document(), "exec_true", "x")
        self.assertIn("3 operations in a row took longer than 1 s", row["reason"])
        self.assertEqual(row["outcomes"], {"timeout": 3})

    def test_a_driver_that_never_says_hello_ends_the_run_before_it_starts(self):
        for mode in ["hello_garbage", "bad_hello", "other_protocol", "hello_refused", "chatty"]:
            with self.subTest(mode=mode):
                self.assertIn("'x'", self.refused("spawn", *ROWS, "--target", f"x=driver:{faulty_driver(mode)}", code=1))
        self.assertFalse((self.folder / "out" / "run.json").exists())

    def test_what_a_driver_leaves_behind_is_killed_and_reported(self):
        result = self.tare("spawn", *ROWS, "--target", f"x=driver:{faulty_driver('stray')}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("left", self.row(self.document(), "exec_true", "x")["reason"])

    def test_a_driver_that_ignores_bye_does_not_stop_the_run(self):
        for mode in ["hangs_at_bye", "stays_after_bye", "ignores_eof", "stderr_flood"]:
            with self.subTest(mode=mode):
                result = self.tare("spawn", *ROWS, "--target", f"x=driver:{faulty_driver(mode)}")
                self.assertTrue(self.document()["complete"], result.stderr)
                self.assertEqual(self.left_over(), [])

    def interrupted_run(self, number):
        """A run that is signalled after some rounds; returns the process and its stderr."""
        process = self.start("spawn", "--targets", "sh", "--target", f"mine=driver:{python_driver()}", "--rows",
                             "exec_true,spawn_exit", "--iterations", "100000", "--warmup", "0")
        self.wait_for(lambda: (self.folder / "out" / "run.json").exists(), "a first document")
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        return process, err

    def test_an_interruption_leaves_a_valid_document_of_whole_rounds(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number):
                process, err = self.interrupted_run(number)
                self.assertEqual(process.returncode, code, err)
                self.assertRegex(err.splitlines()[-1], r"tare: interrupted after round \d+ of 100000 of exec_true; out/run.json "
                                 r"holds what was measured, `tare spawn --resume out/run.json` goes on")
                document = self.document()
                self.assertEqual((document["complete"], document["finishedAt"]), (False, None))
                lengths = {len(r["metrics"]["total"]["samples"]) for r in document["rows"]}
                self.assertEqual(len(lengths), 1)
                self.assertEqual(self.left_over(), [])
                os.remove(self.folder / "out" / "run.json")

    def test_kill_9_of_the_lab_leaves_a_valid_document_and_no_process(self):
        process, _ = self.interrupted_run(signal.SIGKILL)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertFalse(self.document()["complete"])
        self.wait_for(lambda: self.left_over() == [], "the drivers' end")

    def test_resume_measures_the_missing_rounds_and_only_those(self):
        self.tare("spawn", "--targets", "sh", "--target", f"mine=driver:{python_driver()}", "--rows", "exec_true,spawn_exit",
                  "--iterations", "12", "--warmup", "1")
        whole = self.document()
        cut = json.loads(json.dumps(whole))
        cut.update(complete=False, finishedAt=None, comparisons=[])
        cut["rows"] = [r for r in cut["rows"] if r["row"] == "exec_true"]
        for row in cut["rows"]:
            for metric in row["metrics"].values():
                for key in ["samples", "round", "process", "atMs", "outcome", "error"]:
                    metric[key] = metric[key][:5]
        (self.folder / "out" / "run.json").write_text(json.dumps(resummarise(cut)))
        result = self.tare("spawn", "--resume", "out/run.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertTrue(document["complete"])
        for target in ["sh", "mine"]:
            total = self.row(document, "exec_true", target)["metrics"]["total"]
            self.assertEqual(total["round"], list(range(12)))
            self.assertEqual(total["process"], [0] * 5 + [1] * 7)
            self.assertEqual(total["samples"][:5], self.row(whole, "exec_true", target)["metrics"]["total"]["samples"][:5])
            self.assertEqual(total["atMs"], sorted(total["atMs"]))
            self.assertEqual(len(self.row(document, "spawn_exit", target)["metrics"]["total"]["samples"]), 12)
        self.assertIn("had been interrupted", result.stderr)

    def test_what_a_driver_keeps_in_its_folder_goes_with_the_run(self):
        (self.folder / "keep.sh").write_text("#!/bin/sh\necho kept > \"$TMPDIR/kept.$$\"\n")
        (self.folder / "keep.sh").chmod(0o755)
        result = self.tare("spawn", "--targets", "sh", "--target", "app=cmd:./keep.sh", "--rows", "command_exit", "--iterations", "2", "--warmup", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(self.scratch), [])

    def test_a_full_disk_is_an_error_and_no_half_document(self):
        result = self.tare("spawn", *ROWS, "--output", "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write /dev/full (No space left on device)", result.stderr.splitlines()[-1])

    def test_a_disk_that_fills_up_keeps_the_document_before(self):
        self.tare("spawn", *ROWS)
        before = (self.folder / "out" / "run.json").read_bytes()

        def small_files():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        result = self.tare("spawn", *ROWS, preexec_fn=small_files)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cannot write out/run.json (File too large)", result.stderr.splitlines()[-1])
        self.assertEqual((self.folder / "out" / "run.json").read_bytes(), before)
        self.assertEqual(os.listdir(self.folder / "out"), ["run.json"])

    def test_driver_check_tells_a_good_driver_from_a_bad_one(self):
        good = self.tare("driver", "check", "--timeout", "20", "--", harness.PYTHON, harness.DRIVERS / "python_driver.py")
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertIn("0 failed", good.stderr)
        bad = self.tare("driver", "check", "--timeout", "1", "--", harness.PYTHON, harness.DRIVERS / "faulty_driver.py", "wrong_code")
        self.assertEqual(bad.returncode, 1)
        self.assertRegex(bad.stderr, r"(?m)^fail .*exec_true")


if __name__ == "__main__":
    harness.main()
