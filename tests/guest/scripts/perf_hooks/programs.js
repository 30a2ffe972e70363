// performance and its observers.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('marks and measures', () => {
    const { performance } = require('perf_hooks'); const m = performance.mark('a', { detail: { x: 1 }, startTime: 5 }); performance.mark('b', { startTime: 12 }); const x = performance.measure('m', 'a', 'b'); const y = performance.measure('n', { start: 1, duration: 3, detail: 'd' });
    console.log(m.name, m.startTime, m.duration, m.entryType, m.detail, x.duration, x.startTime, y.duration, y.detail, JSON.stringify(m), m, x); console.log(performance.getEntries().filter((e) => e.entryType !== 'node').map((e) => e.name), performance.getEntriesByName('a').length, performance.getEntriesByType('measure').length, performance.getEntriesByName('a', 'measure')); performance.clearMarks('a'); performance.clearMeasures(); console.log(performance.getEntriesByType('mark').length, performance.getEntriesByType('measure'));
    attempt(() => performance.measure('z', 'none'), () => performance.mark(), () => performance.mark(Symbol('s')), () => performance.mark('a', { startTime: -1 }), () => performance.measure('q', { start: 1, end: 2, duration: 3 }), () => performance.measure(), () => performance.getEntriesByName(), () => new PerformanceMark('own', { startTime: 1 }).startTime, () => new PerformanceEntry(), () => performance.mark('nodeStart'), () => performance.now.call({}), () => typeof performance.now(), () => performance.timeOrigin > 1e12, () => Object.keys(performance.toJSON()).join());
  }),
  program('observers, timerify', async () => {
    const ph = require('perf_hooks'); const { performance, PerformanceObserver } = ph; const seen = new Promise((done) => { const o = new PerformanceObserver((list, obs) => { console.log(list.getEntries().map((e) => [e.name, e.entryType]), list.getEntriesByType('mark').length, list.getEntriesByName('b').length, obs === o); o.disconnect(); done(); }); o.observe({ entryTypes: ['mark', 'measure'] }); }); performance.mark('a'); performance.mark('b'); performance.measure('m', 'a'); await seen;
    const f = performance.timerify(function named(a, b) { return a + b; }); console.log(f(1, 2), f.name, f.length); const g = performance.timerify(function add(a) { return a; }); const got = new Promise((done) => { const o = new PerformanceObserver((l) => { const [e] = l.getEntries(); console.log(e.name, e.entryType, e.detail, e[0]); o.disconnect(); done(); }); o.observe({ type: 'function' }); }); g(7); await got;
    attempt(() => new PerformanceObserver(), () => new PerformanceObserver(() => {}).observe(), () => new PerformanceObserver(() => {}).observe({ entryTypes: 5 }), () => new PerformanceObserver(() => {}).observe({ type: 'mark', entryTypes: ['mark'] }), () => PerformanceObserver.supportedEntryTypes, () => Object.keys(ph), () => Object.keys(performance.eventLoopUtilization()), () => Object.keys(performance.nodeTiming).join(), () => performance.timerify(5), () => ph.performance === globalThis.performance);
  }),
  program('histograms', () => {
    const ph = require('perf_hooks');
    const h = ph.createHistogram(); for (const v of [1, 2, 3, 100]) h.record(v); h.record(5n); console.log(h.min, h.max, h.count, h.mean, h.percentile(50), h.percentiles.size, h.exceeds, h.stddev.toFixed(3), h.minBigInt); h.reset(); console.log(h.count); attempt(() => h.record(0), () => h.record('x'), () => h.percentile(0), () => ph.createHistogram({ lowest: 5, highest: 6 }), () => ph.createHistogram({ figures: 9 }), () => ph.monitorEventLoopDelay().enable(), () => ph.monitorEventLoopDelay({ resolution: 0 }));
  }),
];
