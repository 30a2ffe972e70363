"""Workers that fail and runs that are cut short: the run ends, the document stays valid and names the worker, and
nothing is left running."""

import json
import os
import signal
import time

import harness
from harness import resummarise
from registries import AgentsTest, fake_registry

ONE = ["--scenarios", "admission,recoverySweep", "--fanout", "8", "--sweep-rows", "4", "--runs", "3"]


class Faults(AgentsTest):
    def failed(self, mode, *arguments, row="admission_8", scenario="admission", name="out/agents.json"):
        """A run in which one worker fails; returns the document and why."""
        result = self.agents(*ONE, "--target", f"x=driver:{fake_registry(mode, *([scenario] if scenario else []))}", *arguments,
                             "--output", name)
        self.assertEqual(result.returncode, 1, result.stderr)
        document = self.document(name)
        self.assertEqual((document["complete"], document["finishedAt"]), (False, None))
        self.assertFalse(document["invariants"]["ok"])
        self.assertEqual(len(document["invariants"]["failures"]), 1)
        failure = document["invariants"]["failures"][0]
        self.assertTrue(failure.startswith(f"{row} on x: "), failure)
        last = result.stderr.splitlines()[-1]
        self.assertTrue(last.startswith(f"tare: worker of {row} on x failed: "), last)
        self.assertTrue(last.endswith(f"; {name} holds what was measured"), last)
        self.assertEqual(self.left_over(), [])
        self.assertEqual(os.listdir(self.scratch), [])
        return document, failure

    def test_a_worker_that_fails_ends_the_run_and_is_named(self):
        cases = {
            "exit_3": "exit code 3",
            "exit_3_at_end": "exit code 3",
            "killed": "SIGKILL",
            "leaves": "left instead of answering",
            "twice": "twice",
            "garbage": "not JSON",
            "wrong_id": "id",
            "few_samples": "2 samples instead of 3",
            "many_samples": "4 samples instead of 3",
            "negative": "total",
            "missing_total": "total",
            "says:the disk is full": "the disk is full",
            "unsupported": "does not support",
            "stays": "did not leave",
            "stray": "running",
        }
        for mode, expected in cases.items():
            with self.subTest(mode=mode):
                arguments = ["--warmup", "0"] if mode in ("few_samples", "many_samples") else []
                shown = f"'{mode}'" if " " in mode else mode
                _, failure = self.failed(shown, *arguments)
                self.assertIn(expected, failure)

    def test_a_wrong_answer_ends_the_run_and_its_invariant_is_named(self):
        cases = {
            "wrong_invariant": "admissionCap: expected 8, got 9 (4 of 4 times)",
            "missing_invariant": "admissionCap: expected 8, got not reported",
            "null_invariant": "admissionCap: expected 8, got not reported",
            "another_row": "admissionCap: expected 8, got 9",
            "missing_memory": "rssEndBytes not reported",
            "no_memory": "rss",
            "negative_memory": "rssEndBytes",
            "failed_sample": "the registry is full",
            "timeout_sample": "too slow",
            "leaves_file": "nothing_left",
        }
        for mode, expected in cases.items():
            with self.subTest(mode=mode):
                document, failure = self.failed(mode)
                self.assertIn(expected, failure)
                row = self.row(document, "admission_8", "x")
                self.assertEqual(row["status"], "failed")
                for metric in row["metrics"].values():
                    self.assertEqual(metric["summary"]["count"], 0, "a wrong answer is no measurement")

    def test_what_was_measured_before_stays_and_nothing_comes_after(self):
        document, _ = self.failed("killed", row="recoverySweep_4", scenario="recoverySweep")
        for target in ["node", "x"]:
            self.assertEqual(self.row(document, "admission_8", target)["outcomes"], {"ok": 3})
        self.assertEqual({r["row"] for r in document["rows"]}, {"admission_8", "recoverySweep_4"})

    def test_a_worker_that_takes_too_long_is_killed_with_its_children(self):
        for mode in ["late", "late_with_child"]:
            with self.subTest(mode=mode):
                _, failure = self.failed(mode, "--timeout", "1")
                self.assertIn("did not answer in time", failure)

    def test_a_worker_that_keeps_to_its_budget_can_say_so_before_it_is_killed(self):
        document, failure = self.failed("uses_up_its_budget", "--timeout", "4", "--warmup", "0")
        self.assertIn("the budget was over", failure)
        self.assertEqual(self.row(document, "admission_8", "x")["outcomes"], {"timeout": 3})

    def test_the_end_of_a_workers_stderr_is_shown(self):
        _, failure = self.failed("exit_3")
        self.assertIn("its stderr ends: the registry is broken", failure)

    def test_a_crash_that_loses_or_makes_up_runs_is_found(self):
        cases = {"loses": "acknowledged_present", "invents": "nothing_else", "doubles": "once: ", "garbles": "intact",
                 "forgets": "interrupted", "answers_early": "acknowledgements after which it was to be killed"}
        for mode, expected in cases.items():
            with self.subTest(mode=mode):
                self.assertIn(expected, self.crashed(mode))

    def crashed(self, mode):
        result = self.agents("--scenarios", "durableCrash", "--runs", "3", "--target", f"x=driver:{fake_registry(mode)}")
        self.assertEqual(result.returncode, 1, result.stderr)
        failures = self.document()["invariants"]["failures"]
        self.assertEqual(len(failures), 1)
        self.assertTrue(failures[0].startswith("durableCrash_1000 on x: "), failures)
        self.assertEqual(os.listdir(self.scratch), [])
        return failures[0]

    def test_a_state_folder_that_cannot_be_used_is_named_and_untouched(self):
        state = self.folder / "state"
        state.mkdir()
        (state / "notes.txt").write_text("mine")
        result = self.agents(*ONE, "--state", "state")
        self.assertEqual(result.returncode, 1)
        self.assertIn("notes.txt", result.stderr)
        self.assertEqual((state / "notes.txt").read_text(), "mine")


class Interruptions(AgentsTest):
    def wait_for(self, condition, what, seconds=60):
        """Polls for something that another process does; the limit only bounds a broken test."""
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"never came: {what}")
            time.sleep(0.01)

    def interrupted_run(self, number):
        process = self.start("agents", *self.lanes, "--scenarios", "admission", "--fanout", "1", "--runs", "2", "--processes", "1000",
                             "--target", f"mine=driver:{fake_registry()}")
        self.wait_for(lambda: (self.folder / "out" / "agents.json").exists() or process.poll() is not None, "a first document")
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        return process, err

    def test_an_interruption_leaves_a_valid_document_of_whole_workers(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number):
                process, err = self.interrupted_run(number)
                self.assertEqual(process.returncode, code, err)
                self.assertRegex(err.splitlines()[-1], r"tare: interrupted after worker \d+ of 2000 of admission_1; out/agents.json "
                                 r"holds what was measured, `tare agents --resume out/agents.json` goes on")
                document = self.document()
                self.assertEqual((document["complete"], document["finishedAt"]), (False, None))
                for row in document["rows"]:
                    self.assertEqual(len(row["metrics"]["total"]["samples"]) % 2, 0)
                self.assertEqual(self.left_over(), [])
                os.remove(self.folder / "out" / "agents.json")

    def test_kill_9_of_the_lab_leaves_a_valid_document_and_no_process(self):
        self.interrupted_run(signal.SIGKILL)
        self.assertFalse(self.document()["complete"])
        self.wait_for(lambda: self.left_over() == [], "the workers' end")

    def whole_run(self):
        self.agents("--scenarios", "admission", "--fanout", "1,2", "--runs", "2", "--processes", "3", "--target",
                    f"mine=driver:{fake_registry()}")
        return self.document()

    def cut(self, document, workers):
        """As if the run had ended after some workers of the first row on `node`, and one on `mine`."""
        document = json.loads(json.dumps(document))
        document.update(complete=False, finishedAt=None, comparisons=[], findings=[])
        document["rows"] = [r for r in document["rows"] if r["row"] == "admission_1"]
        for row in document["rows"]:
            for metric in row["metrics"].values():
                for key in ["samples", "round", "process", "atMs", "outcome", "error"]:
                    metric[key] = metric[key][: 2 * (workers if row["target"] == "node" else 1)]
        return resummarise(document)

    def test_resume_measures_the_missing_workers_and_only_those(self):
        whole = self.whole_run()
        (self.folder / "out" / "agents.json").write_text(json.dumps(self.cut(whole, 2)))
        result = self.tare("agents", "--resume", "out/agents.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertTrue(document["complete"])
        for name in ["admission_1", "admission_2"]:
            for target in ["node", "mine"]:
                total = self.row(document, name, target)["metrics"]["total"]
                self.assertEqual((total["round"], total["process"]), (list(range(6)), [0, 0, 1, 1, 2, 2]))
        kept = self.row(document, "admission_1", "node")["metrics"]["total"]
        self.assertEqual(kept["atMs"][:4], self.row(whole, "admission_1", "node")["metrics"]["total"]["atMs"][:4])
        self.assertIn("had been interrupted", result.stderr)

    def test_resume_measures_a_failed_worker_anew(self):
        flag = self.folder / "broken"
        flag.touch()
        script = self.folder / "sometimes.sh"
        script.write_text(f"#!/bin/sh\n[ -e {flag} ] && exec {fake_registry('exit_3', 'admission')}\nexec {fake_registry()}\n")
        script.chmod(0o755)
        run = [*ONE, "--target", f"x=driver:{script}"]
        self.assertEqual(self.agents(*run).returncode, 1)
        flag.unlink()
        result = self.tare("agents", "--resume", "out/agents.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document()
        self.assertEqual(self.row(document, "admission_8", "x")["outcomes"], {"ok": 3})
        self.assertTrue(document["invariants"]["ok"] and document["complete"])

    def test_what_cannot_be_resumed_is_refused_and_stays(self):
        partial = self.cut(self.whole_run(), 2)
        half = json.loads(json.dumps(partial))
        for row in half["rows"]:
            for metric in row["metrics"].values():
                for key in ["samples", "round", "process", "atMs", "outcome", "error"]:
                    metric[key] = metric[key][:1]
        cases = {
            "spawn.json": ({**partial, "config": {**partial["config"], "bench": "spawn"}}, "a run of bench 'spawn'"),
            "complete.json": ({**partial, "complete": True}, "it is complete"),
            "range.json": ({**partial, "config": {**partial["config"], "runs": 101}}, "config.runs (must be 1 to 100, got 101)"),
            "half.json": (resummarise(half), "no whole workers"),
            "stranger.json": ({**partial, "rows": [{**partial["rows"][0], "row": "admission_9"}]}, "is not part of this run"),
        }
        for name, (content, expected) in cases.items():
            with self.subTest(name=name):
                (self.folder / name).write_text(json.dumps(content))
                before = (self.folder / name).read_bytes()
                self.assertIn(expected, self.refused("agents", "--resume", name))
                self.assertEqual((self.folder / name).read_bytes(), before)
        (self.folder / "good.json").write_text(json.dumps(partial))
        self.assertIn("another --runs", self.refused("agents", "--resume", "good.json", "--runs", "3"))

    def test_a_disk_that_fills_up_keeps_the_document_before(self):
        self.whole_run()
        before = (self.folder / "out" / "agents.json").read_bytes()

        def small_files():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        result = self.agents(*ONE, preexec_fn=small_files)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cannot write out/agents.json (File too large)", result.stderr.splitlines()[-1])
        self.assertEqual((self.folder / "out" / "agents.json").read_bytes(), before)


if __name__ == "__main__":
    harness.main()
