// Addresses and text: URL, TextDecoder piece by piece, TextEncoder.
'use strict';
const url = require('url');

const show = (name, f) => {
  try {
    console.log(name, f());
  } catch (e) {
    console.log(name, e.name, e.code, e.message, JSON.stringify(e));
  }
};
const inputs = ['http://a/b?c#d', 'HTTP://USER:pa%20ss@Example.COM:80/a/../b/./c?x y#z w', 'https://例.jp/é?ü#ö', 'file:///a/b', 'file:c:/x',
  'mailto:a@b', 'data:text/plain,hi there', 'http://[::1]:8080/', 'http://1.2.3/', 'http://0x7f.1/', '//x', 'x', '', 'http://', 'http:a',
  'ws://a:81', 'blob:http://a/b', 'http://a b/', 'http://a:99999', 'http://%41/', 'http://a/%zz', 'http://xn--fsq/', 'about:blank',
  'http://u@h', 'http://:p@h', '  http://a/ ', 'http://a\\b', 'http://ex%2fample', 'http://256.1.1.1', 'non-special://u:p@h:1/p?q#f',
  'http://a/?q=\u{1F600}', 'http://a/\ud800', 'http://[::1'];
for (const input of inputs) {
  for (const base of [undefined, 'http://base/x/y?z#w', 'about:blank', 'bad']) show(`${input} ${base}`, () => new URL(input, base).href);
  show('parts', () => { const u = new URL(input); return [u.origin, u.host, u.port, u.username, u.pathname, u.search, u.hash]; });
  show('format', () => url.format(new URL(input), { unicode: true, fragment: false, search: false, auth: false }));
}
for (const part of ['protocol', 'host', 'hostname', 'port', 'username', 'password', 'pathname', 'search', 'hash', 'href']) {
  for (const value of ['x', 'https', '', 'a b', 'é', '8080', '/p/../q', '?s=1', '#h', 'h:1']) {
    show(`${part}=${value}`, () => { const u = new URL('http://u:p@a/b?c#d'); u[part] = value; return u.href; });
  }
}
const u = new URL('http://a/b?x=1');
u.searchParams.append('y', 'é&');
u.searchParams.sort();
console.log(u.href, URL.canParse('x'), URL.parse('zz'), url.domainToASCII('español.com'), url.domainToUnicode('xn--espaol-zwa.com'));
console.log(url.pathToFileURL('/a b#c?d%e[~]|^').href, url.fileURLToPath('file:///a%20b'), url.domainToASCII('xn--iñvalid.com'));

const pieces = [[0xef, 0xbb, 0xbf, 0x61, 0xe2], [0x82], [0xac, 0xff, 0x3d], [0xd8, 0x00, 0xde, 0x82], [0xa0, 0x81]].map((p) => Uint8Array.from(p));
for (const label of ['utf-8', 'utf-16le', 'utf-16be', 'shift_jis', 'gbk', 'big5', 'euc-kr', 'euc-jp', 'latin1', 'windows-1251', 'nope']) {
  for (const options of [{}, { fatal: true }, { ignoreBOM: true }]) {
    show(label, () => {
      const decoder = new TextDecoder(label, options);
      return JSON.stringify([decoder.encoding, ...pieces.map((piece) => decoder.decode(piece, { stream: true })), decoder.decode()]);
    });
  }
}
console.log(new TextDecoder('utf-16le').decode(Uint8Array.from([0xff, 0xfe, 0x61, 0])), new TextEncoder().encode('é€\ud800'));
console.log(new TextEncoder().encodeInto('é€😀', new Uint8Array(6)));
