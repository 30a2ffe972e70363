// fs.cpSync, as far as Node does it in C++: checks before, one file over another, a folder without a filter.
'use strict';

const { host: { sys } } = tools;
const { coded, fail } = tools.handles;
const kinds = { mask: 0o170000, folder: 0o040000, link: 0o120000, file: 0o100000, device: 0o020000, fifo: 0o010000, socket: 0o140000 };

/** Type, device and inode; undefined when there is nothing. */
function look(path, follow) {
  const values = new Float64Array(18);
  const result = (follow ? sys.stat : sys.lstat)(path, values);
  return result < 0 ? undefined : { type: values[1] & kinds.mask, mode: values[1] & 0o7777, dev: values[0], ino: values[7], values };
}
const same = (a, b) => a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
const folded = (path) => (path.endsWith('/') ? path : `${path}/`);

function cpSyncCheckPaths(src, dest, dereference, recursive) {
  const { dirname, resolve } = tools.library.require('path');
  const from = look(src, dereference);
  if (from === undefined) fail(cpSyncCheckPaths, -2, dereference ? 'stat' : 'lstat', src);
  const to = look(dest, dereference);
  const refuse = (code, message) => coded(cpSyncCheckPaths, code, message);
  if (same(from, to)) throw refuse('ERR_FS_CP_EINVAL', `src and dest cannot be the same ${dest}`);
  const isFolder = from.type === kinds.folder;
  if (to !== undefined && isFolder && to.type !== kinds.folder) {
    throw refuse('ERR_FS_CP_DIR_TO_NON_DIR', `Cannot overwrite non-directory ${dest} with directory ${src}`);
  }
  if (to !== undefined && !isFolder && to.type === kinds.folder) {
    throw refuse('ERR_FS_CP_NON_DIR_TO_DIR', `Cannot overwrite directory ${dest} with non-directory ${src}`);
  }
  if (isFolder && folded(resolve(dest)).startsWith(folded(resolve(src)))) {
    throw refuse('ERR_FS_CP_EINVAL', `Cannot copy ${folded(src)} to a subdirectory of self ${dest}`);
  }
  if (isFolder) {
    for (let parent = dirname(resolve(dest)); parent !== dirname(parent); parent = dirname(parent)) {
      if (same(from, look(parent, dereference))) {
        throw refuse('ERR_FS_CP_EINVAL', `Cannot copy ${folded(src)} to a subdirectory of self ${dest}`);
      }
    }
  }
  if (isFolder && !recursive) {
    throw refuse('ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${folded(src)}`);
  }
  if (from.type === kinds.socket) throw refuse('ERR_FS_CP_SOCKET', `Cannot copy a socket file: ${dest}`);
  if (from.type === kinds.fifo) throw refuse('ERR_FS_CP_FIFO_PIPE', `Cannot copy a FIFO pipe: ${dest}`);
  if (to === undefined || look(dirname(dest), true) === undefined) makeFolders(dirname(resolve(dest)));
}

function makeFolders(path) {
  const { dirname } = tools.library.require('path');
  if (look(path, true) !== undefined) return;
  makeFolders(dirname(path));
  sys.mkdir(path, 0o777);
}

function keepTimes(from, dest) {
  const seconds = (i) => from.values[i] + from.values[i + 1] / 1e9;
  return sys.utimes(dest, seconds(10), seconds(12));
}

function cpSyncOverrideFile(src, dest, mode, preserveTimestamps) {
  const removed = sys.unlink(dest);
  if (removed < 0 && removed !== -2) fail(cpSyncOverrideFile, removed, 'unlink', dest);
  const copied = sys.copyFile(src, dest, mode);
  if (copied < 0) fail(cpSyncOverrideFile, copied, 'cp', src, dest);
  if (preserveTimestamps) keepTimes(look(src, true), dest);
}

function cpSyncCopyDir(src, dest, force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps) {
  const { dirname, isAbsolute, join, resolve } = tools.library.require('path');
  const refused = (result, call, path, other) => result < 0 && fail(cpSyncCopyDir, result, call, path, other);

  function copyLink(from, to) {
    let target = sys.readlink(from, false);
    if (!verbatimSymlinks && !isAbsolute(target)) target = resolve(dirname(from), target);
    const there = look(to, false);
    // Node asks whether what the link points to exists, and finds the link only when it makes its own.
    if (there !== undefined && (verbatimSymlinks || look(to, true) === undefined)) throw coded(cpSyncCopyDir, 'EEXIST', `EEXIST, File exists '${dest}'`);
    if (there !== undefined && there.type === kinds.link) {
      if (!force && errorOnExist) throw coded(cpSyncCopyDir, 'ERR_FS_CP_EEXIST', `[ERR_FS_CP_EEXIST]: Target already exists: cp returned EEXIST (${to} already exists) ${to}`);
      refused(sys.unlink(to), 'unlink', to);
    }
    refused(sys.symlink(target, to, 0), 'symlink', target, to);
  }

  function copyFile(from, to, entry) {
    if (look(to, false) !== undefined && !force) {
      if (errorOnExist) throw coded(cpSyncCopyDir, 'ERR_FS_CP_EEXIST', `[ERR_FS_CP_EEXIST]: Target already exists: cp returned EEXIST (${to} already exists) ${to}`);
      return;
    }
    refused(sys.copyFile(from, to, 0), 'cp', from, to);
    if (preserveTimestamps) keepTimes(entry, to);
  }

  function copyFolder(from, to) {
    makeFolders(resolve(to));
    const entries = sys.readdir(from, false);
    if (typeof entries === 'number') refused(entries, 'opendir', from);
    for (const name of entries[0]) {
      const entry = look(join(from, name), false); // links stay links below the folder, in Node, too
      if (entry === undefined) continue;
      if (entry.type === kinds.folder) copyFolder(join(from, name), join(to, name));
      else if (entry.type === kinds.link) copyLink(join(from, name), join(to, name));
      else copyFile(join(from, name), join(to, name), entry);
    }
  }
  copyFolder(src, dest);
}

return { cpSyncCheckPaths, cpSyncOverrideFile, cpSyncCopyDir };
