// The binding `credentials`: a guest is root of its machine, and nobody else.
'use strict';

const { plain } = tools;
const b = plain('credentials');
const zero = () => 0;
for (const name of ['getuid', 'geteuid', 'getgid', 'getegid']) b[name] = zero;
b.getgroups = () => [0];

const isRoot = (id) => id === 0 || id === 'root';
function become(syscall) {
  return (id) => {
    if (isRoot(id)) return 0;
    if (typeof id === 'string') return 1; // no such user or group
    const error = new Error(`EPERM: operation not permitted, ${syscall}`);
    throw Object.assign(error, { errno: 1, code: 'EPERM', syscall });
  };
}
for (const name of ['setuid', 'seteuid', 'setgid', 'setegid']) b[name] = become(name);
b.setgroups = (groups) => {
  const unknown = groups.findIndex((group) => typeof group === 'string' && !isRoot(group));
  return unknown + 1;
};
b.initgroups = (user, group) => (isRoot(user) ? isRoot(group) ? 0 : 2 : 1);

b.safeGetenv = (name) => tools.process.env[name];
b.getTempDir = () => {
  const { TMPDIR, TMP, TEMP } = tools.process.env;
  const found = TMPDIR || TMP || TEMP;
  return found?.length > 1 && found.endsWith('/') ? found.slice(0, -1) : found;
};
return b;
