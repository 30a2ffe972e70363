"""The import rows of agentOS, bun and deno as npm brings them."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402
from import_drivers_test import ROWS, ImportDriver  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "tare"
DRIVERS = harness.BUILD / "lib" / "tare" / "drivers"
NO_ENGINE = ["prewarmed-isolate-startup", "same-context-local-import", "prewarmed-local-import"]


def install(peer):
    installed = harness.subprocess.run([str(harness.TARE), "targets", "install", peer], capture_output=True, text=True, timeout=900)
    assert installed.returncode == 0, installed.stderr


class Peer(ImportDriver):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        install("import")
        install(cls.target)

    def check_sample(self, row, sample):
        self.assertEqual("cacheFiles" in sample["counters"], self.counts_files and ROWS[row][2] == "primed", row)


class Bun(Peer, harness.TareTest):
    target = "bun"
    counts_files = True
    missing = [*NO_ENGINE, *(row for row, (_, reuse, cache) in ROWS.items()
                             if cache == "primed" and reuse == "fresh-per-sample")]

    def command(self):
        return [self.known["bun"]["program"], DRIVERS / "node.mjs"]


class Deno(Peer, harness.TareTest):
    target = "deno"
    counts_files = True
    missing = [*NO_ENGINE, *(row for row in ROWS if row.startswith("hot-builtin-"))]

    def command(self):
        return [self.known["deno"]["program"], "run", "--allow-all", "--no-config", "--no-lock", DRIVERS / "node.mjs"]


class AgentOs(Peer, harness.TareTest):
    target = "agentos"
    counts_files = False
    phases = ("context_setup", "startup", "wait")
    missing = ["large-package-import", "prewarmed-local-import",
               *(row for row, (_, reuse, cache) in ROWS.items() if cache == "primed" and "shared-across" not in reuse)]

    def command(self):
        return [self.known["node"]["program"], DRIVERS / "agentos.mjs", CACHE / "agentos"]

    def test_a_program_that_is_not_there_is_an_exit_code(self):
        """Here it is a start that was refused: the sidecar looks for the program first."""
        with self.driver() as driver:
            sample = driver.samples("isolate-startup", 1, self.params("isolate-startup", entry="bench/none.mjs"))[0]
        self.assertEqual((sample["outcome"], sample["counters"]), ("failed", {}))
        self.assertIn("No such file or directory", sample["error"])


if __name__ == "__main__":
    harness.main()
