// Text from pieces of bytes.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('every encoding, cut everywhere', () => {
    const { StringDecoder } = require('string_decoder');
    const bytes = Buffer.from([0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xe2, 0x82, 0x41, 0x3d, 0xd8, 0x00, 0xde, 0x42]);
    for (const encoding of ['utf8', 'UTF-8', 'utf16le', 'ucs2', 'latin1', 'binary', 'ascii', 'base64', 'base64url', 'hex'])
      for (const size of [1, 2, 3, 5, 7]) {
        const d = new StringDecoder(encoding);
        const out = [];
        for (let i = 0; i < bytes.length; i += size) out.push(d.write(bytes.subarray(i, i + size)));
        out.push(d.end());
        console.log(encoding, size, JSON.stringify(out));
      }
  }),
  program('end, state and reuse', () => {
    const { StringDecoder } = require('string_decoder');
    const d = new StringDecoder();
    console.log(d.encoding, d.write(Buffer.from([0xe2, 0x82])), d.lastNeed, d.lastTotal, d.lastChar, d.end(Buffer.from([0xac])), d.end(), d.write(Buffer.from('ok')), d.end('text'));
    console.log(d.write(Buffer.from([0xf0])), JSON.stringify(d.write(Buffer.from([0x41]))), JSON.stringify(d.text(Buffer.from([0x61, 0xe2, 0x82, 0xac]), 1)));
    console.log(new StringDecoder('utf8').write(new Uint16Array([0x4141, 0x4242])), new StringDecoder('utf8').write(new DataView(new ArrayBuffer(2))).length);
    attempt(() => new StringDecoder('nope'), () => new StringDecoder(5), () => d.write(5), () => d.write(null), () => d.write(new ArrayBuffer(2)), () => StringDecoder.prototype.write.call({}, Buffer.alloc(1)), () => new StringDecoder('utf8'));
  }),
];
