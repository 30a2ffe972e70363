"""Bad input: one clear line on stderr, the documented exit code, nothing written, nothing left running."""

import json

import harness


class Refusals(harness.TareTest):
    def test_command_line(self):
        cases = [
            (["spawn", "--iterations", "0"], "--iterations must be 1 to 100000, got 0"),
            (["spawn", "--iterations", "100001"], "--iterations must be 1 to 100000, got 100001"),
            (["spawn", "--iterations", "1.5"], "got 1.5"),
            (["spawn", "--iterations"], "--iterations needs a value"),
            (["spawn", "--iterations", "5", "--iterations", "6"], "--iterations given more than once"),
            (["spawn", "--iteration", "5"], "unknown flag '--iteration'"),
            (["spawn", "--fanout", "1,,8"], "--fanout has an empty item"),
            (["spawn", "--fanout", "8,8"], "--fanout names '8' twice"),
            (["spawn", "--rows", ""], "--rows has an empty item"),
            (["spawn", "--rows", "node_exit"], "did you mean 'node_exit_1'?"),
            (["spawn", "--targets", "nod"], "no target named 'nod'"),
            (["spawn", "--targets", "nod"], "did you mean 'node'?"),
            (["spawn", "--target", "x=copy:nod"], "did you mean 'node'?"),
            (["spawn", "--target", "x"], "--target must be name=driver:COMMAND, name=cmd:COMMAND or name=copy:TARGET"),
            (["spawn", "--target", "node=cmd:true"], "named twice"),
            (["spawn", "--targets", "sh", "--target", "x=cmd:/no/such/program"], "/no/such/program"),
            (["spawn", "--targets", "sh", "--target", "x=driver:/no/such/driver"], "/no/such/driver"),
            (["spawn", "--targets", "sh", "--target", "x=cmd:'open"], "target 'x' has an open quote"),
            (["spawn", "--targets", "sh", "--rows", "command_exit"], "none of the targets has any of these rows"),
            (["spawn", "--pin", "4000"], "--pin 4000"),
            (["spawn", "--node", "/no/such/prefix"], "/no/such/prefix"),
            (["spawn", "--output", "/proc/run.json"], "cannot write /proc/run.json"),
            (["spawn", "--output", ""], "cannot write ''"),
            (["spawn", "--output", "none/"], "cannot write none/ (Is a directory)"),
            (["spawn", "--output", "a.json", "--markdown", "./a.json"], "--output and --markdown are the same file"),
            (["spawn", "--rows", "x" * 100000], "no row named 'xxx"),
            (["spwan"], "did you mean 'spawn'?"),
            (["targets", "install", "nod"], "did you mean 'node'?"),
            (["driver", "check"], "no driver to check"),
            (["completions", "tcsh"], "tcsh"),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.refused(*arguments))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_environment(self):
        self.assertIn("BENCH_WARMUP must be 0 to 100000, got some", self.refused("spawn", env={"BENCH_WARMUP": "some"}))

    def test_a_node_that_is_not_installed_is_named_with_what_to_do(self):
        line = self.refused("spawn", env={"XDG_CACHE_HOME": str(self.folder / "cache")})
        self.assertIn("node 24.22.3 is not installed", line)
        self.assertIn("`tare targets install node`", line)

    def test_a_peer_that_is_not_installed_is_named_with_what_to_do(self):
        for peer in ["agentos", "bun", "deno"]:
            env = {"XDG_CACHE_HOME": str(self.folder / "cache"), "PATH": "/usr/bin:/bin"}
            line = self.refused("spawn", "--targets", peer, env=env)
            self.assertIn(f"{peer} is not installed; `tare targets install {peer}`", line)

    def test_an_npm_that_brings_nothing_installs_nothing(self):
        npm = self.folder / "bin" / "npm"
        npm.parent.mkdir()
        npm.write_text("#!/bin/sh\nexit 0\n")
        npm.chmod(0o755)
        env = {"XDG_CACHE_HOME": str(self.folder / "cache"), "PATH": f"{npm.parent}:/usr/bin:/bin"}
        self.assertIn("did not bring node_modules/@rivet-dev/", self.refused("targets", "install", "agentos", code=1, env=env))
        self.assertEqual(list((self.folder / "cache" / "tare").iterdir()), [])

    def test_resume_files(self):
        self.tare("spawn", "--targets", "sh", "--iterations", "2", "--warmup", "0", "--output", "good.json")
        good = (self.folder / "good.json").read_text()
        partial = {**json.loads(good), "complete": False, "finishedAt": None}

        def edited(**changes):
            return json.dumps({**partial, **changes}).encode()

        def with_metric(row, **changes):
            return {**row, "metrics": {**row["metrics"], "total": {**row["metrics"]["total"], **changes}}}

        cases = {
            "missing.json": (None, "No such file"),
            "empty.json": (b"", "it is empty"),
            "truncated.json": (good[: len(good) // 2].encode(), "it ends early"),
            "bom.json": (b"\xef\xbb\xbf" + good.encode(), "byte order mark"),
            "utf16.json": (good.encode("utf-16"), "UTF-16"),
            "complete.json": (good.encode(), "it is complete"),
            "newer.json": (edited(schema="tare.run.v2"), "schema 'tare.run.v2'"),
            "other.json": (b'{"results": []}', "is not a run document"),
            "version.json": (edited(tool={**partial["tool"], "version": "9.9.9"}), "written by tare 9.9.9"),
            "host.json": (edited(host={**partial["host"], "cpu": "Z80"}), "another cpu: Z80"),
            "program.json": (edited(targets=[{**t, "sha256": "0" * 64} for t in partial["targets"]]), "another program now"),
            "range.json": (edited(config={**partial["config"], "iterations": 10**18}), "config.iterations (must be 1 to"),
            "twice.json": (edited(rows=partial["rows"] + partial["rows"][:1]), "is there twice"),
            "stranger.json": (edited(rows=[{**partial["rows"][0], "target": "x"}]), "is not part of this run"),
            "rounds.json": (edited(rows=[with_metric(partial["rows"][0], round=[1, 0])]), "round[0] is 1"),
            "huge.json": (json.dumps(harness.resummarise({**partial, "rows": [with_metric(partial["rows"][0], samples=[1e308, 1])]})).encode(),
                          "samples[0] is 1e+308 ms"),
            "bench.json": (edited(config={**partial["config"], "bench": "import"}), "a run of bench 'import'"),
        }
        for name, (content, expected) in cases.items():
            with self.subTest(name=name):
                if content is not None:
                    (self.folder / name).write_bytes(content)
                self.assertIn(expected, self.refused("spawn", "--resume", name))
                if content is not None:
                    self.assertEqual((self.folder / name).read_bytes(), content)
        (self.folder / "partial.json").write_bytes(edited())
        self.assertIn("another --iterations", self.refused("spawn", "--resume", "partial.json", "--iterations", "3"))

    def test_help_has_examples_and_goes_to_stdout(self):
        for command in [[], ["spawn"], ["agents"], ["import"], ["targets"], ["driver", "check"], ["doctor"], ["all"], ["completions"],
                        ["compare"], ["gate"], ["calibrate"], ["guest"], ["guest", "run"]]:
            result = self.tare(*command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Example", result.stdout)
        self.assertRegex(self.tare("--version").stdout, r"^tare \d+\.\d+\.\d+ \(")


if __name__ == "__main__":
    harness.main()
