// The program of the first guest of an installation: what it loads and calls is compiled then, and kept beside the
// snapshot for all guests after it. Whatever is missing, the rest still is worth having.
'use strict';

const { builtinModules } = require('node:module');

for (const name of builtinModules) {
  if (name.startsWith('_') || name.startsWith('internal')) continue;
  try {
    require(name);
  } catch {
    // Refused in a guest.
  }
}

const { spawn, spawnSync, exec, execFile } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const { pipeline } = require('node:stream/promises');
const { PassThrough } = require('node:stream');
const { setTimeout: delay } = require('node:timers/promises');
const util = require('node:util');

async function children() {
  spawnSync('node', ['-e', '0'], { encoding: 'utf8' });
  const child = spawn('node', ['-e', 'process.stdin.pipe(process.stdout)']);
  child.stdout.setEncoding('utf8').on('data', () => {});
  child.stdin.end('warm');
  await once(child, 'close');
  await once(spawn('node', ['-e', '0'], { stdio: 'ignore' }), 'exit');
  await util.promisify(exec)('true');
  await util.promisify(execFile)('node', ['-e', '0']);
}

async function files() {
  const folder = await fs.promises.mkdtemp('/tmp/first-');
  await fs.promises.writeFile(`${folder}/a`, 'warm');
  await pipeline(fs.createReadStream(`${folder}/a`), new PassThrough(), fs.createWriteStream(`${folder}/b`));
  fs.readFileSync(`${folder}/b`, 'utf8');
  for (const name of fs.readdirSync(folder)) fs.statSync(`${folder}/${name}`);
  fs.rmSync(folder, { recursive: true });
}

async function secrets() {
  const { createHash, createHmac, createCipheriv, createSecretKey, randomBytes, randomUUID, subtle } = require('node:crypto');
  createHash('sha256').update('warm').digest('hex');
  createHmac('sha256', createSecretKey(randomBytes(16))).update('warm').digest('base64');
  createCipheriv('aes-128-gcm', randomBytes(16), randomBytes(12)).update('warm', 'utf8', 'hex');
  randomUUID();
  await subtle.digest('SHA-256', new Uint8Array(1));
  const key = await subtle.importKey('raw', new Uint8Array(16), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']);
  await subtle.sign('HMAC', key, new Uint8Array(1));
}

async function rest() {
  await delay(1);
  const controller = new AbortController();
  controller.signal.addEventListener('abort', () => {});
  controller.abort();
  structuredClone({ a: new Map([[1, { b: 2 }]]) });
  util.inspect([new Set([1]), new Error('warm'), Buffer.from('warm'), Symbol('warm'), class Warm {}, () => {}], { depth: 4 });
  console.table([{ a: 1 }]);
  await import('node:path');
}

Promise.allSettled([children(), files(), secrets(), rest()]);
