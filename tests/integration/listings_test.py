"""What `tare targets`, `tare doctor` and `tare completions` list."""

import json
import subprocess

import harness


class Listings(harness.TareTest):
    def test_targets_say_what_is_there_and_why_the_rest_is_not(self):
        listed = json.loads(self.tare("targets", "--json").stdout)
        self.assertEqual([t["id"] for t in listed if t["bench"] == "agents"], ["embedded", "node", "python"])
        self.assertEqual([t["id"] for t in listed if t["bench"] == "import"], ["node", "guest", "bun", "deno", "agentos"])
        targets = {t["id"]: t for t in listed if t["bench"] == "spawn"}
        self.assertTrue(targets["sh"]["available"])
        self.assertTrue(targets["node"]["available"])
        self.assertEqual(targets["node"]["lane"], "reference")
        self.assertEqual(targets["guest"]["available"], targets["guest_cold"]["available"])
        for target in listed:
            self.assertTrue(target["available"] or target["reason"], target)
        missing = {t["id"]: t for t in json.loads(
            self.tare("targets", "--json", env={"XDG_CACHE_HOME": str(self.folder / "none")}).stdout)}
        self.assertIn("tare targets install node", missing["node"]["hint"])

    def test_a_package_set_that_npm_cannot_install_leaves_nothing_behind(self):
        npm = self.folder / "npm"
        npm.write_text("#!/bin/sh\nmkdir node_modules\necho 'npm error network' >&2\nexit 1\n")
        npm.chmod(0o755)
        cache = self.folder / "cache"
        line = self.refused("targets", "install", "node", code=1,
                            env={"XDG_CACHE_HOME": str(cache), "PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertIn("cannot install node (npm: exit code 1: npm error network)", line)
        self.assertEqual(list((cache / "tare").iterdir()), [])

    def test_install_without_npm_says_how_to_get_it(self):
        line = self.refused("targets", "install", "node", env={"XDG_CACHE_HOME": str(self.folder), "PATH": str(self.folder)})
        self.assertIn("npm is not installed", line)

    def test_doctor_explains_each_fact_and_ends_with_what_would_help_most(self):
        facts = json.loads(self.tare("doctor", "--json").stdout)
        names = {f["fact"] for f in facts}
        self.assertLessEqual({"governor", "load", "clocksource", "target node", "guest landlock", "guest seccomp"}, names)
        for fact in facts:
            self.assertTrue(fact["value"])
            if fact["level"] == "warn":
                self.assertTrue(fact["meaning"], fact)
        text = self.tare("doctor").stdout
        self.assertRegex(text.splitlines()[-1], "^(would help most: |nothing here needs)")

    def test_completions_are_valid_for_their_shell(self):
        script = self.tare("completions", "bash").stdout
        complete = 'COMP_WORDS=(tare spawn --it); COMP_CWORD=2; _tare; echo "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script + complete], capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout.strip(), done.stderr), ("--iterations", ""))
        for kind in ["zsh", "fish", "man"]:
            self.assertIn("--iterations" if kind != "man" else "iterations", self.tare("completions", kind).stdout.replace("-l ", "--"))


if __name__ == "__main__":
    harness.main()
