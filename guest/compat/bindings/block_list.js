// The binding `block_list`: addresses and lists of them, all as the 16 bytes of IPv6.
'use strict';

const { host: { block_list: native }, plain } = tools;
const b = plain('block_list');
const { AF_INET6 } = b;

/** Which of two comes first, as a number like that of a comparison. */
function compare(one, other) {
  for (let i = 0; i < 16; i++) {
    if (one[i] !== other[i]) return one[i] - other[i];
  }
  return 0;
}

function hasPrefix(address, network, bits) {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) {
    if (address[i] !== network[i]) return false;
  }
  const mask = 0xff00 >> (bits & 7) & 0xff;
  return whole === 16 || (address[whole] & mask) === (network[whole] & mask);
}

b.SocketAddress = class SocketAddress {
  constructor(address, port, family, flowlabel) {
    this.bytes = native.parse(address, family === AF_INET6);
    if (this.bytes === undefined) {
      throw Object.assign(new Error('Invalid socket address'), { code: 'ERR_INVALID_ADDRESS' });
    }
    this.facts = { address: native.format(this.bytes, family === AF_INET6), port, family, flowlabel };
  }

  detail(object) { return Object.assign(object, this.facts); }
  flowlabel() { return this.facts.flowlabel; }
  get name() { return `IPv${this.facts.family === AF_INET6 ? 6 : 4} ${this.facts.address}`; }
};

b.BlockList = class BlockList {
  // Each with the newest first.
  addresses = [];
  subnets = [];
  ranges = [];

  add(list, rule) {
    this.remove(list, rule.text);
    list.unshift(rule);
  }
  remove(list, text) {
    const at = list.findIndex((rule) => rule.text === text);
    if (at >= 0) list.splice(at, 1);
  }

  addAddress({ name, bytes }) {
    this.add(this.addresses, { text: `Address: ${name}`, holds: (one) => compare(one, bytes) === 0 });
  }
  addAddresses(addresses) {
    for (const address of addresses) this.addAddress(address);
  }
  addRange(from, to) {
    if (compare(from.bytes, to.bytes) > 0) return false;
    this.add(this.ranges, {
      text: rangeText(from, to),
      holds: (one) => compare(one, from.bytes) >= 0 && compare(one, to.bytes) <= 0,
    });
  }
  addSubnet({ name, bytes, facts: { family } }, prefix) {
    const bits = family === AF_INET6 ? prefix : 96 + prefix;
    this.add(this.subnets, { text: `Subnet: ${name}/${prefix}`, holds: (one) => hasPrefix(one, bytes, bits) });
  }
  removeAddress({ name }) { this.remove(this.addresses, `Address: ${name}`); }
  removeRange(from, to) { this.remove(this.ranges, rangeText(from, to)); }
  removeSubnet({ name }, prefix) { this.remove(this.subnets, `Subnet: ${name}/${prefix}`); }
  clear() { this.addresses = []; this.subnets = []; this.ranges = []; }

  get all() { return [...this.addresses, ...this.subnets, ...this.ranges]; }
  check({ bytes }) { return this.all.some((rule) => rule.holds(bytes)); }
  checkString(address, family) {
    const bytes = native.parse(address, family === AF_INET6);
    return bytes !== undefined && this.check({ bytes });
  }
  getRules() { return this.all.map((rule) => rule.text); }
};

function rangeText(from, to) {
  return `Range: ${from.name}-${to.facts.address}`;
}

return b;
