/** Of each child session the run of the newest generation, in the order in which the sessions come first. */
export function newestPerChild(runs) {
  const newest = new Map();
  for (const run of runs) {
    const known = newest.get(run.child);
    if (known === undefined || run.generation > known.generation) newest.set(run.child, run); // keeps its place
  }
  return [...newest.values()];
}
