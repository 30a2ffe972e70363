// The database of a registry in its folder: made, opened and taken away, and never touched when it can't be used.

import { closeSync, existsSync, openSync, readFileSync, readdirSync, rmSync, statSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { Refusal } from "../protocol.mjs";

const NAME = "registry.sqlite";
const SCHEMA_VERSION = 1;

/** Rows are only ever appended, and looked up by the primary key: no index besides. */
const SCHEMA = `
CREATE TABLE runs(
  id INTEGER PRIMARY KEY, child TEXT NOT NULL, requester TEXT NOT NULL, controller TEXT NOT NULL,
  "group" TEXT NOT NULL, label TEXT NOT NULL, task TEXT NOT NULL, payload TEXT NOT NULL, cleanup TEXT NOT NULL,
  generation INTEGER NOT NULL, created_at INTEGER NOT NULL, outcome TEXT, ended_at INTEGER, archive_at INTEGER,
  recovered INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tasks(id INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, ended_at INTEGER);
`;

const LOCK_LIMIT_MS = 1000;
const LOCK_STEP_MS = 20;
const LOCK_BYTES = [0x40000000, 0x400001ff]; // where SQLite locks its files

const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const NOTADB = 26;

export const stateFile = (dir) => join(dir, NAME);

const fault = (path, cause) => new Refusal("failed", `cannot use ${path}: ${cause}`);

const isFull = (dir) => statfsSync(dir).bavail === 0;

/** Why SQLite or the system refuse. */
function cause(error, path) {
  if (error.code === "ERR_SQLITE_ERROR") {
    const text = error.errstr;
    const code = error.errcode & 0xff;
    if (code === BUSY) return "it is locked by another process";
    if (code === CORRUPT || code === NOTADB) return `it is corrupt (${text})`;
    if (code === READONLY) return `it is read-only (${text})`;
    if (code === FULL || (code === IOERR && isFull(dirname(path)))) return `the disk is full (${text})`;
    return error.message;
  }
  const text = error.message.replace(/^E[A-Z]+: (.*?),.*$/, "$1"); // without the call and its paths
  if (["EROFS", "EACCES", "EPERM"].includes(error.code)) return `the folder is read-only (${text})`;
  if (error.code === "ENOSPC") return `the disk is full (${text})`;
  return text;
}

/** What `error` says, as a fault of this file. */
export const named = (path, error) => (error instanceof Refusal ? error : fault(path, cause(error, path)));

function connect(file) {
  const database = new DatabaseSync(file, { timeout: LOCK_LIMIT_MS });
  database.exec("PRAGMA synchronous = FULL");
  return database;
}

/** A second connection, which sees what is on disk and changes nothing. */
export const connectReadOnly = (file) => new DatabaseSync(file, { readOnly: true, timeout: LOCK_LIMIT_MS });

export function removeState(dir) {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(stateFile(dir) + suffix, { force: true });
}

/** Which process, as far as the kernel tells, holds a lock of SQLite on this file. */
function holder(file) {
  const inode = String(statSync(file).ino);
  for (const line of existsSync("/proc/locks") ? readFileSync("/proc/locks", "latin1").split("\n") : []) {
    const [, , , , pid, place, start] = line.split(/\s+/);
    const [from, to] = LOCK_BYTES;
    if (place?.split(":")[2] === inode && Number(start) >= from && Number(start) <= to) return pid;
  }
  return undefined;
}

/** Waits a moment for another process to let go of the file. */
async function awaitUnlocked(file) {
  const deadline = performance.now() + LOCK_LIMIT_MS;
  for (let pid = holder(file); pid !== undefined; pid = holder(file)) {
    if (performance.now() > deadline) throw fault(file, `it is locked by another process (${pid})`);
    await sleep(LOCK_STEP_MS);
  }
}

/** Is there a log that has not been moved into the database yet? Its process was killed then. */
const hasLog = (file) => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Looks whether a database that nobody holds is one of ours, without writing to any file of it. */
function inspect(file) {
  const url = pathToFileURL(file);
  url.search = hasLog(file) ? "mode=ro&readonly_shm=1" : "immutable=1";
  const database = new DatabaseSync(url, { readOnly: true, timeout: LOCK_LIMIT_MS });
  try {
    const { user_version: version } = database.prepare("PRAGMA user_version").get();
    if (version > SCHEMA_VERSION) {
      throw fault(file, `its schema ${version} is newer than ${SCHEMA_VERSION}, the one known here`);
    }
    const tables = "SELECT count(*) AS n FROM sqlite_schema WHERE name IN ('runs', 'tasks')";
    const ours = version === SCHEMA_VERSION && database.prepare(tables).get().n === 2;
    if (!ours) throw fault(file, "it is not empty, and no database of a registry");
  } finally {
    database.close();
  }
}

/** A reader: while it is there, no connection that leaves moves the log into the database. */
function keepLog(file) {
  const reader = connectReadOnly(file);
  reader.prepare("PRAGMA user_version").get(); // from its first read on
  return reader;
}

async function refuse(dir, names) {
  const file = stateFile(dir);
  if (!names.includes(NAME)) throw fault(dir, `it is not empty: it holds ${names[0]}`);
  await awaitUnlocked(file);
  inspect(file);
  throw fault(file, "it is not empty: it is the database of a registry");
}

/** What is in a folder; a named pipe and what a file system puts there do not count. */
function contents(dir) {
  const foreign = readdirSync(dir, { withFileTypes: true });
  return foreign.filter((entry) => !entry.isFIFO() && entry.name !== "lost+found").map(({ name }) => name);
}

/** Makes the database in a folder that holds nothing. */
export async function createState(dir) {
  const file = stateFile(dir);
  let database;
  let made = false;
  try {
    const names = contents(dir);
    if (names.length > 0) await refuse(dir, names);
    closeSync(openSync(file, "wx"));
    made = true;
    database = connect(file);
    const { journal_mode: mode } = database.prepare("PRAGMA journal_mode = WAL").get();
    if (mode !== "wal") throw fault(file, "its file system can't hold a write-ahead log");
    database.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
    return database;
  } catch (error) {
    const known = named(file, error);
    database?.close();
    if (made) removeState(dir);
    throw known;
  }
}

/** Opens the database that is there and has `read` read it; makes one if there is none. */
export async function reopenState(dir, read) {
  const file = stateFile(dir);
  if (!existsSync(file)) return createState(dir);
  let reader;
  let database;
  try {
    await awaitUnlocked(file);
    inspect(file);
    if (hasLog(file)) reader = keepLog(file);
    database = connect(file);
    database.exec("BEGIN IMMEDIATE; ROLLBACK"); // locked and read-only show here
    read(database);
    return database;
  } catch (error) {
    database?.close();
    throw named(file, error);
  } finally {
    reader?.close();
  }
}
