// Errors of the library are what they are, however a program has changed its arrays before the first of them.
'use strict';

const { EventEmitter } = require('node:events');
const { Readable } = require('node:stream');
const fs = require('node:fs');

Array.prototype.includes = undefined;

for (const act of [
  () => new EventEmitter().emit('error', 'nothing'),
  () => fs.fdatasyncSync(2 ** 40),
  () => fs.rmSync('/', {}),
  () => fs.cpSync('/tmp', '/tmp/x/y', {}),
  () => process.setUncaughtExceptionCaptureCallback(1),
  () => process.emitWarning('a', 'DeprecationWarning', 7),
  () => Buffer.from('ab').swap16().swap32(),
  () => Readable.from(1),
  () => new (require('node:url').URL)('nowhere'),
]) {
  try {
    act();
    console.log('nothing thrown');
  } catch (error) {
    console.log(error.name, error.code);
  }
}
