"""What the integration tests share: running the built program and looking at what it left behind."""

import copy
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TARE_BUILD", ROOT / "build"))
TARE = BUILD / "bin" / "tare"
DRIVERS = ROOT / "tests" / "drivers"
PYTHON = "/usr/bin/python3"
MARK = "TARE_TEST_MARK"


def python_driver(*arguments):
    return " ".join([PYTHON, str(DRIVERS / "python_driver.py"), *arguments])


def faulty_driver(mode):
    return " ".join([PYTHON, str(DRIVERS / "faulty_driver.py"), mode])


def order_statistics(samples):
    """What a summary says of these samples, computed a second way: straight from the definitions."""
    values, n = sorted(samples), len(samples)
    figures = {"count": n, "min": values[0] if n else None, "max": values[-1] if n else None}

    def at_most(k, q):
        return math.fsum(math.comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(k + 1))

    for name, q, least in (("p50", 0.5, 1), ("p90", 0.9, 10), ("p95", 0.95, 20), ("p99", 0.99, 100)):
        point = max(0, math.ceil(round(q * n, 9)) - 1)
        figures[name] = values[point] if n >= least else None
        figures[name + "Interval"] = None
        if n >= least and at_most(0, q) <= 0.025 and q**n <= 0.025:
            low = max(k for k in range(point + 1) if at_most(k, q) <= 0.025)
            high = min((k for k in range(point, n) if 1 - at_most(k, q) <= 0.025), default=n - 1)
            figures[name + "Interval"] = [values[low], values[high]]
    return figures


def resummarise(document):
    """A copy of an edited document whose figures are in line with its samples."""
    document = copy.deepcopy(document)
    for row in document["rows"]:
        for metric in row["metrics"].values():
            pairs = zip(metric["samples"], metric["outcome"])
            metric["summary"].update(order_statistics([s for s, outcome in pairs if outcome == "ok" and s is not None]))
        if row["metrics"]:
            outcomes = next(iter(row["metrics"].values()))["outcome"]
            row["outcomes"] = {name: outcomes.count(name) for name in set(outcomes)}
    return document


class TareTest(unittest.TestCase):
    """A fresh folder as working directory, and a mark in the environment by which left-overs are found."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tare-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        # What a program that is killed cannot take away goes with the test.
        self.scratch = tempfile.mkdtemp(prefix="tare-test-tmp-")
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.mark = uuid.uuid4().hex
        self.addCleanup(self.assert_nothing_left)

    def environment(self, **extra):
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH_", "LC_")) and k not in ("NO_COLOR", "COLUMNS")}
        return {**keep, "LANG": "C.UTF-8", "TMPDIR": self.scratch, MARK: self.mark, **extra}

    def start(self, *arguments, env=None, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            [str(TARE), *map(str, arguments)],
            cwd=self.folder, env=self.environment(**(env or {})), text=True, **options)

    def tare(self, *arguments, env=None, timeout=120, **options):
        process = self.start(*arguments, env=env, **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def refused(self, *arguments, code=2, env=None):
        """Runs a command that must be refused, and returns its one line."""
        result = self.tare(*arguments, env=env)
        self.assertEqual(result.returncode, code, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("tare: "), lines[0])
        self.assertEqual(result.stdout, "")
        return lines[0]

    def document(self, name="out/run.json"):
        with open(self.folder / name, encoding="utf-8") as file:
            return json.load(file)

    def row(self, document, row, target):
        found = [r for r in document["rows"] if r["row"] == row and r["target"] == target]
        self.assertEqual(len(found), 1, f"{row} on {target}")
        return found[0]

    def left_over(self):
        """Pids of living processes that one of this test's programs started."""
        found = []
        needle = f"{MARK}={self.mark}".encode()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def assert_nothing_left(self):
        left = self.left_over()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.assertEqual(left, [], "processes were left behind")


def main():
    unittest.main(verbosity=1)
