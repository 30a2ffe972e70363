// The binding `fs_event_wrap`: the files of a guest can't be watched by events; fs.watchFile can.
'use strict';

const { host: { sys } } = tools;
tools.binding('fs');
const { HandleWrap } = tools.handles;
const ENOSYS = -38;

class FSEvent extends HandleWrap {
  get initialized() { return false; }

  start(path) {
    const found = sys.access(path, 0);
    return found < 0 ? found : ENOSYS;
  }
}
return { FSEvent };
