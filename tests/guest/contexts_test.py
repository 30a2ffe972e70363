"""Contexts of a virtual machine: a script that runs before its programs, and where the code of those is kept."""

import os
import pathlib
import tempfile
import time
import unittest

import engine_client

CREATE_CONTEXT = 7

LIBRARY = "module.exports = 41;" + "".join(f"function f{i}(a) {{ return a + {i}; }}\n" for i in range(100))


class Contexts(unittest.TestCase):
    def setUp(self):
        self.engine = engine_client.Engine(pool=0)
        self.addCleanup(self.engine.close)
        folder = tempfile.TemporaryDirectory(prefix="tare-contexts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def machine(self):
        vm = self.engine.vm()
        self.engine.write_file(vm, "/root/library.js", LIBRARY)
        self.engine.write_file(vm, "/root/main.js", "require('/root/library.js')")
        self.engine.write_file(vm, "/root/main.mjs", "import '/root/short.mjs'")
        self.engine.write_file(vm, "/root/short.mjs", "export default 1;")
        return vm

    def context(self, vm, **setup):
        number = self.engine.next_id()
        reply = self.engine.request(CREATE_CONTEXT, number, {"vm": vm, "codeCache": "shared", **setup})
        self.assertIsNone(reply.get("error"))
        return number

    def kept(self, vm):
        return self.context(vm, codeCache="folder", compileCacheDir=str(self.folder))

    def use(self, vm, context, program="/root/main.js"):
        execution = self.engine.spawn(vm, ["node", program], context=context)
        execution.close_stdin()
        result = execution.wait()
        self.assertEqual((result.code, result.stderr), (0, b""), result)
        return result.exited["codeCache"]

    def test_a_folder_keeps_code_for_other_machines_and_engines(self):
        vm = self.machine()
        self.assertEqual(self.use(vm, self.kept(vm)), {"accepted": 0, "rejected": 0, "missed": 2, "graphs": 0})
        self.assertEqual([file.suffix for file in self.folder.iterdir()], [".code"])
        other = self.machine()
        self.assertEqual(self.use(other, self.kept(other))["accepted"], 2)
        self.engine.close()
        self.engine = engine_client.Engine(pool=0)
        self.addCleanup(self.engine.close)
        vm = self.machine()
        self.assertEqual(self.use(vm, self.kept(vm)), {"accepted": 2, "rejected": 0, "missed": 0, "graphs": 0})

    def test_modules_are_kept_however_short_they_are(self):
        vm = self.machine()
        context = self.kept(vm)
        self.use(vm, context, "/root/main.mjs")
        self.assertEqual(self.use(vm, context, "/root/main.mjs"), {"accepted": 2, "rejected": 0, "missed": 0, "graphs": 0})

    def test_without_a_cache_nothing_is_found(self):
        vm = self.machine()
        context = self.context(vm, codeCache="off")
        for _ in range(2):
            self.assertEqual(self.use(vm, context), {"accepted": 0, "rejected": 0, "missed": 2, "graphs": 0})

    def test_the_engine_itself_keeps_the_code_of_all_others(self):
        vm = self.machine()
        self.assertEqual(self.use(vm, None)["accepted"], 0)
        self.engine.until(lambda: self.use(vm, None)["accepted"] == 1)

    def test_children_are_in_the_context_of_their_parent(self):
        vm = self.machine()
        context = self.kept(vm)
        self.engine.write_file(vm, "/root/parent.js", "require('child_process').execFileSync('node', ['/root/main.js'])")
        self.use(vm, context, "/root/parent.js")
        self.assertEqual(self.use(vm, context)["accepted"], 2)

    def test_a_damaged_folder_is_as_an_empty_one(self):
        vm = self.machine()
        self.use(vm, self.kept(vm))
        (file,) = self.folder.iterdir()
        content = file.read_bytes()
        for damaged in [b"", content[:-1], content[:100] + b"\0" + content[101:]]:
            file.write_bytes(damaged)
            engine = self.engine = engine_client.Engine(pool=0)
            self.addCleanup(engine.close)
            vm = self.machine()
            self.assertEqual(self.use(vm, self.kept(vm))["missed"], 2)

    def test_a_folder_that_takes_nothing_is_refused(self):
        vm = self.machine()
        file = self.folder / "file"
        file.touch()
        reply = self.engine.request(CREATE_CONTEXT, self.engine.next_id(),
                                    {"vm": vm, "codeCache": "folder", "compileCacheDir": str(file)})
        self.assertIn(str(file), reply["error"])

    def test_a_bootstrap_runs_before_each_program(self):
        vm = self.machine()
        context = self.context(vm, bootstrap="globalThis.answer = require('/root/library.js') + 1; console.log(__dirname);")
        for arguments in [["-e", "console.log(answer)"], ["/root/program.mjs"]]:
            self.engine.write_file(vm, "/root/program.mjs", "console.log(answer)")
            execution = self.engine.spawn(vm, ["node", *arguments], context=context)
            execution.close_stdin()
            self.assertEqual(execution.wait().stdout, b"/root\n42\n")

    def test_a_bootstrap_that_throws_ends_the_process(self):
        vm = self.machine()
        result = self.engine.run(vm, "console.log('never')", context=self.context(vm, bootstrap="throw new Error('no')"))
        self.assertEqual((result.code, result.stdout), (1, b""))
        self.assertIn(b"Error: no", result.stderr)

    def project(self, files):
        """A folder of the host, and a machine that has it at /root/project."""
        folder = self.folder / "project"
        for name, text in files.items():
            self.write(folder / name, text)
        return folder, self.engine.vm(mounts=[{"host": str(folder), "guest": "/root/project", "access": "ro"}])

    @staticmethod
    def write(path, text):
        """Long ago: what is written a moment ago is not kept. Only its change time is of now, so that one has to wait."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        while time.time_ns() - path.stat().st_ctime_ns < 60_000_000:
            time.sleep(0.01)

    def imports(self, vm, context, program="/root/project/main.mjs"):
        execution = self.engine.spawn(vm, ["node", program], context=context)
        execution.close_stdin()
        result = execution.wait()
        return (result.code, result.stdout.decode().splitlines(), result.exited["codeCache"]["graphs"])

    def code_context(self, vm):
        (self.folder / "code").mkdir(exist_ok=True)
        return self.context(vm, codeCache="folder", compileCacheDir=str(self.folder / "code"))

    GRAPH = {
        "main.mjs": "import { all } from './one.mjs';\nimport path from 'node:path';\nconst { late } = await import('./late.js');\n"
                    "console.log(all, late, path.sep, import.meta.url, (await import('./one.mjs')).all === all);",
        "one.mjs": "import { two } from './two.mjs';\nexport const one = 1;\nexport const all = one + two();",
        "two.mjs": "import { one } from './one.mjs';\nexport function two() { return one === undefined ? 0 : 2; }",
        "late.js": "import { one } from './one.mjs';\nexport const late = one + 10;",
        "package.json": '{"type": "module"}',
    }

    def test_a_graph_of_modules_is_found_at_once_by_the_next(self):
        _, vm = self.project(self.GRAPH)
        context = self.code_context(vm)
        said = ["3 11 / file:///root/project/main.mjs true"]
        self.assertEqual(self.imports(vm, context), (0, said, 0))
        self.assertEqual(self.imports(vm, context), (0, said, 2))  # of the program, and what it imports late

    def test_a_changed_file_is_read_again(self):
        folder, vm = self.project(self.GRAPH)
        context = self.code_context(vm)
        for _ in range(2):
            self.imports(vm, context)
        self.write(folder / "two.mjs", "export { two } from './three.mjs';")
        self.write(folder / "three.mjs", "export const two = () => 3;")
        said = ["4 11 / file:///root/project/main.mjs true"]
        self.assertEqual(self.imports(vm, context), (0, said, 0))
        self.assertEqual(self.imports(vm, context), (0, said, 2))

    def test_a_package_json_that_makes_it_another_kind_of_module_counts(self):
        either = "globalThis.kind = typeof module;"
        folder, vm = self.project({"main.mjs": "import './inner/either.js'; console.log(kind);", "inner/either.js": either,
                                   "package.json": '{"type": "module"}'})
        context = self.code_context(vm)
        self.assertEqual([self.imports(vm, context) for _ in range(2)], [(0, ["undefined"], 0), (0, ["undefined"], 1)])
        self.write(folder / "inner" / "package.json", "{}")  # where there was none
        self.assertEqual(self.imports(vm, context), (0, ["object"], 0))
        self.write(folder / "inner" / "package.json", '{"type": "module"}')
        self.assertEqual([self.imports(vm, context) for _ in range(2)], [(0, ["undefined"], 0), (0, ["undefined"], 1)])
        self.write(folder / "inner" / "package.json", '{"type": "commonjs"}')
        self.assertEqual(self.imports(vm, context), (0, ["object"], 0))

    def test_what_fails_fails_as_without(self):
        folder, vm = self.project({**self.GRAPH, "two.mjs": "import './nowhere.mjs';\nexport const two = () => 2;"})
        context = self.code_context(vm)
        for _ in range(2):
            self.assertEqual(self.imports(vm, context), (1, [], 0))
        self.write(folder / "two.mjs", "export const two = () => { throw new Error('no'); };")
        self.assertEqual([self.imports(vm, context)[0] for _ in range(2)], [1, 1])

    def test_files_of_the_machine_itself_are_not_kept(self):
        vm = self.engine.vm()
        for name, text in self.GRAPH.items():
            self.engine.write_file(vm, f"/root/project/{name}", text)
        self.write(self.folder / "as old", "")
        context = self.code_context(vm)
        for _ in range(2):
            self.assertEqual(self.imports(vm, context)[::2], (0, 0))

    def test_a_file_that_may_be_written_again_without_a_sign_is_not_kept(self):
        folder, vm = self.project(self.GRAPH)
        later = time.time() + 3600
        os.utime(folder / "two.mjs", (later, later))
        context = self.code_context(vm)
        self.assertEqual([self.imports(vm, context)[2] for _ in range(2)], [0, 0])

    def test_a_program_that_changes_its_globals_still_imports(self):
        text = "Object.keys = RegExp.prototype.exec = String.prototype.startsWith = Array.prototype.push = () => { throw new Error('mine'); };\n"
        _, vm = self.project({"main.mjs": text + "process.stdout.write((await import('./late.mjs')).default);", "late.mjs": "export default 'late'"})
        context = self.code_context(vm)
        for _ in range(3):
            self.assertEqual(self.imports(vm, context)[:2], (0, ["late"]))

    def test_code_is_taken_after_the_engine_has_written_its_snapshot_anew(self):
        vm = self.machine()
        context = self.kept(vm)
        self.use(vm, context, "/root/main.mjs")
        self.assertEqual(self.engine.stats()["ownSnapshot"], 0)
        taken = {"accepted": 2, "rejected": 0, "missed": 0, "graphs": 0}
        for _ in range(4):
            self.assertEqual(self.use(vm, context, "/root/main.mjs"), taken)
        self.engine.until(lambda: self.engine.stats()["ownSnapshot"] == 1)
        self.assertEqual(self.use(vm, context, "/root/main.mjs"), taken)
        hashes = "const o = {}; for (let i = 0; i < 3000; i++) o['k' + i] = new Map([['a' + i, i]]);" \
                 "console.log(Object.keys(o).length, o.k77.get('a77'), 'path' in require('module'), require('vm').runInNewContext('Object.keys({b: 1})')[0]);"
        self.assertEqual(self.engine.run(vm, hashes).stdout, b"3000 77 false b\n")

    def test_a_folder_that_was_emptied_is_filled_again(self):
        vm = self.machine()
        self.use(vm, self.kept(vm))
        for file in self.folder.iterdir():
            file.unlink()
        other = self.machine()
        self.engine.dispose(vm)
        self.assertEqual(self.use(other, self.kept(other))["accepted"], 0)
        self.assertEqual([file.suffix for file in self.folder.iterdir()], [".code"])

    def test_modules_of_a_mount_are_found_as_node_finds_them(self):
        folder, vm = self.project({
            "main.mjs": "import fs from 'node:fs';\n"
                        "const one = await import('./one.mjs');\n"
                        "const others = ['./link.mjs', './o%6Ee.mjs', './one.mjs?again', './a b.mjs', './inner/../one.mjs'];\n"
                        "for (const name of others) { const it = await import(name); console.log(it === one, it.url.split('/').pop()); }\n"
                        "await import('./inner').catch((error) => console.log(error.code));\n"
                        "await import('./o%2fe.mjs').catch((error) => console.log(error.code));\n"
                        "const { readFileSync, realpathSync } = fs;\n"
                        "fs.readFileSync = (file, ...rest) => { console.log('read', String(file).split('/').pop()); return readFileSync(file, ...rest); };\n"
                        "fs.realpathSync = (file, ...rest) => { console.log('real', file.split('/').pop()); return realpathSync(file, ...rest); };\n"
                        "await import('./late.mjs');\n",
            "one.mjs": "export const { url } = import.meta;\n", "a b.mjs": "export const { url } = import.meta;\n",
            "late.mjs": "console.log('é', import.meta.filename);\n", "inner/x.mjs": ""})
        (folder / "link.mjs").symlink_to("one.mjs")
        said = ["true one.mjs", "true one.mjs", "false one.mjs?again", "false a%20b.mjs", "true one.mjs", "ERR_UNSUPPORTED_DIR_IMPORT",
                "ERR_INVALID_MODULE_SPECIFIER", "real late.mjs", "read late.mjs", "é /root/project/late.mjs"]
        self.assertEqual(self.imports(vm, None), (0, said, 0))

    def test_a_context_that_is_not_there_is_refused(self):
        vm = self.machine()
        result = self.engine.run(vm, "0", context=12345)
        self.assertEqual((result.reason, result.detail), ("refused", "there is no such context"))


if __name__ == "__main__":
    unittest.main()
