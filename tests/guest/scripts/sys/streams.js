// The order of what a program sees of a child, back-pressure, and descriptors that are shared.
'use strict';
const { spawn, spawnSync } = require('child_process');
const { once } = require('events');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const node = process.execPath;

(async () => {
  const child = spawn(node, ['-e', 'process.stdout.write("a"); process.stdin.on("data", (d) => process.stdout.write(d)).on("end", () => { process.stdout.write("z"); process.exitCode = 4; })']);
  const order = [];
  child.stdout.on('data', (d) => order.push(`data ${d}`)).on('end', () => order.push('end')).on('close', () => order.push('out closed'));
  child.stdin.on('finish', () => order.push('finish'));
  child.on('close', (code) => order.push(`close ${code}`));
  await once(child.stdout, 'data');
  console.log(child.stdin.write('m', () => order.push('written')), child.stdin.writable);
  await once(child.stdout, 'data');
  child.stdin.end();
  await once(child, 'close');
  console.log(order.filter((one) => !one.startsWith('close')).join(), order.at(-1));

  const slow = spawn(node, ['-e', 'process.stdin.on("data", () => {}).on("end", () => console.log("all read"))']);
  const full = [];
  for (let i = 0; i < 40; i++) full.push(slow.stdin.write(Buffer.alloc(65536)));
  console.log(full.includes(false), slow.stdin.writableNeedDrain);
  await once(slow.stdin, 'drain');
  slow.stdin.end();
  console.log((await once(slow.stdout, 'data')).join().trim(), slow.stdin.bytesWritten);

  const reader = spawn(node, ['-e', 'process.stdout.write("x".repeat(300000), () => process.exit(3))']);
  reader.stdout.pause();
  setTimeout(() => reader.stdout.resume(), 50);
  let size = 0;
  reader.stdout.on('data', (d) => { size += d.length; });
  console.log(await once(reader, 'close'), size);

  const closed = spawn(node, ['-e', 'process.stdout.on("error", (e) => { console.error(e.code); process.exit(6); }); setInterval(() => process.stdout.write("y".repeat(1000)), 1)']);
  closed.stdout.destroy();
  console.log(String(await once(closed.stderr, 'data')).trim(), await once(closed, 'close'));

  const log = path.join(os.tmpdir(), 'shared-log');
  const fd = fs.openSync(log, 'w');
  fs.writeSync(fd, 'parent 1\n');
  spawnSync(node, ['-e', 'console.log("child"); console.error("error")'], { stdio: ['ignore', fd, fd] });
  fs.writeSync(fd, 'parent 2\n');
  fs.closeSync(fd);
  console.log(fs.readFileSync(log, 'utf8'));
  fs.unlinkSync(log);

  const pipeline = spawn('sh', ['-c', `echo one two | "${node}" -e "process.stdin.pipe(process.stdout)" && echo three`]);
  let text = '';
  for await (const chunk of pipeline.stdout.setEncoding('utf8')) text += chunk;
  console.log(JSON.stringify(text));
  console.log(child.stdin instanceof net.Socket, child.stdout.readableEnded, child.stdio.length);
})();
