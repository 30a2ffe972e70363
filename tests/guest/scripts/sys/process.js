// The object `process`.
'use strict';
console.log(typeof process.pid, process.pid > 0, typeof process.ppid, process.title.length > 0, process.argv.length);
console.log(process.platform, process.version, process.arch, process.release.name, process.argv0.split('/').pop(), process.execArgv);
console.log(process.hrtime().length, typeof process.hrtime.bigint(), process.hrtime.bigint() <= process.hrtime.bigint());
console.log(Object.keys(process.memoryUsage()), process.memoryUsage.rss() > 0, process.uptime() > 0, process.uptime() < 60);
console.log(Object.keys(process.cpuUsage()), Object.keys(process.resourceUsage()), Object.keys(process.threadCpuUsage()));
console.log(process.umask().toString(8), process.umask(0o77).toString(8), process.umask().toString(8), process.umask('022').toString(8));
process.chdir('/tmp');
console.log(process.cwd());
for (const bad of [() => process.chdir('/nope'), () => process.kill(1.5), () => process.kill(999999), () => process.kill(process.pid, 'SIGNOPE'),
  () => process.dlopen({ exports: {} }, '/nope.node'), () => process.loadEnvFile('/nope.env'), () => process.umask(-1)]) {
  try {
    bad();
  } catch (error) {
    console.log(error.code, error.message, JSON.stringify(error));
  }
}
require('fs').writeFileSync('/tmp/some.env', 'AAA=1\nBBB="two words"\nPATH=kept\n');
process.loadEnvFile('/tmp/some.env');
require('fs').unlinkSync('/tmp/some.env');
console.log(process.env.AAA, process.env.BBB, process.env.PATH !== 'kept');
console.log(process.kill(process.pid, 0));
process.title = 'renamed';
console.log(process.title);
for (const name of ['pid', 'argv', 'argv0', 'execPath', 'exitCode', 'version', 'env', 'execArgv']) {
  const d = Object.getOwnPropertyDescriptor(process, name);
  console.log(name, d && [d.writable, d.enumerable, d.configurable, typeof d.get, typeof d.set]);
}
let seen = 0;
process.on('SIGUSR2', (name, number) => {
  console.log(name, number, ++seen);
  if (seen === 2) process.exit(12);
  process.kill(process.pid, 'SIGUSR2');
});
process.kill(process.pid, 'SIGUSR2');
setTimeout(() => {}, 5000);
process.on('exit', (code) => console.log('exit', code, process.exitCode));
