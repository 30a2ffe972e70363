// Timers as promises.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('all', async () => {
    const t = require('timers/promises'); await later(() => t.setTimeout(1, 'v'), () => t.setTimeout(1), () => t.setImmediate('i'), async () => { const all = []; for await (const x of t.setInterval(1, 'tick')) { all.push(x); if (all.length === 3) break; } return all; }, () => t.setTimeout(1e6, 0, { signal: AbortSignal.abort() }), () => t.setTimeout(1e6, 0, { signal: AbortSignal.timeout(5) }), () => t.setImmediate(0, { signal: AbortSignal.abort('r') }), async () => { const c = new AbortController(); setTimeout(() => c.abort(), 20); for await (const x of t.setInterval(5, null, { signal: c.signal })); }, () => t.scheduler.wait(1), () => t.scheduler.yield(), () => t.setTimeout(1, 0, 5), () => t.setTimeout('x', 'y'), () => t.setTimeout(1, 0, { ref: 5 }), () => t.setTimeout(1, 0, { signal: 5 }), () => t.setInterval(1, 0, { ref: 5 }).next(), () => require('timers').promises === t, () => Object.keys(t), () => t.scheduler.wait('x'), () => t.scheduler.constructor.name, () => require('util').promisify(setImmediate)('p'));
    t.setTimeout(1e6, 0, { ref: false }); console.log('ends');
  }),
];
