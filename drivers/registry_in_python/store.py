"""Where a registry keeps its runs: nowhere, or in SQLite with every acknowledged change on disk."""

import asyncio
import sqlite3
from typing import NamedTuple

from .registry import Request, Run, Task
from .state_file import connect_read_only, named, state_file

INSERT_RUN = """
INSERT INTO runs(id, child, requester, controller, "group", label, task, payload, cleanup, generation, created_at)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_TASK = "INSERT INTO tasks(id, created_at) VALUES(?, ?)"
SETTLE_RUN = "UPDATE runs SET outcome = ?, ended_at = ?, archive_at = ? WHERE id = ?"
SETTLE_TASK = "UPDATE tasks SET ended_at = ? WHERE id = ?"
MARK_RECOVERED = "UPDATE runs SET recovered = 1 WHERE id = ?"
REMOVE_RUN = "DELETE FROM runs WHERE id = ?"
REMOVE_TASK = "DELETE FROM tasks WHERE id = ?"


class OnDisk(NamedTuple):
    """Rows on disk, all of them and those that have ended."""

    runs: int = 0
    ended_runs: int = 0
    tasks: int = 0
    ended_tasks: int = 0


class MemoryStore:
    """Keeps nothing."""

    async def insert(self, run):
        pass

    async def settle(self, number, outcome, ended_at, archive_at):
        pass

    async def update(self, removed=(), recovered=()):
        pass

    def count_on_disk(self):
        return OnDisk()


class DurableStore:
    """Runs and tasks in SQLite. A change is acknowledged, by its return, after the commit that holds it.

    Each change has a commit of its own, or with `group_commit` all of one turn of the event loop have one together.
    `check_budget` is called before every change, and raises when there is no time left for one.
    """

    def __init__(self, database, folder, group_commit, check_budget):
        self._database = database
        self._file = state_file(folder)
        self._group_commit = group_commit
        self._check_budget = check_budget
        self._waiting = []  # changes of this turn

    async def insert(self, run):
        row = _row(run)
        await self._change(((INSERT_RUN, row), (INSERT_TASK, (run.id, run.created_at))))

    async def settle(self, number, outcome, ended_at, archive_at):
        await self._change(((SETTLE_RUN, (outcome, ended_at, archive_at, number)), (SETTLE_TASK, (ended_at, number))))

    async def update(self, removed=(), recovered=()):
        """What a sweep changes, in one transaction."""
        statements = [(MARK_RECOVERED, (run.id,)) for run in recovered]
        for run in removed:
            statements += (REMOVE_RUN, (run.id,)), (REMOVE_TASK, (run.id,))
        await self._change(statements)

    def insert_all(self, runs):
        """Stores many runs at once, without acknowledging each."""
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(INSERT_RUN, map(_row, runs))
        self._database.executemany(INSERT_TASK, ((run.id, run.created_at) for run in runs))
        self._database.execute("COMMIT")

    def count_on_disk(self):
        """How many rows there are, as another connection sees them."""
        reader = connect_read_only(self._file)
        try:
            counts = [reader.execute(f"SELECT count(*), count(ended_at) FROM {table}").fetchone()
                      for table in ("runs", "tasks")]
        finally:
            reader.close()
        return OnDisk(*counts[0], *counts[1])

    def close(self):
        self._database.close()

    async def _change(self, statements):
        self._check_budget()
        if not self._group_commit:
            self._transact(statements)
            return
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._waiting.append((statements, done))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush)
        await done

    def _flush(self):
        changes, self._waiting = self._waiting, []
        try:
            self._transact(statement for statements, _ in changes for statement in statements)
        except Exception as error:
            for _, done in changes:
                if not done.done():
                    done.set_exception(error)
            return
        for _, done in changes:
            if not done.done():
                done.set_result(None)

    def _transact(self, statements):
        execute = self._database.execute
        try:
            execute("BEGIN IMMEDIATE")
            try:
                for sql, values in statements:
                    execute(sql, values)
                execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # a full disk ends the transaction by itself
                    execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise named(self._file, error) from error


def _row(run):
    return (run.id, run.child, run.requester, run.controller, run.group, run.label, run.task, run.payload,
            run.cleanup, run.generation, run.created_at)


def restore(database, registry):
    """Puts all runs of a database into a registry. Nobody works any more at one that has not ended."""
    query = "SELECT runs.*, tasks.ended_at FROM runs JOIN tasks USING(id) ORDER BY id"
    for number, *request, generation, created_at, outcome, ended_at, archive_at, recovered, task_ended_at in (
            database.execute(query)):
        run = Run(Request._make(request), number, generation, created_at)
        run.status = "interrupted" if ended_at is None else "terminal"
        run.outcome, run.ended_at, run.archive_at, run.recovered = outcome, ended_at, archive_at, bool(recovered)
        registry.adopt(run, Task(number, task_ended_at))
