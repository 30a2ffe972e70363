// Standard input and output.
'use strict';

const one = (name, code, stdin) => [name, { 'main.js': code }, ['main.js'], { stdin }];
const big = 'line of input\n'.repeat(20000);

module.exports = [
  one('stdin is piped to stdout', 'process.stdin.pipe(process.stdout)', big),
  one('stdin by chunks', 'let n = 0; process.stdin.on("data", (d) => { n += d.length; }).on("end", () => console.log("end", n)).on("close", () => console.log("close"))', big),
  one('stdin by readable', 'process.stdin.setEncoding("utf8"); let t = ""; process.stdin.on("readable", () => { let c; while ((c = process.stdin.read()) !== null) t += c; }).on("end", () => console.log(t.length))', big),
  one('stdin by lines', 'const rl = require("readline").createInterface({ input: process.stdin }); let n = 0; rl.on("line", (l) => { if (n++ < 2) console.log(l); }).on("close", () => console.log(n))', big),
  one('stdin by lines, iterated', '(async () => { let n = 0; for await (const l of require("readline").createInterface({ input: process.stdin })) n += l.length; console.log(n); })()', big),
  one('stdin at once', 'console.log(require("fs").readFileSync(0, "utf8").length, require("fs").readFileSync("/dev/stdin", "utf8").length)', 'some'),
  one('stdin by text consumers', 'require("stream/consumers").text(process.stdin).then((t) => console.log(t.length))', big),
  one('stdin is not read', 'console.log("done")', big),
  one('stdin is left half-way', 'process.stdin.once("data", (d) => { console.log(d.length > 0); process.exit(3); })', big),
  one('stdin is paused', 'process.stdin.once("data", () => { process.stdin.pause(); console.log("paused"); setTimeout(() => process.stdin.resume(), 2); }); process.stdin.on("end", () => console.log("end"))', 'x'),
  one('stdin is unrefed', 'process.stdin.on("data", () => {}); process.stdin.unref?.(); console.log(typeof process.stdin.unref)', ''),
  one('stdin: nothing', 'process.stdin.on("data", () => console.log("data")).on("end", () => console.log("end")).on("close", () => console.log("close"))', ''),
  one('stdin: its kind', 'console.log(process.stdin.constructor.name, process.stdin.fd, process.stdin.isTTY, process.stdin.readable, process.stdin.writable, process.stdin.readableFlowing, process.stdin.readableHighWaterMark)', 'x'),
  one('stdout: its kind', 'for (const s of [process.stdout, process.stderr]) console.log(s.fd, s.isTTY, s._type, s.writable, s.readable, s.columns, s.writableHighWaterMark, s.writableLength, typeof s.getColorDepth, s._isStdio)'),
  one('stdout: a large write', 'console.log("x".repeat(3_000_000))'),
  one('stdout: many writes', 'for (let i = 0; i < 20000; i++) console.log("line", i)'),
  one('stdout: a large write, then exit', 'console.log("y".repeat(60_000)); process.exit(2)'),
  one('stdout: callbacks', 'process.stdout.write("a\\n", () => process.stderr.write("written\\n")); console.log(process.stdout.write("b\\n", "utf8", (e) => console.log("cb", e)))'),
  one('stdout: encodings', 'process.stdout.write("é\\n", "latin1"); process.stdout.write("68690a", "hex"); process.stdout.write(Buffer.from([0, 255, 10])); process.stdout.write(new Uint8Array([65, 10])); process.stdout.write("aGkK", "base64"); process.stdout.setDefaultEncoding("latin1"); process.stdout.write("ü\\n")'),
  one('stdout: lone surrogates', 'console.log("a\\ud800b"); process.stdout.write("\\udc00\\n")'),
  one('stdout: bad writes', 'for (const bad of [1, null, undefined, {}, true]) try { process.stdout.write(bad) } catch (e) { console.log(e.code, e.message) }'),
  one('stdout: end', 'process.on("exit", () => require("fs").writeSync(2, "exit\\n")); process.stdout.on("finish", () => console.error("finish")); process.stdout.end("last\\n"); process.stdout.on("error", (e) => console.error(e.code, e.message)); process.stdout.write("after")'),
  one('stdout: destroy', 'process.stdout.destroy(); console.log("lost"); console.error("still there")'),
  one('stdout: cork', 'process.stdout.cork(); process.stdout.write("a"); process.stdout.write("b\\n"); process.nextTick(() => process.stdout.uncork())'),
  one('stdout: by descriptor', 'const fs = require("fs"); fs.writeSync(1, "sync\\n"); fs.writeFileSync(1, "file\\n"); fs.writeFileSync("/dev/stdout", "dev\\n"); fs.write(1, "async\\n", () => console.log("done"))'),
  one('stdout: piped from a stream', 'const { Readable, pipeline } = require("stream"); pipeline(Readable.from(["a\\n", "b\\n"]), process.stdout, (e) => console.error("piped", e))'),
  one('stderr: by console and stream', 'process.stderr.write("raw\\n"); console.error("console"); process._rawDebug("raw debug %d", 1); console.warn({ a: 1 })'),
  one('a question', 'const rl = require("readline").createInterface({ input: process.stdin, output: process.stdout }); rl.question("name? ", (a) => { console.log(`hello ${a}`); rl.close(); })', 'you\n'),
  one('questions by promise', 'const rl = require("readline/promises").createInterface({ input: process.stdin, output: process.stdout }); (async () => { const a = await rl.question("a? "); console.log(a); rl.close(); })()', '1\n2\n'),
  one('colours', 'const { styleText } = require("util"); console.log(styleText("red", "text"), styleText(["bold", "underline"], "x", { validateStream: false }), process.stdout.hasColors?.(), process.stdout.getColorDepth?.())'),
];
