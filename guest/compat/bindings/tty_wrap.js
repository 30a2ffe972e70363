// The binding `tty_wrap`: a guest has no terminal.
'use strict';

const { plain } = tools;
tools.binding('stream_wrap');
const b = plain('tty_wrap');

b.isTTY = () => false;
b.TTY = class TTY extends tools.handles.LibuvStreamWrap {
  constructor(fd, context) {
    super();
    // The library makes an error of what it finds here.
    context.code = 'EINVAL';
    context.errno = -22;
    context.message = 'invalid argument';
    context.syscall = 'uv_tty_init';
  }

  getWindowSize() { return -25; }
  setRawMode() { return -25; }
};
return b;
