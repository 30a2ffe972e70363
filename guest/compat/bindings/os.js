// The binding `os`: a machine of the guest's own.
'use strict';

const { binding, host: { sys }, plain } = tools;
const b = plain('os');

b.getHostname = () => 'guest';
b.getOSInformation = () => ['Linux', '#1 SMP', '6.1.0', tools.process?.arch === 'arm64' ? 'aarch64' : 'x86_64'];
b.getLoadAvg = (values) => { values[0] = values[1] = values[2] = 0; };
b.getUptime = () => sys.uptime();
b.getTotalMem = () => sys.memoryLimit();
b.getFreeMem = () => Math.max(0, sys.memoryLimit() - sys.rss());
b.getAvailableParallelism = () => 1;
b.getCPUs = () => ['virtual', 0, 0, 0, 0, 0, 0];
b.getInterfaceAddresses = () => [];
b.getHomeDirectory = () => tools.process.env.HOME ?? '/root';
/** There is one processor for all: a priority is kept, and changes nothing. The errors are those of libuv. */
let priority = 0;
function refused(pid, ctx, syscall) {
  const errno = pid === 0 ? 0 : sys.kill(pid, 0);
  if (errno === 0) return false;
  Object.assign(ctx, { errno, code: binding('uv').errname(errno), syscall, message: tools.library.require('internal/util').getSystemErrorMessage?.(errno) ?? 'no such process' });
  return true;
}
b.getPriority = (pid, ctx) => {
  if (refused(pid, ctx, 'uv_os_getpriority')) return undefined;
  return pid === 0 || pid === tools.process.pid ? priority : 0;
};
b.setPriority = (pid, value, ctx) => {
  if (refused(pid, ctx, 'uv_os_setpriority')) return ctx.errno;
  if (pid === 0 || pid === tools.process.pid) priority = value;
  return 0;
};
b.getUserInfo = (options) => {
  const user = { __proto__: null, uid: 0, gid: 0, username: 'root', homedir: '/root', shell: '/bin/sh' };
  if (options?.encoding === 'buffer') {
    const { Buffer } = tools.library.require('buffer');
    for (const name of ['username', 'homedir', 'shell']) user[name] = Buffer.from(user[name]);
  }
  return user;
};
return b;
