// Completions that JavaScript delivers itself: what is enqueued in one turn of the loop runs in the next, each in
// a callback scope of its own, in the async context in which it was enqueued.
'use strict';

const { callbacks, host } = tools;
const { getContinuationPreservedEmbedderData: frame, setContinuationPreservedEmbedderData: setFrame } = host.async_context_frame;

let queue = [];
let running = [];

tools.enqueue = (callback) => {
  if (queue.length === 0) host.loop.pending();
  queue.push({ callback, frame: frame() });
};

/** Runs one completion. True when there are more of the same turn; what is thrown, the engine sees. */
callbacks.drain = () => {
  if (running.length === 0) {
    running = queue.reverse();
    queue = [];
  }
  const next = running.pop();
  if (next === undefined) return false;
  const before = frame();
  setFrame(next.frame);
  try {
    next.callback();
  } finally {
    setFrame(before);
    if (running.length === 0 && queue.length > 0) host.loop.pending();
  }
  return running.length > 0;
};

return tools.enqueue;
