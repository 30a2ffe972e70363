// Paths of both kinds.
'use strict';

const { program } = require('../../table.js');

module.exports = [
  program('normalize, join, resolve', () => {
    const path = require('path');
    for (const p of ['', '.', '..', '/', '//', 'a//b', './a/../b/', '/a/../../b', 'a/./b/..', '..//..//a/', 'a/b/c/../../..', '/..', 'ä/ö/..', ' /x'])
      console.log(JSON.stringify([p, path.normalize(p), path.win32.normalize(p), path.resolve('/base', p), path.join('x', p, 'y'), path.isAbsolute(p)]));
    console.log(path.join(), path.join('', ''), path.join('/a', '..', '..', 'b'), path.resolve('/a', 'b', '/c', './d'), path.resolve('x') === process.cwd() + '/x');
  }),
  program('dirname, basename, extname, parse, format', () => {
    const path = require('path');
    for (const p of ['', '/', '//', 'a', 'a/', '/a', '/a/b.c', '/a/.b', 'a.b.c', '.', '..', 'a.', '.a.b', 'a//b//', '/a/b.c/', 'C:\\a\\b.txt', 'C:', '\\\\server\\share\\x'])
      console.log(JSON.stringify([p, path.dirname(p), path.basename(p), path.extname(p), path.parse(p), path.win32.dirname(p), path.win32.basename(p), path.win32.parse(p)]));
    console.log(path.basename('a.html', '.html'), path.basename('a.html', 'html'), path.basename('.html', '.html'), path.basename('aa', 'a'), path.basename('a/b.x/', '.x'));
    console.log(path.format({ dir: '/d', base: 'b' }), path.format({ root: '/', name: 'n', ext: 'e' }), path.format({ root: '/', dir: '/', base: 'x' }), path.format({ name: 'n', ext: '.e' }), path.win32.format({ dir: 'C:\\x', base: 'y' }));
  }),
  program('relative', () => {
    const path = require('path');
    for (const [a, b] of [['/a/b/c', '/a/d'], ['/a', '/a'], ['/', '/a'], ['/a/b', '/'], ['/foo', '/foobar'], ['a', 'b'], ['/a/', '/a/b/'], ['/a/bc', '/a/b']])
      console.log(JSON.stringify([a, b, path.relative(a, b), path.posix.relative(b, a)]));
    console.log(path.win32.relative('C:\\a\\b', 'c:\\A\\c'), path.win32.relative('C:\\a', 'D:\\b'), path.win32.relative('\\\\s\\sh\\a', '\\\\s\\sh\\b'));
  }),
  program('windows', () => {
    const { win32 } = require('path');
    console.log(win32.join('C:\\a', '..', '..', 'b'), win32.join('//a', 'b', 'c'), win32.isAbsolute('C:/'), win32.isAbsolute('C:'), win32.isAbsolute('\\\\x'), win32.toNamespacedPath('C:\\a'), win32.toNamespacedPath('\\\\s\\sh'), win32.extname('a.b\\c.'), win32.normalize('C:..\\a'), win32.normalize('CON:'), win32.sep, win32.delimiter);
    for (const p of ['C:\\', 'C:a', '\\\\s\\sh\\', 'a/b\\c', 'c:/x/../..', '/a', '\\\\?\\C:\\x'])
      console.log(JSON.stringify([p, win32.parse(p), win32.normalize(p), win32.resolve('D:\\q', p)]));
  }),
  program('matchesGlob and members', () => {
    const path = require('path');
    for (const [p, g] of [['/a/b.js', '/a/*.js'], ['a/b/c.ts', 'a/**/*.{js,ts}'], ['a/b', 'a'], ['x1', 'x[0-9]'], ['.hidden', '*'], ['a/b', '!(a)/b'], ['', '']]) attempt(() => path.matchesGlob(p, g));
    console.log(path.win32.matchesGlob('a\\b.js', 'a\\*.js'), Object.keys(path), path.posix === path, path.posix.win32 === path.win32, require('path/posix') === path, require('path/win32') === path.win32, path.sep, path.delimiter, path.toNamespacedPath('/x'), path.toNamespacedPath(5));
  }),
  program('bad arguments', () => {
    const path = require('path');
    for (const f of ['join', 'resolve', 'normalize', 'isAbsolute', 'dirname', 'basename', 'extname', 'parse', 'format', 'matchesGlob'])
      for (const bad of [undefined, null, 5, {}, Symbol('s')]) attempt(() => `${f} ${JSON.stringify(path[f](bad))}`, () => path.win32[f](bad));
    attempt(() => path.relative('a'), () => path.relative(1, 'a'), () => path.basename('a', 5), () => path.join('a', {}), () => path.resolve('a', null));
  }),
];
