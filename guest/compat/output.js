// Lets the console write lines by itself as long as it makes no difference: the stream that it would have to make first
// writes at once, too, and nobody has got hold of that stream, or of another in its place.
'use strict';

const { host: { sys }, library, process } = tools;
const { apply } = Reflect;
const { getOwnPropertyDescriptor, getOwnPropertySymbols, defineProperty } = Object;
const console = library.require('internal/console/global');

const symbolOf = (name) => getOwnPropertySymbols(console).find(({ description }) => description === name);
const kWriteToConsole = symbolOf('kWriteToConsole');
const kGroupIndentationString = symbolOf('kGroupIndentationString');
const file = 3; // of handleType

function makeOutput(name, fd) {
  const output = { __proto__: null, name, fd, made: getOwnPropertyDescriptor(process, name).get, replaced: false };
  const own = getOwnPropertyDescriptor(console, `_${name}`);
  output.forget = () => {
    own.set(undefined);
    output.made.made = output.replaced = false;
  };
  defineProperty(console, `_${name}`, {
    __proto__: null, ...own, set(stream) {
      output.replaced = true;
      own.set(stream);
    },
  });
  return output;
}

const stdout = makeOutput('stdout', 1);
const stderr = makeOutput('stderr', 2);

const isFree = ({ name, fd, made, replaced }) => !replaced && !made.made &&
  getOwnPropertyDescriptor(process, name)?.get === made && sys.handleType(fd) === file;

const throughStream = console[kWriteToConsole];
defineProperty(console, kWriteToConsole, {
  __proto__: null, ...getOwnPropertyDescriptor(console, kWriteToConsole), value: function write(stream, string) {
    const output = stream.description === 'kUseStderr' ? stderr : stdout;
    // A group is indented, line by line.
    const free = this === console && console[kGroupIndentationString] === '' && isFree(output);
    if (!free || sys.writeText(output.fd, `${string}\n`, -1) < 0) apply(throughStream, this, [stream, string]);
  },
});

/** As if no stream had been made. */
tools.forgetStreams = () => {
  stdout.forget();
  stderr.forget();
  library.internalBinding('process_methods').resetStdioForTesting();
};
