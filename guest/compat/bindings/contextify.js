// internalBinding('contextify'): what the natives can't find out themselves is told to them here.
'use strict';

const { binding, host, library, plain } = tools;

host.contextify.setup(
  binding('symbols'),
  (bytes) => library.require('buffer').Buffer.from(bytes),
  (text) => library.require('internal/process/warning').emitWarningSync(text));
const made = plain('contextify');
delete made.setup;
return made;
