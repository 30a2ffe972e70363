"""The built-in registry and its state folder: what it can't use is named and left as it is; what it acknowledged survives
a kill."""

import json
import os
import signal
import sqlite3
import tempfile
import time

import harness
from harness import TARE

DURABLE = ["--targets", "embedded", "--scenarios", "spawnPipelineDurable", "--fanout", "8", "--runs", "2"]


class State(harness.TareTest):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"
        self.state.mkdir()
        self.database = self.state / "registry.sqlite"

    def agents(self, *arguments):
        return self.tare("agents", *arguments)

    def made(self):
        """A database that looks like the registry's, as far as its head goes."""
        with sqlite3.connect(self.database) as db:
            db.executescript("PRAGMA application_id=0x54617265; PRAGMA user_version=1; PRAGMA journal_mode=WAL;"
                             " CREATE TABLE runs (id INTEGER PRIMARY KEY);")
        db.close()

    def refused_as(self, cause):
        """A run in this folder fails with one line that names the file and the cause, and touches nothing."""
        before = {p.name: p.read_bytes() for p in self.state.iterdir()}
        result = self.agents(*DURABLE, "--state", self.state)
        self.assertIn(result.returncode, (1, 2), result.stderr)
        last = result.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("tare: "), last)
        self.assertIn(cause, last)
        after = {p.name: p.read_bytes() for p in self.state.iterdir() if not p.name.endswith("-shm")}
        self.assertEqual({k: v for k, v in after.items() if v}, {k: v for k, v in before.items() if v})
        return last

    def test_an_empty_folder_is_used_and_left_empty(self):
        result = self.agents(*DURABLE, "--state", self.state)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(self.state), [])

    def test_a_folder_in_memory_is_said_to_be_none_on_disk(self):
        folder = tempfile.mkdtemp(prefix="tare-test-", dir="/dev/shm")
        self.addCleanup(os.rmdir, folder)
        result = self.agents(*DURABLE, "--state", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        texts = [f["text"] for f in self.document("out/agents.json")["findings"]]
        self.assertTrue(any(t.startswith("the state folder is in memory") for t in texts), texts)

    def test_a_run_without_durable_rows_says_nothing_of_the_state_folder(self):
        folder = tempfile.mkdtemp(prefix="tare-test-", dir="/dev/shm")
        self.addCleanup(os.rmdir, folder)
        result = self.agents("--targets", "embedded", "--scenarios", "admission", "--fanout", "8", "--runs", "2", "--state", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("in memory:", json.dumps(self.document("out/agents.json")["findings"]))

    def test_an_interrupted_run_leaves_the_folder_empty_and_can_go_on(self):
        arguments = ["--targets", "embedded", "--scenarios", "mixedLoad", "--fanout", "8", "--runs", "20", "--warmup", "0"]
        process = self.start("agents", *arguments, "--state", self.state)
        end = time.monotonic() + 60
        while not os.listdir(self.state):
            self.assertLess(time.monotonic(), end, "the worker never began")
            self.assertIsNone(process.poll(), "it ended before it could be interrupted")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(os.listdir(self.state), [])

    def test_what_is_no_database_or_a_damaged_one_is_named(self):
        self.database.write_bytes(b"x" * 5000)
        self.assertIn(str(self.database), self.refused_as("not a database"))

    def test_a_newer_schema_is_named(self):
        self.made()
        with sqlite3.connect(self.database) as db:
            db.execute("PRAGMA user_version=9")
        db.close()
        self.refused_as("version 9")

    def test_somebody_elses_database_is_named(self):
        for version in [0, 1]:
            with sqlite3.connect(self.database) as db:
                db.executescript(f"PRAGMA user_version={version}; CREATE TABLE IF NOT EXISTS theirs (a)")
            db.close()
            self.refused_as("another program")

    def test_a_database_that_another_process_has_locked_is_named(self):
        self.made()
        before = self.database.read_bytes()
        other = sqlite3.connect(self.database, isolation_level=None)
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        # The file is not read while it is open here: closing it would give up this process's locks on it.
        result = self.agents(*DURABLE, "--state", self.state)
        other.close()
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertIn("locked by another process", result.stderr.splitlines()[-1])
        self.assertEqual(self.database.read_bytes(), before)

    def test_a_folder_that_nobody_can_write_is_named(self):
        result = self.agents(*DURABLE, "--state", "/proc/self/task")
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertIn("/proc/self/task", result.stderr.splitlines()[-1])

    def test_a_disk_that_is_full_is_named_and_nothing_stays(self):
        # Only the worker's files are small: the run document is written by another process.
        wrapper = self.folder / "worker.py"
        wrapper.write_text(
            "import os, resource, signal\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
            f"os.execv({str(TARE)!r}, ['tare', 'agents', 'driver'])\n")
        result = self.tare("agents", "--targets", "embedded", "--target", f"small=driver:{harness.PYTHON} {wrapper}",
                           "--scenarios", "spawnPipelineDurable", "--fanout", "64", "--runs", "2", "--state", self.state)
        self.assertEqual(result.returncode, 1, result.stderr)
        last = result.stderr.splitlines()[-1]
        self.assertIn("worker of spawnPipelineDurable_64 on small failed", last)
        self.assertIn("registry.sqlite", last)
        self.assertEqual(os.listdir(self.state), [])

    def test_every_acknowledged_run_survives_a_kill(self):
        result = self.agents("--targets", "embedded", "--scenarios", "durableCrash", "--runs", "10")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = self.row(self.document("out/agents.json"), "durableCrash_1000", "embedded")
        self.assertEqual(row["outcomes"], {"ok": 10})
        checks = {i["id"]: (i["ok"], i["checked"]) for i in row["invariants"]}
        for name in ["acknowledged_present", "nothing_else", "intact", "interrupted", "once", "in_flight_bound"]:
            self.assertEqual(checks[name][0], True, name)
            self.assertGreaterEqual(checks[name][1], 10)

    def test_the_built_in_registry_keeps_the_rules_of_the_protocol(self):
        result = self.tare("driver", "check", "--", TARE, "agents", "driver")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("0 failed", result.stderr)


if __name__ == "__main__":
    harness.main()
