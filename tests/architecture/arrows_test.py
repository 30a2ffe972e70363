"""Holds every arrow between folders against the design: what a folder includes, and what its target links."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# folder: the folders that it may use. The lab never links what it measures, and the reverse.
ALLOWED = {
    "base": set(),
    "net": {"base"},
    "serve": {"base"},
    "runtime/sqlite": {"base"},
    "runtime/agents": {"base", "runtime/sqlite"},
    "runtime/agents_driver": {"base", "serve", "runtime/agents"},
    "runtime/guest": {"base", "protocol"},
    "runtime/guest_driver": {"base", "serve", "runtime/guest"},
    "runtime/provider": {"base", "net"},
    "runtime/gateway": {"base", "net", "runtime/sqlite", "runtime/provider"},
    "lab/measure": {"base"},
    "lab/process": {"base"},
    "lab/driver": {"base", "lab/process"},
    "lab/load": {"base", "net", "lab/measure"},
    "lab/gateway": {"base", "net", "lab/process", "lab/driver", "lab/load"},
    "lab/report": {"base", "lab/measure"},
    "lab/verdict": {"base", "lab/measure", "lab/report"},
    "lab/gate": {"base", "lab/measure", "lab/report", "lab/verdict"},
    "lab/bench/common": {"base", "lab/measure", "lab/process", "lab/driver", "lab/report"},
    "lab/bench/spawn": {"base", "lab/measure", "lab/process", "lab/driver", "lab/report", "lab/bench/common"},
    "lab/bench/agents": {"base", "lab/measure", "lab/process", "lab/driver", "lab/report", "lab/bench/common"},
    "lab/bench/import": {"base", "lab/measure", "lab/process", "lab/driver", "lab/report", "lab/bench/common"},
    "lab/bench/gateway": {"base", "net", "lab/measure", "lab/process", "lab/report", "lab/load", "lab/gateway", "lab/bench/common"},
}
# Under guest/: what is linked into other programs than the engine, or knows no V8.
GUEST_ALLOWED = {"protocol": {"base"}, "engine/kernel": {"base"}}
# Where the last part of the path is another folder's name already.
TARGET_NAMES = {"lab/bench/agents": "agents_bench", "lab/bench/import": "import_bench", "lab/gateway": "lab_gateway", "lab/bench/gateway": "gateway_bench", "runtime/guest": "guest_client", "protocol": "guest_protocol"}
LIBRARIES = {"base", "net", "lab/measure", "lab/process", "lab/driver", "lab/report", "lab/verdict", "lab/gate", "lab/bench/common",
             "lab/bench/spawn", "lab/bench/agents", "lab/bench/import", "lab/bench/gateway", "lab/load", "lab/gateway"}
# The program is also the driver of what is built into it: that runs in a process of its own.
APPS = {"spawner": {"base", "lab/process", "serve"}, "tare": LIBRARIES | {"runtime/agents_driver", "runtime/guest", "runtime/guest_driver", "runtime/provider", "runtime/gateway", "protocol"}}


def folder_of(include):
    """The folder of an include path such as lab/bench/spawn/run.hpp."""
    return include.rpartition("/")[0]


def includes(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.match(r'\s*#\s*include\s+"([^"]+/[^"]+)"', line)
        if match:
            yield match.group(1)


class Arrows(unittest.TestCase):
    def test_every_folder_is_known(self):
        found = {str(p.parent.relative_to(ROOT / "src")) for p in (ROOT / "src").rglob("*.hpp")}
        self.assertEqual(found - set(ALLOWED), set(), "a new folder needs its arrows here and in the design")

    def test_includes_point_down_only(self):
        for folder, allowed in ALLOWED.items():
            for path in (ROOT / "src" / folder).glob("*.[ch]pp"):
                for include in includes(path):
                    self.assertIn(folder_of(include), allowed | {folder}, f"{path.relative_to(ROOT)} includes {include}")

    def test_guest_folders_without_v8_include_only_what_they_may(self):
        for folder, allowed in GUEST_ALLOWED.items():
            for path in (ROOT / "guest" / folder).glob("*.[ch]pp"):
                for include in includes(path):
                    self.assertIn(folder_of(include), allowed | {folder}, f"{path.relative_to(ROOT)} includes {include}")
                self.assertNotRegex(path.read_text(encoding="utf-8"), r"#include <(v8|node|uv)\b", str(path.relative_to(ROOT)))

    def test_apps_include_only_what_they_may(self):
        for app, allowed in APPS.items():
            for path in (ROOT / "apps" / app).rglob("*.[ch]pp"):
                for include in includes(path):
                    self.assertIn(folder_of(include), allowed | {app}, f"{path.relative_to(ROOT)} includes {include}")

    def test_targets_link_what_the_design_says(self):
        for folder, allowed in ALLOWED.items():
            lists = ROOT / "src" / folder / "CMakeLists.txt"
            if not lists.exists():
                continue
            match = re.search(r"tare_folder\((\w+)(?:\s+PIC)?(?:\s+DEPENDS((?:\s+[a-z_]+)+))?", lists.read_text(encoding="utf-8"))
            self.assertIsNotNone(match, lists)
            self.assertEqual(match.group(1), TARGET_NAMES.get(folder, folder.rpartition("/")[2]))
            names = {TARGET_NAMES.get(a, a.rpartition("/")[2]) for a in allowed}
            self.assertLessEqual(set((match.group(2) or "").split()), names, lists)


if __name__ == "__main__":
    unittest.main()
