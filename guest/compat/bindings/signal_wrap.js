// The binding `signal_wrap`: the signals that a program handles.
'use strict';

const { callbacks, host: { sys } } = tools;
tools.binding('stream_wrap');
const { AsyncWrap, HandleWrap, kReleased } = tools.handles;
const started = new Map();

/** The engine: a signal came that somebody handles. */
callbacks.signal = (signal) => {
  for (const handle of [...started.get(signal) ?? []]) AsyncWrap.call(handle, handle.onsignal, signal);
};

class Signal extends HandleWrap {
  #signal = 0;

  start(signal) {
    const result = sys.handleSignal(signal, true);
    if (result < 0) return result;
    this.#signal = signal;
    if (!started.has(signal)) started.set(signal, new Set());
    started.get(signal).add(this);
    return 0;
  }

  stop() {
    const handles = started.get(this.#signal);
    if (handles?.delete(this) && handles.size === 0) {
      started.delete(this.#signal);
      sys.handleSignal(this.#signal, false);
    }
    return 0;
  }

  [kReleased]() { this.stop(); }
}
return { Signal };
