// The binding `cares_wrap`: names are not resolved in a guest.
'use strict';

const { plain, read } = tools;
tools.binding('stream_wrap');
const { AsyncWrap } = tools.handles;
const b = plain('cares_wrap');
const EACCES = -13;

for (const name of ['GetAddrInfoReqWrap', 'GetNameInfoReqWrap', 'QueryReqWrap']) {
  b[name] = { [name]: class extends AsyncWrap {} }[name];
}
b.getaddrinfo = () => EACCES;
b.getnameinfo = () => EACCES;
b.strerror = (code) => `${code}`;
b.ChannelWrap = class ChannelWrap extends AsyncWrap {
  getServers() { return []; }
  setServers() { return 0; }
  setLocalAddress() {}
  cancel() {}
};
for (const name of read('table/cares_wrap').ChannelWrap?.v ?? []) {
  b.ChannelWrap.prototype[name] ??= () => EACCES;
}
return b;
