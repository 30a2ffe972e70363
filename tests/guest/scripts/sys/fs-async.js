// The same by callback, by promise, and by streams.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { pipeline } = require('stream/promises');
const { once } = require('events');

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'fs-async-'));
process.chdir(home);
const hide = (text) => String(text).replaceAll(home, 'HOME');
const call = (name, ...args) => new Promise((resolve) => {
  fs[name](...args, (error, ...values) => {
    const told = values.map((value) => (value instanceof fs.Stats ? [value.size, value.mode, value.nlink] : typeof value === 'number' && name === 'open' ? 'fd' : value));
    console.log(name, error === null || error === undefined ? error : hide(error.stack).replace(/x-[A-Za-z0-9]{6}'/, "x-XXXXXX'"), hide(JSON.stringify(told)));
    resolve(values[0]);
  });
});
async function show(name, promise) {
  try {
    const value = await promise;
    console.log(name, typeof value === 'string' ? hide(value) : value);
  } catch (error) {
    console.log(name, hide(error.stack.split('\n')[0]), hide(JSON.stringify(error)));
  }
}

(async () => {
  await call('writeFile', 'a', 'hello');
  await call('appendFile', 'a', ' there');
  await call('readFile', 'a', 'utf8');
  await call('readFile', 'nope');
  await call('mkdir', 'd/e/f', { recursive: true });
  await call('mkdir', 'd');
  await call('readdir', 'd');
  await call('readdir', 'nope');
  await call('access', 'a');
  await call('rename', 'a', 'b');
  await call('rename', 'nope', 'b');
  await call('copyFile', 'b', 'c');
  await call('symlink', 'c', 's');
  await call('readlink', 's');
  await call('realpath', 's');
  await call('unlink', 's');
  await call('truncate', 'c', 3);
  await call('rm', 'd', { recursive: true });
  await call('rmdir', 'nope');
  await call('mkdtemp', 'nope/x-');
  const fd = await call('open', 'c', 'r+');
  await call('write', fd, 'zzz', 1);
  await call('read', fd, Buffer.alloc(10), 0, 10, 0);
  await call('fstat', fd).then(() => {});
  await call('ftruncate', fd, 2);
  await call('writev', fd, [Buffer.from('a'), Buffer.from('b')], 0);
  await call('readv', fd, [Buffer.alloc(1), Buffer.alloc(3)], 0);
  await call('close', fd);
  await call('close', fd);
  await call('opendir', 'nope');
  fs.exists('c', (there) => console.log('exists', there));
  await call('stat', 'c', { bigint: false }).then((s) => s && console.log(s.size));

  const p = fs.promises;
  await show('writeFile', p.writeFile('p', 'promise\n'));
  await show('appendFile', p.appendFile('p', Buffer.from('more\n')));
  await show('readFile', p.readFile('p', 'utf8'));
  await show('bytes', p.readFile('p'));
  await show('nope', p.readFile('nope'));
  await show('stat', p.stat('p').then((s) => [s.size, s.isFile()]));
  await show('stat', p.stat('nope'));
  await show('mkdir', p.mkdir('q/r', { recursive: true }));
  await show('readdir', p.readdir('.', { withFileTypes: true }).then((l) => l.map((e) => e.name).sort()));
  await show('recursive', p.readdir('.', { recursive: true }).then((l) => l.sort()));
  await show('access', p.access('nope'));
  await show('rm', p.rm('q', { recursive: true }));
  await show('rm', p.rm('q'));
  await show('cp', p.cp('p', 'pp'));
  await show('realpath', p.realpath('pp'));
  await show('mkdtemp', p.mkdtemp('m-').then((s) => s.length));
  const h = await p.open('p', 'r+');
  await show('handle', Promise.resolve(typeof h.fd));
  await show('read', h.read(Buffer.alloc(4), 0, 4, 0).then((r) => [r.bytesRead, r.buffer.toString()]));
  await show('write', h.write('XX', 0).then((r) => r.bytesWritten));
  await show('stat', h.stat().then((s) => s.size));
  await show('all', h.readFile('utf8'));
  await show('truncate', h.truncate(4));
  await show('sync', h.sync());
  await show('chmod', h.chmod(0o600));
  await show('writev', h.writev([Buffer.from('1'), Buffer.from('2')], 0).then((r) => r.bytesWritten));
  const lines = [];
  await h.close();
  await show('closed', h.stat());
  await p.writeFile('lines', 'one\ntwo\nthree');
  const l = await p.open('lines');
  for await (const line of l.readLines()) lines.push(line);
  console.log(lines);
  for await (const e of await p.opendir('.')) lines.push(e.name.length);
  console.log(lines.length);

  const big = Buffer.alloc(300000, 'abcdefghij');
  await pipeline(async function* () { yield big.subarray(0, 100000); yield big.subarray(100000); }, fs.createWriteStream('big'));
  let size = 0;
  let chunks = 0;
  for await (const chunk of fs.createReadStream('big')) { size += chunk.length; chunks++; }
  console.log(size, chunks);
  const part = [];
  for await (const chunk of fs.createReadStream('big', { start: 5, end: 14, encoding: 'utf8' })) part.push(chunk);
  console.log(part);
  const bad = fs.createReadStream('nope');
  const [error] = await once(bad, 'error');
  console.log(hide(error.message));
  const w = fs.createWriteStream('w', { flags: 'a' });
  w.write('x');
  w.end('y');
  await once(w, 'close');
  console.log(fs.readFileSync('w', 'utf8'), w.bytesWritten);
  fs.cpSync('.', path.join(os.tmpdir(), `${path.basename(home)}-copy`), { recursive: true });
  console.log(fs.readdirSync(path.join(os.tmpdir(), `${path.basename(home)}-copy`)).length);
  fs.rmSync(path.join(os.tmpdir(), `${path.basename(home)}-copy`), { recursive: true });
  process.chdir('/');
  fs.rmSync(home, { recursive: true });
})();
