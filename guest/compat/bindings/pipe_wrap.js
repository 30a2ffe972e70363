// The binding `pipe_wrap`: the pipes of children and of the standard streams. Named ones, which would be sockets in
// the file system, are refused.
'use strict';

const { host: { sys }, plain } = tools;
tools.binding('stream_wrap');
const { AsyncWrap, LibuvStreamWrap, attach } = tools.handles;
const b = plain('pipe_wrap');
const EACCES = -13;

b.Pipe = class Pipe extends LibuvStreamWrap {
  open(fd) {
    const probe = new Float64Array(18);
    const result = sys.fstat(fd, probe);
    if (result === 0) attach(this, fd);
    return result;
  }

  bind() { return EACCES; }
  listen() { return EACCES; }
  connect() { return EACCES; }
  fchmod() { return EACCES; }
};
b.PipeConnectWrap = class PipeConnectWrap extends AsyncWrap {};
return b;
