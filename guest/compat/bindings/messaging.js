// The binding `messaging`: structured cloning, and message ports within one process. Worker threads there are none.
'use strict';

const { binding, emitMessage, host: { loop, messaging: native }, plain, domException: DOMException } = tools;
const b = plain('messaging');
const { privateSymbols: { transfer_mode_private_symbol: mode, untransferable_object_private_symbol: untransferable },
  constants: { kTransferable, kCloneable } } = binding('util');
const { messaging_clone_symbol: clone, messaging_transfer_symbol: transfer, messaging_deserialize_symbol: deserialize,
  messaging_transfer_list_symbol: transferList, oninit, handle_onclose: onclose,
  no_message_symbol: noMessage } = binding('symbols');

let createObject;
b.DOMException = DOMException;
b.setDeserializerCreateObjectFunction = (create) => { createObject = create; };
b.exposeLazyDOMExceptionProperty = (target) => {
  Object.defineProperty(target, 'DOMException', {
    __proto__: null, value: DOMException, writable: true, enumerable: false, configurable: true,
  });
};

const NOT_LISTED = 'Object that needs transfer was found in message but not listed in transferList';
const cloneError = (message) => new DOMException(message, 'DataCloneError');

function coded(Kind, code, message) {
  return Object.assign(new Kind(message), { code });
}

/** What may be transferred, sorted: ArrayBuffers, and objects of the library. */
function sortTransfers(list, sender) {
  const found = { buffers: [], objects: new Set() };
  for (const one of list) {
    if (one instanceof ArrayBuffer) {
      if (found.buffers.includes(one)) throw cloneError('Transfer list contains duplicate ArrayBuffer');
      if (!native.isDetachable(one) || one[untransferable] !== undefined) throw cloneError('Cannot transfer object of unsupported type.');
      found.buffers.push(one);
    } else if (one instanceof MessagePort || (one?.[mode] & kTransferable) !== 0 && one?.[mode] !== undefined) {
      if (one === sender) throw cloneError('Transfer list contains source port');
      if (found.objects.has(one)) throw cloneError('Transfer list contains duplicate ' + (one instanceof MessagePort ? 'MessagePort' : 'object'));
      if (one instanceof MessagePort && MessagePort.isDetached(one)) throw cloneError('MessagePort in transfer list is already detached');
      found.objects.add(one);
    } else {
      throw cloneError('Found invalid value in transferList.');
    }
  }
  return found;
}

/** The value as a message: what there is of it does not change any more. */
function pack(value, list, sender) {
  const { buffers, objects } = sortTransfers(list, sender);
  const carried = [];
  const numbers = new Map();
  const hooks = {
    error: cloneError,
    write(object) {
      const known = numbers.get(object);
      if (known !== undefined) return known;
      const moves = objects.has(object);
      if (object instanceof MessagePort) {
        if (!moves) throw cloneError(NOT_LISTED);
        numbers.set(object, carried.push({ port: object }) - 1);
        return carried.length - 1;
      }
      if (tools.isBlobHandle?.(object)) {
        numbers.set(object, carried.push({ same: object }) - 1);
        return carried.length - 1;
      }
      const copy = tools.keyCopier?.(object);
      if (copy !== undefined) {
        numbers.set(object, carried.push({ copy }) - 1);
        return carried.length - 1;
      }
      const how = moves ? transfer : clone;
      if (!moves && (object[mode] & kCloneable) === 0) {
        if ((object[mode] & kTransferable) !== 0) {
          throw cloneError(NOT_LISTED);
        }
        throw cloneError('Cannot clone object of unsupported type.');
      }
      const slot = carried.push(undefined) - 1;
      numbers.set(object, slot);
      const nested = moves ? object[transferList]?.() ?? [] : [];
      const { data, deserializeInfo } = object[how]();
      carried[slot] = { deserializeInfo, message: pack(data, nested) };
      return slot;
    },
  };
  const message = native.serialize(value, hooks, buffers);
  for (const object of objects) hooks.write(object);
  // From here on nothing can go wrong: the ports change hands.
  for (const one of carried) {
    if (one.port !== undefined) one.port = MessagePort.detach(one.port);
  }
  message.carried = carried;
  return message;
}

/** The value of a message, and the ports that came along. */
function unpack({ bytes, moved, shared, carried }) {
  const made = carried.map((one) => {
    if (one.port !== undefined) return MessagePort.attach(one.port);
    if (one.same !== undefined) return one.same;
    if (one.copy !== undefined) return one.copy();
    const object = createObject(one.deserializeInfo);
    object[deserialize](unpack(one.message).value);
    return object;
  });
  const hooks = { read: (number) => made[number], error: cloneError };
  return { value: native.deserialize(bytes, hooks, moved, shared), ports: made.filter((one) => one instanceof MessagePort) };
}

b.structuredClone = (value, { transfer: list }) => unpack(pack(value, list)).value;

/** One end of a channel: what was sent to it, and which port object has it at the moment. */
class End {
  queue = [];
  other = undefined;
  port = undefined;
  group = undefined; // of a BroadcastChannel: all its ends
}

const token = {};

class MessagePort {
  #end;
  #started = false;
  #counted = false;
  #scheduled = false;
  #closed = false;

  constructor(secret, end) {
    if (secret !== token) throw coded(TypeError, 'ERR_CONSTRUCT_CALL_INVALID', 'Constructor cannot be called');
    this[mode] = kTransferable;
    this.#end = end;
    end.port = this;
    this[oninit]?.();
  }

  static isDetached(port) { return port.#end === undefined; }
  static detach(port) {
    const end = port.#end;
    port.#end = undefined;
    end.port = undefined;
    MessagePort.#count(port, false);
    tools.enqueue(() => MessagePort.#announceClose(port));
    return end;
  }
  static attach(end) { return new MessagePort(token, end); }
  static stop(port) { if (#end in port) port.#started = false; }
  static receive(port) {
    if (!(#end in port)) return undefined;
    const message = port.#end?.queue[0];
    if (message === undefined || message === null) return noMessage;
    port.#end.queue.shift();
    return unpack(message).value;
  }
  static drain(port) {
    while (port.#end !== undefined && port.#end.queue.length > 0) port.#deliver();
  }

  static #count(port, on) {
    if (port.#counted === on) return;
    port.#counted = on;
    loop.count(on ? 1 : -1);
  }

  static #announceClose(port) {
    if (port.#closed) return;
    port.#closed = true;
    MessagePort.#count(port, false);
    port[onclose]?.();
  }

  #schedule() {
    if (this.#scheduled || !this.#started || this.#end === undefined || this.#end.queue.length === 0) return;
    this.#scheduled = true;
    tools.enqueue(() => {
      this.#scheduled = false;
      if (!this.#started) return;
      try {
        this.#deliver();
      } finally {
        this.#schedule();
      }
    });
  }

  #deliver() {
    if (this.#end === undefined || this.#end.queue.length === 0) return;
    const message = this.#end.queue.shift();
    if (message === null) { // the other one is gone
      this.#end = undefined;
      MessagePort.#announceClose(this);
      return;
    }
    let received;
    try {
      received = unpack(message);
    } catch (error) {
      emitMessage.call(this, error, [], 'messageerror');
      return;
    }
    emitMessage.call(this, received.value, received.ports, 'message');
  }

  static #send(end, message) {
    end.queue.push(message);
    if (message === null && end.port !== undefined) end.port.#started = true;
    end.port?.#schedule();
  }

  postMessage(value, options) {
    if (arguments.length === 0) throw coded(TypeError, 'ERR_MISSING_ARGS', 'Not enough arguments to MessagePort.postMessage');
    const given = options?.[Symbol.iterator] === undefined ? options?.transfer : options;
    if (options !== undefined && options !== null && typeof options !== 'object') {
      throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'Optional transferList argument must be an iterable');
    }
    if (given !== undefined && given !== null && typeof given[Symbol.iterator] !== 'function') {
      throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'Optional options.transfer argument must be an iterable');
    }
    const list = given === undefined || given === null ? [] : [...given];
    const message = pack(value, list, this);
    if (this.#end?.group !== undefined) {
      for (const end of this.#end.group) {
        if (end !== this.#end) MessagePort.#send(end, message);
      }
      return true;
    }
    const other = this.#end?.other;
    if (other === undefined) return undefined;
    MessagePort.#send(other, message);
    return true;
  }
  start() {
    if (!(#end in this) || this.#end === undefined) return;
    this.#started = true;
    this.#schedule();
  }
  close() {
    if (!(#end in this) || this.#end === undefined) return;
    const end = this.#end;
    this.#end = undefined;
    end.port = undefined;
    end.group?.delete(end);
    if (end.other !== undefined) {
      MessagePort.#send(end.other, null);
      end.other.other = undefined;
    }
    tools.enqueue(() => MessagePort.#announceClose(this));
  }
  ref() { if (this.#end !== undefined) MessagePort.#count(this, true); }
  unref() { MessagePort.#count(this, false); }
  hasRef() { return this.#end === undefined ? undefined : this.#counted; }
}

for (const name of ['postMessage', 'start', 'close', 'ref', 'unref', 'hasRef']) {
  Object.defineProperty(MessagePort.prototype, name, { __proto__: null, enumerable: true });
}

class MessageChannel {
  constructor() {
    const one = new End();
    const two = new End();
    one.other = two;
    two.other = one;
    this.port1 = new MessagePort(token, one);
    this.port2 = new MessagePort(token, two);
  }
}

const groups = new Map();
b.broadcastChannel = (name) => {
  const end = new End();
  if (!groups.has(name)) groups.set(name, new Set());
  end.group = groups.get(name).add(end);
  return new MessagePort(token, end);
};

b.MessagePort = MessagePort;
b.MessageChannel = MessageChannel;
b.stopMessagePort = (port) => { MessagePort.stop(port); };
b.drainMessagePort = (port) => { MessagePort.drain(port); };
b.receiveMessageOnPort = (port) => MessagePort.receive(port);
b.moveMessagePortToContext = (port) => port;
return b;
