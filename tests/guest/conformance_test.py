"""The same programs under host Node and in a guest: stdout, stderr and exit code are equal, byte for byte.

scripts/AREA/NAME.js is a program of its own. scripts/AREA/programs.js is a table of programs, a module that exports
[name, files, argv, options] for each: argv is what follows `node` (without: main.js), options.stdin is its input.
differences.json says which programs differ and why; one that is listed there and does not differ fails, too.

TARE_CASE=TEXT runs only programs with that text in their name.
"""

import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
TARE = pathlib.Path(os.environ["TARE_BUILD"]) / "bin" / "tare"
TIMEOUT = 60

# A guest begins with an empty machine: this makes the files there, and becomes the program for all that one can see.
STARTER = """
const fs = require('node:fs');
const path = require('node:path');
const [home, files, ...argv] = process.argv.slice(1);
fs.mkdirSync(home, { recursive: true });
for (const [name, text] of Object.entries(JSON.parse(files))) {
  fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  fs.writeFileSync(path.join(home, name), text);
}
const { status, signal } = require('node:child_process').spawnSync(process.execPath, argv, { cwd: home, stdio: 'inherit' });
if (signal !== null) process.kill(process.pid, signal);
process.exit(status);
"""


def reason_without_guest():
    listed = json.loads(subprocess.run([TARE, "targets", "--json"], capture_output=True, check=True).stdout)
    guest = next(target for target in listed if target["id"] == "guest")
    return None if guest["available"] else guest["reason"]


def host_node():
    """The Node whose library the guest has."""
    if "TARE_HOST_NODE" in os.environ:
        return os.environ["TARE_HOST_NODE"]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    found = sorted(cache.glob("tare/node/node_modules/node-linux-*/bin/node"))
    return str(found[0]) if found else None


NODE = host_node()
WITHOUT = reason_without_guest() if NODE else "the pinned Node is not installed"


class Program:
    def __init__(self, name, files, argv, stdin=None):
        self.name, self.files, self.argv, self.stdin = name, files, argv, stdin


def read_tables(paths):
    """The programs of tables, by Node: they are JavaScript."""
    code = "console.log(JSON.stringify(process.argv.slice(1).map((path) => require(path))))"
    tables = json.loads(subprocess.run([NODE, "-e", code, *paths], capture_output=True, check=True).stdout)
    for path, rows in zip(paths, tables):
        area = path.relative_to(SCRIPTS).parent
        for name, files, *rest in rows:
            options = (rest[1] if len(rest) > 1 else None) or {}
            yield Program(f"{area}: {name}", files, rest[0] if rest else ["main.js"], options.get("stdin"))


def all_programs():
    paths = sorted(SCRIPTS.glob("**/*.js"))
    yield from read_tables([path for path in paths if path.name == "programs.js"])
    for path in paths:
        if path.name != "programs.js":
            yield Program(str(path.relative_to(SCRIPTS)), {path.name: path.read_text()}, None)


def plain(text, names):
    """Without what may differ: process numbers, and where things are on this machine."""
    text = re.sub(rb"\(node:\d+\)", b"(node:PID)", text)
    for name, instead in names:
        text = text.replace(name.encode(), instead.encode())
    return text


class Runner:
    """Runs a program on both sides, in folders of the same name."""

    def __init__(self, base):
        self.base = base

    def run(self, number, program):
        home = self.base / f"{number:03}"
        home.mkdir()
        for name, text in program.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        host = self.on_host(home, program)
        # After it: what the program itself has written is not the guest's.
        guest = self.in_guest(home, program)
        shutil.rmtree(home)
        return host, guest

    def on_host(self, home, program):
        argv = list(program.files) if program.argv is None else program.argv
        env = {"HOME": "/root", "PATH": f"{pathlib.Path(NODE).parent}:/usr/bin:/bin"}
        names = []
        for node in {pathlib.Path(NODE), pathlib.Path(NODE).resolve()}:
            names += [(str(node), "/usr/bin/node"), (str(node.parents[1] / "lib"), "/usr/lib")]
        if program.argv is None:
            names.append((str(home), "/root"))
        return self.finish([NODE, *argv], home, env, program, names)

    def in_guest(self, home, program):
        if program.argv is None:
            (home / next(iter(program.files))).write_text(next(iter(program.files.values())))
            argv = list(program.files)
        else:
            argv = ["-e", STARTER, str(home), json.dumps(program.files), *program.argv]
        return self.finish([str(TARE), "guest", "run", *argv], home, None, program, [])

    @staticmethod
    def finish(command, home, env, program, names):
        options = {"input": program.stdin.encode()} if program.stdin is not None else {"stdin": subprocess.DEVNULL}
        try:
            done = subprocess.run(command, cwd=home, env=env, capture_output=True, timeout=TIMEOUT, check=False, **options)
        except subprocess.TimeoutExpired as late:
            return plain(late.stdout or b"", names), plain(late.stderr or b"", names), "late"
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        return plain(done.stdout, names), plain(done.stderr, names), code


def difference(host, guest):
    """The lines that differ, for people."""
    def lines(result):
        out, err, code = result
        return [f"out {line}" for line in out.decode("utf8", "backslashreplace").splitlines()] + [
            f"err {line}" for line in err.decode("utf8", "backslashreplace").splitlines()] + [f"code {code}"]
    shown = list(difflib.unified_diff(lines(host), lines(guest), "host", "guest", lineterm="", n=1))[2:]
    told = [line if len(line) < 400 else f"{line[:300]} ... {len(line)} characters" for line in shown[:40]]
    return "\n".join(told) or "only the ends of lines differ"


@unittest.skipIf(WITHOUT, f"guest: {WITHOUT}")
class Conformance(unittest.TestCase):
    def test_programs_do_in_a_guest_what_they_do_on_the_host(self):
        explained = json.loads((HERE / "differences.json").read_text())
        wanted = os.environ.get("TARE_CASE", "")
        programs = [program for program in all_programs() if wanted in program.name]
        self.assertEqual(len(programs), len({program.name for program in programs}), "two programs have one name")
        if not wanted:
            self.assertEqual(set(explained) - {program.name for program in programs}, set(), "explained, but not there")
        with tempfile.TemporaryDirectory(prefix="tare-conformance-") as base:
            runner = Runner(pathlib.Path(base))
            with concurrent.futures.ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
                results = list(pool.map(runner.run, range(len(programs)), programs))
        for program, (host, guest) in zip(programs, results):
            with self.subTest(program.name):
                if program.name in explained:
                    self.assertNotEqual(host, guest, "it is equal now: take it off differences.json")
                elif host != guest:
                    self.fail("\n" + difference(host, guest))
        equal = sum(host == guest for host, guest in results)
        print(f"{len(programs)} programs, {equal} equal, {len(explained)} explained")


if __name__ == "__main__":
    unittest.main(verbosity=1)
