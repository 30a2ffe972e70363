// Buffer in all encodings, its searches, its errors, and memory that goes away under it.
'use strict';
const { constants, isAscii, isUtf8, transcode } = require('buffer');
const { StringDecoder } = require('string_decoder');

const show = (name, f) => {
  try {
    console.log(name, f());
  } catch (e) {
    console.log(name, e.name, e.code, e.message);
  }
};
const bytes = Buffer.from([0, 255, 254, 0xc3, 0xa9, 65, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0x80, 0xe2, 0x82, 66]);
const texts = ['héllo €😀 6162', '4a4B4x', 'YWJj\nZA==', 'YWJ_-', '\ud800x', ''];
for (const encoding of ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'ucs2']) {
  console.log(encoding, JSON.stringify(bytes.toString(encoding)), JSON.stringify(bytes.toString(encoding, 3, 9)));
  for (const text of texts) {
    console.log(Buffer.from(text, encoding), Buffer.byteLength(text, encoding), Buffer.alloc(9, text || 'x', 'utf8').write(text, 2, 4, encoding));
    show('fill', () => Buffer.alloc(5).fill(text, 1, 4, encoding));
    if (!text.isWellFormed()) continue; // Node itself ends in an assertion when it looks for that
    show('indexOf', () => [bytes.indexOf(text, 1, encoding), bytes.lastIndexOf(text, -2, encoding)]);
  }
}
show('write past', () => Buffer.alloc(10).write('x', 20));
show('from object', () => Buffer.from({}));
show('hex fill', () => Buffer.alloc(4).fill('zz', 'hex'));
show('alloc', () => Buffer.alloc(1e16));
show('alloc what there is not', () => Buffer.allocUnsafe(9e14));
show('compare', () => [Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.from('abc').compare(Buffer.from('xbc'), 1, 3, 1)]);
show('swap', () => [Buffer.alloc(48, 'abcd').swap16(), Buffer.alloc(48, 'abcd').swap32(), Buffer.alloc(48, 'abcdefgh').swap64()]);
show('copy', () => { const to = Buffer.alloc(8); return [Buffer.from('abcdef').copy(to, 2, 1, 5), to, to.copy(to, 0, 2, 6), to]; });
for (const text of ['aGk=', 'a', '*', 'YQ=', ' Y Q = = ', '€']) show(`atob ${text}`, () => atob(text));
show('btoa', () => [btoa('é'), btoa('')]);
show('btoa', () => btoa('€'));
for (const from of ['utf8', 'ucs2', 'latin1', 'ascii', 'hex']) {
  for (const to of ['utf8', 'ucs2', 'latin1', 'ascii']) show(`${from} ${to}`, () => transcode(Buffer.from('ab'), from, to));
}
show('transcode', () => [transcode(Buffer.from('é€😀'), 'utf8', 'latin1'), transcode(Buffer.from('é€'), 'utf8', 'ascii')]);
console.log(isUtf8(bytes), isAscii(bytes), isUtf8(Buffer.from('é')), constants);
for (const encoding of ['utf8', 'utf16le', 'base64', 'hex']) {
  const decoder = new StringDecoder(encoding);
  const out = [];
  for (const byte of [...bytes, 0x3d, 0xd8, 0x00, 0xde]) out.push(decoder.write(Buffer.from([byte])), decoder.lastNeed, decoder.lastTotal);
  console.log(encoding, JSON.stringify(out), JSON.stringify(decoder.end()));
}
const resizable = new ArrayBuffer(10, { maxByteLength: 100 });
const view = Buffer.from(resizable);
resizable.resize(50);
show('grown', () => [view.length, view.fill('ab').latin1Slice(0, 6)]);
resizable.resize(2);
show('shrunk', () => [view.length, view.toString()]);
const gone = Buffer.from(new ArrayBuffer(100));
structuredClone(gone.buffer, { transfer: [gone.buffer] });
show('gone', () => [gone.length, gone.toString(), gone.indexOf('a'), gone.equals(Buffer.alloc(0)), isUtf8(gone)]);
const shared = Buffer.from(new SharedArrayBuffer(8));
show('shared', () => [shared.write('héllo'), shared.toString(), shared.indexOf('l'), new TextDecoder().decode(shared.subarray(0, 3))]);
