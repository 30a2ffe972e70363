// Every synchronous call of fs, and what it says when it is refused.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'fs-sync-'));
process.chdir(home);
const hide = (text) => String(text).replaceAll(home, 'HOME');
function show(name, call) {
  try {
    console.log(name, call());
  } catch (error) {
    console.log(name, hide(error.stack.split('\n').slice(0, 2).join(' |')), hide(JSON.stringify(error)), Object.keys(error).join());
  }
}

show('write', () => fs.writeFileSync('a', 'héllo\n'));
show('append', () => fs.appendFileSync('a', 'more'));
show('read', () => fs.readFileSync('a', 'utf8'));
show('read bytes', () => fs.readFileSync('a'));
show('read latin1', () => fs.readFileSync('a', 'latin1'));
show('size', () => fs.statSync('a').size);
show('mode', () => fs.statSync('a').mode.toString(8));
show('chmod', () => fs.chmodSync('a', 0o600));
show('mode', () => fs.statSync('a').mode.toString(8));
show('bigint', () => typeof fs.statSync('a', { bigint: true }).mtimeNs);
show('is', () => [fs.statSync('a').isFile(), fs.statSync('.').isDirectory(), fs.lstatSync('a').isSymbolicLink()]);
show('missing', () => fs.statSync('nope', { throwIfNoEntry: false }));
show('exists', () => [fs.existsSync('a'), fs.existsSync('nope'), fs.existsSync('a/b')]);
show('access', () => fs.accessSync('a', fs.constants.R_OK | fs.constants.W_OK));
show('copy', () => fs.copyFileSync('a', 'b'));
show('copy excl', () => fs.copyFileSync('a', 'b', fs.constants.COPYFILE_EXCL));
show('rename', () => fs.renameSync('b', 'c'));
show('link', () => fs.linkSync('c', 'd'));
show('nlink', () => fs.statSync('d').nlink);
show('symlink', () => fs.symlinkSync('c', 'e'));
show('readlink', () => [fs.readlinkSync('e'), fs.readlinkSync('e', 'buffer'), fs.readlinkSync('e', 'hex')]);
show('realpath', () => [hide(fs.realpathSync('e')), hide(fs.realpathSync.native('e'))]);
show('mkdir', () => fs.mkdirSync('f'));
show('mkdir -p', () => hide(fs.mkdirSync(path.join(home, 'f/g/h'), { recursive: true })));
show('mkdir -p again', () => fs.mkdirSync('f/g/h', { recursive: true }));
show('mkdir -p relative', () => fs.mkdirSync('f/i/j/', { recursive: true }));
show('readdir', () => fs.readdirSync('.').sort());
show('readdir types', () => fs.readdirSync('.', { withFileTypes: true }).map((e) => [e.name, e.isDirectory(), e.isSymbolicLink(), hide(e.parentPath)]).sort());
show('readdir recursive', () => fs.readdirSync('f', { recursive: true }).sort());
show('readdir buffer', () => fs.readdirSync('f', 'buffer').length);
show('truncate', () => fs.truncateSync('c', 2));
show('read', () => fs.readFileSync('d', 'utf8'));
show('utimes', () => fs.utimesSync('a', 1.5, new Date(2500)));
show('times', () => [fs.statSync('a').atimeMs, fs.statSync('a').mtimeMs, fs.statSync('a').mtime]);
show('unlink', () => fs.unlinkSync('d'));
show('rmdir', () => fs.rmdirSync('f/g/h'));
show('rm -r', () => fs.rmSync('f', { recursive: true }));
show('rm', () => fs.rmSync('c'));
show('dangling', () => [fs.existsSync('e'), fs.lstatSync('e').isSymbolicLink()]);
show('odd name', () => fs.writeFileSync(Buffer.from([0x66, 0xff, 0x67]), 'x'));
show('odd name', () => fs.readdirSync('.').length);
show('mkdtemp', () => fs.mkdtempSync('t-').length);

const fd = fs.openSync('r', 'w+', 0o640);
show('fd', () => [fs.writeSync(fd, 'abcdef'), fs.writeSync(fd, Buffer.from('XY'), 0, 2, 1), fs.writeSync(fd, 'Z', 4)]);
show('read at', () => { const b = Buffer.alloc(8); return [fs.readSync(fd, b, 0, 8, 0), b.toString()]; });
show('read here', () => { const b = Buffer.alloc(8); return [fs.readSync(fd, b), b.toString()]; });
show('writev', () => fs.writevSync(fd, [Buffer.from('one'), Buffer.from('two')], 0));
show('readv', () => { const l = [Buffer.alloc(2), Buffer.alloc(9)]; return [fs.readvSync(fd, l, 0), l.join('|')]; });
show('fstat', () => fs.fstatSync(fd).size);
show('ftruncate', () => fs.ftruncateSync(fd, 3));
show('fchmod', () => fs.fchmodSync(fd, 0o644));
show('futimes', () => fs.futimesSync(fd, 10, 20));
show('fsync', () => [fs.fsyncSync(fd), fs.fdatasyncSync(fd)]);
show('close', () => fs.closeSync(fd));
show('closed', () => fs.closeSync(fd));
show('read closed', () => fs.readSync(fd, Buffer.alloc(1)));
show('write closed', () => fs.writeSync(fd, 'x'));
show('fstat closed', () => fs.fstatSync(fd));
show('read of a writer', () => { const w = fs.openSync('w', 'w'); try { return fs.readSync(w, Buffer.alloc(1)); } finally { fs.closeSync(w); } });
show('write of a reader', () => { const w = fs.openSync('w', 'r'); try { return fs.writeSync(w, 'x'); } finally { fs.closeSync(w); } });
show('null', () => [fs.readFileSync('/dev/null', 'utf8'), fs.writeFileSync('/dev/null', 'x')]);

for (const [name, call] of Object.entries({
  open: () => fs.openSync('nope'), openx: () => fs.openSync('a', 'wx'), opendir: () => fs.openSync('.', 'w'),
  read: () => fs.readFileSync('nope'), readutf8: () => fs.readFileSync('nope', 'utf8'), readdirfile: () => fs.readFileSync('.', 'utf8'),
  readdirbytes: () => fs.readFileSync('.'), readfd: () => fs.readFileSync(99, 'utf8'), write: () => fs.writeFileSync('nope/a', 'x'),
  writedir: () => fs.writeFileSync('.', 'x'), writefd: () => fs.writeFileSync(99, 'x'), stat: () => fs.statSync('nope'), lstat: () => fs.lstatSync('a/b'),
  access: () => fs.accessSync('nope'), mkdir: () => fs.mkdirSync('a'), mkdirp: () => fs.mkdirSync('a', { recursive: true }),
  mkdirpp: () => fs.mkdirSync('a/b/c', { recursive: true }), mkdirno: () => fs.mkdirSync('x/y'), rmdir: () => fs.rmdirSync('a'), rmdirno: () => fs.rmdirSync('nope'),
  rm: () => fs.rmSync('nope'), rmforce: () => fs.rmSync('nope', { force: true }), rmdirectory: () => fs.rmSync('.'), unlink: () => fs.unlinkSync('nope'), unlinkdir: () => fs.unlinkSync(fs.mkdtempSync('u-').slice(0, 0) + '.'),
  rename: () => fs.renameSync('nope', 'x'), renamedir: () => fs.renameSync('a', '.'), link: () => fs.linkSync('nope', 'x'), symlink: () => fs.symlinkSync('a', 'e'),
  readlink: () => fs.readlinkSync('a'), realpath: () => fs.realpathSync('nope'), native: () => fs.realpathSync.native('nope'), readdir: () => fs.readdirSync('nope'), readdirf: () => fs.readdirSync('a'),
  mkdtemp: () => fs.mkdtempSync('nope/x-'), copy: () => fs.copyFileSync('nope', 'x'), chmod: () => fs.chmodSync('nope', 0o777), chown: () => fs.chownSync('nope', 0, 0), utimes: () => fs.utimesSync('nope', 1, 1),
  lutimes: () => fs.lutimesSync('nope', 1, 1), truncate: () => fs.truncateSync('nope'), ftruncate: () => fs.ftruncateSync(99), fsync: () => fs.fsyncSync(99), fchmod: () => fs.fchmodSync(99, 1), futimes: () => fs.futimesSync(99, 1, 1),
  statfs: () => fs.statfsSync('nope'), nul: () => fs.readFileSync('a\0b'), type: () => fs.readFileSync({}), loop: () => { fs.symlinkSync('l2', 'l1'); fs.symlinkSync('l1', 'l2'); return fs.readFileSync('l1'); },
  long: () => fs.writeFileSync('n'.repeat(256), ''), buffer: () => fs.openSync(Buffer.from('nope')), url: () => fs.readFileSync(new URL('file:///nope')),
  chdir: () => process.chdir('nope'), watch: () => fs.watch('nope'), opendirno: () => fs.opendirSync('nope'),
})) show(name, call);

show('statfs', () => Object.keys(fs.statfsSync('.')));
const dir = fs.opendirSync('.');
const names = [];
for (let e; (e = dir.readSync()) !== null;) names.push(e.name.length);
dir.closeSync();
show('dir', () => names.length);
show('dir closed', () => dir.readSync());
process.chdir('/');
fs.rmSync(home, { recursive: true });
show('gone', () => fs.existsSync(home));
