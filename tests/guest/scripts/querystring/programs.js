// querystring and string_decoder's neighbour: bytes and text of forms.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('parse', () => {
    const qs = require('querystring');
    for (const s of ['a=1&b=2&a=3', 'a', '=a', 'a=&b', '&&', 'a=b=c', 'a%20b=c+d', '%zz=%', 'a=%e9', 'a=%C3%A9', 'é=ü', '__proto__=1', 'a[]=1&a[]=2', '', undefined, null, 5]) attempt(() => qs.parse(s));
    console.log(qs.parse('a:1;b:2', ';', ':'), qs.parse('a=>1, b=>2', ', ', '=>'), qs.parse('a=1&b=2&c=3', null, null, { maxKeys: 2 }), qs.parse('a=%41', null, null, { decodeURIComponent: (x) => `<${x}>` }), qs.parse('a=%41', null, null, { decodeURIComponent: () => { throw new Error('no'); } }));
    console.log(Object.keys(qs.parse(Array.from({ length: 1100 }, (_, i) => `k${i}=1`).join('&'))).length, Object.keys(qs.parse('a&'.repeat(1100), null, null, { maxKeys: 0 })).length, Object.getPrototypeOf(qs.parse('a')));
  }),
  program('stringify, escape', () => {
    const qs = require('querystring');
    for (const o of [{ a: 1, b: [2, 'x'], c: '' }, { a: null, b: undefined, c: NaN, d: Infinity, e: 5n, f: true, g: {}, h: [] }, { 'ä ': 'ö&=' }, [], [1, 2], 'text', null, 5]) attempt(() => qs.stringify(o));
    console.log(qs.stringify({ a: 1, b: 2 }, ';', ':'), qs.stringify({ a: 'x y' }, null, null, { encodeURIComponent: (x) => `<${x}>` }), qs.escape("a b!'()*~-._&=\u{1f600}"), qs.escape({ toString: () => 'o' }), qs.unescape('%41%zz%e9'), String(qs.unescapeBuffer('a%20b%zz%4')), qs.encode === qs.stringify, qs.decode === qs.parse);
    attempt(() => qs.escape('\ud800'), () => qs.stringify({ a: '\udc00' }), () => qs.escape(Symbol('a')), () => qs.escape(Object.create(null)));
  }),
];
