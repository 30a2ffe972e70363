// What is no descriptor is refused before it could be taken for another one.
'use strict';

const fs = require('node:fs');

for (const name of ['closeSync', 'fsyncSync', 'fdatasyncSync', 'fstatSync', 'ftruncateSync', 'fchmodSync', 'futimesSync']) {
  for (const fd of [2 ** 31, 2 ** 40, -1, 1.5, '1', null, undefined, 1_000]) {
    try {
      fs[name](fd, 0, 0);
      console.log(name, fd, 'done');
    } catch (error) {
      console.log(name, fd, error.code, error.message);
    }
  }
}
