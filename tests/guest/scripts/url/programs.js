// URLs, both APIs.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('parts of URLs', () => {
    for (const text of ['http://user:pa%20ss@Example.COM:8080/a/../b;c?q=1&r=%zz#f%20g', 'https://example.com:443', 'file:///C|/x/../y', 'data:text/plain,a b', 'javascript:alert(1)', 'http://[::1]:3/', 'http://0x7f.1/', 'http://日本.example/ü?ü#ü', 'ws://a.b./', 'mailto:x@y', 'ftp://h/%7Efoo/../', 'http://a/b c\td\ne', '  http://x/  ', 'blob:http://a/b', 'non-special://h:1/../x y?q', 'http://example.com/\\x\\y'])
      attempt(() => new URL(text), () => JSON.stringify(new URL(text)));
  }),
  program('what is no URL', () => {
    for (const text of ['', 'x', '//a', 'http://', 'http://a b/', 'http://[::1', 'http://a:99999/', 'http://a%00/', 'http://1.2.3.4.5/', 'http://256.1.1.1', 'http://xn--a/', 'http:// /', 'http://a<b'])
      attempt(() => new URL(text), () => URL.canParse(text), () => URL.parse(text));
    attempt(() => new URL(), () => new URL('a', 'b'), () => new URL('a', undefined), () => new URL(Symbol('s')), () => URL('http://a'), () => URL.canParse(), () => new URL('http://a', 5).href, () => new URL({ toString: () => 'http://obj/' }).href);
    try { new URL('relative', 'http://['); } catch (e) { console.log(Object.keys(e), e.input, e.base, e); }
  }),
  program('relative to a base', () => {
    for (const rel of ['', '.', '..', '/', '//h', '?q', '#f', 'a', './a', '../a', '../../../a', 'http:a', 'https:a', 'x:y', '\\a', '/a/./b/../c', ';x', 'a?b#c', '%2e%2e/x', ' a '])
      console.log(rel, new URL(rel, 'http://h:1/p/q/r?s#t').href, attempt(() => new URL(rel, 'file:///a/b').href));
  }),
  program('setters', () => {
    const u = new URL('http://u:p@h:1/p?q#f');
    for (const [key, ...values] of [['protocol', 'https', 'https:', 'x', 'file', ''], ['username', 'ä:@', ''], ['password', 'x y', ''], ['host', 'a:2', 'b', '', 'c:80', 'd:x'], ['hostname', 'e', 'f:9', '[::2]', 'a b'], ['port', '443', '80', '', '7x', 'x', '70000', 5.9], ['pathname', 'x', '/y z', '', '?a', '#b'], ['search', 'a=b', '?c', '', '#'], ['hash', 'h', '#', '', 'a b'], ['href', 'http://new/', 'bad'], ['origin', 'http://no'], ['searchParams', 1]])
      for (const value of values) { try { u[key] = value; } catch (e) { console.log(told(e)); } console.log(key, JSON.stringify(value), u.href); }
  }),
  program('URLSearchParams', () => {
    const p = new URLSearchParams('?a=1&b=2&a=%20+%zz&=x&c&d==&é=ü&&');
    console.log(p, p.toString(), p.get('a'), p.getAll('a'), p.get('none'), p.has('c'), p.has('a', '1'), p.has('a', '2'), p.size);
    p.append('z', null); p.set('a', 'new'); p.delete('b', '3'); p.delete('b'); p.append('k', undefined); console.log(p.toString());
    p.sort(); console.log([...p], [...p.keys()], [...p.values()], p.entries(), p.keys());
    p.forEach(function (v, k, self) { console.log(k, v, self === p, this.t); }, { t: 1 });
    for (const init of [{ a: 1, b: [2, 3] }, [['x', 'y'], ['x', 'z']], new Map([['m', 'n']]), new URLSearchParams('q=r'), undefined, null, '', 'a%26=b%3D', 5, "~!'()*-._ +"]) attempt(() => new URLSearchParams(init).toString());
    attempt(() => new URLSearchParams([['a']]), () => new URLSearchParams([1]), () => new URLSearchParams({ [Symbol.iterator]: 5 }), () => p.get(), () => p.append('a'), () => p.forEach(5), () => URLSearchParams.prototype.get.call({}, 'a'), () => new URLSearchParams(Symbol('x')));
    const u = new URL('http://h/?x=1'); u.searchParams.append('y', '2 3'); console.log(u.href); u.search = '?w=4'; console.log(u.searchParams.get('w'), u.searchParams.toString()); for (const k of [...u.searchParams.keys()]) u.searchParams.delete(k); console.log(u.href);
    const all = new URLSearchParams(); for (let i = 0; i < 300; i++) all.append(String.fromCharCode(i), String.fromCodePoint(0x1f600 + i)); console.log(all.toString());
  }),
  program('file URLs', () => {
    const { fileURLToPath, pathToFileURL, fileURLToPathBuffer } = require('url');
    for (const u of ['file:///a/b%20c', 'file:///%C3%A9', 'file://host/x', 'file:///a%2Fb', 'http://x/', 'file:///a?b#c', 'file:///C:/x', 5, undefined, {}, new URL('file:///u')]) attempt(() => fileURLToPath(u), () => fileURLToPath(u, { windows: true }));
    for (const p of ['/a/b c', '/é?#%\n\t\\', '/', '/a/../b', '/a/', '/\u{1f600}', 5]) attempt(() => pathToFileURL(p).href);
    attempt(() => pathToFileURL('C:\\a\\b', { windows: true }).href, () => pathToFileURL('\\\\s\\sh\\f', { windows: true }).href, () => fileURLToPathBuffer('file:///a%ff'), () => fileURLToPath('file:///a%ff'));
  }),
  program('legacy: parse, format, resolve', () => {
    const url = require('url');
    for (const u of ['http://user:pass@host.com:8080/p/a/t/h?query=string#hash', '//a/b', '/x?y', 'a', 'mailto:a@b', 'javascript:x', 'HTTP://UPPER/', 'http://a.com/\t b', 'http://x:y', 'x://y/z', '']) attempt(() => url.parse(u), () => JSON.stringify(url.parse(u, true, true)));
    for (const [a, b] of [['/one/two/three', 'four'], ['http://example.com/', '/one'], ['http://example.com/one', '/two'], ['a/b', '../../c'], ['http://a/b', 'http:c'], ['mailto:a@b', 'c']]) console.log(url.resolve(a, b));
    console.log(url.format({ protocol: 'http', host: 'h', pathname: 'p?', query: { a: [1, 2] }, hash: 'x' }), url.format({ hostname: '::1', port: 3, slashes: true }), url.format('http://a b'));
    console.log(url.format(new URL('http://u:p@xn--fiq228c.com/p?q#f'), { auth: false, fragment: false, search: false, unicode: true }), url.resolveObject('http://a/b', 'c').href);
    attempt(() => url.parse(5), () => url.format(5), () => url.format({ protocol: 5 }), () => url.parse('http://a:b'), () => url.resolve(1, 'a'));
  }),
  program('domains, options, members', () => {
    const url = require('url');
    for (const d of ['español.com', '中文.com', 'xn--iñvalid.com', 'EXAMPLE.com', '', 'a..b', 'faß.de', 'xn--zckzah.test', '☃.net', 'a b']) console.log(d, url.domainToASCII(d), url.domainToUnicode(url.domainToASCII(d)), url.domainToUnicode(d));
    console.log(url.urlToHttpOptions(new URL('http://a:b%20c@[::1]:8/p?q#f')), Object.keys(url));
    attempt(() => url.urlToHttpOptions('x'), () => url.domainToASCII(), () => Object.prototype.toString.call(new URL('a:b')), () => Object.getOwnPropertyNames(URL.prototype), () => Object.getOwnPropertyNames(URLSearchParams.prototype), () => URL.length, () => URL.prototype.href, () => new URL('http://a').toJSON());
    console.log(require('util').inspect(new URL('http://a/?b'), { depth: -1 }), [new URL('http://a')], { u: new URLSearchParams('a=1') });
  }),
  program('object URLs', async () => {
    const { resolveObjectURL, Blob } = require('buffer');
    const id = URL.createObjectURL(new Blob(['text'], { type: 'text/plain' }));
    console.log(/^blob:nodedata:[-0-9a-f]{36}$/.test(id), await resolveObjectURL(id).text(), resolveObjectURL(id).type);
    URL.revokeObjectURL(id); console.log(resolveObjectURL(id), resolveObjectURL('blob:x'));
    attempt(() => URL.createObjectURL(5), () => URL.revokeObjectURL());
  }),
];
