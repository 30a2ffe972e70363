"""`tare compare` on documents that real runs wrote: its answer, its outputs, and what it refuses."""

import json
import os
import sys

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "schema"))
import validate  # noqa: E402

SCHEMA = validate.load(harness.ROOT / "docs" / "comparison.schema.json")


class Compare(harness.TareTest):
    def measure(self, name, *more):
        arguments = ["--targets", "sh", "--rows", "exec_true,spawn_exit", "--warmup", "1", "--processes", "4", "--iterations", "5"]
        result = self.tare("spawn", *(more or arguments), "--output", name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.document(name)

    def edit(self, name, source, **changes):
        document = {**json.loads((self.folder / source).read_text()), **changes}
        (self.folder / name).write_text(json.dumps(document))

    def compared(self, *arguments, env=None):
        """The document of a comparison that must succeed."""
        result = self.tare("compare", *arguments, "--json", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertEqual(list(validate.problems(SCHEMA, document)), [])
        return document

    def scaled(self, name, source, factor):
        """The same run with all its times multiplied, and both as if the machine had been quiet."""
        document = json.loads((self.folder / source).read_text())
        document["host"]["load"] = []
        (self.folder / source).write_text(json.dumps(document))
        for row in document["rows"]:
            for metric in row["metrics"].values():
                metric["samples"] = [s * factor for s in metric["samples"]]
        (self.folder / name).write_text(json.dumps(harness.resummarise(document)))

    def test_a_run_against_another(self):
        self.measure("a.json")
        self.measure("b.json")
        document = self.compared("a.json", "b.json")
        (comparison,) = document["comparisons"]
        self.assertEqual((comparison["missing"], comparison["extra"]), ([], []))
        self.assertTrue(comparison["sameMachine"])
        self.assertFalse(comparison["paired"])
        totals = [e for e in comparison["entries"] if (e["metric"], e["quantile"]) == ("total", "p50")]
        self.assertEqual(sorted(e["row"] for e in totals), ["exec_true", "spawn_exit"])
        for entry in totals:
            self.assertEqual((entry["baseProcesses"], entry["nowProcesses"]), (4, 4))
            self.assertIsNotNone(entry["interval"])
            self.assertNotEqual(entry["change"], "missing")

    def test_says_what_became_worse_and_better_and_which_way(self):
        self.measure("a.json", "--targets", "sh", "--rows", "exec_true", "--warmup", "1", "--processes", "8", "--iterations", "5")
        self.scaled("slow.json", "a.json", 3)
        for base, new, change in [("a.json", "slow.json", "worse"), ("slow.json", "a.json", "better")]:
            result = self.tare("compare", base, new)
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            self.assertRegex(result.stderr.splitlines()[0], rf"^verdict +\d+ {change}")
            self.assertIn("exec_true", result.stderr)

    def test_two_lanes_of_one_run_are_paired(self):
        lanes = ["--target", "one=cmd:/bin/true", "--target", "two=cmd:/bin/true"]
        self.measure("run.json", "--targets", "sh", *lanes, "--rows", "command_exit", "--warmup", "1", "--iterations", "12")
        (comparison,) = self.compared("run.json@one", "run.json@two")["comparisons"]
        self.assertTrue(comparison["paired"])
        self.assertEqual(comparison["differences"], [])
        self.assertEqual({(e["target"], e["newTarget"]) for e in comparison["entries"]}, {("one", "two")})
        self.assertEqual(comparison["entries"][0]["pairs"], 12)
        self.assertIn("did you mean 'run.json@two'?", self.refused("compare", "run.json@one", "run.json@twp"))
        self.assertIn("one run", self.refused("compare", "run.json", "run.json@two"))
        self.assertIn("named twice", self.refused("compare", "run.json@one", "./run.json@one"))
        (self.folder / "run.json@one").write_text((self.folder / "run.json").read_text())
        whole = self.compared("run.json@one", "run.json")
        self.assertIsNone(whole["base"]["target"], "a file of that name comes before a lane")

    def test_several_runs_and_every_output(self):
        self.measure("a.json")
        self.scaled("b.json", "a.json", 3)
        document = self.compared("a.json", "b.json", "b.json@sh", "--output", "x/c.json", "--markdown", "x/c.md")
        self.assertEqual(len(document["comparisons"]), 2)
        self.assertEqual(self.document("x/c.json"), document)
        self.assertTrue((self.folder / "x" / "c.md").read_text().startswith("# Comparison of 2 runs with `a.json`"))
        table = self.tare("compare", "a.json", "b.json", "--all", "--output", "c.json").stderr
        self.assertTrue(table.rstrip().endswith("wrote       c.json"), table)
        narrow = self.tare("compare", "a.json", "b.json", env={"COLUMNS": "40"}).stderr
        self.assertLessEqual(max(len(line) for line in narrow.splitlines()), 40, narrow)
        self.assertEqual(self.tare("compare", "a.json", "b.json", env={"COLUMNS": "1"}).returncode, 0)

    def test_rows_of_one_side_are_named(self):
        self.measure("both.json")
        self.measure("one.json", "--targets", "sh", "--rows", "exec_true", "--warmup", "1", "--processes", "4", "--iterations", "5")
        (comparison,) = self.compared("both.json", "one.json")["comparisons"]
        self.assertEqual(comparison["missing"], ["spawn_exit on sh"])
        lost = [e for e in comparison["entries"] if e["row"] == "spawn_exit"]
        self.assertEqual({(e["change"], e["verdict"]) for e in lost}, {("missing", "unmeasured")})
        (comparison,) = self.compared("one.json", "both.json")["comparisons"]
        self.assertEqual(comparison["extra"], ["spawn_exit on sh"])

    def test_another_machine_decides_nothing_unless_asked(self):
        base = self.measure("a.json")
        self.scaled("slow.json", "a.json", 3)
        self.edit("other.json", "slow.json", host={**base["host"], "cpu": "Z80"})
        (comparison,) = self.compared("a.json", "other.json")["comparisons"]
        self.assertFalse(comparison["sameMachine"])
        self.assertIn({"what": "CPU", "base": base["host"]["cpu"], "now": "Z80"}, comparison["differences"])
        self.assertEqual({e["change"] for e in comparison["entries"]}, {"unclear"})
        (comparison,) = self.compared("a.json", "other.json", "--across-machines")["comparisons"]
        self.assertNotIn("measured on different machines", {e["reason"] for e in comparison["entries"]})

    def test_odd_samples_never_become_a_number(self):
        base = self.measure("a.json")

        def with_samples(name, make):
            rows = json.loads(json.dumps(base["rows"]))
            for row in rows:
                for metric in row["metrics"].values():
                    keep = make(metric["samples"])
                    for key in ("round", "process", "atMs", "outcome", "error"):
                        metric[key] = metric[key][: len(keep)]
                    metric["samples"] = keep
            self.edit(name, "a.json", rows=harness.resummarise({"rows": rows})["rows"])

        with_samples("none.json", lambda s: [])
        with_samples("one.json", lambda s: s[:1])
        with_samples("zero.json", lambda s: [0] * len(s))
        with_samples("constant.json", lambda s: [1] * len(s))
        with_samples("lost.json", lambda s: [None] * len(s))
        for name in ("none", "one", "zero", "constant", "lost"):
            for pair in [("a.json", f"{name}.json"), (f"{name}.json", "a.json")]:
                with self.subTest(pair=pair):
                    (comparison,) = self.compared(*pair)["comparisons"]
                    verdicts = {e["verdict"] for e in comparison["entries"]}
                    if name in ("none", "one", "lost"):
                        self.assertEqual(verdicts & {"pass", "fail"}, set())

    def test_bad_documents(self):
        self.measure("good.json")
        good = (self.folder / "good.json").read_text()
        changed = json.loads(good)
        changed["rows"][0]["metrics"]["total"]["round"].pop()
        cases = {
            "missing.json": (None, "No such file"),
            "empty.json": (b"", "it is empty"),
            "truncated.json": (good[: len(good) // 2].encode(), "it ends early"),
            "bom.json": (b"\xef\xbb\xbf" + good.encode(), "byte order mark"),
            "utf16.json": (good.encode("utf-16"), "UTF-16"),
            "text.json": (b"p50 = 3", "not JSON"),
            "other.json": (b'{"results": []}', "is not a run document"),
            "newer.json": (good.replace("tare.run.v1", "tare.run.v2").encode(), "use the version of tare that wrote it"),
            "gate.json": (b'{"schema": "tare.gate.v1"}', "its schema is 'tare.gate.v1'"),
            "comparison.json": (b'{"schema": "tare.comparison.v1"}', "its schema is 'tare.comparison.v1'"),
            "lengths.json": (json.dumps(changed).encode(), "differ in length"),
        }
        for name, (content, expected) in cases.items():
            if content is not None:
                (self.folder / name).write_bytes(content)
            for pair in [("good.json", name), (name, "good.json")]:
                with self.subTest(pair=pair):
                    line = self.refused("compare", *pair, "--output", "c.json")
                    self.assertIn(expected, line)
                    self.assertIn(name, line)
        (self.folder / "folder").mkdir()
        self.assertIn("folder", self.refused("compare", "good.json", "folder"))
        self.assertFalse((self.folder / "c.json").exists())

    def test_figures_that_are_not_those_of_the_samples_are_refused(self):
        base = self.measure("a.json")
        forged = json.loads(json.dumps(base))
        forged["rows"][0]["metrics"]["total"]["summary"]["p50"] = 1e-9
        twice = {**base, "rows": base["rows"] + base["rows"][:1]}
        for name, document, why in (("forged.json", forged, "does not follow from the samples"), ("twice.json", twice, "is there twice")):
            self.edit(name, "a.json", **document)
            self.assertIn(why, self.refused("compare", "a.json", name))

    def test_bad_command_lines(self):
        self.measure("a.json")
        self.scaled("b.json", "a.json", 1.01)
        os.symlink("a.json", self.folder / "link.json")
        cases = [
            ([], "no run documents to compare"),
            (["a.json"], "nothing to compare a.json with"),
            (["a.json", ""], "empty name"),
            (["a.json", "a.json"], "a.json is named twice"),
            (["a.json", "./a.json"], "named twice"),
            (["a.json", "link.json"], "named twice"),
            (["a.json", "b.json", "b.json"], "b.json is named twice"),
            (["a.json", "b.json@shh"], "did you mean 'b.json@sh'?"),
            (["a.json", "b.json@"], "has no target ''"),
            (["a.json", "c.json@sh"], "c.json@sh"),
            (["a.json", "b.json", "--tolerance", "-1"], "--tolerance must be 0 to 1000 (percent), got -1"),
            (["a.json", "b.json", "--tolerance", "1001"], "got 1001"),
            (["a.json", "b.json", "--tolerance", "nan"], "got nan"),
            (["a.json", "b.json", "--tolerance", "5 ms"], "got 5 ms"),
            (["a.json", "b.json", "--tolerance"], "--tolerance needs a value"),
            (["a.json", "b.json", "--tolerence", "5"], "did you mean '--tolerance'?"),
            (["a.json", "b.json", "--output", "x", "--markdown", "./x"], "--output and --markdown are the same file"),
            (["a.json", "b.json", "--output", "a.json"], "--output would overwrite the base"),
            (["a.json", "b.json@sh", "--markdown", "b.json"], "--markdown would overwrite a new run"),
            (["a.json", "b.json", "--output", "link.json"], "--output would overwrite the base"),
            (["a.json", "b.json", "--output", "/proc/c.json"], "cannot write /proc/c.json"),
            (["a.json", "b.json", "--markdown", ""], "cannot write ''"),
        ]
        before = sorted(os.listdir(self.folder))
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.refused("compare", *arguments))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_stdout_that_takes_nothing_is_an_error(self):
        self.measure("a.json")
        self.scaled("b.json", "a.json", 1.01)
        for arguments in [["--json"], ["--json", "--all"]]:
            reader, writer = os.pipe()
            os.close(reader)
            process = self.start("compare", "a.json", "b.json", *arguments, "--output", "c.json", stdout=writer)
            os.close(writer)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("cannot write to standard output (Broken pipe)", err.splitlines()[-1])
            self.assertEqual(self.document("c.json")["schema"], "tare.comparison.v1")
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = self.tare("compare", "a.json", "b.json", *arguments, stdout=full)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("No space left", result.stderr)

    def test_help_and_completions_know_it(self):
        text = self.tare("compare", "--help")
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertIn("Example", text.stdout)
        self.assertIn("tare compare run.json@node run.json@bun", text.stdout)
        self.assertIn("--across-machines", self.tare("completions", "bash").stdout)
        self.assertIn("TARE compare", self.tare("completions", "man").stdout)


if __name__ == "__main__":
    harness.main()
