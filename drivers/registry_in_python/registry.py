"""The runs of child agents in memory. A store, which may be durable, is told of every change first."""

import asyncio
import time
from collections import defaultdict
from typing import NamedTuple

ROLES = ("child", "requester", "controller", "group")

# How long a run may be without its context before it counts as lost.
ORPHAN_GRACE_MS = 60_000


def wall_clock():
    """Unix milliseconds."""
    return time.time_ns() // 1_000_000


class Request(NamedTuple):
    """What is known of a run when it is registered."""

    child: str
    requester: str
    controller: str
    group: str
    label: str
    task: str
    payload: str  # JSON, for whoever wants it
    cleanup: str


class Run:
    """One run of a child agent. Status: queued, running, interrupted, terminal. Times are Unix milliseconds."""

    __slots__ = ("id", *Request._fields, "generation", "created_at", "status", "ended_at", "outcome", "archive_at",
                 "recovered", "orphaned_at", "settling", "waiters")

    def __init__(self, request, number, generation, created_at):
        (self.child, self.requester, self.controller, self.group, self.label, self.task, self.payload,
         self.cleanup) = request
        self.id = number
        self.generation = generation
        self.created_at = created_at
        self.status = "queued"
        self.ended_at = None
        self.outcome = None
        self.archive_at = None  # from then on a sweep may take it, if its cleanup is "delete"
        self.recovered = False  # its interruption has been projected
        self.orphaned_at = None  # its context was lost then
        self.settling = False
        self.waiters = []


class Task:
    """What a run works at; it has the run's id."""

    __slots__ = ("id", "status", "ended_at")

    def __init__(self, number, ended_at=None):
        self.id = number
        self.status = "running" if ended_at is None else "ended"
        self.ended_at = ended_at


class Swept(NamedTuple):
    """What a sweep did."""

    removed: list
    recovery_projections: int
    lost_context_completions: int
    session_effects: int


class Registry:
    """All runs and their tasks. Belongs to one event loop."""

    def __init__(self, store, backend, now=wall_clock):
        self.blocked_waits = 0  # waiters that nobody has woken yet
        self.spawning = 0  # pipelines on their way
        self.runs = {}
        self.tasks = {}
        self._by = {role: defaultdict(dict) for role in ROLES}  # name -> runs by id
        self._last_id = 0
        self._sweeping = None
        self._store = store
        self._backend = backend
        self._now = now

    def runs_of(self, role, name):
        """The runs that have this name in this role."""
        return self._by[role].get(name, {}).values()

    def newest(self, child):
        """The run of the newest generation of a child session, or None."""
        return max(self.runs_of("child", child), key=lambda run: run.generation, default=None)

    @property
    def active_work(self):
        """Pipelines on their way, and runs that have not ended."""
        return self.spawning + sum(run.status != "terminal" for run in self.runs.values())

    async def register(self, request):
        """Returns the run once the store has it; until then it is queued."""
        self._last_id += 1
        newest = self.newest(request.child)
        generation = 1 if newest is None else newest.generation + 1
        run = Run(request, self._last_id, generation, self._now())
        self._add(run, Task(run.id))
        try:
            await self._store.insert(run)
        except BaseException:
            self._drop(run)
            raise
        run.status = "running"
        return run

    def adopt(self, run, task):
        """Takes in a run as it is, without telling the store; for what was stored before."""
        self._last_id = max(self._last_id, run.id)
        self._add(run, task)

    def _add(self, run, task):
        self.runs[run.id] = run
        self.tasks[run.id] = task
        for role, names in self._by.items():
            names[getattr(run, role)][run.id] = run

    def _drop(self, run):
        if self.runs.pop(run.id, None) is None:
            return
        del self.tasks[run.id]
        for role, names in self._by.items():
            name = getattr(run, role)
            del names[name][run.id]
            if not names[name]:
                del names[name]

    async def wait(self, number):
        """Returns the outcome of a run, once it has one. Any number may wait for the same."""
        run = self.runs[number]
        if run.status == "terminal":
            return run.outcome
        waiter = asyncio.get_running_loop().create_future()
        run.waiters.append(waiter)
        self.blocked_waits += 1
        try:
            return await waiter
        finally:
            self.blocked_waits -= 1

    async def settle(self, number, outcome):
        """Ends a run and its task and, once the store has that, wakes who waits. False unless it is the first to."""
        run = self.runs.get(number)
        if run is None or run.settling or run.status == "terminal":
            return False
        run.settling = True
        ended_at = self._now()
        archive_at = ended_at if run.cleanup == "delete" else None
        try:
            await self._store.settle(number, outcome, ended_at, archive_at)
        finally:
            run.settling = False
        run.status, run.outcome, run.ended_at, run.archive_at = "terminal", outcome, ended_at, archive_at
        task = self.tasks[number]
        task.status, task.ended_at = "ended", ended_at
        waiters, run.waiters = run.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(outcome)
        return True

    async def remove(self, runs):
        """Forgets runs, in the store and here."""
        await self._store.update(removed=runs)
        for run in runs:
            self._drop(run)

    async def sweep(self):
        """One pass over all runs. Calls while a pass is under way share it and its result."""
        if self._sweeping is None:
            self._sweeping = asyncio.ensure_future(self._one_sweep())
        return await self._sweeping

    async def _one_sweep(self):
        try:
            return await self._pass()
        finally:
            self._sweeping = None

    async def _pass(self):
        now = self._now()
        removed, recovered, lost, sessions = [], [], [], []
        # What has to be done with a run is the first of these that fits.
        for run in self.runs.values():
            status = run.status
            if status == "terminal":
                if run.cleanup == "delete" and run.archive_at is not None and run.archive_at <= now:
                    removed.append(run)
                    if self.newest(run.child) is run:  # with an older one the session lives on
                        sessions.append(run.child)
            elif status == "interrupted":
                if not run.recovered:
                    recovered.append(run)
            elif run.orphaned_at is not None and run.orphaned_at + ORPHAN_GRACE_MS <= now:
                lost.append(run)
        if removed or recovered:
            await self._store.update(removed=removed, recovered=recovered)
        for run in removed:
            self._drop(run)
        for run in recovered:
            run.recovered = True
        for child in sessions:
            self._backend.end_session(child)
        for run in lost:
            await self.settle(run.id, "lost")
        return Swept([run.id for run in removed], len(recovered), len(lost), len(sessions))
