// What a program reads from its standard input: here, what a child of it reads.
'use strict';
const { spawnSync } = require('child_process');
const node = process.execPath;
const ways = {
  data: 'let n = 0; process.stdin.on("data", (d) => { n += d.length; }); process.stdin.on("end", () => console.log("end", n))',
  iterate: '(async () => { let n = 0; for await (const d of process.stdin) n += d.length; console.log(n); })()',
  encoding: 'process.stdin.setEncoding("utf8"); const kinds = new Set(); process.stdin.on("data", (d) => kinds.add(typeof d)).on("end", () => console.log("end", ...kinds))',
  sync: 'console.log(require("fs").readFileSync(0, "utf8").length)',
  bytes: 'console.log(require("fs").readFileSync(0).length)',
  readline: 'const rl = require("readline").createInterface({ input: process.stdin }); rl.on("line", (l) => console.log(`<${l}>`)).on("close", () => console.log("closed"))',
  once: 'process.stdin.once("data", (d) => { console.log(String(d).slice(0, 3)); process.stdin.pause(); })',
  destroy: 'process.stdin.once("data", () => { process.stdin.destroy(); console.log("destroyed"); })',
  callback: 'const b = Buffer.alloc(4); require("fs").read(0, b, 0, 4, null, (e, n) => console.log(e, n, b.toString()))',
  none: 'console.log("not read")',
  isTTY: 'console.log(process.stdin.isTTY, process.stdout.isTTY, process.stdin.fd, process.stdout.fd)',
};
for (const [name, code] of Object.entries(ways)) {
  for (const input of ['', 'one\ntwo\n', Buffer.alloc(150000, 97)]) {
    if (name === 'readline' && input.length > 100) continue;
    const { status, signal, stdout, stderr } = spawnSync(node, ['-e', code], { input, encoding: 'utf8' });
    console.log(name, input.length, status, signal, JSON.stringify(stdout), JSON.stringify(stderr.slice(0, 200)));
  }
}
console.log(spawnSync(node, ['-e', 'process.stdin.on("end", () => console.log("null ends")).resume()'], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }).stdout);
console.log(spawnSync(node, { input: 'console.log("program from stdin", 1 + 1)', encoding: 'utf8' }).stdout);
