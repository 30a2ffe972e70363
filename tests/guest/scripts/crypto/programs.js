// Hashes, ciphers, keys and what is derived from them: the results, and what is said of bad input.
'use strict';

/** Before each: `show(NAME, FUNCTION)` prints what a function gives, or all there is to know of what it throws. */
const BEGIN = `
const crypto = require('node:crypto');
const { subtle } = crypto;
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const told = (error) => [error.name, error.code, error.message, { ...error }, error.cause && told(error.cause)];
function show(name, make) {
  try {
    console.log(name, make());
  } catch (error) {
    console.log(name, ...told(error));
  }
}
const later = (promise) => promise.then((value) => value, told);
`;
const row = (name, code) => [name, { 'main.js': BEGIN + code }];

module.exports = [
  row('every digest', `
for (const name of crypto.getHashes()) show(name, () => crypto.createHash(name, /shake|kmac/i.test(name) ? { outputLength: 20 } : {}).update('tare').digest('hex'));`),
  row('lists of names', `
console.log(crypto.getHashes().join(), crypto.getCiphers().join(), crypto.getCurves().join(), crypto.getMacs().join());`),
  row('a hash in pieces and encodings', `
const hash = crypto.createHash('sha256');
for (const [data, encoding] of [['abc'], ['616263', 'hex'], ['YWJj', 'base64'], ['abc', 'latin1'], ['äöü', 'utf16le'], ['-_-_', 'base64url'], [Buffer.from('x')], [new Uint16Array([1, 2])], [new DataView(new ArrayBuffer(3))]]) {
  hash.update(data, encoding);
  for (const form of [undefined, 'hex', 'base64', 'latin1', 'base64url', 'binary', 'ucs2', 'ascii', 'buffer', 'HEX', 'nonsense']) console.log(form, hash.copy().digest(form));
}`),
  row('hashes that are finished', `
const hash = crypto.createHash('md5');
console.log(hash.update('x') === hash, hash.digest('hex'));
show('update', () => hash.update('y'));
show('digest', () => hash.digest());
show('copy', () => hash.copy());`),
  row('hashes that do not exist', `
for (const name of ['nope', '', 'sha-256', 'SHA256', 'RSA-SHA1', 'null', 'sha256\\0', 'whirlpool', 'md4', '2.16.840.1.101.3.4.2.1', 'ß'.repeat(1000)]) show(name.slice(0, 30), () => crypto.createHash(name).digest('hex'));
for (const name of [undefined, null, 1, {}, Symbol('x')]) show(typeof name, () => crypto.createHash(name));`),
  row('data that is no data', `
for (const data of [undefined, null, 1, {}, [1], true, Symbol('x'), new ArrayBuffer(1), new Set()]) {
  show('hash', () => crypto.createHash('sha1').update(data));
  show('hmac', () => crypto.createHmac('sha1', 'k').update(data));
  show('once', () => crypto.hash('sha1', data));
}
show('odd hex', () => crypto.createHash('sha1').update('abc', 'hex'));`),
  row('output of any length', `
for (const outputLength of [0, 1, 16, 32, 100, 1000, -0]) {
  show(outputLength, () => crypto.createHash('shake256', { outputLength }).update('x').digest('hex'));
  show(outputLength, () => crypto.hash('shake128', 'x', { outputLength }));
}
for (const outputLength of [-1, 1.5, '8', 2 ** 32, NaN, null]) show(outputLength, () => crypto.createHash('shake256', { outputLength }));
for (const outputLength of [0, 20, 21]) show(outputLength, () => crypto.createHash('sha1', { outputLength }).digest('hex'));
show('default', () => [crypto.createHash('shake128').digest('hex'), crypto.hash('shake256', '')]);
show('copy', () => crypto.createHash('shake128', { outputLength: 5 }).copy({ outputLength: 9 }).digest('hex'));
show('copy', () => crypto.createHash('sha1').copy({ outputLength: 9 }));`),
  row('crypto.hash', `
for (const form of [undefined, 'hex', 'base64', 'buffer', 'BUFFER', 'base64url', 'latin1', { outputEncoding: 'base64' }, {}, 'nope', 1, null]) show(form, () => crypto.hash('sha256', 'tare', form));
show('unknown', () => crypto.hash('nope', ''));
show('length', () => crypto.hash('sha1', 'x', { outputLength: 3 }));
show('bytes', () => crypto.hash('sha1', new Uint8Array(3)));`),
  row('a hash as a stream', `
const { pipeline } = require('node:stream/promises');
const { Readable } = require('node:stream');
(async () => {
  const hash = crypto.createHash('sha256');
  await pipeline(Readable.from(['a', Buffer.from('b'), 'c']), hash);
  console.log(hash.read().toString('hex'));
  show('again', () => hash.digest('hex'));
  const hmac = crypto.createHmac('sha256', 'key').setEncoding('hex');
  await pipeline(Readable.from(['a', 'b']), hmac);
  console.log(hmac.read());
  show('again', () => hmac.digest('hex'));
  show('write', () => hash.update('x'));
})();`),
  row('hash objects shown', `
console.log(crypto.createHash('sha1'), crypto.createHmac('sha1', 'k'), crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)), crypto.createSecretKey('k', 'utf8'));
console.log(Object.keys(crypto).sort().join());`),
  row('hmac', `
for (const name of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256', 'blake2b512', 'RSA-SHA256', 'sm3']) {
  for (const key of ['', 'k', Buffer.alloc(200, 7), crypto.createSecretKey(Buffer.from('key')), new ArrayBuffer(3)]) show(name, () => crypto.createHmac(name, key).update('tare').digest('hex'));
}`),
  row('hmac that goes wrong', `
for (const name of ['nope', '', 'shake128', 1, null]) show(name, () => crypto.createHmac(name, 'k'));
for (const key of [undefined, null, 1, {}, []]) show('key', () => crypto.createHmac('sha1', key));
const hmac = crypto.createHmac('sha1', 'k');
console.log(hmac.digest('hex'), hmac.digest('hex'), hmac.digest());
show('update', () => hmac.update('x'));`),
  row('other macs', `
const key = Buffer.alloc(16, 1);
show('hmac', () => crypto.createMac('hmac', key, { digest: 'sha256' }).update('x').final('hex'));
show('cmac', () => crypto.createMac('cmac', key, { cipher: 'aes-128-cbc' }).update('x').final('base64'));
show('gmac', () => crypto.createMac('gmac', key, { cipher: 'aes-128-gcm', iv: Buffer.alloc(12) }).update('x').final('hex'));
show('kmac', () => crypto.createMac('kmac256', key, { outputLength: 12, customization: Buffer.from('c') }).update('x').final('hex'));
show('siphash', () => crypto.createMac('siphash', key).update('x').final());
show('poly1305', () => crypto.createMac('poly1305', Buffer.alloc(32, 1)).update('x').final('hex'));
show('blake', () => crypto.createMac('BLAKE2BMAC', key, { outputLength: 20, salt: Buffer.alloc(16) }).update('x').final('hex'));
show('no digest', () => crypto.createMac('hmac', key));
show('no cipher', () => crypto.createMac('cmac', key));
show('no iv', () => crypto.createMac('gmac', key, { cipher: 'aes-128-gcm' }));
show('unknown', () => crypto.createMac('nope', key));
show('too much', () => crypto.createMac('hmac', key, { digest: 'sha1', salt: key }));
const mac = crypto.createMac('siphash', key);
mac.final();
show('again', () => mac.final());
show('update', () => mac.update('x'));`),
  row('every cipher there and back', `
for (const name of crypto.getCiphers()) {
  const { mode, keyLength, ivLength = 0 } = crypto.getCipherInfo(name);
  if (['wrap', 'siv'].includes(mode) || /siv/.test(name)) continue;
  const key = Buffer.from(Array.from({ length: keyLength }, (_, i) => i));
  const iv = ivLength === 0 ? null : Buffer.alloc(ivLength, 9);
  const options = ['ccm', 'ocb', 'gcm'].includes(mode) ? { authTagLength: 16 } : {};
  show(name, () => {
    const to = crypto.createCipheriv(name, key, iv, options);
    const made = Buffer.concat([to.update('a message of 32 bytes, no more !'), to.final()]);
    const from = crypto.createDecipheriv(name, key, iv, options);
    if (options.authTagLength || /poly/.test(name)) from.setAuthTag(to.getAuthTag());
    return [made.toString('hex'), from.update(made, undefined, 'utf8') + from.final('utf8')];
  });
}`),
  row('what is known of each cipher', `
for (const name of [...crypto.getCiphers(), 'nope', '', 'des3', 'rc4', 'null', 'AES-128-CBC', 901, 1, 419, -1]) show(name, () => crypto.getCipherInfo(name));
for (const options of [{ keyLength: 16 }, { keyLength: 17 }, { ivLength: 12 }, { ivLength: 0 }, { ivLength: 200 }, { keyLength: -1 }, { keyLength: '1' }, null]) {
  for (const name of ['aes-128-gcm', 'aes-128-ccm', 'aes-128-cbc', 'chacha20-poly1305', 'aes-128-ocb']) show(name, () => crypto.getCipherInfo(name, options));
}
show('bad', () => crypto.getCipherInfo({}));
show('bad', () => crypto.getCipherInfo(1.5));`),
  row('a cipher in pieces', `
const cipher = crypto.createCipheriv('aes-192-cbc', Buffer.alloc(24, 1), Buffer.alloc(16, 2));
let text = '';
for (const piece of ['', 'a', 'bc'.repeat(20), 'é']) text += cipher.update(piece, 'utf8', 'base64');
text += cipher.final('base64');
console.log(text);
const back = crypto.createDecipheriv('aes-192-cbc', Buffer.alloc(24, 1), Buffer.alloc(16, 2));
console.log(back.update(text, 'base64', 'utf8') + back.final('utf8'));
show('encodings', () => { const c = crypto.createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)); c.update('a', 'utf8', 'hex'); c.update('b', 'utf8', 'base64'); });
show('unknown', () => crypto.createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update('a', 'utf8', 'nope'));`),
  row('padding', `
const make = (data, on, create = 'createCipheriv') => { const c = crypto[create]('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)).setAutoPadding(on); return Buffer.concat([c.update(data), c.final()]).toString('hex'); };
for (const size of [0, 1, 15, 16, 17]) { show(size, () => make(Buffer.alloc(size), true)); show(size, () => make(Buffer.alloc(size), false)); }
show('bad', () => make(Buffer.alloc(16, 3), true, 'createDecipheriv'));
show('short', () => make(Buffer.alloc(5), true, 'createDecipheriv'));
show('off', () => make(Buffer.alloc(16, 3), false, 'createDecipheriv'));
show('late', () => { const c = crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)); c.final(); c.setAutoPadding(true); });`),
  row('keys and vectors that do not fit', `
for (const name of ['aes-128-cbc', 'aes-256-gcm', 'aes-128-ecb', 'chacha20-poly1305', 'aes-128-ctr', 'id-aes128-wrap', 'aes-128-xts', 'des-cbc', 'rc4', 'nope', '', 'null']) {
  for (const [key, iv] of [[16, 16], [32, 12], [15, 16], [16, null], [16, 0], [0, 16], [32, 13], [16, 8], [24, 8]]) {
    show(name + key + iv, () => typeof crypto.createCipheriv(name, Buffer.alloc(key), iv === null ? null : Buffer.alloc(iv)));
    show(name + key + iv, () => typeof crypto.createDecipheriv(name, Buffer.alloc(key), iv === null ? null : Buffer.alloc(iv)));
  }
}
for (const bad of [undefined, 1, {}, true, Symbol('x')]) {
  show('key', () => crypto.createCipheriv('aes-128-cbc', bad, Buffer.alloc(16)));
  show('iv', () => crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), bad));
  show('name', () => crypto.createCipheriv(bad, Buffer.alloc(16), Buffer.alloc(16)));
}`),
  row('gcm', `
const key = Buffer.alloc(32, 5);
for (const [iv, aad, tag] of [[12, '', 16], [1, 'more', 12], [16, 'x'.repeat(100), 4], [60, 'y', undefined]]) {
  const c = crypto.createCipheriv('aes-256-gcm', key, Buffer.alloc(iv, 1), { authTagLength: tag }).setAAD(Buffer.from(aad));
  const made = c.update('tare', 'utf8', 'hex') + c.final('hex');
  console.log(made, c.getAuthTag());
  const d = crypto.createDecipheriv('aes-256-gcm', key, Buffer.alloc(iv, 1)).setAAD(aad).setAuthTag(c.getAuthTag());
  show('back', () => d.update(made, 'hex', 'utf8') + d.final('utf8'));
  const bad = crypto.createDecipheriv('aes-256-gcm', key, Buffer.alloc(iv, 1)).setAAD(aad + '!').setAuthTag(c.getAuthTag());
  show('changed', () => bad.update(made, 'hex', 'utf8') + bad.final('utf8'));
}
for (const authTagLength of [0, 1, 4, 8, 11, 12, 16, 17, -1, 1.5, '16', NaN]) show(authTagLength, () => typeof crypto.createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12), { authTagLength }));`),
  row('tags at the wrong time', `
const c = () => crypto.createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12));
const d = () => crypto.createDecipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12));
show('early', () => c().getAuthTag());
show('twice', () => d().setAuthTag(Buffer.alloc(16)).setAuthTag(Buffer.alloc(16)));
for (const size of [0, 3, 4, 5, 8, 15, 16, 17]) show(size, () => typeof d().setAuthTag(Buffer.alloc(size)));
show('none', () => { const x = d(); x.update('a'); x.final(); });
show('late', () => { const x = d(); x.update('a'); x.setAuthTag(Buffer.alloc(16)); x.final(); });
show('after', () => { const x = c(); x.final(); return x.getAuthTag().toString('hex'); });
show('aad late', () => { const x = c(); x.update('a'); x.setAAD(Buffer.alloc(1)); });
show('aad after', () => { const x = c(); x.final(); x.setAAD(Buffer.alloc(1)); });
show('no such', () => crypto.createDecipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)).setAuthTag(Buffer.alloc(16)));
show('no such', () => crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)).setAAD(Buffer.alloc(16)));
show('final', () => { const x = c(); x.final(); x.final(); });
show('update', () => { const x = c(); x.final(); x.update('a'); });
show('tag', () => d().setAuthTag(1));
show('text', () => { const x = c(); x.final(); const y = d().setAuthTag(x.getAuthTag().toString('hex'), 'hex'); return y.final('hex'); });`),
  row('ccm', `
const key = Buffer.alloc(16, 5);
for (const size of [7, 12, 13]) {
  const c = crypto.createCipheriv('aes-128-ccm', key, Buffer.alloc(size, 1), { authTagLength: 8 }).setAAD(Buffer.from('aad'), { plaintextLength: 4 });
  const made = c.update('tare', 'utf8', 'hex') + c.final('hex');
  console.log(made, c.getAuthTag());
  const back = (tag) => { const d = crypto.createDecipheriv('aes-128-ccm', key, Buffer.alloc(size, 1), { authTagLength: 8 }).setAuthTag(tag).setAAD(Buffer.from('aad'), { plaintextLength: 4 }); const text = d.update(made, 'hex', 'utf8'); d.final(); return text; };
  show('back', () => back(c.getAuthTag()));
  show('changed', () => back(Buffer.alloc(8)));
}
const make = (size, options) => crypto.createCipheriv('aes-128-ccm', key, Buffer.alloc(size), options);
for (const size of [6, 7, 13, 14]) show(size, () => typeof make(size, { authTagLength: 16 }));
for (const authTagLength of [undefined, 3, 4, 5, 16, 18]) show(authTagLength, () => typeof make(12, { authTagLength }));
show('length', () => make(13, { authTagLength: 16 }).update(Buffer.alloc(65536)));
show('length', () => make(13, { authTagLength: 16 }).setAAD(Buffer.alloc(1), { plaintextLength: 65536 }));
show('no length', () => make(12, { authTagLength: 16 }).setAAD(Buffer.alloc(1)));
show('no tag', () => { const d = crypto.createDecipheriv('aes-128-ccm', key, Buffer.alloc(12), { authTagLength: 16 }); d.update('x'); d.final(); });`),
  row('ocb and chacha20-poly1305', `
for (const [name, size, options] of [['aes-128-ocb', 16, { authTagLength: 16 }], ['aes-256-ocb', 32, { authTagLength: 8 }], ['chacha20-poly1305', 32, undefined], ['chacha20-poly1305', 32, { authTagLength: 12 }]]) {
  const c = crypto.createCipheriv(name, Buffer.alloc(size, 1), Buffer.alloc(12, 2), options).setAAD(Buffer.from('aad'));
  const made = Buffer.concat([c.update('a message'), c.final()]);
  console.log(made, c.getAuthTag());
  const d = crypto.createDecipheriv(name, Buffer.alloc(size, 1), Buffer.alloc(12, 2), options).setAAD(Buffer.from('aad')).setAuthTag(c.getAuthTag());
  console.log(d.update(made, undefined, 'utf8') + d.final('utf8'));
}
show('no tag', () => crypto.createCipheriv('aes-128-ocb', Buffer.alloc(16), Buffer.alloc(12)));
show('long iv', () => crypto.createCipheriv('aes-128-ocb', Buffer.alloc(16), Buffer.alloc(16), { authTagLength: 16 }));
show('changed', () => { const d = crypto.createDecipheriv('chacha20-poly1305', Buffer.alloc(32), Buffer.alloc(12)).setAuthTag(Buffer.alloc(16)); d.update('x'); d.final(); });`),
  row('siv', `
for (const [name, size, iv] of [['aes-128-siv', 32, null], ['aes-256-siv', 64, null], ['aes-128-gcm-siv', 16, Buffer.alloc(12, 2)], ['aes-256-gcm-siv', 32, Buffer.alloc(12, 2)]]) {
  const key = Buffer.from(Array(size).keys());
  const back = (made, tag, aad) => { const d = crypto.createDecipheriv(name, key, iv).setAAD(Buffer.from(aad)).setAuthTag(tag); const text = d.update(made, 'hex', 'utf8'); return text + d.final('utf8'); };
  for (const authTagLength of [undefined, 12, 16]) {
    show(name, () => {
      const c = crypto.createCipheriv(name, key, iv, { authTagLength }).setAAD(Buffer.from('aad'));
      const made = c.update('tare', 'utf8', 'hex') + c.final('hex');
      show('changed', () => back(made, Buffer.alloc(16), 'aad'));
      show('other', () => back(made, c.getAuthTag(), 'AAD'));
      return [made, c.getAuthTag(), back(made, c.getAuthTag(), 'aad')];
    });
  }
  show('twice', () => { const c = crypto.createCipheriv(name, key, iv); c.update('a'); c.update('b'); });
  show('no tag', () => { const d = crypto.createDecipheriv(name, key, iv); d.update('a'); d.final(); });
  show('tag', () => crypto.createDecipheriv(name, key, iv).setAuthTag(Buffer.alloc(12)));
}
show('iv', () => crypto.createCipheriv('aes-128-gcm-siv', Buffer.alloc(16), Buffer.alloc(13)));`),
  row('keys in keys', `
for (const [name, size, iv] of [['id-aes128-wrap', 16, 'a6a6a6a6a6a6a6a6'], ['id-aes256-wrap', 32, 'a6a6a6a6a6a6a6a6'], ['id-aes128-wrap-pad', 16, 'a65959a6'], ['aes128-wrap', 16, 'a6a6a6a6a6a6a6a6']]) {
  for (const length of [8, 16, 20, 32]) {
    show(name + length, () => {
      const c = crypto.createCipheriv(name, Buffer.alloc(size, 1), Buffer.from(iv, 'hex'));
      const made = c.update(Buffer.alloc(length, 7), undefined, 'hex') + c.final('hex');
      const d = crypto.createDecipheriv(name, Buffer.alloc(size, 1), Buffer.from(iv, 'hex'));
      return [made, d.update(made, 'hex', 'hex')];
    });
  }
  show('changed', () => crypto.createDecipheriv(name, Buffer.alloc(size), Buffer.from(iv, 'hex')).update(Buffer.alloc(24)));
}`),
  row('stolen and tweaked', `
show('cts', () => { const c = crypto.createCipheriv('aes-128-cbc-cts', Buffer.alloc(16), Buffer.alloc(16), { ctsMode: 'CS3' }); return c.update(Buffer.alloc(20), undefined, 'hex') + c.final('hex'); });
show('no cts', () => crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16), { ctsMode: 'CS1' }));
show('no such', () => crypto.createCipheriv('aes-128-cbc-cts', Buffer.alloc(16), Buffer.alloc(16), { ctsMode: 'CS9' }));
show('xts', () => { const c = crypto.createCipheriv('aes-128-xts', Buffer.from(Array(32).keys()), Buffer.alloc(16)); return c.update(Buffer.alloc(20), undefined, 'hex') + c.final('hex'); });
show('same keys', () => crypto.createCipheriv('aes-128-xts', Buffer.alloc(32), Buffer.alloc(16)));
show('no standard', () => crypto.createCipheriv('aes-128-xts', Buffer.from(Array(32).keys()), Buffer.alloc(16), { xtsStandard: 'GB' }));`),
  row('a cipher as a stream', `
const { pipeline } = require('node:stream/promises');
const { Readable } = require('node:stream');
const { buffer } = require('node:stream/consumers');
(async () => {
  const cipher = crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16));
  const made = buffer(cipher);
  await pipeline(Readable.from([Buffer.alloc(1000, 1), Buffer.alloc(77, 2)]), cipher);
  console.log(crypto.hash('sha256', await made));
  const bad = crypto.createDecipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16));
  bad.on('error', (error) => console.log(...told(error)));
  bad.end(Buffer.alloc(17));
})();`),
  row('pbkdf2', `
for (const digest of ['sha1', 'sha256', 'sha512', 'md5', 'sha3-256']) {
  for (const [iterations, length] of [[1, 1], [2, 20], [1000, 64], [3, 129]]) console.log(crypto.pbkdf2Sync('password', 'salt', iterations, length, digest).toString('hex'));
}
console.log(crypto.pbkdf2Sync('', '', 1, 8, 'sha1'), crypto.pbkdf2Sync(Buffer.alloc(200), new ArrayBuffer(2), 5, 8, 'sha256'));
crypto.pbkdf2('password', 'salt', 10, 16, 'sha256', function (error, key) { console.log(error, key, this); });
require('node:util').promisify(crypto.pbkdf2)('p', 's', 1, 4, 'sha1').then(console.log);`),
  row('pbkdf2 that goes wrong', `
show('digest', () => crypto.pbkdf2Sync('p', 's', 1, 1, 'nope'));
show('no digest', () => crypto.pbkdf2Sync('p', 's', 1, 1));
show('shake', () => crypto.pbkdf2Sync('p', 's', 1, 1, 'shake128'));
show('nothing', () => crypto.pbkdf2Sync('p', 's', 1, 0, 'sha1'));
for (const bad of [0, -1, 1.5, '1', NaN, Infinity, 2 ** 31, null]) {
  show('iterations', () => crypto.pbkdf2Sync('p', 's', bad, 1, 'sha1'));
  show('length', () => crypto.pbkdf2Sync('p', 's', 1, bad === 0 ? {} : bad, 'sha1'));
}
show('password', () => crypto.pbkdf2Sync(1, 's', 1, 1, 'sha1'));
show('salt', () => crypto.pbkdf2Sync('p', {}, 1, 1, 'sha1'));
show('callback', () => crypto.pbkdf2('p', 's', 1, 1, 'sha1'));
show('async digest', () => crypto.pbkdf2('p', 's', 1, 1, 'nope', () => {}));
crypto.pbkdf2('p', 's', 1, 0, 'sha1', (error) => console.log(...told(error), error.stack));`),
  row('scrypt', `
for (const options of [undefined, {}, { N: 16 }, { cost: 32, blockSize: 1, parallelization: 3 }, { N: 1024, r: 3, p: 2 }, { N: 2, r: 1, p: 20 }]) console.log(crypto.scryptSync('password', 'NaCl', 40, options).toString('hex'));
console.log(crypto.scryptSync('', '', 64, { N: 16, r: 1, p: 1 }).toString('hex'), crypto.scryptSync('p', 's', 0));
crypto.scrypt('password', 'salt', 20, { N: 64 }, function (error, key) { console.log(error, key, this); });
crypto.scrypt('password', Buffer.from('salt'), 20, (error, key) => console.log(error, key));`),
  row('scrypt that goes wrong', `
for (const options of [{ N: 3 }, { N: 1 }, { N: 2 ** 20 }, { N: 2, r: 2 ** 30, p: 2 ** 30 }, { p: 2 ** 31 }, { maxmem: 1 }, { N: 16, cost: 16 }, { r: 1, blockSize: 1 }, { p: 1, parallelization: 1 }, { N: -1 }, { N: '16' }, { r: 1.5 }, { maxmem: -1 }, { maxmem: '1' }, { N: 2 ** 20, maxmem: 2 ** 53 - 1, p: 2 ** 25 }]) {
  show(JSON.stringify(options), () => crypto.scryptSync('p', 's', 8, options));
  show(JSON.stringify(options), () => crypto.scrypt('p', 's', 8, options, () => {}));
}
for (const length of [-1, 1.5, '1', 2 ** 31]) show('length', () => crypto.scryptSync('p', 's', length));
show('password', () => crypto.scryptSync(null, 's', 1));
show('callback', () => crypto.scrypt('p', 's', 1));`),
  row('hkdf', `
for (const digest of ['sha1', 'sha256', 'sha512', 'sha3-256']) {
  for (const [salt, info, length] of [['', '', 1], ['salt', 'info', 42], ['s'.repeat(300), 'i'.repeat(1024), 255 * 20]]) console.log(crypto.hash('sha1', Buffer.from(crypto.hkdfSync(digest, 'key', salt, info, length))));
}
console.log(crypto.hkdfSync('sha256', crypto.createSecretKey(Buffer.from('k')), Buffer.alloc(2), new Uint16Array(2), 5));
crypto.hkdf('sha256', 'key', 'salt', 'info', 16, function (error, key) { console.log(error, key, this); });
show('digest', () => crypto.hkdfSync('nope', 'k', '', '', 1));
show('too long', () => crypto.hkdfSync('sha256', 'k', '', '', 255 * 32 + 1));
show('nothing', () => crypto.hkdfSync('sha256', 'k', '', '', 0));
show('shake', () => crypto.hkdfSync('shake256', 'k', '', '', 1));
show('info', () => crypto.hkdfSync('sha256', 'k', '', 'x'.repeat(1025), 1));
show('empty', () => crypto.hkdfSync('sha256', '', '', '', 1));
for (const bad of [-1, 1.5, '1', null, 2 ** 60]) show('length', () => crypto.hkdfSync('sha256', 'k', '', '', bad));`),
  row('secret keys', `
const key = crypto.createSecretKey('secret', 'utf8');
console.log(key, key.type, key.symmetricKeySize, key.export(), key.export({ format: 'jwk' }), key.export({ format: 'buffer' }), Object.prototype.toString.call(key));
console.log(key.equals(crypto.createSecretKey(Buffer.from('secret'))), key.equals(crypto.createSecretKey(Buffer.from('secreT'))), key.equals(crypto.createSecretKey('x', 'utf8')));
const bytes = Buffer.from('mine');
const other = crypto.createSecretKey(bytes);
bytes.fill(0);
other.export().fill(0);
console.log(other.export().toString(), crypto.createSecretKey(Buffer.alloc(0)).export(), crypto.createSecretKey('6b', 'hex').export());
const copy = structuredClone({ key: other, again: other });
console.log(copy.key.export().toString(), copy.key === copy.again, copy.key !== other, copy.key instanceof crypto.KeyObject);
for (const bad of [undefined, null, 1, {}, key]) show('bad', () => crypto.createSecretKey(bad));
show('equals', () => key.equals(1));
show('format', () => key.export({ format: 'pem' }));
show('new', () => new crypto.KeyObject('secret', {}));
show('new', () => new crypto.KeyObject('nope'));
show('this', () => Object.getOwnPropertyDescriptor(crypto.KeyObject.prototype, 'type').get.call({}));
show('from', () => crypto.KeyObject.from(key));`),
  row('keys of a message', `
const { port1, port2 } = new MessageChannel();
port2.once('message', ({ key, web }) => { console.log(key.export(), web.algorithm, web.extractable, web.usages); port2.close(); });
subtle.importKey('raw', Buffer.alloc(16, 1), 'AES-GCM', false, ['encrypt']).then((web) => port1.postMessage({ key: crypto.createSecretKey('k', 'utf8'), web }));`),
  row('generated keys', `
for (const [type, options] of [['hmac', { length: 64 }], ['hmac', { length: 9 }], ['aes', { length: 192 }]]) console.log(crypto.generateKeySync(type, options).symmetricKeySize);
crypto.generateKey('aes', { length: 128 }, (error, key) => console.log(error, key, key.symmetricKeySize));
console.log(crypto.generateKeySync('aes', { length: 256 }).equals(crypto.generateKeySync('aes', { length: 256 })));
for (const [type, options] of [['aes', { length: 1 }], ['hmac', { length: 7 }], ['hmac', {}], ['nope', { length: 8 }], ['aes'], [1, {}], ['hmac', { length: 2 ** 31 }]]) { show(type, () => crypto.generateKeySync(type, options)); show(type, () => crypto.generateKey(type, options, () => {})); }
show('callback', () => crypto.generateKey('aes', { length: 128 }));`),
  row('random bytes', `
console.log(crypto.randomBytes(0), crypto.randomBytes(100).length, crypto.randomBytes(32).equals(crypto.randomBytes(32)), crypto.pseudoRandomBytes(3).length);
crypto.randomBytes(20, function (error, bytes) { console.log(error, bytes.length, Buffer.isBuffer(bytes), this); });
const all = new Set(Array.from({ length: 100 }, () => crypto.randomUUID()));
console.log(all.size, [...all].every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)), /-7[0-9a-f]{3}-/.test(crypto.randomUUIDv7()));
console.log(crypto.randomUUID({ disableEntropyCache: true }).length);
for (const size of [-1, 2 ** 31, 1.5, '1', NaN, null, undefined]) show(size, () => crypto.randomBytes(size).length);
show('callback', () => crypto.randomBytes(1, 1));
show('uuid', () => crypto.randomUUID(1));
show('uuid', () => crypto.randomUUID({ disableEntropyCache: 1 }));`),
  row('filled at random', `
const changed = (bytes) => Array.from(bytes, (byte) => (byte === 0 ? 0 : 1)).reduce((sum, one) => sum + one, 0) > 0;
for (const make of [() => Buffer.alloc(64), () => new Uint16Array(64), () => new Float64Array(64), () => new BigInt64Array(8), () => new DataView(new ArrayBuffer(64)), () => new ArrayBuffer(64), () => new SharedArrayBuffer(64)]) {
  const buffer = make();
  console.log(crypto.randomFillSync(buffer) === buffer, changed(new Uint8Array(buffer.buffer ?? buffer)));
}
const part = Buffer.alloc(100);
crypto.randomFillSync(part, 10, 50);
console.log(changed(part.subarray(0, 10)), changed(part.subarray(10, 60)), changed(part.subarray(60)));
crypto.randomFill(new Uint32Array(10), 2, 3, (error, array) => console.log(error, array.length, changed(array.subarray(0, 2)), changed(array.subarray(2, 5)), changed(array.subarray(5))));
crypto.randomFill(Buffer.alloc(0), (error, buffer) => console.log(error, buffer));
for (const args of [[Buffer.alloc(4), 5], [Buffer.alloc(4), 0, 5], [Buffer.alloc(4), -1], [Buffer.alloc(4), 2, 3], ['x'], [null], [Buffer.alloc(4), '1'], [Buffer.alloc(4), 0, NaN]]) { show('sync', () => crypto.randomFillSync(...args)); show('async', () => crypto.randomFill(...args, () => {})); }`),
  row('random integers', `
for (let i = 0; i < 100; i++) { const n = crypto.randomInt(3, 7); if (n < 3 || n > 6) console.log('bad', n); }
crypto.randomInt(5, (error, n) => console.log(error, n >= 0 && n < 5));
crypto.randomInt(2 ** 40, 2 ** 40 + 1, (error, n) => console.log(error, n));
for (const args of [[0], [-1], [5, 5], [1.5], ['1'], [0, 2 ** 48], [NaN], [], [2 ** 53], [-(2 ** 47), 2 ** 47]]) show(args.join(), () => crypto.randomInt(...args));`),
  row('equal in constant time', `
console.log(crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a')), crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('b')), crypto.timingSafeEqual(new ArrayBuffer(2), new Uint16Array(1)), crypto.timingSafeEqual(new Float32Array([NaN]), new Float32Array([NaN])), crypto.timingSafeEqual(Buffer.alloc(0), Buffer.alloc(0)));
for (const args of [[Buffer.alloc(1), Buffer.alloc(2)], ['a', Buffer.alloc(1)], [Buffer.alloc(1), 1], [], [{}, {}]]) show('bad', () => crypto.timingSafeEqual(...args));`),
  row('primes', `
for (const size of [2, 3, 4, 8, 31, 64, 200]) console.log(crypto.checkPrimeSync(crypto.generatePrimeSync(size)), new Uint8Array(crypto.generatePrimeSync(size)).length);
const prime = crypto.generatePrimeSync(64, { add: 12n, rem: 11n, safe: true, bigint: true });
console.log(typeof prime, prime % 12n, crypto.checkPrimeSync(prime), crypto.checkPrimeSync((prime - 1n) / 2n));
crypto.generatePrime(50, { bigint: true }, (error, n) => crypto.checkPrime(n, (error, yes) => console.log(error, yes)));
for (const n of [0n, 1n, 2n, 3n, 4n, 97n, 561n, 2n ** 127n - 1n, 2n ** 128n, Buffer.from([7]), new ArrayBuffer(0)]) show(String(n), () => crypto.checkPrimeSync(n, { checks: 10 }));
show('small', () => crypto.generatePrimeSync(1));
crypto.generatePrime(1, (error) => console.log(...told(error), error.stack));
for (const [size, options] of [[8, { add: 513n }], [8, { add: 3n, rem: 5n }], [3, { safe: 1 }], [-1], [1.5], ['8'], [8, { add: -1n }], [8, { add: 1 }], [8, 1]]) show(size, () => crypto.generatePrimeSync(size, options));
show('negative', () => crypto.checkPrimeSync(-1n));
show('number', () => crypto.checkPrimeSync(7));
show('checks', () => crypto.checkPrimeSync(7n, { checks: -1 }));`),
  row('the rest of the module', `
console.log(crypto.getFips(), crypto.secureHeapUsed(), crypto.webcrypto === globalThis.crypto, crypto.subtle === globalThis.crypto.subtle);
show('engine', () => crypto.setEngine('nope'));
show('engine', () => crypto.setEngine(1));
crypto.setFips(false);
console.log(crypto.constants.RSA_PKCS1_PADDING, Object.keys(crypto.constants).length, crypto.constants.defaultCipherList.split(':')[0]);
show('deprecated', () => [crypto.Hash('sha1').digest('hex'), new crypto.Hmac('sha1', 'k').digest('hex')]);
process.on('warning', () => {});`),
  row('async contexts', `
const { AsyncLocalStorage } = require('node:async_hooks');
const store = new AsyncLocalStorage();
const tasks = [(done) => crypto.randomBytes(1, done), (done) => crypto.pbkdf2('p', 's', 1, 1, 'sha1', done), (done) => crypto.scrypt('p', 's', 1, { N: 2 }, done), (done) => crypto.hkdf('sha1', 'k', '', '', 1, done), (done) => crypto.generateKey('aes', { length: 128 }, done), (done) => crypto.generatePrime(8, done), (done) => subtle.digest('SHA-1', new Uint8Array(1)).then(done)];
(async () => { for (const [i, task] of tasks.entries()) await new Promise((resolve) => store.run(i, () => task(() => { console.log(i, store.getStore()); resolve(); }))); })();`),
  row('callbacks that throw', `
process.on('uncaughtException', (error) => console.log('caught', error.message));
crypto.randomBytes(1, () => { throw new Error('one'); });
crypto.pbkdf2('p', 's', 1, 1, 'sha1', () => { throw new Error('one'); });`),
  row('an error that nobody catches', `
crypto.createCipheriv('aes-128-cbc', Buffer.alloc(3), Buffer.alloc(16));`),
  row('digests of the web', `
(async () => {
  for (const name of ['SHA-1', 'sha-256', 'SHA-384', { name: 'SHA-512' }]) console.log(hex(await subtle.digest(name, Buffer.from('tare'))), hex(await subtle.digest(name, new ArrayBuffer(0))));
  for (const [name, data] of [['MD5', new Uint8Array(1)], ['SHA-1', 'text'], ['SHA-1'], [1, new Uint8Array(1)], [{}, new Uint8Array(1)]]) console.log(await later(subtle.digest(name, data)));
})();`),
  row('newer digests of the web', `
(async () => {
  for (const name of ['SHA3-256', 'SHA3-512']) console.log(hex(await subtle.digest(name, Buffer.from('tare'))));
  for (const outputLength of [0, 8, 256]) console.log(hex(await subtle.digest({ name: 'cSHAKE128', outputLength }, Buffer.from('tare'))));
})();`),
  row('hmac of the web', `
(async () => {
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-512']) {
    const key = await subtle.importKey('raw', Buffer.from('key'), { name: 'HMAC', hash }, true, ['sign', 'verify']);
    const signature = await subtle.sign('HMAC', key, Buffer.from('tare'));
    console.log(hex(signature), await subtle.verify('HMAC', key, signature, Buffer.from('tare')), await subtle.verify('HMAC', key, signature, Buffer.from('tarE')), await subtle.verify('HMAC', key, new Uint8Array(1), Buffer.from('tare')));
    console.log(key, await subtle.exportKey('jwk', key), hex(await subtle.exportKey('raw', key)));
  }
  const made = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 9 }, true, ['sign']);
  console.log(made.algorithm, made.usages, (await subtle.exportKey('raw', made)).byteLength, new Uint8Array(await subtle.exportKey('raw', made))[1] & 0x7f);
  console.log(await later(subtle.verify('HMAC', made, new Uint8Array(1), new Uint8Array(1))));
  console.log(await later(subtle.importKey('raw', new Uint8Array(0), { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])));
  console.log(await later(subtle.importKey('jwk', { kty: 'oct', k: 'a2V5', alg: 'HS256' }, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])));
  console.log(await later(subtle.importKey('jwk', { kty: 'oct', k: 'a2V5', alg: 'HS1', key_ops: ['sign'] }, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])));
})();`),
  row('aes of the web', `
(async () => {
  const iv = Buffer.alloc(16, 1);
  for (const size of [16, 24, 32]) {
    for (const algorithm of [{ name: 'AES-CBC', iv }, { name: 'AES-CTR', counter: iv, length: 64 }, { name: 'AES-GCM', iv: iv.subarray(4) }, { name: 'AES-GCM', iv, additionalData: Buffer.from('more'), tagLength: 96 }]) {
      const key = await subtle.importKey('raw', Buffer.alloc(size, 3), algorithm.name, true, ['encrypt', 'decrypt']);
      for (const length of [0, 1, 16, 33]) {
        const made = await subtle.encrypt(algorithm, key, Buffer.alloc(length, 9));
        console.log(algorithm.name, hex(made), hex(await subtle.decrypt(algorithm, key, made)));
      }
    }
  }
})();`),
  row('aes of the web that goes wrong', `
(async () => {
  const import_ = (name, usages = ['encrypt', 'decrypt'], size = 16) => subtle.importKey('raw', Buffer.alloc(size), name, false, usages);
  const cbc = await import_('AES-CBC');
  const gcm = await import_('AES-GCM');
  const ctr = await import_('AES-CTR');
  const iv = Buffer.alloc(16);
  for (const make of [
    () => subtle.decrypt({ name: 'AES-CBC', iv }, cbc, Buffer.alloc(16)), () => subtle.decrypt({ name: 'AES-CBC', iv }, cbc, Buffer.alloc(15)), () => subtle.encrypt({ name: 'AES-CBC', iv: iv.subarray(1) }, cbc, iv),
    () => subtle.decrypt({ name: 'AES-GCM', iv }, gcm, Buffer.alloc(32)), () => subtle.decrypt({ name: 'AES-GCM', iv }, gcm, Buffer.alloc(3)), () => subtle.encrypt({ name: 'AES-GCM', iv, tagLength: 7 }, gcm, iv), () => subtle.encrypt({ name: 'AES-GCM', iv: Buffer.alloc(0) }, gcm, iv),
    () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 1 }, ctr, Buffer.alloc(64)), () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 0 }, ctr, iv), () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 129 }, ctr, iv),
    () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 64 }, cbc, iv), () => subtle.exportKey('raw', cbc), () => import_('AES-CBC', ['sign']), () => import_('AES-CBC', ['encrypt'], 15), () => import_('AES-CBC', []), () => import_('AES-XYZ'),
    () => subtle.encrypt('AES-CBC', cbc, iv), () => subtle.generateKey({ name: 'AES-CBC', length: 100 }, true, ['encrypt']), () => subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, []), () => subtle.importKey('jwk', { kty: 'oct', k: '@@' }, 'AES-CBC', true, ['encrypt']), () => subtle.importKey('nope', iv, 'AES-CBC', true, ['encrypt']),
  ]) console.log(await later(make()));
})();`),
  row('counters that overflow', `
(async () => {
  const key = await subtle.importKey('raw', Buffer.alloc(16, 3), 'AES-CTR', true, ['encrypt']);
  for (const length of [1, 3, 8, 12, 32, 63, 64, 65, 127, 128]) {
    for (const first of [Buffer.alloc(16, 255), Buffer.alloc(16), Buffer.from('00ff00ff00ff00ffffffffffffffffff', 'hex'), Buffer.from('fffffffffffffffffffffffffffffffe', 'hex')]) {
      for (const size of [16, 40]) console.log(length, await subtle.encrypt({ name: 'AES-CTR', counter: first, length }, key, Buffer.alloc(size)).then(hex, told));
    }
  }
})();`),
  row('wrapped keys of the web', `
(async () => {
  const raw = (bytes, name, usages) => subtle.importKey('raw', bytes, name, true, usages);
  const kw = await raw(Buffer.alloc(16, 1), 'AES-KW', ['wrapKey', 'unwrapKey']);
  const key = await raw(Buffer.alloc(32, 2), 'AES-GCM', ['encrypt']);
  const wrapped = await subtle.wrapKey('raw', key, kw, 'AES-KW');
  console.log(hex(wrapped));
  console.log(hex(await subtle.exportKey('raw', await subtle.unwrapKey('raw', wrapped, kw, 'AES-KW', 'AES-GCM', true, ['encrypt']))));
  console.log(await later(subtle.unwrapKey('raw', new Uint8Array(24), kw, 'AES-KW', 'AES-CBC', true, ['encrypt'])));
  console.log(await later(subtle.wrapKey('raw', await raw(Buffer.alloc(3), { name: 'HMAC', hash: 'SHA-1' }, ['sign']), kw, 'AES-KW')));
  const gcm = await raw(Buffer.alloc(16, 1), 'AES-GCM', ['wrapKey', 'unwrapKey']);
  const algorithm = { name: 'AES-GCM', iv: Buffer.alloc(12) };
  const jwk = await subtle.wrapKey('jwk', key, gcm, algorithm);
  console.log(hex(jwk), await subtle.unwrapKey('jwk', jwk, gcm, algorithm, 'AES-GCM', true, ['encrypt']));
})();`),
  row('derived by the web', `
(async () => {
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-512']) {
    const password = await subtle.importKey('raw', Buffer.from('password'), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
    console.log(hex(await subtle.deriveBits({ name: 'PBKDF2', hash, salt: Buffer.from('salt'), iterations: 10 }, password, 256)));
    const secret = await subtle.importKey('raw', Buffer.from('secret'), 'HKDF', false, ['deriveBits', 'deriveKey']);
    console.log(hex(await subtle.deriveBits({ name: 'HKDF', hash, salt: Buffer.from('salt'), info: Buffer.from('info') }, secret, 128)));
    const key = await subtle.deriveKey({ name: 'HKDF', hash, salt: Buffer.alloc(0), info: Buffer.alloc(0) }, secret, { name: 'AES-GCM', length: 256 }, true, ['encrypt']);
    console.log(key, hex(await subtle.exportKey('raw', key)));
    const hmac = await subtle.deriveKey({ name: 'PBKDF2', hash, salt: Buffer.alloc(1), iterations: 2 }, password, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']);
    console.log(hmac.algorithm, hex(await subtle.exportKey('raw', hmac)));
    console.log(await later(subtle.deriveBits({ name: 'PBKDF2', hash, salt: Buffer.alloc(1), iterations: 0 }, password, 256)));
    console.log(await later(subtle.deriveBits({ name: 'PBKDF2', hash, salt: Buffer.alloc(1), iterations: 1 }, password, 7)), (await subtle.deriveBits({ name: 'PBKDF2', hash, salt: Buffer.alloc(1), iterations: 1 }, password, 0)).byteLength);
    console.log(await later(subtle.deriveBits({ name: 'HKDF', hash, salt: Buffer.alloc(0), info: Buffer.alloc(0) }, secret, 2 ** 20)));
    console.log(await later(subtle.importKey('raw', Buffer.alloc(1), 'HKDF', true, ['deriveBits'])));
  }
})();`),
  row('keys from one side to the other', `
(async () => {
  const key = crypto.createSecretKey(Buffer.alloc(16, 1));
  const web = key.toCryptoKey('AES-CBC', true, ['encrypt']);
  console.log(web, crypto.KeyObject.from(web).equals(key));
  show('usages', () => key.toCryptoKey('AES-CBC', true, []));
  show('length', () => crypto.createSecretKey(Buffer.alloc(3)).toCryptoKey('AES-CBC', true, ['encrypt']));
  const copy = structuredClone(web);
  console.log(copy, copy instanceof CryptoKey, hex(await subtle.exportKey('raw', copy)));
  show('new', () => new CryptoKey());
  show('this', () => Object.getOwnPropertyDescriptor(CryptoKey.prototype, 'type').get.call({}));
  console.log(crypto.createHmac('sha1', web).update('x').digest('hex'));
  console.log(Reflect.ownKeys(web), web.algorithm === web.algorithm, web.usages === web.usages);
})();`),
  row('what the web offers', `
console.log(Object.getOwnPropertyNames(Object.getPrototypeOf(subtle)).sort().join(), Object.prototype.toString.call(globalThis.crypto), typeof SubtleCrypto, typeof Crypto);
console.log(globalThis.crypto.getRandomValues(new Uint8Array(4)).length, globalThis.crypto.randomUUID().length);
for (const array of [new Float32Array(1), new Uint8Array(65537), 'x', new DataView(new ArrayBuffer(1)), undefined]) show('values', () => globalThis.crypto.getRandomValues(array));
show('new', () => new SubtleCrypto());
show('this', () => globalThis.crypto.getRandomValues.call({}, new Uint8Array(1)));
console.log(globalThis.crypto, subtle);`),
  row('chacha20-poly1305 of the web', `
(async () => {
  const key = await subtle.importKey('raw-secret', Buffer.alloc(32, 1), 'ChaCha20-Poly1305', true, ['encrypt', 'decrypt']);
  const algorithm = { name: 'ChaCha20-Poly1305', iv: Buffer.alloc(12), additionalData: Buffer.from('more') };
  const made = await subtle.encrypt(algorithm, key, Buffer.from('tare'));
  console.log(hex(made), hex(await subtle.decrypt(algorithm, key, made)));
  new Uint8Array(made)[0] ^= 1;
  console.log(await later(subtle.decrypt(algorithm, key, made)));
  const ocb = await subtle.importKey('raw-secret', Buffer.alloc(16, 1), 'AES-OCB', true, ['encrypt', 'decrypt']);
  const sealed = await subtle.encrypt({ name: 'AES-OCB', iv: Buffer.alloc(12) }, ocb, Buffer.from('tare'));
  console.log(hex(sealed), hex(await subtle.decrypt({ name: 'AES-OCB', iv: Buffer.alloc(12) }, ocb, sealed)));
})();`),
  row('modules that need it', `
for (const name of ['tls', 'https', 'http2', 'crypto']) console.log(name, Object.keys(require(name)).sort().join());
console.log(require('node:https').globalAgent.defaultPort, require('node:http2').constants.HTTP2_HEADER_STATUS);`),
];
