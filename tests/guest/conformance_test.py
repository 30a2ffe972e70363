"""The same programs under host Node and in a guest: stdout, stderr and exit code are equal, byte for byte.

scripts/AREA/NAME.js is a program of its own. scripts/AREA/programs.js is a table of programs, a module that exports
[name, files, argv, options] for each: argv is what follows `node` (without: main.js), options.stdin is its input.
table.js makes such rows of functions. Programs of the area `packages` find what `tare targets install conformance` has
installed: on the host through a link above them, in the guest through the same link to a mount.
differences.json says which programs differ and why; one that is listed there and does not differ fails, too.

TARE_CASE=TEXT runs only programs with that text in their name, TARE_LIBRARY=large or TARE_LIBRARY=modules with that library of the engine. `conformance_test.py --table` renews the table in
docs/guest.md, which says what differs.
"""

import concurrent.futures
import contextlib
import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
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
const [home, packages, files, ...argv] = process.argv.slice(1);
fs.mkdirSync(home, { recursive: true });
if (packages) fs.symlinkSync(packages, path.join(path.dirname(home), 'node_modules'));
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


def packages():
    """The folder of the installed packages, or nothing."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = (cache / "tare" / "conformance").resolve()
    return folder / "node_modules" if (folder / ".tare-installed").exists() else None


LIBRARY = os.environ.get("TARE_LIBRARY", "small")
NODE = host_node()
PACKAGES = packages()
WITHOUT = reason_without_guest() if NODE else "the pinned Node is not installed"


class Program:
    def __init__(self, name, files, argv, stdin=None):
        self.name, self.files, self.argv, self.stdin = name, files, argv, stdin
        self.area = re.split("[/:]", name)[0]
        self.packages = self.area == "packages"


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
        (base / "packages").mkdir()
        if PACKAGES:
            (base / "packages" / "node_modules").symlink_to(PACKAGES)

    def run(self, number, program):
        home = (self.base / "packages" if program.packages else self.base) / f"{number:03}"
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
            mount = ["--mount", f"{PACKAGES}:{PACKAGES}"] if program.packages else []
            shown = str(PACKAGES) if program.packages else ""
            argv = [*mount, "-e", STARTER, str(home), shown, json.dumps(program.files), *program.argv]
        return self.finish([str(TARE), "guest", "run", "--library", LIBRARY, *argv], home, None, program, [])

    @staticmethod
    def finish(command, home, env, program, names):
        given = None if program.stdin is None else program.stdin.encode()
        process = subprocess.Popen(command, cwd=home, env=env, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)
        with process:
            try:
                out, err = process.communicate(given, timeout=TIMEOUT)
                code = process.returncode if process.returncode >= 0 else 128 - process.returncode
            except subprocess.TimeoutExpired as late:
                out, err, code = late.stdout or b"", late.stderr or b"", "late"
            finally:
                # A shell that Node kills leaves its child behind.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return plain(out, names), plain(err, names), code


def difference(host, guest):
    """The lines that differ, for people."""
    def lines(result):
        out, err, code = result
        return [f"out {line}" for line in out.decode("utf8", "backslashreplace").splitlines()] + [
            f"err {line}" for line in err.decode("utf8", "backslashreplace").splitlines()] + [f"code {code}"]
    shown = list(difflib.unified_diff(lines(host), lines(guest), "host", "guest", lineterm="", n=1))[2:]
    told = [line if len(line) < 400 else f"{line[:300]} ... {len(line)} characters" for line in shown[:40]]
    return "\n".join(told) or "only the ends of lines differ"


# What an area is called in the documentation, where that is not its folder's name.
LABELS = {
    "fs_promises": "fs/promises", "timers_promises": "timers/promises", "web_streams": "stream/web", "test_runner": "test",
    "web": "globals of the web", "packages": "npm packages", "sys": "files and processes, mixed", "seed": "children of children",
    "values": "buffers, clones, text", "modules": "modules of both kinds", "options": "options of the command line",
    "stdio": "standard streams", "inspect": "util.inspect",
}
DOCS = HERE.parents[1] / "docs" / "guest.md"
BEGIN, END = "<!-- conformance_test.py --table -->\n", "<!-- end -->\n"


def table_of(programs, explained):
    """How many programs each area has, how many are equal, and why the others are not."""
    areas = {}
    for program in programs:
        areas.setdefault(program.area, []).append(program.name)
    lines = ["| area | programs | equal | what differs, and why |", "|---|---|---|---|"]
    for area, names in sorted(areas.items(), key=lambda one: LABELS.get(one[0], one[0])):
        reasons = {}
        for name in names:
            if name in explained:
                reasons[explained[name]] = reasons.get(explained[name], 0) + 1
        told = "; ".join(reason if count == 1 else f"{count} times: {reason}" for reason, count in reasons.items())
        lines.append(f"| {LABELS.get(area, area)} | {len(names)} | {len(names) - sum(reasons.values())} | {told.replace('|', chr(92) + '|')} |")
    differing = sum(program.name in explained for program in programs)
    share = 100 * (len(programs) - differing) / len(programs)
    lines.append(f"| all | {len(programs)} | {len(programs) - differing} | {share:.1f} % are equal |")
    return "\n".join(lines) + "\n"


def split_docs():
    before, rest = DOCS.read_text().split(BEGIN)
    table, after = rest.split(END)
    return before, table, after


@unittest.skipIf(WITHOUT, f"guest: {WITHOUT}")
class Conformance(unittest.TestCase):
    def test_programs_do_in_a_guest_what_they_do_on_the_host(self):
        explained = json.loads((HERE / "differences.json").read_text())
        wanted = os.environ.get("TARE_CASE", "")
        programs = [program for program in all_programs() if wanted in program.name]
        if not PACKAGES:
            print("without the programs of packages: `tare targets install conformance` has not been run")
            programs = [program for program in programs if not program.packages]
            explained = {name: why for name, why in explained.items() if not name.startswith("packages:")}
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
        differing = [program.name for program in programs if program.name in explained]
        print(f"{len(programs)} programs, {equal} equal, {len(differing)} explained")

    @unittest.skipUnless(PACKAGES, "`tare targets install conformance` has not been run")
    def test_esbuild_wasm_is_refused_clearly(self):
        code = "require('esbuild-wasm').transform('let x: number = 1', { loader: 'ts' }).catch((e) => { console.log(e.message); process.exit(9); })"
        command = [TARE, "guest", "run", "--mount", f"{PACKAGES}:/root/node_modules", "-e", code]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
        self.assertIn(b"disallowed", done.stdout + done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_the_table_in_the_documentation_is_of_these_programs(self):
        explained = json.loads((HERE / "differences.json").read_text())
        self.assertEqual(split_docs()[1], table_of(list(all_programs()), explained), "renew it: conformance_test.py --table")


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        head, _, tail = split_docs()
        DOCS.write_text(head + BEGIN + table_of(list(all_programs()), json.loads((HERE / "differences.json").read_text())) + END + tail)
    else:
        unittest.main(verbosity=1)
