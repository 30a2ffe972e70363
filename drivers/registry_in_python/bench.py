"""What the samples of all rows have in common: a budget, the memory of this process, a registry that goes with them."""

import re
import time
from pathlib import Path

from .admission import Admission, at_most
from .pipeline import IdleBackend
from .registry import Registry, Request
from .state_file import create_state, remove_state
from .store import DurableStore, MemoryStore

now = time.perf_counter_ns


class Late(Exception):
    """The budget of a sample is used up."""


class Budget:
    """The time that a sample may take."""

    def __init__(self, limit_ms):
        self._started = now()
        self._limit_ms = limit_ms

    @property
    def age(self):
        return now() - self._started

    def check(self, age=None):
        if (self.age if age is None else age) > self._limit_ms * 1_000_000:
            raise Late(f"not done after {self._limit_ms} ms")


def memory():
    """The resident memory of this process in bytes: now, and at its most."""
    status = Path("/proc/self/status").read_text(encoding="latin-1")
    return tuple(int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M)[1]) * 1024 for name in ("VmRSS", "VmHWM"))


TASK = "count the files of the folder and report"
PAYLOAD = '{"model":"gpt-5.6-luna","thinking":"low","timeoutSeconds":600}'


def child(nonce, k, cleanup="keep", task=TASK):
    """The k-th child of a request."""
    label = f"{nonce}-{k}"
    session = f"agent:main:subagent:{label}"
    return Request(session, "agent:main:main", "agent:main:main", "bench", label, task, PAYLOAD, cleanup)


class Agents:
    """A registry, and whatever `spawn` needs. The controller may have `cap` children at a time.

    As a context it closes the store in the end and, unless it is `kept`, takes the database away.
    """

    def __init__(self, store, cap, folder=None, kept=False):
        self.store = store
        self.backend = IdleBackend()
        self.registry = Registry(store, self.backend)
        self.admission = Admission()
        self.policy = at_most(cap)
        self._folder = folder
        self._kept = kept

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._folder is None:
            return
        self.store.close()
        if not self._kept:
            remove_state(self._folder)


class Bench:
    """Makes the registries that the samples need."""

    def __init__(self, group_commit):
        self._group_commit = group_commit

    def in_memory(self, cap):
        return Agents(MemoryStore(), cap)

    def durable(self, folder, cap, budget, kept=False):
        store = DurableStore(create_state(folder), folder, self._group_commit, budget.check)
        return Agents(store, cap, folder, kept)
