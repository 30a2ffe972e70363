"""The rows in which a registry comes back from disk: after a kill, and with many runs."""

import errno
import json
import os

from .bench import child, now
from .pipeline import IdleBackend, spawn
from .protocol import Refusal, param
from .registry import Registry, Run, wall_clock
from .spawn_rows import together
from .state_file import remove_state, reopen_state
from .store import MemoryStore, restore

IN_FLIGHT = 64
ROWS_PER_COMMIT = 10_000


class Acknowledgements:
    """The named pipe that takes the acknowledgements. Its reader is there first."""

    def __init__(self, path):
        self._path = path
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # fails instead of waiting for a reader
        except OSError as error:
            raise self._refusal(error) from error
        os.set_blocking(self._fd, True)

    def write(self, line):
        """One write a line: a line is there in full or not at all."""
        try:
            os.write(self._fd, line.encode())
        except OSError as error:
            raise self._refusal(error) from error

    def close(self):
        os.close(self._fd)

    def _refusal(self, error):
        nobody = error.errno in (errno.ENXIO, errno.EPIPE)
        why = "nobody reads it" if nobody else error.strerror
        return Refusal("failed", f"cannot write acknowledgements to {self._path}: {why}")


def numbered(nonce, k):
    """A child with a task text of its own."""
    return child(nonce, k, task=chr(ord("a") + k % 26) * 100)


async def register_all(agents, acknowledgements, context):
    numbers = iter(range(context.n))
    registered = 0

    async def worker():
        nonlocal registered
        for k in numbers:  # shared: each takes the next one
            run = await spawn(agents, numbered(context.nonce, k))
            acknowledgements.write(f"{run.label}\n")
            registered += 1

    await together([worker() for _ in range(IN_FLIGHT)])
    return registered


async def register(context):
    acknowledgements = Acknowledgements(param(context.params, "acks", str))
    try:
        started = now()
        with context.bench.durable(context.folder, IN_FLIGHT, context.budget, kept=True) as agents:
            registered = await register_all(agents, acknowledgements, context)
            finished = now()
        return {"ns": {"total": finished - started}, "counters": {"registeredRuns": registered}}
    finally:
        acknowledgements.close()


def restart(folder):
    """Opens the database in a folder and restores its runs; gives them, and the sample."""
    registry = Registry(MemoryStore(), IdleBackend())
    started = now()
    database = reopen_state(folder, lambda opened: restore(opened, registry))
    finished = now()
    database.close()
    runs = registry.runs.values()
    interrupted = sum(run.status == "interrupted" for run in runs)
    counters = {"restoredRuns": len(runs), "interruptedRuns": interrupted}
    return runs, {"ns": {"total": finished - started}, "counters": counters}


async def recover(context):
    runs, sample = restart(context.folder)
    remove_state(context.folder)
    return sample | {"output": "".join(f"{run.label} {run.status} {run.task}\n" for run in runs)}


async def durable_crash(context):
    phase = param(context.params, "phase", str)
    if phase == "register":
        return await register(context)
    if phase == "recover":
        return await recover(context)
    raise Refusal("invalid", f"phase must be register or recover, got {json.dumps(phase)}")


def write_runs(context):
    """Writes a database of `n` runs that have not ended."""
    n, at = context.n, wall_clock()
    with context.bench.durable(context.folder, n, context.budget, kept=True) as agents:
        for written in range(0, n, ROWS_PER_COMMIT):
            numbers = range(written, min(written + ROWS_PER_COMMIT, n))
            agents.store.insert_all([Run(numbered(context.nonce, k), k + 1, 1, at) for k in numbers])


async def restart_scale(context):
    if not context.request.prepared:
        context.request.prepared = True
        write_runs(context)
        context.request.cleanups.callback(remove_state, context.folder)
    return restart(context.folder)[1]
