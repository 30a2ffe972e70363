// What an inspector adds to the console: members that do nothing without somebody who looks, and names of their own for
// those that are others by another name.
'use strict';

const { consoleOfV8 } = tools;

for (const name of Object.keys(consoleOfV8)) {
  const own = console[name];
  if (own === undefined) {
    console[name] = consoleOfV8[name];
  } else if (own.name !== name) {
    console[name] = Object.defineProperty(own.bind(console), 'name', { __proto__: null, value: name, configurable: true });
  }
}

console.createTask = function createTask(name) {
  if (typeof name !== 'string' || name === '') throw new Error('First argument must be a non-empty string.');
  return { run: (work) => work() };
};
