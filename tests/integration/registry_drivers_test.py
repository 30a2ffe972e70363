"""The registries of agent runs in Node and in Python: what they count, what they keep, what they leave."""

import contextlib
import hashlib
import json
import os
import random
import sqlite3
import subprocess

import harness
from registry_session import NONCE, Acks, Session

DRIVERS = harness.ROOT / "drivers"
DATABASE = "registry.sqlite"
SIZES = (3, 8, 64)
GROUP = "--group-commit"
BOTH_MODES = ((), (GROUP,))
CRASHES = 5
CRASH_RUNS = 1000
IN_FLIGHT = 64
PAGE = 4096
OPENING_ROWS = ("spawnPipelineDurable_3", "durableCrash_3")  # a new database, and one that is there

TEARDOWN = dict.fromkeys(
    ["postTeardownRegistryRows", "postTeardownTaskRows", "postTeardownDurableSubagentRows",
     "postTeardownDurableTaskRows", "postTeardownActiveRootWork"], 0)


def pipeline(n, durable):
    return {
        **dict.fromkeys(["registeredRuns", "uniqueRunIds", "reservationsReleased", "blockedWaits", "settledRuns",
                         "settledTasks"], n),
        "outstandingWaits": 0, "durableSubagentRows": n * durable, "durableTaskRows": n * durable,
        "durableStateFile": durable, **TEARDOWN}


def sweep(children):
    return {"seededRows": 3 * children, "removedRows": 2 * children, "retainedCurrent": children, "sessionEffects": 0,
            "recoveryProjections": children, "lostContextCompletions": 0, "repeatedProjections": 0}


def dedupe(children):
    return {"inputRowsPerOrdering": 3 * children,
            **dict.fromkeys(["newestFirstSelectedRows", "oldestFirstSelectedRows", "newestFirstSelectedNewest",
                             "oldestFirstSelectedNewest"], children)}


EXPECTED = {
    "spawnPipelineInMemory": lambda n: pipeline(n, 0),
    "spawnPipelineDurable": lambda n: pipeline(n, 1),
    "admission": lambda n: {"admissionCap": n, "overflowRejected": 1, "released": n, "doubleReleaseHarmless": 1,
                            "slotReused": 1},
    "recoverySweep": sweep,
    "duplicateSuppression": dedupe,
    "spawnSettleEndToEnd": lambda n: {
        **dict.fromkeys(["registeredRuns", "waitersNotified", "settledRuns", "settledTasks", "durableEndedRows"], n),
        "outstandingWaits": 0, **TEARDOWN},
    "sweepScale": lambda n: sweep(n // 3),
    "dedupeScale": lambda n: dedupe(n // 3),
    "restartScale": lambda n: {"restoredRuns": n, "interruptedRuns": n},
}


def task_text(label):
    return chr(ord("a") + int(label.rpartition("-")[2]) % 26) * 100


def files_in(folder):
    """The files of a folder with what they contain; pipes are none."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


class RegistryDrivers(harness.TareTest):
    def setUp(self):
        super().setUp()
        listed = json.loads(self.tare("targets", "--json").stdout)
        node = next(target["program"] for target in listed if target["id"] == "node")
        self.commands = {
            "node": [node, str(DRIVERS / "registry_node.mjs")],
            "python": [harness.PYTHON, str(DRIVERS / "registry_python.py")],
        }
        self.state = self.folder / "state"
        self.state.mkdir()

    def session(self, name, *arguments, wrapper=()):
        return Session(self, [*wrapper, *self.commands[name], *arguments])

    def variants(self, modes=((),)):
        """Both drivers in these modes, as (name, arguments)."""
        return [(name, arguments) for name in self.commands for arguments in modes]

    @contextlib.contextmanager
    def opened(self, name, arguments=(), wrapper=()):
        """A session in a subtest of its own."""
        with self.subTest(driver=name, arguments=arguments), self.session(name, *arguments, wrapper=wrapper) as session:
            yield session

    def subfolder(self, *names):
        folder = self.folder / "-".join(map(str, names))
        folder.mkdir()
        return folder

    def assert_empty(self, folder=None):
        self.assertEqual(list((folder or self.state).iterdir()), [])

    def assert_memory(self, sample):
        sizes = sample["bytes"]
        self.assertEqual(set(sizes), {"rssStartBytes", "rssEndBytes", "processMaxRssBytes"})
        for size in sizes.values():
            self.assertGreater(size, 1 << 20)
        self.assertGreaterEqual(sizes["processMaxRssBytes"], sizes["rssEndBytes"])

    # What they offer, and refuse

    def test_hello_names_the_runtime_the_mode_and_every_row(self):
        rows = [f"{name}_<n>" for name in [*EXPECTED, "mixedLoad", "durableCrash"]]
        for name, arguments in self.variants(BOTH_MODES):
            with self.opened(name, arguments) as session:
                hello = session.ask(op="hello", protocol="tare.driver.v1")
                self.assertEqual(hello["name"], f"{name} registry" + " (group commit)" * bool(arguments))
                self.assertEqual(sorted(hello["rows"]), sorted(rows))
                self.assertEqual(hello["pid"], session.process.pid)
                self.assertTrue(hello["version"] and hello["engine"])
                self.assertEqual(session.ask(op="hello", protocol="other")["error"]["code"], "unsupported")
                self.assertEqual(session.ask(op="dance")["error"]["code"], "unsupported")

    def test_a_request_that_makes_no_sense_is_refused_and_the_driver_goes_on(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                for row in ["spawn_3", "admission_0", "fanout_3", "admission_03", "admission_x_3"]:
                    session.refusal(row, self.state, code="unsupported", size=3)
                session.refusal("admission_3", self.state, code="invalid", size=4)
                session.refusal("admission_3", self.state, code="invalid", size="3")
                session.refusal("admission_3", self.state, code="invalid", timeoutMs=0)
                session.refusal("admission_3", self.state, code="invalid", nonce=None)
                session.refusal("spawnPipelineDurable_3", self.state, code="invalid", dir=7)
                session.refusal("mixedLoad_3", self.state, code="invalid", durationMs=-1)
                session.refusal("durableCrash_3", self.state, code="invalid", phase="dance")
                session.refusal("durableCrash_3", self.state, code="invalid", phase="register")
                self.assertEqual(session.ask(op="sample", row=7, params={}, iterations=1)["error"]["code"], "invalid")
                self.assertEqual(session.ask(op="sample", row="admission_3", params=[])["error"]["code"], "invalid")
                session.sample("admission_3", self.state)
                self.assert_empty()

    def test_a_flag_that_is_not_known_is_one_line(self):
        for name in self.commands:
            result = subprocess.run([*self.commands[name], "--fast"], stdin=subprocess.DEVNULL, capture_output=True,
                                    text=True, env=self.environment())
            self.assertEqual((result.returncode, result.stdout, len(result.stderr.splitlines())), (1, "", 1))

    # What they count

    def test_every_row_counts_what_it_must(self):
        for name, arguments in self.variants(BOTH_MODES):
            with self.opened(name, arguments) as session:
                for scenario, expected in EXPECTED.items():
                    for n in SIZES:
                        row = f"{scenario}_{n}"
                        (sample,) = session.sample(row, self.state)
                        self.assertEqual((sample["outcome"], sample["counters"]), ("ok", expected(n)), row)
                        self.assertGreaterEqual(sample["ns"]["total"], 0)
                        self.assert_memory(sample)
                        self.assert_empty()

    def test_the_phases_of_spawn_and_settle_add_up(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                ns = session.sample("spawnSettleEndToEnd_3", self.state)[0]["ns"]
                self.assertEqual(set(ns), {"total", "spawn", "settle"})
                self.assertEqual(ns["total"], ns["spawn"] + ns["settle"])

    def test_a_mixed_load_loses_no_run(self):
        for name, arguments in self.variants(BOTH_MODES):
            with self.opened(name, arguments) as session:
                for n in (3, 64):
                    (sample,) = session.sample(f"mixedLoad_{n}", self.state, durationMs=50)
                    counters = sample["counters"]
                    self.assertGreaterEqual(counters["cycles"], n)
                    self.assertGreaterEqual(counters["sweeps"], 1)
                    done = [counters.pop(counter) for counter in ["cycles", "spawns", "waits", "settles"]]
                    self.assertEqual(done, [done[0]] * 4)
                    counters.pop("sweeps")
                    self.assertEqual(counters, {"outstandingWaits": 0, "lostRuns": 0, **TEARDOWN})
                    self.assertGreaterEqual(sample["ns"]["total"] * done[0], 50e6 - done[0])
                    self.assert_empty()

    def test_several_iterations_leave_the_folder_empty(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                for row in ["spawnPipelineDurable_3", "restartScale_3", "recoverySweep_3"]:
                    for sample in session.sample(row, self.state, iterations=3):
                        self.assertEqual(sample["counters"], EXPECTED[row[:-2]](3))
                    self.assert_empty()

    def test_a_budget_that_is_too_small_is_a_timeout_and_the_driver_goes_on(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                (sample,) = session.sample("spawnPipelineDurable_64", self.state, timeoutMs=1)
                self.assertEqual(sample["outcome"], "timeout")
                self.assertGreaterEqual(sample["ns"]["total"], 1e6)
                self.assertIn("1 ms", sample["error"])
                self.assert_empty()
                session.sample("spawnPipelineDurable_3", self.state)

    def test_the_end_of_stdin_in_the_middle_of_a_sample_leaves_nothing(self):
        for name in self.commands:
            session = self.session(name)
            session.send_sample("mixedLoad_8", self.state, durationMs=200)
            session.process.stdin.close()
            self.assertEqual(session.process.wait(timeout=10), 0)
            self.assert_empty()
            session.end()

    # What survives a kill

    def start_register(self, session, folder, n=CRASH_RUNS):
        pipe = self.folder / f"acks-{folder.name}"
        acks = Acks(pipe)
        session.send_sample(f"durableCrash_{n}", folder, phase="register", acks=str(pipe))
        return acks

    def recover(self, session, folder, n=CRASH_RUNS):
        """The lines of the restored runs, as (label, status, text)."""
        (sample,) = session.sample(f"durableCrash_{n}", folder, phase="recover")
        self.assertEqual(sample["outcome"], "ok")
        self.assert_memory(sample)
        self.assert_empty(folder)
        runs = [tuple(line.split(" ", 2)) for line in sample["output"].splitlines()]
        interrupted = sum(status == "interrupted" for _, status, _ in runs)
        self.assertEqual(sample["counters"], {"restoredRuns": len(runs), "interruptedRuns": interrupted})
        return runs

    def register_and_kill(self, name, arguments, least, folder):
        """Kills the driver once it has acknowledged `least` runs; returns all that it acknowledged."""
        session = self.session(name, *arguments)
        acks = self.start_register(session, folder)
        acks.read(least)
        session.kill()
        acks.close()
        return acks.lines

    def assert_nothing_lost(self, runs, acknowledged):
        labels = [label for label, _, _ in runs]
        self.assertEqual(len(set(labels)), len(labels), "duplicates")
        self.assertEqual(set(acknowledged) - set(labels), set(), "acknowledged and lost")
        self.assertLessEqual(set(labels), {f"{NONCE}-{k}" for k in range(CRASH_RUNS)})
        self.assertLessEqual(len(labels) - len(acknowledged), IN_FLIGHT)
        for label, status, text in runs:
            self.assertEqual((status, text), ("interrupted", task_text(label)), label)

    def test_every_acknowledged_run_survives_a_kill(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        for name, arguments in self.variants(BOTH_MODES):
            with self.opened(name, arguments) as reader:
                for round_ in range(CRASHES):
                    least = chance.randint(1, 40)
                    folder = self.subfolder(name, len(arguments), round_)
                    with self.subTest(seed=seed, least=least):
                        acknowledged = self.register_and_kill(name, arguments, least, folder)
                        self.assertGreaterEqual(len(acknowledged), least)
                        self.assert_nothing_lost(self.recover(reader, folder), acknowledged)

    def register_all(self, name, n, folder):
        """Registers n runs to the end, and keeps the database."""
        with self.session(name) as session:
            acks = self.start_register(session, folder, n)
            answer = session.receive()
            acks.close()
        self.assertTrue(answer["ok"], answer)
        self.assertEqual(answer["samples"][0]["counters"], {"registeredRuns": n})
        self.assertEqual(sorted(acks.lines), sorted(f"{NONCE}-{k}" for k in range(n)))

    def test_a_register_that_is_not_killed_keeps_the_folder_and_restores_what_has_ended_as_terminal(self):
        for name in self.commands:
            folder = self.subfolder(name)
            self.register_all(name, 8, folder)
            database = sqlite3.connect(folder / DATABASE)
            database.execute("UPDATE runs SET ended_at = 1 WHERE id = 3")
            database.commit()
            database.close()
            with self.opened(name) as session:
                runs = self.recover(session, folder, 8)
                states = ["interrupted"] * 8
                states[2] = "terminal"
                self.assertEqual([status for _, status, _ in runs], states)

    def test_an_empty_folder_restores_nothing(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                self.assertEqual(self.recover(session, self.state), [])

    def test_acknowledgements_that_nobody_reads_are_a_failure(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                pipe = self.folder / f"unread-{name}"
                os.mkfifo(pipe)
                message = session.refusal("durableCrash_8", self.state, phase="register", acks=str(pipe))
                self.assertIn(f"{pipe}: nobody reads it", message)
                self.assert_empty()
                folder = self.subfolder("left", name)
                acks = self.start_register(session, folder)
                acks.read(1)
                os.close(acks.fd)
                self.assertIn("nobody reads it", session.receive()["error"]["message"])

    def test_a_reader_that_is_slow_gets_every_line(self):
        n = 4000  # more than a pipe holds
        for name, arguments in self.variants(modes=((GROUP,),)):
            with self.opened(name, arguments) as session:
                acks = self.start_register(session, self.subfolder("slow", name), n)
                acks.read(n)
                self.assertTrue(session.receive()["ok"])
                acks.close()
                self.assertEqual(sorted(acks.lines), sorted(f"{NONCE}-{k}" for k in range(n)))

    # A folder that can't be used

    def assert_refused_untouched(self, session, folder, words, rows=OPENING_ROWS, **params):
        """These rows fail with words that name the file and the cause, and no file of the folder changes."""
        before = files_in(folder)
        for row in rows:
            message = session.refusal(row, folder, phase="recover", **params)
            self.assertIn(str(folder), message)
            self.assertIn(words, message)
            self.assertEqual(files_in(folder), before)

    written = {}  # by driver, the files of a database of 64 runs that was closed

    def closed_state(self, name):
        """A folder with a database of 64 runs that the driver wrote and closed."""
        folder = self.subfolder(name, "closed")
        if name not in self.written:
            self.register_all(name, 64, folder)
            self.assertEqual(list(files_in(folder)), [DATABASE])
            self.written[name] = (folder / DATABASE).read_bytes()
        (folder / DATABASE).write_bytes(self.written[name])
        return folder

    def killed_state(self, name):
        """The same with one that a driver left when it was killed."""
        folder = self.subfolder(name, "killed")
        self.register_and_kill(name, (GROUP,), 1, folder)
        self.assertIn(DATABASE + "-wal", files_in(folder))
        return folder

    def test_a_database_that_is_corrupt_is_named_and_not_touched(self):
        for name in self.commands:
            folder = self.closed_state(name)
            database = folder / DATABASE
            content = database.read_bytes()
            with self.opened(name) as session:
                database.write_bytes(b"no database " * 1000)
                self.assert_refused_untouched(session, folder, "corrupt")
                # The header is right, and the pages of the rows are not.
                database.write_bytes(content[:3 * PAGE] + b"\xff" * (len(content) - 3 * PAGE))
                self.assert_refused_untouched(session, folder, "corrupt", rows=["durableCrash_3"])
                database.write_bytes(content)
                self.assertEqual(len(self.recover(session, folder)), 64)

    def test_a_log_that_a_corrupt_database_has_is_not_moved_into_it(self):
        for name in self.commands:
            folder = self.closed_state(name)
            database = folder / DATABASE
            self.change_and_die(database, "UPDATE tasks SET ended_at = 1 WHERE id = 1")
            content = database.read_bytes()
            database.write_bytes(content[:3 * PAGE] + b"\xff" * (len(content) - 3 * PAGE))
            with self.opened(name) as session:
                before = files_in(folder)
                self.assertIn("corrupt", session.refusal("durableCrash_3", folder, phase="recover"))
                after = files_in(folder)
                for suffix in ["", "-wal"]:  # what is in -shm is an index of these that SQLite makes anew
                    self.assertEqual(before[DATABASE + suffix], after[DATABASE + suffix])

    def change_and_die(self, database, sql):
        """Has a process do this that never closes the database: it is in the log only."""
        script = """import os, sqlite3, sys
sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])
os._exit(0)"""
        subprocess.run([harness.PYTHON, "-c", script, str(database), sql], check=True)

    def test_a_newer_schema_is_named_and_not_touched(self):
        for name in self.commands:
            folder = self.closed_state(name)
            self.change_and_die(folder / DATABASE, "PRAGMA user_version = 7")
            with self.opened(name) as session:
                self.assert_refused_untouched(session, folder, "schema 7 is newer")
                sqlite3.connect(folder / DATABASE).execute("SELECT count(*) FROM runs").connection.close()
                self.assertEqual(list(files_in(folder)), [DATABASE])
                self.assert_refused_untouched(session, folder, "schema 7 is newer")

    def test_a_folder_that_holds_something_is_not_taken_for_an_empty_one(self):
        for name in self.commands:
            closed, killed = self.closed_state(name), self.killed_state(name)
            with self.opened(name) as session:
                rows = ["spawnPipelineDurable_3", "mixedLoad_3", "restartScale_3"]
                for folder in [closed, killed]:
                    self.assert_refused_untouched(session, folder, "not empty", rows, durationMs=1)
                folder = self.subfolder("foreign", name)
                (folder / "notes.txt").write_text("mine")
                self.assert_refused_untouched(session, folder, "not empty: it holds notes.txt", rows=["restartScale_3"])
                sqlite3.connect(folder / DATABASE).execute("CREATE TABLE notes(text)").connection.close()
                self.assert_refused_untouched(session, folder, "no database of a registry")

    def test_a_database_that_another_process_has_is_named_and_not_touched(self):
        for name in self.commands:
            folder = self.closed_state(name)
            # Not by this process: it would lose its locks when it looks at the file.
            script = """import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.read()"""
            command = [harness.PYTHON, "-c", script, str(folder / DATABASE), "SELECT count(*) FROM runs"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=self.environment()) as holder:
                self.assertEqual(holder.stdout.readline(), "held\n")
                with self.opened(name) as session:
                    self.assert_refused_untouched(session, folder, f"locked by another process ({holder.pid})")
                holder.kill()

    def test_a_folder_that_is_missing_is_named(self):
        for name, arguments in self.variants():
            with self.opened(name, arguments) as session:
                for row in ["spawnPipelineDurable_3", "durableCrash_3"]:
                    message = session.refusal(row, self.folder / "none", phase="recover")
                    self.assertIn(str(self.folder / "none"), message)
                    self.assertIn("no such file or directory", message.lower())

    def mounted(self, options):
        """A command in front of a driver that gives it a file system of its own in the state folder."""
        script = 'mount -t tmpfs -o "$1" none "$0" && shift && exec "$@"'
        namespace = ["unshare", "--mount", "--map-root-user"]
        wrapper = [*namespace, "sh", "-c", script, str(self.state), options]
        if subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        return wrapper

    def test_a_folder_that_is_read_only_or_full_is_named(self):
        for options, words, modes in [("ro", "read-only", ((),)), ("size=64k", "full", BOTH_MODES)]:
            wrapper = self.mounted(options)
            for name, arguments in self.variants(modes):
                with self.opened(name, arguments, wrapper) as session:
                    for _ in range(2):  # the second one finds nothing of the first
                        message = session.refusal("spawnPipelineDurable_256", self.state)
                        self.assertIn(str(self.state), message)
                        self.assertIn(words, message)


if __name__ == "__main__":
    harness.main()
