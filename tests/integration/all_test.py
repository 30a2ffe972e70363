"""`tare all`: the benches one after the other, and one document of what they found."""

import json
import os
import signal
import time

import harness
from registries import fake_registry

# As little of the spawn bench as there can be; the agents bench is cut short by its fake reference.
LITTLE = {"BENCH_ITERATIONS": "1", "BENCH_WARMUP": "0", "BENCH_PROCESS_LIFECYCLE_SKIP_EXTRA_ROWS": "1"}


class All(harness.TareTest):
    def environment(self, **extra):
        """No guest: it would run the whole import bench."""
        return super().environment(**{"XDG_CACHE_HOME": str(self.folder / "cache"), **extra})

    def prefix(self, registry, spawn=f"exec {harness.python_driver()}"):
        """A prefix whose node runs `registry` for the agents bench and `spawn` for the spawn bench. What most rows start is
        too little to need Node, which takes a hundred times as long to start as a shell."""
        targets = self.tare("targets", "--json", env={"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", "")})
        node = next(t for t in json.loads(targets.stdout) if t["id"] == "node")["program"]
        program = self.folder / "prefix" / "bin" / "node"
        program.parent.mkdir(parents=True)
        program.write_text(f"""#!/bin/sh
case $1 in
*registry_node.mjs) {registry} ;;
*/node.mjs) {spawn} ;;
esac
case $2 in
"process.exit("*) code=${{2#*(}}; exit "${{code%)}}" ;;
"process.kill(process.pid, 'SIGKILL')") kill -9 $$ ;;
"process.stdin.pipe(process.stdout)") exec cat ;;
esac
exec {node} "$@"
""")
        program.chmod(0o755)
        return ["--node", str(self.folder / "prefix")]

    def test_all_benches_are_in_one_document_and_a_failure_in_one_keeps_the_other(self):
        where = self.prefix(f"exec {fake_registry('exit_3', 'spawnPipelineDurable')}")
        result = self.tare("all", *where, "--markdown", "report.md", env=LITTLE)
        self.assertEqual(result.returncode, 1, result.stderr)
        document = self.document()
        self.assertFalse(document["complete"])
        self.assertEqual({r["bench"] for r in document["rows"]}, {"spawn", "agents", "import", "gateway"})
        self.assertEqual({r["status"] for r in document["rows"] if r["bench"] == "import"}, {"unavailable"})
        self.assertEqual(document["config"]["bench"], "all")
        self.assertEqual(document["config"]["spawn"]["iterations"], 1)
        self.assertEqual(document["config"]["agents"]["runs"], 10)
        self.assertEqual(document["config"]["import"]["iterations"], 10)
        self.assertEqual(document["config"]["gateway"]["concurrency"], 8)
        self.assertEqual(document["gateways"][0]["runs"][0]["turnCount"], 8)
        ids = [t["id"] for t in document["targets"]]
        self.assertEqual(len(ids), len(set(ids)))
        node = next(t for t in document["targets"] if t["id"] == "node")
        self.assertTrue(node["driver"][1].endswith("/node.mjs"))
        self.assertTrue(document["config"]["agents"]["drivers"]["node"][1].endswith("/registry_node.mjs"))
        self.assertEqual(self.row(document, "node_exit_1", "node")["status"], "ok")
        self.assertEqual(len(document["invariants"]["failures"]), 1)
        self.assertIn("spawnPipelineDurable_1 on node: ", document["invariants"]["failures"][0])
        self.assertGreater(document["memory"]["workerProcessMaxRssBytes"], 0)
        for text in [result.stderr, (self.folder / "report.md").read_text()]:
            self.assertIn("node_exit_1", text)
            self.assertIn("spawnPipelineInMemory", text)
        self.assertRegex(result.stderr.splitlines()[-1], r"^tare: worker of spawnPipelineDurable_1 on node failed: .*; out/run.json holds what was measured$")

    def test_a_bench_that_cannot_run_is_one_line_and_the_next_one_runs(self):
        where = self.prefix(f"exec {fake_registry('exit_3', 'spawnPipelineInMemory')}", spawn="exit 9")
        result = self.tare("all", *where, env=LITTLE)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr.splitlines()[0], "^tare: driver 'node' .*exit code 9")
        self.assertEqual({r["bench"] for r in self.document()["rows"]}, {"agents", "gateway"}, "spawn and import have the same driver")

    def test_an_interruption_keeps_both_parts_and_says_where_it_was(self):
        where = self.prefix(f"exec {fake_registry()}")
        process = self.start("all", *where, env=LITTLE)
        end = time.monotonic() + 100
        while "agents" not in self.benches():
            self.assertLess(time.monotonic(), end, "the second bench never began")
            self.assertIsNone(process.poll(), "it ended before it could be interrupted")
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(set(self.benches()), {"spawn", "agents"})
        self.assertFalse(self.document()["complete"])
        self.assertRegex(err.splitlines()[-1], r"^tare: interrupted .*; out/run.json holds what was measured, `tare all` starts anew$")

    def benches(self):
        if not (self.folder / "out" / "run.json").exists():
            return []
        return [r["bench"] for r in self.document()["rows"]]

    def test_a_merged_document_is_not_resumed(self):
        where = self.prefix(f"exec {fake_registry('exit_3', 'spawnPipelineInMemory')}", spawn="exit 9")
        self.tare("all", *where, env=LITTLE)
        for bench in ["spawn", "agents"]:
            self.assertIn("it is a run of bench 'all'", self.refused(bench, "--resume", "out/run.json"))


if __name__ == "__main__":
    harness.main()
