"""A workspace as `tare import` makes one, and a driver that is asked by hand."""

import json
import os
import pathlib
import shutil
import subprocess
import time

import harness

FIXTURES = harness.ROOT / "fixtures" / "import"
MARKER = "__AGENTOS_BENCH__:"
MODULES = 24


def packages():
    """The folder of the installed packages, or nothing."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = (cache / "tare" / "import").resolve()
    return folder / "node_modules" if (folder / ".tare-installed").exists() else None


def make_workspace(folder):
    """package.json, bench/ with its graph of modules, and node_modules where the packages are installed."""
    graph = folder / "bench" / "local-graph"
    graph.mkdir(parents=True)
    (folder / "package.json").write_text('{"name":"tare-import","private":true,"type":"module"}\n')
    for program in FIXTURES.glob("*.mjs"):
        shutil.copy(program, folder / "bench")
    (graph / "mod-00.mjs").write_text("export const value = 1;\n")
    for i in range(1, MODULES):
        (graph / f"mod-{i:02}.mjs").write_text(
            f"import {{ value as previous }} from './mod-{i - 1:02}.mjs';\nexport const value = previous + {i};\n")
    total = 1 + sum(range(MODULES))
    (graph / "root.mjs").write_text(
        f"import {{ value }} from './mod-{MODULES - 1:02}.mjs';\nexport {{ value }};\nexport const expected = {total};\n")
    if packages():
        (folder / "node_modules").symlink_to(packages())
    return folder


class Driver:
    """One driver process; a context manager that says good-bye, and wants a clean end."""

    def __init__(self, command, env):
        self.process = subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.ask("bye")["ok"]
        try:
            _, self.log = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, self.log = self.process.communicate()
        assert kind is not None or self.process.returncode == 0, (self.process.returncode, self.log)

    def ask(self, op, **members):
        self.last_id += 1
        self.process.stdin.write(json.dumps({"id": self.last_id, "op": op, **members}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        answer = json.loads(line)
        assert answer["id"] == self.last_id, answer
        return answer

    def hello(self):
        return self.ask("hello", protocol="tare.driver.v1")

    def samples(self, row, iterations, params):
        started = time.monotonic_ns()
        answer = self.ask("sample", row=row, params=params, iterations=iterations)
        took = time.monotonic_ns() - started
        assert answer["ok"], answer
        assert len(answer["samples"]) == iterations
        for sample in answer["samples"]:
            assert all(isinstance(ns, int) and 0 <= ns <= took for ns in sample["ns"].values()), (sample["ns"], took)
        return answer["samples"]


def marker_of(output):
    """What the last marker line of an output says."""
    lines = [line for line in output.splitlines() if line.startswith(MARKER)]
    return json.loads(lines[-1][len(MARKER):]) if lines else None
