// Channels and traces.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('channels', () => {
    const dc = require('diagnostics_channel'); const c = dc.channel('a'); const seen = (m, n) => console.log('seen', m, n); console.log(c.hasSubscribers, dc.hasSubscribers('a'), dc.channel('a') === c, c.name, c); c.subscribe(seen); dc.subscribe('a', seen); c.publish({ x: 1 }); console.log(c.hasSubscribers, c.unsubscribe(seen), dc.unsubscribe('a', seen), c.unsubscribe(seen), dc.unsubscribe('none', seen)); c.publish('unheard'); dc.channel(Symbol.for('s')).subscribe((m, n) => console.log(m, n)); dc.channel(Symbol.for('s')).publish(1); attempt(() => dc.channel(5), () => dc.channel(), () => c.subscribe(5), () => new dc.Channel(), () => dc.subscribe('a', 'x'), () => Object.keys(dc)); process.on('uncaughtException', (e) => console.log('uncaught', e.message)); c.subscribe(() => { throw new Error('in subscriber'); }); c.publish(2); console.log('after');
  }),
  program('stores and tracing channels', async () => {
    const dc = require('diagnostics_channel'); const { AsyncLocalStorage } = require('async_hooks'); const als = new AsyncLocalStorage(); const c = dc.channel('store'); c.bindStore(als, (m) => ({ m })); c.subscribe((m) => console.log('published', m)); console.log(c.runStores('data', function (a) { return [als.getStore(), this.t, a]; }, { t: 1 }, 'arg'), als.getStore(), c.unbindStore(als), c.unbindStore(als));
    const t = dc.tracingChannel('op'); const log = (k) => (m) => console.log(k, Object.keys(m), m.result, m.error?.message); t.subscribe({ start: log('start'), end: log('end'), asyncStart: log('asyncStart'), asyncEnd: log('asyncEnd'), error: log('error') }); console.log(t.traceSync((a) => a * 2, { c: 1 }, null, 4), t.hasSubscribers); attempt(() => t.traceSync(() => { throw new Error('sync'); }, {})); await later(() => t.tracePromise(async () => 'p', {}), () => t.tracePromise(async () => { throw new Error('async'); }, {})); await new Promise((d) => t.traceCallback((cb) => setImmediate(cb, null, 'r'), -1, {}, null, (e, r) => { console.log('cb', e, r); d(); })); attempt(() => dc.tracingChannel(5), () => t.traceCallback(() => {}, 0, {}, null, 5), () => dc.tracingChannel({ start: 5 }), () => t.unsubscribe({}));
  }),
  program('channels of the library itself', async () => {
    const dc = require('diagnostics_channel'); for (const n of ['module.require.start', 'module.require.end', 'module.import.asyncEnd', 'child_process', 'child_process.spawn:start']) dc.subscribe(n, (m, name) => console.log(name, Object.keys(m).filter((k) => k !== 'process').join())); require('./x'); await import('./x.js'); console.log('logged'); require('child_process').spawn(process.execPath, ['-v'], { stdio: 'ignore' });
  }, { files: { 'x.js': '' } }),
];
