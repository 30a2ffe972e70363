// Modules that few use, and what works without a network of those that need one.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('punycode, constants, sys', () => {
    const p = require('punycode'); console.log(p.encode('mañana'), p.decode('maana-pta'), p.toASCII('mañana.com'), p.toUnicode('xn--maana-pta.com'), p.ucs2.decode('\u{1f600}a'), p.ucs2.encode([0x1f600]), p.version); attempt(() => p.decode('\x80'), () => p.decode('xx-99999999')); console.log(Object.keys(require('constants')).length > 100, require('constants').EACCES, require('sys') === require('util'));
  }),
  program('domain', () => {
    const domain = require('domain'); const d = domain.create(); d.on('error', (e) => console.log('domain', e.message, e.domain === d, e.domainThrown)); d.run(() => { setTimeout(() => { throw new Error('in timer'); }); }); d.run(() => { const e = new (require('events'))(); e.emit('error', new Error('emitted')); }); const f = d.bind((x) => { console.log(x, process.domain === d); }); f(5); d.intercept((x) => console.log(x))(new Error('intercepted')); console.log(domain.active, d.members.length); d.exit();
  }),
  program('tty, repl', async () => {
    const tty = require('tty'); console.log(tty.isatty(0), tty.isatty(1), tty.isatty(99), tty.isatty('x'), Object.keys(tty)); const { PassThrough } = require('stream'); const repl = require('repl'); const input = new PassThrough(), output = new PassThrough(); const shown = []; output.on('data', (c) => shown.push(String(c))); const r = repl.start({ prompt: '> ', input, output, terminal: false }); r.context.x = 5; const end = new Promise((d) => r.on('exit', d)); input.write('x + 1\nlet y = { a: [1] }\ny\nthrow new Error("in repl")\nbad syntax here\n_\nfunction f() {\nreturn 7\n}\nf()\n.help\nundefinedName\n'); input.end('.exit\n'); await end; console.log(shown.join('').replace(/ {4}at .*\n/g, '')); console.log(repl.builtinModules?.length > 10, typeof repl.writer({}));
  }),
  program('net, http, dns, dgram: without a network', () => {
    const net = require('net'), http = require('http'), dns = require('dns'); for (const a of ['127.0.0.1', '::1', '1.2.3', '::ffff:1.2.3.4', 'x', '', '256.1.1.1', 'fe80::1%eth0']) console.log(a, net.isIP(a), net.isIPv4(a), net.isIPv6(a)); console.log(http.METHODS.join(), http.STATUS_CODES[418], http.maxHeaderSize, Object.keys(http).join(), Object.keys(net).join(), Object.keys(dns).join(), Object.keys(require('dgram')).join(), dns.NOTFOUND); attempt(() => http.validateHeaderName('a b'), () => http.validateHeaderValue('a', '\n'), () => net.connect(), () => net.connect({ port: 99999 }), () => net.createServer(5), () => http.request('ftp://x'), () => http.request('http://a b'), () => dns.lookup(5), () => dns.lookup('x', 5), () => dns.setServers('x'), () => require('dgram').createSocket('x'), () => new net.Socket({ fd: 'x' }), () => dns.lookup('127.0.0.1', () => {}) === undefined);
  }),
  program('net: addresses and lists of them', () => { const net = require('net'); const l = new net.BlockList(); l.addAddress('1.2.3.4'); l.addRange('10.0.0.1', '10.0.0.9'); l.addSubnet('fe80::', 10, 'ipv6'); console.log(l.check('1.2.3.4'), l.check('10.0.0.5'), l.check('10.0.1.0'), l.check('fe80::1', 'ipv6'), l.rules, new net.SocketAddress({ address: '1.1.1.1', port: 5 })); attempt(() => l.addAddress('x'), () => l.addSubnet('1.1.1.1', 99), () => new net.SocketAddress({ address: 'x' })); }),
  program('worker_threads, cluster, inspector, trace_events: members', () => { const w = require('worker_threads'); console.log(w.isMainThread, w.threadId, w.parentPort, w.workerData, Object.keys(w).join(), w.getEnvironmentData('x'), w.setEnvironmentData('x', 1), w.getEnvironmentData('x'), w.isMarkedAsUntransferable({})); const c = require('cluster'); console.log(c.isPrimary, c.isWorker, c.workers, c.schedulingPolicy, Object.keys(c).filter((k) => !k.startsWith('_')).join()); attempt(() => new w.Worker(5), () => c.setupPrimary(5)); }),
];
