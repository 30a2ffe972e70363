// The machine. What differs by machine is only looked at for its kind.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('kinds of answers', () => {
    const os = require('os'); for (const name of Object.keys(os)) { const v = os[name]; console.log(name, typeof v === 'function' && !['setPriority'].includes(name) ? typeof v() : typeof v); }
    console.log(os.EOL, os.devNull, os.platform(), os.type(), os.endianness(), os.tmpdir(), os.availableParallelism() > 0, os.totalmem() >= os.freemem(), os.loadavg().length, os.uptime() >= 0, `${os.hostname}` === os.hostname(), os.arch() === process.arch, /^\d+\.\d+/.test(os.release()), os.machine().length > 0, os.version().length > 0);
    console.log(Object.keys(os.cpus()[0]), Object.keys(os.cpus()[0].times), typeof os.networkInterfaces());
  }),
  program('constants, errors, priorities', () => {
    const os = require('os'); console.log(os.constants.signals, os.constants.errno, os.constants.priority, os.constants.dlopen, os.constants.UV_UDP_REUSEADDR, Object.isFrozen(os.constants.signals));
    console.log(os.getPriority(), os.getPriority(process.pid)); attempt(() => os.setPriority(0), () => os.getPriority('x'), () => os.getPriority(1e9), () => os.setPriority(99), () => os.setPriority(0, 'x'), () => os.setPriority(1e9, 0), () => os.getPriority(-1), () => os.userInfo().uid, () => os.userInfo().username, () => os.userInfo({ encoding: 'buffer' }).username, () => Object.keys(os.userInfo()), () => os.homedir(), () => { process.env.HOME = '/elsewhere'; return os.homedir(); }, () => { process.env.TMPDIR = '/t/'; return os.tmpdir(); }, () => os.userInfo().shell === null || typeof os.userInfo().shell);
  }),
];
