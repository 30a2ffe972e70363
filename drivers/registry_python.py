#!/usr/bin/env python3
"""A registry of agent runs on Python's own SQLite: a peer of the built-in one, with the same promises.

    registry_python.py [--group-commit]

SQLite is called from the event loop, so each change has a commit of its own; with --group-commit all changes of one
turn of the event loop have one together.
"""

import sys

sys.dont_write_bytecode = True  # the driver may be installed where it must not write
if sys.version_info < (3, 11):
    sys.exit("registry driver: it needs Python 3.11 or newer, this is " + sys.version.split()[0])

import asyncio
import os
import platform

from registry_in_python.bench import Bench
from registry_in_python.protocol import PROTOCOL, Refusal, serve
from registry_in_python.rows import ROWS, sampler

GROUP_COMMIT = "--group-commit"


def hello_of(group_commit):
    def hello(request):
        if request.get("protocol") != PROTOCOL:
            raise Refusal("unsupported", f"this driver speaks {PROTOCOL}, not {request.get('protocol')!r}")
        return {
            "protocol": PROTOCOL,
            "name": "python registry (group commit)" if group_commit else "python registry",
            "version": platform.python_version(),
            "engine": f"{platform.python_implementation().lower()} {platform.python_version()}",
            "pid": os.getpid(),
            "rows": ROWS,
        }

    return hello


def main(arguments):
    strange = next((argument for argument in arguments if argument != GROUP_COMMIT), None)
    if strange is not None:
        sys.exit(f"registry driver: it has no argument {strange!r}, only {GROUP_COMMIT}")
    group_commit = GROUP_COMMIT in arguments
    with asyncio.Runner() as runner:
        serve({"hello": hello_of(group_commit), "sample": sampler(Bench(group_commit), runner)})


if __name__ == "__main__":
    main(sys.argv[1:])
