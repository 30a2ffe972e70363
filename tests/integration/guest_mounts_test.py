"""`tare guest run --mount` on the real engine: what comes back to the host, what never leaves a mount, what fails clearly."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess

import harness


class GuestMounts(harness.TareTest):
    def setUp(self):
        super().setUp()
        self.host = self.folder / "project"
        (self.host / "src").mkdir(parents=True)
        (self.host / "a.txt").write_text("from the host\n")

    def run_guest(self, *arguments, wait_for=None, then=None, **options):
        """Runs a guest; once it has said `wait_for`, does `then` and lets it go on."""
        command = [harness.TARE, "guest", "run", *map(str, arguments)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, **options) as process:
            said = b""
            if wait_for is not None:
                said = process.stdout.readline()
                self.assertEqual(said, wait_for + b"\n")
                then()
            out, err = process.communicate(b"go\n", timeout=60)
        return process.returncode, (said + out).decode(), err.decode()

    def guest(self, code, **options):
        return self.run_guest("--mount", f"{self.host}:/project:rw", "--cwd", "/project", "-e", code, **options)

    def test_what_a_guest_writes_comes_back_when_it_has_ended(self):
        code = """
        const fs = require('fs');
        fs.appendFileSync('a.txt', 'and the guest\\n');
        fs.mkdirSync('made/deep', { recursive: true });
        fs.writeFileSync('made/deep/b.bin', Buffer.alloc(300000, 7));
        process.stdout.write(fs.readFileSync('a.txt', 'utf8'));
        """
        self.assertEqual(self.guest(code), (0, "from the host\nand the guest\n", ""))
        self.assertEqual((self.host / "a.txt").read_text(), "from the host\nand the guest\n")
        self.assertEqual((self.host / "made/deep/b.bin").read_bytes(), b"\7" * 300000)
        self.assertEqual((self.host / "a.txt").stat().st_uid, os.getuid())

    def test_children_write_back_before_their_parent_goes_on(self):
        code = """
        const { spawnSync, execSync } = require('child_process');
        spawnSync(process.execPath, ['-e', "require('fs').writeFileSync('child.txt', 'x')"]);
        execSync('echo shell > shell.txt');
        console.log(require('fs').readdirSync('.').join());
        """
        self.assertEqual(self.guest(code), (0, "a.txt,child.txt,shell.txt,src\n", ""))
        self.assertEqual((self.host / "shell.txt").read_text(), "shell\n")

    def test_what_outlives_the_guest_is_written_back_with_the_machine(self):
        code = """
        const fs = require('fs');
        const { spawn } = require('child_process');
        const log = fs.openSync('log', 'a');
        const script = "require('fs').writeFileSync('own', 'x'); console.log('of the child'); process.send?.(0); setTimeout(() => {}, 1e6)";
        const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', log, log] });
        child.unref();
        (function wait() { fs.statSync('log').size > 0 ? process.exit() : setTimeout(wait, 5); })();
        """
        self.assertEqual(self.guest(code), (0, "", ""))
        self.assertEqual((self.host / "log").read_text(), "of the child\n")
        self.assertEqual((self.host / "own").read_text(), "x")

    def test_what_outlives_the_guest_and_is_lost_is_said(self):
        code = """
        const { spawn } = require('child_process');
        const script = "require('fs').writeFileSync('src/own', 'x'); console.log('written'); setTimeout(() => {}, 1e6)";
        spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit'] }).unref();
        process.stdin.once('data', () => process.exit());
        """
        result = self.guest(code, wait_for=b"written", then=lambda: shutil.rmtree(self.host / "src"))
        self.assertEqual(result, (125, "written\n", "tare: /project/src/own: not written back: No such file or directory\n"))

    def test_a_killed_guest_writes_back_too(self):
        code = "require('fs').writeFileSync('log', 'so far'); process.kill(process.pid, 'SIGKILL')"
        self.assertEqual(self.guest(code)[0], 137)
        self.assertEqual((self.host / "log").read_text(), "so far")

    def test_a_file_in_a_mount_runs_where_it_is(self):
        (self.host / "src/main.js").write_text("console.log(__filename, require('../lib.json').name)")
        (self.host / "lib.json").write_text('{"name": "lib"}')
        result = self.run_guest("--mount", f"{self.host}:/project", self.host / "src/main.js")
        self.assertEqual(result, (0, "/project/src/main.js lib\n", ""))

    def test_it_is_read_only_unless_it_is_said(self):
        code = "try { require('fs').writeFileSync('/see/x', 'x') } catch (e) { console.log(e.message) }"
        result = self.run_guest("--mount", f"{self.host}:/see", "-e", code)
        self.assertEqual(result, (0, "EROFS: read-only file system, open '/see/x'\n", ""))

    def test_nothing_leads_out_of_a_mount(self):
        secret = self.folder / "secret"
        secret.write_text("secret")
        (self.host / "up").symlink_to("../secret")
        (self.host / "absolute").symlink_to(secret)
        (self.host / "folder").symlink_to("..")
        os.link(secret, self.host / "hard")
        code = """
        const fs = require('fs');
        const say = (what) => { try { console.log(what()) } catch (e) { console.log(e.code) } };
        for (const path of ['up', 'absolute', 'folder/secret', '../secret', 'src/../../secret', '/proc/self/root/etc/passwd'])
          say(() => fs.readFileSync(path, 'utf8'));
        say(() => fs.writeFileSync('absolute', 'x'));
        say(() => fs.renameSync('a.txt', '../a.txt'));
        say(() => fs.linkSync('/etc/passwd', 'passwd'));
        fs.symlinkSync(process.argv[1], 'mine');
        say(() => fs.readFileSync('mine'));
        fs.writeFileSync('hard', 'changed');
        """
        result = self.run_guest("--mount", f"{self.host}:/project:rw", "--cwd", "/project", "-e", code, secret)
        codes = ["ENOENT"] * 6 + ["ENOENT", "EXDEV", "ENOENT", "ENOENT"]
        self.assertEqual(result, (0, "\n".join(codes) + "\n", ""))
        self.assertEqual(secret.read_text(), "secret")
        self.assertEqual((self.host / "hard").read_text(), "changed")

    def test_what_the_user_cannot_read_the_guest_cannot(self):
        (self.host / "locked").write_text("x")
        (self.host / "locked").chmod(0)
        code = "try { require('fs').readFileSync('locked') } catch (e) { console.log(e.code) } console.log(require('fs').readdirSync('.').length)"
        self.assertEqual(self.guest(code), (0, "EACCES\n3\n", ""))

    def test_a_file_that_the_host_changes_meanwhile_is_kept(self):
        code = """
        const fs = require('fs');
        fs.writeFileSync('a.txt', 'of the guest\\n');
        console.log('written');
        process.stdin.once('data', () => process.exit(3));
        """
        result = self.guest(code, wait_for=b"written", then=lambda: (self.host / "a.txt").write_text("of an editor\n"))
        self.assertEqual(result, (3, "written\n", "tare: /project/a.txt: changed on the host meanwhile; what the guest wrote is in /project/a.txt.guest\n"))
        self.assertEqual((self.host / "a.txt").read_text(), "of an editor\n")
        self.assertEqual((self.host / "a.txt.guest").read_text(), "of the guest\n")

    def test_a_mount_that_vanishes(self):
        code = """
        const fs = require('fs');
        fs.writeFileSync('new.txt', 'x');
        console.log('written');
        process.stdin.once('data', () => { try { fs.readdirSync('.') } catch (e) { console.log(e.code) } process.exit() });
        """
        result = self.guest(code, wait_for=b"written", then=lambda: shutil.rmtree(self.host))
        self.assertEqual(result, (125, "written\nENOENT\n", "tare: /project/new.txt: not written back: No such file or directory\n"))

    def test_a_full_disk_leaves_what_was_there(self):
        # The limit is inherited by the engine: a file of the host can't grow beyond it.
        code = "require('fs').writeFileSync('a.txt', Buffer.alloc(100 << 20))"
        result = self.run_guest("--mount", f"{self.host}:/project:rw", "--cwd", "/project", "-e", code,
                                preexec_fn=limit_file_size)
        self.assertEqual(result, (125, "", "tare: /project/a.txt: not written back: File too large\n"))
        self.assertEqual((self.host / "a.txt").read_text(), "from the host\n")
        self.assertEqual(sorted(os.listdir(self.host)), ["a.txt", "src"])

    def test_two_guests_that_write_one_file_lose_nothing(self):
        code = "require('fs').writeFileSync('a.txt', 'first'); console.log('written'); process.stdin.once('data', () => process.exit())"
        second = "require('fs').writeFileSync('a.txt', 'second')"
        result = self.guest(code, wait_for=b"written", then=lambda: self.assertEqual(self.guest(second)[0], 0))
        self.assertEqual(result[0], 0)
        self.assertEqual((self.host / "a.txt").read_text(), "second")
        self.assertEqual((self.host / "a.txt.guest").read_text(), "first")

    def test_names_that_are_no_text(self):
        odd = os.fsencode(self.host) + b"/\xff\xfe"
        pathlib.Path(os.fsdecode(odd)).write_bytes(b"odd")
        code = """
        const fs = require('fs');
        const [name] = fs.readdirSync('.', 'buffer').filter((name) => name[0] === 0xff);
        console.log(fs.readFileSync(Buffer.concat([Buffer.from('/project/'), name]), 'utf8'));
        fs.writeFileSync(Buffer.concat([Buffer.from('/project/'), Buffer.from([0xc3])]), 'x');
        """
        self.assertEqual(self.guest(code), (0, "odd\n", ""))
        self.assertIn(b"\xc3", os.listdir(os.fsencode(self.host)))

    def test_a_folder_of_a_hundred_thousand_files(self):
        for i in range(100_000):
            os.close(os.open(self.host / "src" / str(i), os.O_CREAT, 0o644))
        code = """
        const fs = require('fs');
        console.log(fs.readdirSync('src').length, fs.statSync('src/99999').size);
        fs.writeFileSync('src/99999', 'x');
        """
        self.assertEqual(self.guest(code), (0, "100000 0\n", ""))
        self.assertEqual((self.host / "src/99999").read_text(), "x")

    def test_one_folder_cannot_be_mounted_twice_if_it_is_writable(self):
        for other in (self.host, self.host / "src", self.folder):
            for access in ("ro", "rw"):
                result = self.run_guest("--mount", f"{self.host}:/a:rw", "--mount", f"{other}:/b:{access}", "-e", "0")
                self.assertEqual((result[0], result[1]), (2, ""))
                self.assertIn("twice (at /", result[2])
        both = self.run_guest("--mount", f"{self.host}:/a", "--mount", f"{self.host / 'src'}:/b", "-e", "console.log(1)")
        self.assertEqual(both, (0, "1\n", ""))
        inside = self.run_guest("--mount", f"{self.host}:/a", "--mount", f"{self.folder}:/a/src", "-e", "0")
        self.assertEqual(inside[0], 1)
        self.assertIn("it would be inside another mount", inside[2])

    def test_places_that_cannot_be_mounted(self):
        cases = [
            ("x", 2, "--mount needs HOST:GUEST[:ro|:rw], got 'x'"),
            (f"{self.host}:/project:rx", 2, "--mount has no access 'rx' (known: ro, rw)"),
            (f"{self.host}:/", 2, "--mount cannot be at /"),
            ("/:/project", 2, "cannot mount / (it shows a guest all of this machine)"),
            ("/proc:/project", 2, "cannot mount /proc (it shows a guest more of this machine than files)"),
            (f"{self.host}/a.txt:/project", 2, "(it is not a folder)"),
            (f"{self.host}/none:/project", 2, "(No such file or directory)"),
            (f"{pathlib.Path(harness.TARE).parent.parent}:/project:rw", 2, "a guest could change the engine's own files"),
            (f"{self.host}:/dev", 1, "the guest has something there"),
        ]
        for mount, code, line in cases:
            with self.subTest(mount):
                result = self.run_guest("--mount", mount, "-e", "0")
                self.assertEqual((result[0], result[1]), (code, ""))
                self.assertIn(line, result[2])
                self.assertEqual(result[2].count("\n"), 1)


def limit_file_size():
    """The error instead of the signal, as a full disk has no signal either."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, resource.RLIM_INFINITY))


if __name__ == "__main__":
    harness.main()
