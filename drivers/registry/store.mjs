// Where a registry keeps its runs: nowhere, or in SQLite with every acknowledged change on disk.

import { Run } from "./registry.mjs";
import { connectReadOnly, named, stateFile } from "./state_file.mjs";

/** Keeps nothing. */
export const memoryStore = {
  insert() {},
  settle() {},
  update() {},
  countOnDisk: () => ({ runs: { rows: 0, ended: 0 }, tasks: { rows: 0, ended: 0 } }),
};

/** The statements that write, each prepared once. */
class Statements {
  constructor(database) {
    const prepare = (sql) => database.prepare(sql);
    this.begin = prepare("BEGIN IMMEDIATE");
    this.commit = prepare("COMMIT");
    this.rollback = prepare("ROLLBACK");
    this.insertRun = prepare(`
      INSERT INTO runs(id, child, requester, controller, "group", label, task, payload, cleanup, generation, created_at)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.insertTask = prepare("INSERT INTO tasks(id, created_at) VALUES(?, ?)");
    this.settleRun = prepare("UPDATE runs SET outcome = ?, ended_at = ?, archive_at = ? WHERE id = ?");
    this.settleTask = prepare("UPDATE tasks SET ended_at = ? WHERE id = ?");
    this.markRecovered = prepare("UPDATE runs SET recovered = 1 WHERE id = ?");
    this.removeRun = prepare("DELETE FROM runs WHERE id = ?");
    this.removeTask = prepare("DELETE FROM tasks WHERE id = ?");
  }
}

/**
 * Runs and tasks in SQLite. A change is acknowledged, by the promise that it returns, after the commit that holds it:
 * each has a commit of its own, or with `groupCommit` all of one turn of the event loop have one together.
 */
export class DurableStore {
  #database;
  #file;
  #statements;
  #groupCommit;
  #checkBudget;
  #waiting = []; // changes of this turn

  /** `checkBudget` is called before every change, and throws when there is no time left for one. */
  constructor(database, dir, { groupCommit, checkBudget }) {
    this.#database = database;
    this.#file = stateFile(dir);
    this.#statements = new Statements(database);
    this.#groupCommit = groupCommit;
    this.#checkBudget = checkBudget;
  }

  insert(run) {
    return this.#change(() => this.#insert(run));
  }

  settle(id, outcome, endedAt, archiveAt) {
    const { settleRun, settleTask } = this.#statements;
    return this.#change(() => {
      settleRun.run(outcome, endedAt, archiveAt, id);
      settleTask.run(endedAt, id);
    });
  }

  /** What a sweep changes, in one transaction. */
  update({ removed = [], recovered = [] }) {
    const { removeRun, removeTask, markRecovered } = this.#statements;
    return this.#change(() => {
      for (const { id } of recovered) markRecovered.run(id);
      for (const { id } of removed) {
        removeRun.run(id);
        removeTask.run(id);
      }
    });
  }

  /** Stores many runs at once, without acknowledging each. */
  insertAll(runs) {
    this.#transact(() => runs.forEach((run) => this.#insert(run)));
  }

  /** How many rows there are, ended or not, as another connection sees them. */
  countOnDisk() {
    const reader = connectReadOnly(this.#file);
    try {
      const count = (table) => reader.prepare(`SELECT count(*) AS rows, count(ended_at) AS ended FROM ${table}`).get();
      return { runs: count("runs"), tasks: count("tasks") };
    } finally {
      reader.close();
    }
  }

  close() {
    this.#database.close();
  }

  #insert(run) {
    const { insertRun, insertTask } = this.#statements;
    const { id, child, requester, controller, group, label, task, payload, cleanup, generation, createdAt } = run;
    insertRun.run(id, child, requester, controller, group, label, task, payload, cleanup, generation, createdAt);
    insertTask.run(id, createdAt);
  }

  async #change(work) {
    this.#checkBudget();
    if (!this.#groupCommit) return this.#transact(work);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush() {
    const changes = this.#waiting;
    this.#waiting = [];
    try {
      this.#transact(() => {
        for (const { work } of changes) work();
      });
    } catch (error) {
      for (const { reject } of changes) reject(error);
      return;
    }
    for (const { resolve } of changes) resolve();
  }

  #transact(work) {
    const { begin, commit, rollback } = this.#statements;
    try {
      begin.run();
      try {
        work();
        commit.run();
      } catch (error) {
        if (this.#database.isTransaction) rollback.run(); // a full disk ends the transaction by itself
        throw error;
      }
    } catch (error) {
      throw named(this.#file, error);
    }
  }
}

/** Puts all runs of a database into a registry. Nobody works any more at one that has not ended. */
export function restore(database, registry) {
  const query = database.prepare("SELECT runs.*, tasks.ended_at FROM runs JOIN tasks USING(id) ORDER BY id");
  query.setReturnArrays(true);
  for (const row of query.iterate()) {
    const [id, child, requester, controller, group, label, task, payload, cleanup] = row;
    const [generation, createdAt, outcome, endedAt, archiveAt, recovered, taskEndedAt] = row.slice(9);
    const request = { child, requester, controller, group, label, task, payload, cleanup };
    const run = new Run(request, id, generation, createdAt);
    run.status = endedAt === null ? "interrupted" : "terminal";
    run.outcome = outcome;
    run.endedAt = endedAt;
    run.archiveAt = archiveAt;
    run.recovered = recovered === 1;
    registry.adopt(run, { id, status: taskEndedAt === null ? "running" : "ended", endedAt: taskEndedAt });
  }
}
