// The binding `fs_dir`: a folder that is read in pieces. Its names are taken when it is opened.
'use strict';

const { host: { sys } } = tools;
tools.binding('fs');
const { AsyncWrap, fail, lateError } = tools.handles;

const isText = (encoding) => encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8';

function later(req, error, value) {
  tools.enqueue(() => (error !== null || value === undefined ? req.oncomplete(error) : req.oncomplete(null, value)));
}

class DirHandle extends AsyncWrap {
  #names;
  #types;
  #at = 0;
  #open = true;

  constructor(entries) {
    super();
    [this.#names, this.#types] = entries;
  }

  read(encoding, size, req) {
    const batch = this.#next(encoding, size);
    if (req === undefined) return batch;
    later(req, null, batch);
  }

  close(req) {
    const result = this.#open ? 0 : -9;
    this.#open = false;
    this.#names = [];
    if (req === undefined) {
      if (result < 0) fail(this.close, result, 'closedir');
    } else {
      later(req, result < 0 ? lateError(result, 'closedir') : null);
    }
  }

  /** Name, type, name, type …; null at the end. */
  #next(encoding, size) {
    if (this.#at >= this.#names.length) return null;
    const { Buffer } = tools.library.require('buffer');
    const batch = [];
    for (let i = 0; i < size && this.#at < this.#names.length; i++, this.#at++) {
      const bytes = Buffer.from(this.#names[this.#at].buffer);
      const name = isText(encoding) ? bytes.toString() : encoding === 'buffer' ? bytes : bytes.toString(encoding);
      batch.push(name, this.#types[this.#at]);
    }
    return batch;
  }
}

/** What can be opened is a folder, with an empty one read as nothing. */
function opened(path) {
  const entries = sys.readdir(path, true);
  return typeof entries === 'number' ? entries : new DirHandle(entries);
}

function opendir(path, encoding, req) {
  const handle = opened(path);
  const bad = typeof handle === 'number';
  if (req === undefined) return bad ? fail(opendir, handle, 'opendir', path) : handle;
  if (bad) later(req, lateError(handle, 'opendir', path));
  else later(req, null, handle);
}

function opendirSync(path) {
  const handle = opened(path);
  return typeof handle === 'number' ? fail(opendirSync, handle, 'opendir') : handle;
}

return { opendir, opendirSync, DirHandle };
