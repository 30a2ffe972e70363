"""The database of a registry in its folder: made, opened and taken away, and never touched when it can't be used."""

import errno
import os
import sqlite3
import stat
import time
from pathlib import Path
from urllib.parse import quote

from .protocol import Refusal

NAME = "registry.sqlite"
SCHEMA_VERSION = 1

# Rows are only ever appended, and looked up by the primary key: no index besides.
SCHEMA = (
    """CREATE TABLE runs(
      id INTEGER PRIMARY KEY, child TEXT NOT NULL, requester TEXT NOT NULL, controller TEXT NOT NULL,
      "group" TEXT NOT NULL, label TEXT NOT NULL, task TEXT NOT NULL, payload TEXT NOT NULL, cleanup TEXT NOT NULL,
      generation INTEGER NOT NULL, created_at INTEGER NOT NULL, outcome TEXT, ended_at INTEGER, archive_at INTEGER,
      recovered INTEGER NOT NULL DEFAULT 0)""",
    "CREATE TABLE tasks(id INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, ended_at INTEGER)",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

LOCK_LIMIT_S = 1.0
LOCK_STEP_S = 0.02
LOCK_BYTES = range(0x40000000, 0x40000200)  # where SQLite locks its files


def state_file(folder):
    return Path(folder) / NAME


def fault(path, cause):
    return Refusal("failed", f"cannot use {path}: {cause}")


def _cause(error, path):
    """Why SQLite or the system refuse."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            return "it is locked by another process"
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return f"it is corrupt ({error})"
        if code == sqlite3.SQLITE_READONLY:
            return f"it is read-only ({error})"
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
            return f"the disk is full ({error})"
        return str(error)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"the folder is read-only ({error.strerror})"
    if error.errno == errno.ENOSPC:
        return f"the disk is full ({error.strerror})"
    return error.strerror


def _is_full(path):
    return os.statvfs(path.parent).f_bavail == 0


def named(path, error):
    """What `error`, of SQLite or the system, says, as a fault of this file."""
    return fault(path, _cause(error, path))


def _connect(target, **options):
    return sqlite3.connect(target, timeout=LOCK_LIMIT_S, isolation_level=None, **options)


def _connect_to_write(file):
    database = _connect(file)
    database.execute("PRAGMA synchronous = FULL")
    return database


def connect_read_only(file, how="mode=ro"):
    """A second connection, which sees what is on disk and changes nothing."""
    return _connect(f"file:{quote(str(file))}?{how}", uri=True)


def remove_state(folder):
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{state_file(folder)}{suffix}").unlink(missing_ok=True)


def _holder(file):
    """Which process, as far as the kernel tells, holds a lock of SQLite on this file."""
    inode = str(file.stat().st_ino)
    try:
        lines = Path("/proc/locks").read_text(encoding="latin-1").splitlines()
    except OSError:
        return None
    for fields in map(str.split, lines):
        if len(fields) == 8 and fields[5].split(":")[2] == inode and int(fields[6]) in LOCK_BYTES:
            return fields[4]
    return None


def _await_unlocked(file):
    """Waits a moment for another process to let go of the file."""
    deadline = time.monotonic() + LOCK_LIMIT_S
    while pid := _holder(file):
        if time.monotonic() > deadline:
            raise fault(file, f"it is locked by another process ({pid})")
        time.sleep(LOCK_STEP_S)


def _has_log(file):
    """Is there a log that has not been moved into the database yet? Its process was killed then."""
    log = Path(f"{file}-wal")
    return log.exists() and log.stat().st_size > 0


def _inspect(file):
    """Looks whether a database that nobody holds is one of ours, without writing to any file of it."""
    database = connect_read_only(file, "mode=ro&readonly_shm=1" if _has_log(file) else "immutable=1")
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise fault(file, f"its schema {version} is newer than {SCHEMA_VERSION}, the one known here")
        tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('runs', 'tasks')"
        if version < SCHEMA_VERSION or database.execute(tables).fetchone() != (2,):
            raise fault(file, "it is not empty, and no database of a registry")
    finally:
        database.close()


def _keep_log(file):
    """A reader: while it is there, no connection that leaves moves the log into the database."""
    reader = connect_read_only(file)
    reader.execute("PRAGMA user_version").fetchone()  # from its first read on
    return reader


def _refuse(folder, names):
    file = state_file(folder)
    if NAME not in names:
        raise fault(folder, f"it is not empty: it holds {names[0]}")
    _await_unlocked(file)
    _inspect(file)
    raise fault(file, "it is not empty: it is the database of a registry")


def _contents(folder):
    """What is in a folder; a named pipe and what a file system puts there do not count."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries
                if entry.name != "lost+found" and not stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode)]


def _make(file):
    database = _connect_to_write(file)
    try:
        (mode,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise fault(file, "its file system can't hold a write-ahead log")
        database.execute("BEGIN")
        for statement in SCHEMA:
            database.execute(statement)
        database.execute("COMMIT")
    except BaseException:
        database.close()
        raise
    return database


def create_state(folder):
    """Makes the database in a folder that holds nothing, and returns the connection."""
    file = state_file(folder)
    made = False
    try:
        if names := _contents(folder):
            _refuse(folder, names)
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644))
        made = True
        return _make(file)
    except (OSError, sqlite3.Error, Refusal) as error:
        known = error if isinstance(error, Refusal) else named(file, error)
        if made:
            remove_state(folder)
        raise known from error


def reopen_state(folder, read):
    """Opens the database that is there and has `read` read it; makes one if there is none."""
    file = state_file(folder)
    if not file.exists():
        return create_state(folder)
    reader = database = None
    try:
        _await_unlocked(file)
        _inspect(file)
        if _has_log(file):
            reader = _keep_log(file)
        database = _connect_to_write(file)
        database.execute("BEGIN IMMEDIATE")  # locked and read-only show here
        database.execute("ROLLBACK")
        read(database)
        return database
    except (OSError, sqlite3.Error, Refusal) as error:
        if database is not None:
            database.close()
        raise error if isinstance(error, Refusal) else named(file, error)
    finally:
        if reader is not None:
            reader.close()
