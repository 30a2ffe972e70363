// process.env: a plain object behind the rules of an environment (names and values are strings).
'use strict';

const values = {};
const environment = new Proxy(values, {
  get: (target, name) => (typeof name === 'symbol' || Object.hasOwn(target, name) ? target[name] : Object.prototype[name]),
  set(target, name, value) {
    if (typeof name === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    target[name] = `${value}`;
    return true;
  },
  defineProperty(target, name, descriptor) {
    if ('value' in descriptor) {
      if (!descriptor.configurable || !descriptor.writable || !descriptor.enumerable) {
        const { ERR_INVALID_OBJECT_DEFINE_PROPERTY } = tools.library.require('internal/errors').codes;
        throw new ERR_INVALID_OBJECT_DEFINE_PROPERTY(
          "'process.env' only accepts a configurable, writable, and enumerable data descriptor");
      }
      target[name] = `${descriptor.value}`;
      return true;
    }
    const { ERR_INVALID_OBJECT_DEFINE_PROPERTY } = tools.library.require('internal/errors').codes;
    throw new ERR_INVALID_OBJECT_DEFINE_PROPERTY("'process.env' does not accept an accessor(getter/setter) descriptor");
  },
});

tools.setEnvironment = (pairs) => {
  for (const name of Object.keys(values)) delete values[name];
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]] = pairs[i + 1];
};

return environment;
