// The binding `udp_wrap`: a guest has no network; every attempt to use it is EACCES.
'use strict';

const { plain, read } = tools;
tools.binding('stream_wrap');
const { AsyncWrap, HandleWrap } = tools.handles;
const b = plain('udp_wrap');

b.UDP = class UDP extends HandleWrap {
  get fd() { return -1; }
};
const shape = read('table/udp_wrap').UDP;
for (const name of shape?.v ?? []) {
  if (name === 'fd') continue;
  Object.defineProperty(b.UDP.prototype, name, { value: { [name]: () => -13 }[name], writable: true, configurable: true });
}
b.UDP.prototype.getSendQueueSize = () => 0;
b.UDP.prototype.getSendQueueCount = () => 0;
b.SendWrap = class SendWrap extends AsyncWrap {};
return b;
