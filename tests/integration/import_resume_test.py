"""The run state of `tare import`: a run that was cut short goes on, and a state that does not fit is not used."""

import json
import os
import signal
import time

import harness
from import_lanes import FEW, PACKAGES, ROWS, ImportTest


class Resume(ImportTest):
    ROWS = [row for row in ROWS if row not in PACKAGES]

    def held(self, row, *arguments, env=None):
        """A run that is killed once it is in this row, with the state of those before it."""
        return self.start("import", *self.lanes, *arguments, env={"TARE_TEST_HOLD": row, **(env or {})})

    def kill_in(self, row, done, *arguments, env=None):
        process = self.held(row, *arguments, env=env)
        self.wait_for_state(process, len(done))
        self.assertEqual(self.rows_of_state(), done)
        process.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        return err

    def wait_until_nothing_is_left(self):
        """What a killed lab has started leaves by itself, as its input ends."""
        end = time.monotonic() + 60
        while self.left_over():
            self.assertLess(time.monotonic(), end, "drivers outlived the lab")
            time.sleep(0.01)

    def test_a_run_that_is_killed_in_every_stage_loses_that_stage_alone(self):
        arguments = ["--iterations", "1", "--scenarios", ",".join(self.ROWS)]
        log = self.folder / "log"
        for i, row in enumerate(self.ROWS):
            if i == 0:
                process = self.held(row, *arguments, env={"TARE_TEST_LOG": str(log)})
                end = time.monotonic() + 60
                while not log.exists():
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.01)
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=60)
                self.assertFalse(self.state.exists())
                continue
            err = self.kill_in(row, self.ROWS[:i], *arguments)
            expected = [] if i == 1 else [f"tare: resumed {i - 1} stage{'' if i == 2 else 's'}"]
            self.assertEqual([line for line in err.splitlines() if "resumed" in line], expected)
        result = self.bench(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"tare: resumed {len(self.ROWS) - 1} stages", result.stderr.splitlines())
        document = self.document()
        self.assertTrue(document["complete"])
        self.assertEqual(list(dict.fromkeys(r["row"] for r in document["rows"])), self.ROWS)
        self.assertTrue(all(r["outcomes"] == {"ok": 1} for r in document["rows"]))
        self.assertFalse(self.state.exists())
        self.assertTrue(any("had been interrupted" in f["text"] for f in document["findings"]))
        self.wait_until_nothing_is_left()

    def stopped(self):
        """A state of three stages of FEW."""
        self.kill_in("warm-local-import", FEW[1].split(",")[:3], *FEW)
        self.wait_until_nothing_is_left()

    def ignored(self, *arguments, lanes=None, env=None):
        """Why the state is not used: one line, and a whole run without it."""
        result = self.bench(*(arguments or FEW), lanes=lanes, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("resumed", result.stderr)
        lines = [line for line in result.stderr.splitlines() if "run-state.json" in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("tare: out/import/run-state.json is ignored ("), lines[0])
        self.assertFalse(any("had been interrupted" in f["text"] for f in self.document()["findings"]))
        return lines[0]

    def test_a_state_that_does_not_fit_is_ignored_with_a_reason(self):
        self.stopped()
        text = self.state.read_text()
        document = json.loads(text)

        def edited(change):
            copy = json.loads(text)
            change(copy)
            return json.dumps(copy).encode()

        last = document["rows"][-1]
        cases = {
            "half": (text[: len(text) // 2].encode(), "not JSON"),
            "empty": (b"", "not JSON"),
            "bytes": (os.urandom(3000), "not JSON"),
            "bom": (b"\xef\xbb\xbf" + text.encode(), "byte order mark"),
            "schema": (edited(lambda d: d.update(schema="tare.run.v0")), "tare.run.v0"),
            "tool": (edited(lambda d: d["tool"].update(commit="0000000")), "it was written by tare"),
            "host": (edited(lambda d: d["host"].update(logicalCpus=999)), "another number of CPUs"),
            "bench": (edited(lambda d: d["config"].update(bench="spawn")), "it is a run of bench 'spawn'"),
            "complete": (edited(lambda d: d.update(complete=True)), "it is complete"),
            "half a stage": (edited(lambda d: d["rows"].pop()), f"{last['row']} is not there on {last['target']}"),
            "other row": (edited(lambda d: d["rows"][-1].update(row="builtin-import")), "not part of this run"),
            "other scenario": (edited(lambda d: d["config"]["scenarios"][0].update(fixture="none")), "other scenarios"),
            "samples": (edited(lambda d: d["rows"][0]["metrics"]["total"]["samples"].pop()), "differ in length"),
            "figures": (edited(lambda d: d["rows"][0]["metrics"]["total"]["summary"].update(p50=1)), "does not follow"),
            "unit": (edited(lambda d: d["rows"][0]["metrics"]["total"].update(unit="s")), "total is in 's'"),
            "no targets": (edited(lambda d: d.update(targets=[])), ""),
        }
        for name, (content, expected) in cases.items():
            with self.subTest(name=name):
                self.state.write_bytes(content)
                self.assertIn(expected, self.ignored())
                self.assertFalse(self.state.exists())
                self.state.write_bytes(content)
                line = self.refused("import", *self.lanes, *FEW, "--resume")
                self.assertIn("cannot resume out/import/run-state.json", line)
                self.assertIn("--fresh", line)

    def test_other_options_or_targets_do_not_fit(self):
        self.stopped()
        text = self.state.read_text()
        for arguments, expected in [(["--iterations", "2"], "iterations 3, now 2"), (["--warmup", "0"], "warmup 1, now 0"),
                                    (["--seed", "1"], "seed 42, now 1"), (["--processes", "2"], "processes 1, now 2")]:
            with self.subTest(arguments=arguments):
                self.state.write_text(text)
                self.assertIn(expected, self.ignored(*FEW[:2], *([] if "--iterations" in arguments else FEW[2:]), *arguments))
        self.state.write_text(text)
        self.assertIn("targets", self.ignored(lanes=self.with_lane("number_marker", "none")))
        self.state.write_text(text)
        self.assertIn("target 'node' is another program now", self.ignored(env={"TARE_TEST_VERSION": "2"}))
        self.state.write_text(text)
        line = self.refused("import", *self.lanes, *FEW, "--resume", env={"TARE_TEST_VERSION": "2"})
        self.assertIn("target 'node' is another program now", line)

    def test_fresh_ignores_a_state_without_a_word_and_resume_takes_it(self):
        self.stopped()
        text = self.state.read_text()
        result = self.bench(*FEW, "--fresh")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("run-state", result.stderr)
        self.assertNotIn("resumed", result.stderr)
        self.state.write_text(text)
        result = self.bench(*FEW, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.splitlines()[0], "tare: resumed 3 stages")

    def test_a_stage_that_failed_is_measured_anew(self):
        self.lanes = self.with_lane("value_check", "cold-local-import")
        self.stopped()
        failing = self.state.read_text()
        self.assertIn('"failed"', failing)
        result = self.bench(*FEW)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.splitlines()[0], "tare: resumed 2 stages")
        self.assertEqual(list(dict.fromkeys(r["row"] for r in self.document()["rows"])), FEW[1].split(","))

    def test_a_state_that_cannot_be_written_costs_no_measurement(self):
        self.state.parent.mkdir(parents=True)
        self.state.mkdir()
        line = self.refused("import", *self.lanes, *FEW)
        self.assertIn("run-state.json", line)


if __name__ == "__main__":
    harness.main()
