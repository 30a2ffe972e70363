"""What a registry acknowledges was on disk before: it has had the log of its database written, by fsync."""

import contextlib
import json

import harness
from registry_session import Acks, Session

COUNTER = harness.BUILD / "tests" / "libcount_syncs.so"
IN_FLIGHT = 64
RUNS = 256
LOG = "registry.sqlite-wal"
IN_MEMORY = ["spawnPipelineInMemory_64", "admission_64", "recoverySweep_64", "duplicateSuppression_64"]


class Syncs(harness.TareTest):
    def setUp(self):
        super().setUp()
        node = next(t["program"] for t in json.loads(self.tare("targets", "--json").stdout) if t["id"] == "node")
        drivers = harness.ROOT / "drivers"
        self.commands = {
            "embedded": [str(harness.TARE), "agents", "driver"],
            "node": [node, str(drivers / "registry_node.mjs")],
            "node, group commit": [node, str(drivers / "registry_node.mjs"), "--group-commit"],
            "python": [harness.PYTHON, str(drivers / "registry_python.py")],
            "python, group commit": [harness.PYTHON, str(drivers / "registry_python.py"), "--group-commit"],
        }

    @contextlib.contextmanager
    def registry(self, name):
        """A registry that runs with its syncs noted, an empty folder for its state, and a way to get the names of the
        files that it has synced."""
        state, noted = self.folder / f"state of {name}", self.folder / f"syncs of {name}"
        state.mkdir()
        noted.touch()
        environment = {"LD_PRELOAD": str(COUNTER), "TARE_TEST_SYNCS": str(noted), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        with self.subTest(registry=name), Session(self, self.commands[name], **environment) as session:
            yield session, state, lambda: [line.rpartition("/")[2] for line in noted.read_text().splitlines()]

    def test_a_registration_and_a_settlement_are_synced(self):
        for name in self.commands:
            with self.registry(name) as (session, state, syncs):
                def of_log(row, **params):
                    before = syncs().count(LOG)
                    session.sample(row, state, **params)
                    return syncs().count(LOG) - before
                opened = of_log("durableCrash_1", phase="recover")  # an empty folder: nothing but opening and closing
                for row in ["spawnPipelineDurable_1", "spawnSettleEndToEnd_1"]:
                    with self.subTest(row=row):
                        # The registration, the settlement, and the removal after it.
                        self.assertGreaterEqual(of_log(row) - opened, 3)

    def test_no_more_is_acknowledged_than_has_been_synced(self):
        for name in self.commands:
            with self.registry(name) as (session, state, syncs):
                pipe = self.folder / f"acks of {name}"
                acks = Acks(pipe)
                session.send_sample(f"durableCrash_{RUNS}", state, phase="register", acks=str(pipe))
                least = 1
                while least <= RUNS:
                    acks.read(least)
                    # One commit can hold all that is in flight.
                    self.assertGreaterEqual(syncs().count(LOG) * IN_FLIGHT, len(acks.lines))
                    least = len(acks.lines) + 1
                self.assertTrue(session.receive()["ok"])
                acks.close()

    def test_what_is_kept_in_memory_is_never_synced(self):
        for name in self.commands:
            with self.registry(name) as (session, state, syncs):
                for row in IN_MEMORY:
                    session.sample(row, state)
                self.assertEqual(syncs(), [])


if __name__ == "__main__":
    harness.main()
