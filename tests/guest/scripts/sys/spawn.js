// Children: how they end, what they write, what they read.
'use strict';
const { spawn, exec, execFile, spawnSync, execSync, execFileSync, fork } = require('child_process');
const { once } = require('events');
const node = process.execPath;

async function run(name, file, args, options, input) {
  const child = spawn(file, args, options);
  const seen = [];
  const out = [];
  const err = [];
  for (const event of ['spawn', 'exit', 'close', 'error', 'disconnect']) {
    child.on(event, (...values) => seen.push(`${event}(${values.map((v) => (v instanceof Error ? v.message.replaceAll(node, 'NODE') : v)).join()})`));
  }
  child.stdout?.on('data', (chunk) => out.push(chunk));
  child.stderr?.on('data', (chunk) => err.push(chunk));
  child.stdin?.on('error', (error) => seen.push(`stdin ${error.code}`));
  if (input !== undefined) child.stdin.end(input);
  await once(child, 'close').catch(() => {});
  console.log(name, seen.join(' '), Buffer.concat(out).toString().slice(0, 100), Buffer.concat(out).length, Buffer.concat(err).toString().slice(0, 60));
  return child;
}

(async () => {
  await run('exit 0', node, ['-e', 'process.exit(0)']);
  await run('exit 3', node, ['-e', 'process.exit(3)']);
  await run('output', node, ['-e', 'console.log("out"); console.error("err")']);
  await run('big', node, ['-e', 'process.stdout.write("x".repeat(1 << 20))']);
  await run('echo', node, ['-e', 'process.stdin.pipe(process.stdout)'], {}, 'ping '.repeat(10));
  await run('echo big', node, ['-e', 'process.stdin.pipe(process.stdout)'], {}, 'y'.repeat(500000));
  await run('unread', node, ['-e', 'process.exit(0)'], {}, 'y'.repeat(500000));
  await run('throws', node, ['-e', 'throw 7']);
  await run('env', node, ['-e', 'console.log(process.env.A, process.env.B)'], { env: { A: '1', B: 'two' } });
  await run('cwd', node, ['-e', 'console.log(process.cwd())'], { cwd: '/tmp' });
  await run('no cwd', node, ['-e', '1'], { cwd: '/nope' });
  await run('args', node, ['-e', 'console.log(process.argv.slice(1))', 'a', 'b c']);
  await run('ENOENT', 'no-such-program', ['x']);
  await run('EACCES', '/tmp', ['x']);
  await run('ignore', node, ['-e', 'console.log(1)'], { stdio: 'ignore' });
  await run('inherit', node, ['-e', 'console.log("inherited")'], { stdio: ['ignore', 'inherit', 'pipe'] });
  await run('shell', 'echo hello && exit 4', [], { shell: true });
  await run('abort', node, ['-e', 'process.kill(process.pid, "SIGKILL")']);

  const slow = spawn(node, ['-e', 'setInterval(() => {}, 1000)']);
  slow.on('spawn', () => console.log('killed', slow.kill(), slow.killed));
  console.log(await once(slow, 'exit'), slow.signalCode, slow.exitCode, slow.kill());

  const polite = spawn(node, ['-e', 'process.on("SIGTERM", () => { console.log("bye"); process.exit(9); }); setInterval(() => {}, 1000); console.log("ready")']);
  polite.stdout.once('data', () => polite.kill('SIGTERM'));
  console.log(await once(polite, 'close'));

  const timed = spawn(node, ['-e', 'setInterval(() => {}, 1000)'], { timeout: 300, killSignal: 'SIGKILL' });
  console.log(await once(timed, 'exit'));

  const controller = new AbortController();
  const aborted = spawn(node, ['-e', 'setInterval(() => {}, 1000)'], { signal: controller.signal });
  aborted.on('error', (error) => console.log(error.name));
  aborted.on('spawn', () => controller.abort());
  console.log(await new Promise((resolve) => aborted.on('close', (...values) => resolve(values))));

  const done = (name) => (error, out, err) => console.log(name, error && [error.message.replaceAll(node, 'NODE'), error.code, error.killed, error.signal], out, err);
  await new Promise((r) => exec('echo one; echo two >&2', (...a) => { done('exec')(...a); r(); }));
  await new Promise((r) => exec('exit 7', (...a) => { done('exec')(...a); r(); }));
  await new Promise((r) => exec('no-such-thing', (error, out, err) => { console.log(error.code, out, err.includes('not found')); r(); }));
  await new Promise((r) => execFile(node, ['-p', '6*7'], (...a) => { done('execFile')(...a); r(); }));
  await new Promise((r) => execFile('nope', (...a) => { done('execFile')(...a); r(); }));
  await new Promise((r) => execFile(node, ['-e', 'console.log("x".repeat(9999))'], { maxBuffer: 100 }, (error, out) => { console.log(error.code, error.message, out.length); r(); }));

  console.log(spawnSync(node, ['-e', 'console.log("a"); console.error("b"); process.exit(5)'], { encoding: 'utf8' }).output);
  const s = spawnSync(node, ['-e', 'process.stdin.pipe(process.stdout)'], { input: 'z'.repeat(200000) });
  console.log(s.status, s.signal, s.stdout.length, s.stderr.length, s.error, Object.keys(s));
  const none = spawnSync('nope', ['a']);
  console.log(none.error.message, none.error.code, none.status, none.output, none.pid, Object.keys(none));
  const late = spawnSync(node, ['-e', 'setInterval(() => {}, 1000)'], { timeout: 300 });
  console.log(late.error.code, late.status, late.signal);
  const much = spawnSync(node, ['-e', 'process.stdout.write("x".repeat(5000)); setInterval(() => {}, 1000)'], { maxBuffer: 1000 });
  console.log(much.error.code, much.status, much.signal);
  console.log(execSync('echo sync').toString());
  console.log(execFileSync(node, ['-p', '"file"'], { encoding: 'utf8' }));
  try {
    execSync('echo oops >&2; exit 2', { stdio: 'pipe' });
  } catch (error) {
    console.log(error.status, error.message, error.stderr.toString());
  }
  spawnSync(node, ['-e', 'console.log("from the child")'], { stdio: 'inherit' });
  try {
    spawn('');
  } catch (error) {
    console.log(error.code);
  }
  try {
    process.kill(999999, 0);
  } catch (error) {
    console.log(error.code, error.message);
  }
  const quiet = spawn(node, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'ignore' });
  process.on('exit', () => quiet.kill('SIGKILL'));
  quiet.unref();
})();
