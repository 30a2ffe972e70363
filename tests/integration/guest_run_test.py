"""`tare guest run` on the real engine: live input and output, exit codes, signals, limits, what is left behind."""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import unittest

import harness

class GuestRun(harness.TareTest):
    def guest(self, *arguments, stdin=b"", **options):
        return subprocess.run([harness.TARE, "guest", "run", *arguments], input=stdin, capture_output=True, timeout=60,
                              cwd=self.folder, check=False, **options)

    def launch(self, *arguments, **options):
        return subprocess.Popen([harness.TARE, "guest", "run", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.folder, **options)

    def test_output_is_exact_and_the_streams_are_apart(self):
        script = "process.stdout.write(Buffer.from([0,255,10,13,128])); console.error('on stderr')"
        result = self.guest("-e", script)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"\0\xff\n\r\x80", b"on stderr\n"))

    def test_input_is_piped_through(self):
        data = os.urandom(1 << 20)
        result = self.guest("-e", "process.stdin.pipe(process.stdout)", stdin=data)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, data)

    def test_words_behind_two_dashes_are_the_guests(self):
        show = "console.log(JSON.stringify(process.argv.slice(1)))"
        (self.folder / "show.js").write_text(show.replace("slice(1)", "slice(2)"), encoding="utf-8")
        for words, expected in [
            (["-e", show, "--", "-x", "--", "y"], ["-x", "--", "y"]),
            (["-e", show, "x", "--", "-y"], ["x", "--", "-y"]),
            (["--", "show.js", "-x"], ["-x"]),
            (["show.js", "-x", "--", "--memory"], ["-x", "--", "--memory"]),
        ]:
            with self.subTest(words=words):
                result = self.guest(*words)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assertEqual(json.loads(result.stdout), expected)

    def test_the_exit_code_is_the_guests(self):
        self.assertEqual(self.guest("-e", "process.exit(7)").returncode, 7)
        self.assertEqual(self.guest("-e", "process.kill(process.pid, 'SIGKILL')").returncode, 137)
        self.assertEqual(self.guest("-e", "throw new Error('no')").returncode, 1)

    def test_a_file_runs_with_its_arguments(self):
        (self.folder / "main.js").write_text("console.log(JSON.stringify(process.argv.slice(1)))")
        result = self.guest("main.js", "a", "--flag", "-x")
        self.assertEqual(json.loads(result.stdout), ["/root/main.js", "a", "--flag", "-x"])
        result = self.guest("-", "b", stdin=b"console.log(process.argv[2])")
        self.assertEqual(result.stdout, b"b\n")

    def test_nothing_of_the_host_is_seen(self):
        script = """
          const fs = require('node:fs');
          console.log(JSON.stringify([fs.existsSync('/etc/passwd'), fs.existsSync(%r), Object.keys(process.env).sort()]));
        """ % str(self.folder)
        result = self.guest("-e", script, env={**os.environ, "SECRET": "x", "LANG": "C.UTF-8"})
        self.assertEqual(json.loads(result.stdout), [False, False, ["HOME", "LANG", "PATH"]], result.stderr)
        result = self.guest("--allow", "env", "-e", "console.log(process.env.SECRET)", env={**os.environ, "SECRET": "x"})
        self.assertEqual(result.stdout, b"x\n")

    def test_limits_are_named_on_stderr(self):
        result = self.guest("--timeout", "0.3", "-e", "for (;;);")
        self.assertEqual(result.returncode, 137)
        self.assertIn(b"tare: the guest was stopped (time: 0.3 s); --timeout gives it more\n", result.stderr)
        result = self.guest("--memory", "32", "-e", "const all = []; for (;;) all.push(new Array(1e5).fill({}))")
        self.assertEqual(result.returncode, 137)
        self.assertIn(b"tare: the guest was stopped (memory: 32 MB); --memory gives it more\n", result.stderr)

    def test_signals_reach_the_guest(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.launch("-e", "console.log('up'); setInterval(() => {}, 1000)") as guest:
                self.assertEqual(guest.stdout.readline(), b"up\n")
                guest.send_signal(number)
                self.assertEqual(guest.wait(timeout=30), code)

    def test_a_reader_that_leaves_ends_it_quietly(self):
        with self.launch("-e", "setInterval(() => console.log('x'.repeat(1000)), 0)") as guest:
            guest.stdout.readline()
            guest.stdout.close()
            self.assertEqual(guest.wait(timeout=30), 141)
            self.assertEqual(guest.stderr.read(), b"")

    def test_the_engine_never_outlives_the_command(self):
        with self.launch("-e", "console.log('up'); for (;;);") as guest:
            self.assertEqual(guest.stdout.readline(), b"up\n")
            children = children_of(guest.pid)
            self.assertTrue(children)
            guest.kill()
            guest.wait()
            descriptors = [os.pidfd_open(pid) for pid in children if os.path.exists(f"/proc/{pid}")]
            for descriptor in descriptors:
                with os.fdopen(descriptor) as process:
                    self.assertTrue(wait_readable(process, 10), "the engine is still there")

    def test_profiles_name_what_is_busy(self):
        script = """
          function busyFunction() { for (const end = Date.now() + 300; Date.now() < end;) Math.sqrt(end); }
          globalThis.kept = [];
          function allocating() { for (let i = 0; i < 3000; i++) kept.push(new Array(1000).fill(i)); }
          allocating();
          busyFunction();
        """
        (self.folder / "busy.js").write_text(script, encoding="utf-8")
        flags = ["--cpu-prof", "a.cpuprofile", "--heap-prof", "a.heapprofile"]
        result = self.guest(*flags, "busy.js")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        self.assert_cpu_profile("a.cpuprofile", "busyFunction", "/root/busy.js")
        profile = json.loads((self.folder / "a.heapprofile").read_text(encoding="utf-8"))
        nodes = list(heap_nodes(profile["head"]))
        self.assertIn(("allocating", "/root/busy.js"),
                      {(node["callFrame"]["functionName"], node["callFrame"]["url"]) for node in nodes})
        ids = {node["id"] for node in nodes}
        self.assertTrue(profile["samples"])
        self.assertTrue(all(sample["nodeId"] in ids and sample["size"] > 0 for sample in profile["samples"]))

    def test_a_profile_that_no_socket_holds_comes_whole(self):
        script = """
          for (let i = 0; i < 100; i++) {
            const name = `busy${i}`.padEnd(20_000, 'x');
            new Function(`return function ${name}() { for (const end = Date.now() + 5; Date.now() < end;) Math.sqrt(end); }`)()();
          }
        """
        (self.folder / "busy.js").write_text(script, encoding="utf-8")
        result = self.guest("--cpu-prof", "a.cpuprofile", "busy.js")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertGreater((self.folder / "a.cpuprofile").stat().st_size, 400_000)
        json.loads((self.folder / "a.cpuprofile").read_text(encoding="utf-8"))

    def assert_cpu_profile(self, name, function, url):
        profile = json.loads((self.folder / name).read_text(encoding="utf-8"))
        self.assertEqual(set(profile), {"nodes", "startTime", "endTime", "samples", "timeDeltas"})
        self.assertLess(profile["startTime"], profile["endTime"])
        self.assertEqual(len(profile["samples"]), len(profile["timeDeltas"]))
        ids = {node["id"] for node in profile["nodes"]}
        self.assertLessEqual(set(profile["samples"]), ids)
        frames = [node["callFrame"] for node in profile["nodes"]]
        self.assertIn((function, url), {(frame["functionName"], frame["url"]) for frame in frames})
        for frame in frames:  # names as the guest sees them, and nothing of this machine
            self.assertRegex(frame["url"], r"^(|node:.*|/root/.*|\[eval\].*|evalmachine.*)$")

    def test_who_was_killed_or_left_has_its_profiles_too(self):
        for arguments, code, function in (
            (["--timeout", "0.5", "-e", "function spin() { for (;;); } spin()"], 137, "spin"),
            (["--memory", "32", "-e", "function eat() { const all = []; for (;;) all.push(new Array(1e5).fill({})) } eat()"], 137, "eat"),
            (["-e", "function leave() { for (const end = Date.now() + 200; Date.now() < end;); process.exit(3) } leave()"], 3, "leave"),
        ):
            with self.subTest(function=function):
                result = self.guest("--cpu-prof", "k.cpuprofile", "--heap-prof", "k.heapprofile", *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assert_cpu_profile("k.cpuprofile", function, "[eval]")
                self.assertIn("head", json.loads((self.folder / "k.heapprofile").read_text(encoding="utf-8")))

    def test_only_the_guest_itself_is_profiled(self):
        script = """
          const { spawnSync } = require('node:child_process');
          spawnSync('node', ['-e', 'function inChild() { for (const end = Date.now() + 200; Date.now() < end;); } inChild()']);
        """
        self.assertEqual(self.guest("--cpu-prof", "p.cpuprofile", "-e", script).returncode, 0)
        self.assertNotIn("inChild", (self.folder / "p.cpuprofile").read_text(encoding="utf-8"))

    def test_stages_are_lines(self):
        line = re.compile(rb"stage=[a-z_]+ calls=[1-9][0-9]* total_us=[0-9]+ avg_us=[0-9]+ max_us=[0-9]+")
        result = self.guest("--trace", "-e", "console.log(1)")
        self.assertEqual((result.returncode, result.stdout), (0, b"1\n"))
        lines = result.stderr.splitlines()
        self.assertTrue(all(line.fullmatch(one) for one in lines), lines)
        self.assertIn(b"stage=execute_total calls=1", result.stderr)
        result = self.guest("--trace=stages.txt", "-e", "process.exit(4)")
        self.assertEqual((result.returncode, result.stderr), (4, b""))
        self.assertIn("stage=process_exit_cleanup calls=1", (self.folder / "stages.txt").read_text(encoding="utf-8"))

    def test_files_that_cannot_be_written_are_known_before_it_runs(self):
        (self.folder / "s.js").write_text("console.log('ran')", encoding="utf-8")
        for flags in (["--cpu-prof", "x", "--heap-prof", "./x"], ["--cpu-prof", "."], ["--heap-prof", "s.js/below"],
                      ["--cpu-prof", "s.js"], ["--cpu-prof", ""], ["--cpu-prof", "y", "--trace=y"]):
            with self.subTest(flags=flags):
                result = self.guest(*flags, "s.js")
                self.assertEqual((result.returncode, result.stdout), (2, b""), result.stderr)
                self.assertEqual(result.stderr.count(b"\n"), 1)
        self.assertEqual((self.folder / "s.js").read_text(encoding="utf-8"), "console.log('ran')")

    def test_bad_flags_are_one_line(self):
        for arguments, text in ((["--allow", "file"], "--allow has no permission 'file'"), (["--dance", "x.js"], "unknown flag '--dance'"),
                                (["--memory", "1", "x.js"], "--memory must be 16 to 65536, got 1"),
                                (["--library", "huge", "x.js"], "--library must be small, modules or large, got huge"),
                                (["--timeout", "no", "x.js"], "--timeout must be a number of seconds"),
                                ([], "there is nothing to run"), (["none.js"], "cannot read none.js")):
            result = self.guest(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertIn(text, result.stderr.decode())
            self.assertEqual(result.stderr.count(b"\n"), 1)


def heap_nodes(node):
    yield node
    for child in node["children"]:
        yield from heap_nodes(child)


def children_of(pid):
    """Of all its threads."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text(encoding="ascii").split()]
    return found


def wait_readable(process, seconds):
    return bool(select.select([process], [], [], seconds)[0])


if __name__ == "__main__":
    harness.main()
