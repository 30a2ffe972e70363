// The binding `tcp_wrap`: a guest has no network; every attempt to use it is EACCES.
'use strict';

const { plain } = tools;
tools.binding('stream_wrap');
const { AsyncWrap, LibuvStreamWrap } = tools.handles;
const b = plain('tcp_wrap');

b.TCP = class TCP extends LibuvStreamWrap {};
const refused = ['open', 'bind', 'listen', 'connect', 'bind6', 'connect6', 'getsockname', 'getpeername', 'setNoDelay',
  'setKeepAlive', 'setTypeOfService', 'getTypeOfService', 'reset'];
for (const name of refused) {
  Object.defineProperty(b.TCP.prototype, name, { value: { [name]: () => -13 }[name], writable: true, configurable: true });
}
b.TCPConnectWrap = class TCPConnectWrap extends AsyncWrap {};
return b;
