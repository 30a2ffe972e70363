// process.env: a plain object behind the rules of an environment (names and values are strings).
'use strict';

const values = {};

/** The library has no class for it: the error is of Node's C++. */
function refuse(message) {
  throw Object.assign(new TypeError(message), { code: 'ERR_INVALID_OBJECT_DEFINE_PROPERTY' });
}

const environment = new Proxy(values, {
  get: (target, name) => (typeof name === 'symbol' || Object.hasOwn(target, name) ? target[name] : Object.prototype[name]),
  set(target, name, value) {
    if (typeof name === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    target[name] = `${value}`;
    return true;
  },
  defineProperty(target, name, descriptor) {
    if (!('value' in descriptor)) refuse("'process.env' does not accept an accessor(getter/setter) descriptor");
    if (!descriptor.configurable || !descriptor.writable || !descriptor.enumerable) {
      refuse("'process.env' only accepts a configurable, writable, and enumerable data descriptor");
    }
    target[name] = `${descriptor.value}`;
    return true;
  },
});

tools.setEnvironment = (pairs) => {
  for (const name of Object.keys(values)) delete values[name];
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]] = pairs[i + 1];
};

return environment;
