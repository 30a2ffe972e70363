// Eight children at once, as the spawn bench has them.
'use strict';
const { spawn } = require('child_process');
const seen = { exit: 0, close: 0, error: 0, bad: 0 };
const all = [];
for (let i = 0; i < 8; i++) {
  all.push(new Promise((resolve) => {
    const child = spawn('node', ['-e', 'process.exit(0)']);
    child.on('error', () => { seen.error++; });
    child.on('exit', (code) => { seen.exit++; if (code !== 0) seen.bad++; });
    child.on('close', (code) => { seen.close++; if (code !== 0) seen.bad++; resolve(); });
  }));
}
Promise.all(all).then(() => console.log(JSON.stringify(seen)));
