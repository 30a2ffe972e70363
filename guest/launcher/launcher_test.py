"""What a program sees that tare-guest-launcher starts, part by part, as far as this machine lets it be active."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = sys.argv.pop(1) if len(sys.argv) > 1 else "tare-guest-launcher"
PYTHON = "/usr/bin/python3"


def launch(script, *flags, env=None):
    command = [LAUNCHER, *flags, "--", PYTHON, "-I", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=30, check=False)


def probe():
    result = subprocess.run([LAUNCHER, "--probe"], stderr=subprocess.PIPE, text=True, timeout=30, check=True)
    return json.loads(result.stderr)


ACTIVE = probe()
needs_files = unittest.skipUnless(ACTIVE["landlock"] is True or ACTIVE["privateView"] is True, "neither is active here")


class Launcher(unittest.TestCase):
    def see(self, script, *flags, env=None):
        result = launch(script, *flags, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def test_every_part_is_active_or_says_why_not(self):
        names = {"userNamespace", "mountNamespace", "networkNamespace", "ipcNamespace", "privateView", "capabilities",
                 "noNewPrivs", "landlock", "seccomp"}
        self.assertEqual(set(ACTIVE), names)
        for name, state in ACTIVE.items():
            self.assertTrue(state is True or (isinstance(state, str) and state), name)

    def test_the_program_is_told_what_is_active(self):
        told = json.loads(self.see("import os; print(os.environ['TARE_GUEST_ISOLATION'])"))
        expected = {name: state is True for name, state in ACTIVE.items() if name != "seccomp"}  # the engine's own
        self.assertEqual({name: state is True for name, state in told.items()}, expected)

    def test_network_that_is_allowed_is_not_missing(self):
        told = json.loads(self.see("import os; print(os.environ['TARE_GUEST_ISOLATION'])", "--allow-network"))
        self.assertIs(told["networkNamespace"], False)

    @unittest.skipUnless(ACTIVE["networkNamespace"] is True, "not active here")
    def test_there_is_no_network(self):
        self.assertEqual(self.see("import os; print(os.listdir('/sys/class/net') if os.path.exists('/sys/class/net') else "
                                  "[n for _, n in __import__('socket').if_nameindex()])"), "['lo']")

    @needs_files
    def test_files_of_the_host_are_out_of_reach(self):
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder, "secret")
            secret.write_text("x", encoding="utf-8")
            for act in (f"open({str(secret)!r})", f"open({str(secret.with_name('new'))!r}, 'w')", "open('/etc/passwd')",
                        "__import__('os').listdir('/root')", f"open('/proc/{os.getpid()}/environ')"):
                result = launch(act)
                self.assertNotEqual(result.returncode, 0, act)
                self.assertRegex(result.stderr, "PermissionError|FileNotFoundError|Read-only", act)

    @needs_files
    def test_a_root_can_be_written_and_what_is_readable_only_read(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder, "place")
            place.mkdir()
            self.see(f"open({str(place / 'a')!r}, 'w').write('hello')", "--root", str(place))
            self.assertEqual((place / "a").read_text(encoding="utf-8"), "hello")
            self.assertEqual(self.see(f"print(open({str(place / 'a')!r}).read())", "--read", str(place)), "hello")
            result = launch(f"open({str(place / 'a')!r}, 'w')", "--read", str(place))
            self.assertNotEqual(result.returncode, 0)

    def test_nothing_gives_it_privileges_back(self):
        status = self.see("print(open('/proc/self/status').read())")
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("CapEff:\t0000000000000000", status)
        self.assertIn("CapBnd:\t0000000000000000", status)

    def test_it_dies_with_its_parent(self):
        # A parent that starts one, and is killed once that one runs.
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(f"{folder}/pipe")
            parent = subprocess.Popen([PYTHON, "-c", f"""
import os, subprocess, time
subprocess.run([{LAUNCHER!r}, "--parent", str(os.getpid()), "--root", {folder!r}, "--", "{PYTHON}", "-I", "-c",
                "import time; f = open({f'{folder}/pipe'!r}, 'w'); f.write('up'); f.flush(); time.sleep(100)"])
"""])
            with open(f"{folder}/pipe", encoding="utf-8") as pipe:
                self.assertEqual(pipe.read(2), "up")
                os.kill(parent.pid, signal.SIGKILL)
                parent.wait()
                self.assertEqual(pipe.read(), "")  # the end comes when the writer is gone

    def test_bad_arguments_are_one_line(self):
        for arguments, line in ((["--dance"], "no such flag: --dance"), (["--root"], "--root needs a value"),
                                (["--root", "a", "--", "x"], "--root needs an absolute path"),
                                ([], "there is no program to start")):
            result = subprocess.run([LAUNCHER, *arguments], capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual((result.returncode, result.stderr), (2, f"tare-guest-launcher: {line}\n"))
        result = subprocess.run([LAUNCHER, "--", "/nonexistent"], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(result.returncode, 127)
        self.assertIn("cannot start /nonexistent", result.stderr)


if __name__ == "__main__":
    unittest.main()
