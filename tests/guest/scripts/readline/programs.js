// Lines from stdin and from streams.
'use strict';

const { program, module_program } = require('../../table.js');

module.exports = [
  program('lines of stdin', () => {
    const rl = require('readline').createInterface({ input: process.stdin });
    rl.on('line', (l) => console.log(JSON.stringify(l), rl.line)).on('close', () => console.log('close', rl.closed)).on('pause', () => console.log('pause'));
  }, { stdin: 'one\r\ntwo\n\nthree\rfour\n é\u2028five\nlast' }),
  program('for await, crlfDelay, history of none', async () => {
    const rl = require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity, terminal: false });
    for await (const line of rl) { console.log([line]); if (line === 'stop') break; }
    console.log('after', rl.closed);
  }, { stdin: 'a\r\nb\nstop\nc\n' }),
  program('question, prompt, write', () => {
    const readline = require('readline');
    const rl = readline.createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
    rl.question('name? ', (a) => { console.log(`hello ${a}`); rl.setPrompt('$ '); console.log(rl.getPrompt()); rl.prompt(); rl.on('line', (l) => { console.log('line', l); rl.prompt(); }); });
    rl.on('close', () => { console.log('closed'); attempt(() => rl.question('x', () => {}), () => rl.prompt(), () => rl.pause()); });
  }, { stdin: 'Ann\nx\ny\n' }),
  program('promises', async () => {
    const { createInterface, Readline, Interface } = require('readline/promises');
    const rl = createInterface({ input: process.stdin, output: process.stdout });
    console.log(await rl.question('a? '), await rl.question('b? '), rl instanceof Interface);
    const c = new AbortController(); c.abort(); await later(() => rl.question('c', { signal: c.signal }));
    rl.close(); await later(() => rl.question('d'));
    const r = new Readline(process.stdout, { autoCommit: false }); r.cursorTo(1, 2).moveCursor(-1, 1).clearLine(0).clearScreenDown(); await r.commit(); r.cursorTo(3).rollback(); console.log();
  }, { stdin: '1\n2\n3\n' }),
  program('streams as input; long lines; cursor functions', async () => {
    const readline = require('readline'); const { Readable, PassThrough } = require('stream');
    const rl = readline.createInterface({ input: Readable.from(['ab', 'c\nd', 'é'.slice(0, 1), '\n', 'x'.repeat(100000), '\nend']) });
    const seen = []; for await (const l of rl) seen.push(l.length > 20 ? l.length : l); console.log(seen);
    const out = new PassThrough(); readline.cursorTo(out, 1, 2); readline.cursorTo(out, 5); readline.moveCursor(out, -2, 3); readline.clearLine(out, -1); readline.clearLine(out, 0); readline.clearScreenDown(out); console.log(JSON.stringify(String(out.read())));
    attempt(() => readline.cursorTo(out, 'a'), () => readline.cursorTo(out, NaN), () => readline.createInterface(), () => readline.createInterface({ input: new PassThrough(), crlfDelay: 5 }).crlfDelay, () => readline.createInterface({ input: new PassThrough(), historySize: -1 }), () => readline.createInterface({ input: new PassThrough(), completer: 5 }), () => Object.keys(readline).join());
    process.exit();
  }),
  program('a terminal that is a stream: keys, completer, history', async () => {
    const readline = require('readline'); const { PassThrough } = require('stream');
    const input = new PassThrough(); const output = new PassThrough(); output.columns = 20; const shown = []; output.on('data', (d) => shown.push(String(d)));
    const rl = readline.createInterface({ input, output, terminal: true, completer: (l) => [['help', 'hello'].filter((x) => x.startsWith(l)), l], history: ['old'] });
    rl.on('line', (l) => console.log('line', l)).on('history', (h) => console.log(h)).on('SIGINT', () => console.log('sigint'));
    input.on('keypress', (s, k) => console.log(JSON.stringify(k)));
    for (const text of ['abc\u0001x\u0005y\r', '\u001b[A\r', 'one two\u0017three\r', 'he\t', '\u0015\u0003', 'a\u001b[D\u007f\u001b[3~z\r']) { input.write(text); await new Promise(setImmediate); console.log(rl.line, rl.cursor, rl.getCursorPos()); }
    rl.close(); console.log(JSON.stringify(shown.join('')));
  }),
  program('signals, closing early, two readers', async () => {
    const readline = require('readline'); const { PassThrough } = require('stream');
    const c = new AbortController(); const rl = readline.createInterface({ input: new PassThrough(), signal: c.signal }); rl.on('close', () => console.log('closed by signal')); c.abort();
    const input = new PassThrough(); const two = readline.createInterface({ input }); two.on('line', (l) => { console.log(l); if (l === '2') two.close(); }); input.write('1\n2\n3\n'); await new Promise(setImmediate); console.log(two.closed, input.isPaused());
    input.on('error', (e) => console.log(e.message)); const three = readline.createInterface({ input }); const all = (async () => { for await (const l of three) console.log(l); })(); input.destroy(new Error('input broke')); await later(() => all); console.log('end');
  }),
  module_program('ES module, top-level await', `import * as readline from 'node:readline/promises'; import { stdin as input } from 'node:process';
const rl = readline.createInterface({ input }); const lines = []; for await (const l of rl) lines.push(l); console.log(lines);`, { stdin: 'a\nb\nc' }),
];
