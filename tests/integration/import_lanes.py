"""Lanes of the import bench that only pretend, so that what is tested is the bench."""

import json
import pathlib
import sys
import time

import harness

sys.path.insert(0, str(harness.DRIVERS))
from fake_import import ROWS, SCENARIOS  # noqa: E402, F401

TRANSPORT = ["transport_32", "transport_4096", "transport_65536"]
PACKAGES = ["hot-projected-package-file-import", "large-package-import", "projected-package-import", "pdf-lib-startup",
            "jszip-startup", "jszip-end-to-end", "jszip-repeated-session-compressed"]
FEW = ["--scenarios", "transport_32,isolate-startup,cold-local-import,warm-local-import", "--iterations", "3"]


def fake_import(*arguments):
    return " ".join([harness.PYTHON, "-B", str(harness.DRIVERS / "fake_import.py"), *arguments])


class ImportTest(harness.TareTest):
    """The reference lane `node` is a fake one: a prefix whose node is not a node. No packages are installed."""

    def setUp(self):
        super().setUp()
        node = self.folder / "prefix" / "bin" / "node"
        node.parent.mkdir(parents=True)
        node.write_text(f"#!/bin/sh\nexec {fake_import('plain')}\n")
        node.chmod(0o755)
        self.reference = ["--targets", "node", "--node", str(self.folder / "prefix")]
        self.lanes = self.with_lane("guest")

    def environment(self, **extra):
        return super().environment(**{"XDG_CACHE_HOME": str(self.folder / "cache"), **extra})

    def with_lane(self, *arguments):
        return [*self.reference, "--target", f"x=driver:{fake_import(*arguments)}"]

    def bench(self, *arguments, lanes=None, **options):
        return self.tare("import", *(lanes or self.lanes), *arguments, **options)

    def document(self, name="out/import/report.json"):
        return super().document(name)

    def markdown(self):
        return (self.folder / "out/import/report.md").read_text(encoding="utf-8")

    @property
    def state(self):
        return self.folder / "out/import/run-state.json"

    def rows_of_state(self):
        """The rows that the state holds, each once; none as long as there is no state."""
        if not self.state.exists():
            return []
        return list(dict.fromkeys(row["row"] for row in json.loads(self.state.read_text())["rows"]))

    def assert_tidy(self):
        """Nothing is left of workspaces."""
        self.assertEqual([p.name for p in pathlib.Path(self.scratch).iterdir()], [])

    def wait_for_state(self, process, stages):
        """Until so many stages are in the state: the run is then held in the next one."""
        end = time.monotonic() + 100
        while len(self.rows_of_state()) < stages:
            self.assertLess(time.monotonic(), end, "the stage never ended")
            self.assertIsNone(process.poll(), "it ended before it could be stopped")
            time.sleep(0.01)
