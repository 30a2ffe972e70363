// The binding `icu`: converters for TextDecoder, Buffer's transcode, widths in a terminal.
'use strict';

const { host: { icu }, plain } = tools;
const b = plain('icu');
const FLUSH = 1;
const FATAL = 2;
const KEEP_MARK = 4;
const UNKNOWN_ENCODING = 1; // U_ILLEGAL_ARGUMENT_ERROR

/** Between two pieces it keeps the bytes that begin a character, and whether a byte order mark may still come. */
class Converter {
  #name;
  #flags;
  #held = new Uint8Array(0);
  #started = false;
  constructor(name, flags) {
    this.#name = name;
    this.#flags = flags;
  }

  static decode(converter, input, flags, label) {
    const flush = (flags & FLUSH) !== 0;
    const before = converter.#held;
    converter.#held = new Uint8Array(0);
    const { 0: text, 1: pending } =
      icu.decode(converter.#name, before, input, flush, (converter.#flags & FATAL) !== 0, label);
    if (pending > 0) converter.#held = lastBytes(before, input, pending);
    let result = text;
    if (!converter.#started && text.length > 0) {
      converter.#started = true;
      if ((converter.#flags & KEEP_MARK) === 0 && text.charCodeAt(0) === 0xfeff) result = text.slice(1);
    }
    if (flush) converter.#started = false;
    return result;
  }
}

function lastBytes(before, input, count) {
  const view = ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
  const all = new Uint8Array(before.length + view.length);
  all.set(before);
  all.set(view, before.length);
  return all.slice(all.length - count);
}

b.getConverter = (name, flags) => (icu.hasConverter(name) ? new Converter(name, flags) : undefined);
b.decode = Converter.decode;

const names = {
  '__proto__': null, 'ascii': 'ascii', 'latin1': 'latin1', 'binary': 'latin1', 'utf8': 'utf8', 'utf-8': 'utf8',
  'ucs2': 'utf16le', 'ucs-2': 'utf16le', 'utf16le': 'utf16le', 'utf-16le': 'utf16le',
};

/** The bytes in another encoding, `?` for what it lacks; a number of ICU's when one of the two isn't known. */
b.transcode = (source, from, to) => {
  const { Buffer } = tools.library.require('buffer');
  const { [from]: known, [to]: wanted } = names;
  if (known === undefined || wanted === undefined) return UNKNOWN_ENCODING;
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  let text = bytes.toString(known === 'ascii' ? 'latin1' : known);
  if (known === 'ascii') text = text.replace(/[\x80-\xff]/g, '\ufffd');
  if (wanted === 'ascii') text = text.replace(/[^\x00-\x7f]/gu, '?');
  if (wanted === 'latin1') text = text.replace(/[^\x00-\xff]/gu, '?');
  return Buffer.from(text, wanted);
};
return b;
