"""`tare gate` on real runs: the pull request of docs/budgets.md, and everything that must not pass."""

import json
import re
import shlex
import shutil
import xml.etree.ElementTree

import harness

DOCUMENT = (harness.ROOT / "docs" / "budgets.md").read_text(encoding="utf-8")
FAST = "#!/bin/sh\nexit 0\n"
# A loop of the shell: slower by far more than any noise, and without a clock.
SLOW = "#!/bin/sh\ni=0\nwhile [ $i -lt 15000 ]; do i=$((i + 1)); done\n"


def documented(start):
    """The block of the document that starts with a line, without its fence."""
    return re.search(rf"```\w+\n{re.escape(start)}\n(.*?)```", DOCUMENT, re.S).group(1)


def documented_commands():
    return [shlex.split(line)[1:] for line in re.findall(r"run: (tare .*)", documented("# .github/workflows/performance.yml"))]


class GateTest(harness.TareTest):
    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        path.chmod(0o755)

    def measure(self, name, script=FAST, processes=5, iterations=15):
        self.write("app.sh", script)
        result = self.tare("spawn", "--targets", "sh", "--target", "app=cmd:./app.sh", "--rows", "command_exit",
                           "--processes", processes, "--iterations", iterations, "--warmup", 1, "--output", name)
        self.assertEqual(result.returncode, 0, result.stderr)

    def gate(self, budgets, *arguments, env=None):
        self.write("tare.toml", budgets)
        # No calibration of this machine, whatever it holds.
        return self.tare("gate", *arguments, env={"XDG_CACHE_HOME": str(self.folder / "cache"), **(env or {})})

    def edited(self, name, change, of="run.json"):
        document = self.document(of)
        change(document)
        (self.folder / name).write_text(json.dumps(document), encoding="utf-8")


class PullRequest(GateTest):
    def test_the_documented_example(self):
        """From the baseline to an annotated failure, with the very commands and budgets of the document."""
        self.write("base/app.sh", FAST)
        self.write("change/app.sh", SLOW)
        self.write("change/tare.toml", documented("# tare.toml"))
        commands = documented_commands()
        self.assertEqual([c[0] for c in commands], ["calibrate", "spawn", "spawn", "gate"])
        cache = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        for command in commands[:3]:
            result = self.tare(*command, env=cache)
            self.assertEqual(result.returncode, 0, result.stderr)
        # What else this machine is doing right now must not decide the test.
        for run in ("base.json", "change.json"):
            self.edited(run, lambda d: d["host"].update(load=[]), of=run)
        summary = self.folder / "summary.md"
        summary.write_text("what an earlier command wrote\n", encoding="utf-8")
        gate = self.tare(*commands[3], env={**cache, "GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(gate.returncode, 3, gate.stdout + gate.stderr)
        self.assertRegex(gate.stdout, r"(?m)^::error title=no slower than main%3A fail::command_exit on app, total p50: .*; \+[0-9,.]+ %25 \(p50 of all samples: ")
        self.assertNotIn("::warning", gate.stdout)
        self.assertTrue(gate.stderr.startswith("gate        fail – 1 of 4 figures failed (3 budgets)"), gate.stderr)
        text = summary.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("what an earlier command wrote\n# Gate: fail"), text)
        cases = xml.etree.ElementTree.parse(self.folder / "gate.xml").getroot().findall("testsuite/testcase")
        self.assertEqual([len(case) for case in cases], [0, 1, 0, 0])
        self.assertEqual(cases[1][0].tag, "failure")

        # The same change is fine beside itself, and the budgets that need no baseline still hold.
        shutil.copy(self.folder / "change.json", self.folder / "again.json")
        again = self.tare("gate", "--budgets", "change/tare.toml", "--baseline", "change.json", "again.json", env=cache)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("run and baseline are one and the same run", again.stderr)


class NothingMissingPasses(GateTest):
    def test_a_gate_never_passes_because_something_is_missing(self):
        self.measure("run.json")
        relative = "[[budget]]\nversus = 'baseline'\nmax_increase = '900 %'\n"
        self.edited("no_row.json", lambda d: d.update(rows=[]))
        self.edited("failed.json", lambda d: d["rows"][0].update(status="failed", reason="it fell over"))
        self.edited("unavailable.json", lambda d: d["rows"][0].update(status="unavailable", reason="not installed"))
        self.edited("no_metric.json", lambda d: d["rows"][0]["metrics"].clear())
        self.edited("incomplete.json", lambda d: d.update(complete=False, finishedAt=None))
        self.edited("unchecked.json", lambda d: [r["invariants"].clear() for r in d["rows"]])
        self.edited("other_unit.json", lambda d: [m.update(unit="MB") for r in d["rows"] for m in r["metrics"].values()])
        absolute = "[[budget]]\nmax = '1 min'\n"
        cases = [
            # budgets, arguments, what the table says
            (absolute, ["no_row.json"], "the run has no row"),
            (absolute, ["failed.json"], "failed: it fell over"),
            (absolute, ["unavailable.json"], "unavailable: not installed"),
            (absolute + "unavailable = 'skip'\n", ["unavailable.json"], "every row that it matches is unavailable"),
            (absolute, ["no_metric.json"], "no metric 'total'"),
            (absolute, ["incomplete.json"], "the run is incomplete"),
            (absolute, ["unchecked.json"], "nothing was checked"),
            (absolute, ["other_unit.json"], "the limit is in min, the figure in MB"),
            (absolute + "row = 'command_exot'\n", ["run.json"], "did you mean 'command_exit'?"),
            (absolute + "target = 'bun'\n", ["run.json"], "the run has no target 'bun'"),
            (absolute + "metric = 'spawm'\n", ["run.json"], "no metric 'spawm'"),
            (absolute + "quantile = 'p99'\n", ["run.json"], "n/a (n<100)"),
            ("[[budget]]\ncounter = 'files'\nmax = 9\n", ["run.json"], "no counter 'files'"),
            ("[[budget]]\nresource = 'pssBytes'\nmax = '1 GB'\n", ["no_row.json"], "the run has no row"),
            ("[[budget]]\ntax = 'emulation'\nmax = 9\n", ["run.json"], "no emulation tax"),
            ("[[budget]]\noutcome = 'failed'\nmax = 9\n", ["failed.json"], "failed: it fell over"),
            (relative, ["run.json"], "no --baseline was given"),
            (relative, ["--baseline", "run.json", "no_row.json"], "the run has no such row"),
            (relative, ["--baseline", "no_row.json", "run.json"], "the baseline has no such row"),
            (relative, ["--baseline", "run.json", "failed.json"], "failed: it fell over"),
            (relative + "unavailable = 'skip'\n", ["--baseline", "run.json", "unavailable.json"], "unavailable"),
            (relative, ["--baseline", "other_unit.json", "run.json"], "the baseline is in MB, the run in ms"),
            (relative.replace("baseline", "node"), ["run.json"], "no target 'node' in the run (it has sh, app)"),
        ]
        for budgets, arguments, expected in cases:
            with self.subTest(budgets=budgets, arguments=arguments):
                result = self.gate(budgets, *arguments)
                self.assertEqual(result.returncode, 3, result.stderr + result.stderr)
                self.assertIn(expected, " ".join(result.stderr.split()))
                self.assertIn("unmeasured", result.stderr.splitlines()[0])

    def test_broken_invariants_fail_whatever_the_figures_are(self):
        self.measure("run.json")
        self.edited("broken.json", lambda d: d.update(invariants={"ok": False, "failures": ["command_exit on app: exit_code"]}))
        result = self.gate("[[budget]]\nmax = '1 min'\n", "broken.json")
        self.assertEqual(result.returncode, 3)
        self.assertIn("fail invariants", result.stderr)


class Verdicts(GateTest):
    def test_inconclusive_is_a_warning_and_strict_an_exit_code(self):
        self.measure("run.json", processes=1)
        self.measure("new.json", processes=1)
        budgets = "[[budget]]\nversus = 'baseline'\nmax_increase = '900 %'\n"
        lenient = self.gate(budgets, "--baseline", "run.json", "new.json")
        self.assertEqual(lenient.returncode, 0, lenient.stderr)
        self.assertIn("needs 4 processes a side", " ".join(lenient.stderr.split()))
        self.assertTrue(lenient.stderr.endswith("tare: warning: a figure is inconclusive (with --strict that is exit 4)\n"), lenient.stderr)
        strict = self.gate(budgets, "--baseline", "run.json", "--strict", "--github", "new.json")
        self.assertEqual(strict.returncode, 4)
        self.assertTrue(strict.stdout.startswith("::warning title="), strict.stdout)
        # A failure weighs more.
        both = self.gate(budgets + "[[budget]]\nmax = '1 ns'\n", "--baseline", "run.json", "--strict", "new.json")
        self.assertEqual(both.returncode, 3)

    def test_outputs(self):
        self.measure("run.json")
        result = self.gate("[[budget]]\nmax = '1 min'\n", "--json", "--output", "g.json", "--markdown", "g.md", "--junit", "g.xml", "run.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout), self.document("g.json"))
        self.assertEqual(self.document("g.json")["verdict"], "pass")
        self.assertTrue((self.folder / "g.md").read_text().startswith("# Gate: pass – all 2 figures passed (1 budget)"))
        self.assertIn("all 2 figures passed (1 budget)", result.stderr)
        silent = self.gate("[[budget]]\nmax = '1 min'\n", "--github", "run.json")
        self.assertEqual((silent.returncode, silent.stdout), (0, ""))

    def test_a_summary_that_is_nearly_full_is_not_overrun(self):
        self.measure("run.json")
        summary = self.folder / "summary.md"
        summary.write_bytes(b"x" * ((1 << 20) - 200))
        self.gate("[[budget]]\nmax = '1 min'\n", "--github", "run.json", env={"GITHUB_STEP_SUMMARY": str(summary)})
        self.assertLessEqual(summary.stat().st_size, 1 << 20)


class Refusals(GateTest):
    def refused_gate(self, budgets, *arguments):
        result = self.gate(budgets, *arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("tare: "), lines[0])
        return lines[0]

    def test_bad_budget_files(self):
        self.measure("run.json")
        cases = [
            ("", "no [[budget]] in it"),
            ("[[budget]]\nmax = ", "tare.toml:2:"),
            ("[budget]\nmax = 1", "'budget' is not a list of tables"),
            ("[[budget]]\nmaxx = '1 ms'", "tare.toml:2:1: unknown key 'maxx'; did you mean 'max'?"),
            ("[[budget]]\nmax = '40 parsec'", "no quantity: '40 parsec'"),
            ("[[budget]]\nrow = 'a'", "limits nothing"),
            ("[[budget]]\nmax = '-1 ms'", "max is negative"),
            ("[[budget]]\nmax = '1 ms'\nmin = '1 s'", "min is above max"),
            ("[[budget]]\nmax = 1\nmax_increase = '5 %'", "both max and max_increase"),
            ("[[budget]]\nversus = 'baseline'\nmax_increase = 5", "tare.toml:3:1: max_increase must be a percentage, got a plain number"),
            ("[[budget]]\nmax = '1 s'\n[[budget]]\nmax = '2 s'", "tare.toml:3:1: a second budget for total p50"),
            ("[[budget]]\nresource = 'threads'\nmax = '1 ms'", "must be a plain number"),
            ("[[budget]]\nquantile = 'max'\nmax = '1 ms'", "quantile cannot be max"),
        ]
        for budgets, expected in cases:
            with self.subTest(budgets=budgets):
                self.assertIn(expected, self.refused_gate(budgets, "run.json"))
        (self.folder / "utf16.toml").write_bytes("[[budget]]\nmax = 1".encode("utf-16"))
        self.assertIn("it is UTF-16", self.refused_gate("", "--budgets", "utf16.toml", "run.json"))
        self.assertIn("No such file", self.refused_gate("", "--budgets", "none.toml", "run.json"))
        self.assertIn("it is a folder", self.refused_gate("", "--budgets", ".", "run.json"))

    def test_bad_command_lines_and_documents(self):
        self.measure("run.json")
        good = (self.folder / "run.json").read_bytes()
        (self.folder / "cut.json").write_bytes(good[: len(good) // 2])
        (self.folder / "bom.json").write_bytes(b"\xef\xbb\xbf" + good)
        self.edited("newer.json", lambda d: d.update(schema="tare.run.v2"))
        (self.folder / "link.json").symlink_to("run.json")
        budgets = "[[budget]]\nmax = '1 min'\n"
        cases = [
            ([], "RUN"),
            (["--baseline", "run.json", "run.json"], "--baseline is the run itself"),
            (["--baseline", "./run.json", "run.json"], "--baseline is the run itself"),
            (["--baseline", "run.json", "link.json"], "--baseline is the run itself"),
            (["none.json"], "No such file"),
            (["cut.json"], "it ends early"),
            (["bom.json"], "byte order mark"),
            (["newer.json"], "tare.run.v2"),
            (["--baseline", "cut.json", "run.json"], "it ends early"),
            (["--json", "--github", "run.json"], "both write to standard output"),
            (["--output", "run.json", "run.json"], "would overwrite the run"),
            (["--junit", "tare.toml", "run.json"], "would overwrite the budgets"),
            (["--junit", "a", "--markdown", "./a", "run.json"], "are the same file"),
            (["--output", "/proc/gate.json", "run.json"], "cannot write /proc/gate.json"),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.refused_gate(budgets, *arguments))


if __name__ == "__main__":
    harness.main()
