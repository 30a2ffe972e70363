// The binding `crypto`: Node's classes over the engine's OpenSSL (host.ossl), as far as hashes and secret keys go.
// A handle of the engine's is a private member here: no program may ever see one.
'use strict';

const { binding, host: { ossl }, missing, plain, domException: DOMException } = tools;
const { AsyncWrap, coded } = tools.handles ??= tools.kit.compile('tare/handles', 'glue')(tools);
const { privateSymbols: { transfer_mode_private_symbol: mode }, constants: { kCloneable } } = binding('util');
const { captureStackTrace } = Error;
const b = plain('crypto');
const { kKeyTypeSecret, kKeyFormatJWK, kCryptoJobAsync, kCryptoJobWebCrypto, kWebCryptoCipherDecrypt } = b;

/** The same error as if Node's C++ had thrown it: no frame of ours, nor of what `self` calls. */
function rethrow(error, self) {
  captureStackTrace(error, self);
  throw error;
}

/**
 * What `native` gives; what it throws, it throws to the caller of `self`. A closure, as arguments that are spread go
 * by way of what a program may have made of arrays.
 */
function call(self, native) {
  try {
    return native();
  } catch (error) {
    return rethrow(error, self);
  }
}

let FastBuffer;
/** Bytes that a native made, as the Buffer that Node's C++ would give; anything else as it is. */
function buffer(bytes) {
  if (typeof bytes !== 'object') return bytes;
  FastBuffer ??= tools.library.require('internal/buffer').FastBuffer;
  return new FastBuffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function refuse(self, what) {
  throw coded(self, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `${what} of the Node library has no counterpart in a guest`);
}

// --- Hashes ---------------------------------------------------------------------------------------------------------

class Hash {
  #hash;
  constructor(algorithm, length, id, cache, ...options) {
    this.#hash = #hash in Object(algorithm) ?
      call(new.target, () => ossl.hashCopy(algorithm.#hash, length)) :
      call(new.target, () => ossl.hashNew(`${algorithm}`, length, options.length > 0));
  }
  update(data, encoding) { return call(Hash.prototype.update, () => ossl.hashUpdate(this.#hash, data, encoding)); }
  digest(encoding) { return buffer(call(Hash.prototype.digest, () => ossl.hashDigest(this.#hash, encoding))); }
}

class Hmac {
  #hmac;
  init(name, key) { this.#hmac = call(Hmac.prototype.init, () => ossl.hmacNew(`${name}`, bytesOf(key))); }
  update(data, encoding) { return call(Hmac.prototype.update, () => ossl.hmacUpdate(this.#hmac, data, encoding)); }
  digest(encoding) { return buffer(call(Hmac.prototype.digest, () => ossl.hmacDigest(this.#hmac, encoding))); }
}

class Mac {
  #mac;
  constructor(name, id, cache, key, ...options) {
    const { 0: digest, 1: cipher, 2: iv, 3: customization, 4: salt, 5: length } = options;
    this.#mac = call(Mac, () => ossl.macNew(`${name}`, bytesOf(key), digest, cipher, iv, customization, salt, length));
  }
  update(data, encoding) { return call(Mac.prototype.update, () => ossl.macUpdate(this.#mac, data, encoding)); }
  final(encoding) { return buffer(call(Mac.prototype.final, () => ossl.macFinal(this.#mac, encoding))); }
}

b.Hash = Hash;
b.Hmac = Hmac;
b.Mac = Mac;
b.oneShotDigest = function oneShotDigest(name, id, cache, data, encoding, encodingId, length, ...options) {
  return buffer(call(oneShotDigest, () => ossl.hashOnce(name, data, encoding, length, options.length > 0)));
};
// Digests are found by their names each time: to keep one, the library would have to say when it is done with it.
b.getCachedAliases = () => ({ __proto__: null });
b.getCachedMacAliases = () => ({ __proto__: null });
for (const name of ['getHashes', 'getCiphers', 'getMacs', 'getCurves']) b[name] = ossl[name];
b.timingSafeEqual = function timingSafeEqual(one, other) {
  return call(timingSafeEqual, () => ossl.timingSafeEqual(one, other));
};

// --- Ciphers --------------------------------------------------------------------------------------------------------

let warned = false;
function warnOfShortTag() {
  if (warned) return;
  warned = true;
  tools.process.emitWarning('Using AES-GCM authentication tags of less than 128 bits without specifying the ' +
    'authTagLength option when initializing decryption is deprecated.', 'DeprecationWarning', 'DEP0182');
}

class CipherBase {
  #cipher;
  constructor(encrypt, name, key, iv, tagLength, ctsMode, xtsStandard) {
    this.#cipher = call(CipherBase, () => ossl.cipherNew(encrypt, `${name}`, bytesOf(key), iv, tagLength, ctsMode, xtsStandard));
  }
  update(data, encoding) { return buffer(call(CipherBase.prototype.update, () => ossl.cipherUpdate(this.#cipher, data, encoding))); }
  final() { return buffer(call(CipherBase.prototype.final, () => ossl.cipherFinal(this.#cipher))); }
  setAutoPadding(on = true) { return ossl.cipherSetAutoPadding(this.#cipher, on); }
  getAuthTag() { return buffer(ossl.cipherGetAuthTag(this.#cipher)); }
  setAuthTag(tag) {
    const set = call(CipherBase.prototype.setAuthTag, () => ossl.cipherSetAuthTag(this.#cipher, tag));
    if (set === 'short') warnOfShortTag();
    return set !== false;
  }
  setAAD(data, length) { return call(CipherBase.prototype.setAAD, () => ossl.cipherSetAAD(this.#cipher, data, length)); }
}

b.CipherBase = CipherBase;
b.getCipherInfo = ossl.cipherInfo;

// --- Keys -----------------------------------------------------------------------------------------------------------

/** A key: its bytes, which don't change any more. */
class KeyObjectHandle {
  #bytes;
  static bytesOf(key) { return #bytes in Object(key) ? key.#bytes : key; }
  static is(key) { return #bytes in Object(key); }

  init(type, data, format) {
    if (type !== kKeyTypeSecret) {
      refuse(KeyObjectHandle.prototype.init, type === b.kKeyTypePublic ? 'crypto.createPublicKey' : 'crypto.createPrivateKey');
    }
    this.#bytes = format === kKeyFormatJWK ? ossl.decode(`${data.k}`, 'base64url') : ossl.copy(data);
  }
  static of(bytes) {
    const key = new KeyObjectHandle();
    key.#bytes = bytes;
    return key;
  }
  getKeyType() { return kKeyTypeSecret; }
  getSymmetricKeySize() { return this.#bytes.length; }
  getAsymmetricKeyType() { return refuse(KeyObjectHandle.prototype.getAsymmetricKeyType, 'crypto.KeyObjectHandle.getAsymmetricKeyType'); }
  export() { return buffer(ossl.copy(this.#bytes)); }
  exportJwk(target) {
    target.kty = 'oct';
    target.k = ossl.encode(this.#bytes, 'base64url');
    return target;
  }
  equals(other) {
    return other.#bytes.length === this.#bytes.length && ossl.timingSafeEqual(other.#bytes, this.#bytes);
  }
}
for (const name of ['checkEcKeyData', 'rawPublicKey', 'rawPrivateKey', 'rawSeed', 'exportECPublicRaw', 'exportECPrivateRaw', 'keyDetail']) {
  KeyObjectHandle.prototype[name] = missing(`crypto.KeyObjectHandle.${name}`);
}
b.KeyObjectHandle = KeyObjectHandle;
const bytesOf = KeyObjectHandle.bytesOf;

const invalidThis = (name) => {
  const { ERR_INVALID_THIS } = tools.library.require('internal/errors').codes;
  return new ERR_INVALID_THIS(name);
};

/** What the library's KeyObject extends. */
class NativeKeyObject {
  #handle;
  constructor(handle) {
    this.#handle = handle;
    this[mode] = kCloneable;
  }
  static is(object) { return #handle in Object(object); }
  static slots(object) {
    if (!NativeKeyObject.is(object)) throw invalidThis('KeyObject');
    return [object.#handle.getKeyType(), object.#handle];
  }
  static copier(object) {
    const handle = object.#handle;
    return () => new SecretKeyObject(handle);
  }
}

/** What the library's CryptoKey keeps its state in. */
class NativeCryptoKey {
  #slots;
  constructor(handle, algorithm, usages, extractable, secondary, seed) {
    this.#slots = [handle, algorithm, usages, extractable, secondary, seed];
    this[mode] = kCloneable;
  }
  static is(object) { return #slots in Object(object); }
  static slots(object) {
    if (!NativeCryptoKey.is(object)) throw invalidThis('CryptoKey');
    const { 0: handle, 1: algorithm, 2: usages, 3: extractable, 4: secondary, 5: seed } = object.#slots;
    return [handle.getKeyType(), extractable, algorithm, usages, handle, secondary, seed];
  }
  static copier(object) {
    const { 0: handle, 1: algorithm, 2: usages, 3: extractable, 4: secondary, 5: seed } = object.#slots;
    return () => new InternalCryptoKey(handle, algorithm, usages, extractable, secondary, seed);
  }
}

let SecretKeyObject;
let InternalCryptoKey;
b.createNativeKeyObjectClass = (make) => {
  const classes = make(NativeKeyObject);
  SecretKeyObject = classes[1];
  return classes;
};
b.createCryptoKeyClass = (make) => {
  const classes = make(NativeCryptoKey);
  InternalCryptoKey = classes[1];
  return classes;
};
b.isKeyObject = NativeKeyObject.is;
b.getKeyObjectSlots = NativeKeyObject.slots;
b.isCryptoKey = NativeCryptoKey.is;
b.getCryptoKeySlots = NativeCryptoKey.slots;

/** For structured cloning: what makes the copy of a key; undefined for anything else. */
tools.keyCopier = (object) => {
  if (NativeKeyObject.is(object)) return NativeKeyObject.copier(object);
  return NativeCryptoKey.is(object) ? NativeCryptoKey.copier(object) : undefined;
};

// --- Jobs -----------------------------------------------------------------------------------------------------------

const FAILED = 'The operation failed for an operation-specific reason';

/** What may take long. `run` gives [error, result], or a promise, or calls `ondone` later, by the mode. */
class Job extends AsyncWrap {
  #mode;
  #job;
  #convert;

  /** @param {Function} prepare Makes the engine's job; what it throws is the constructor's. */
  constructor(mode, self, prepare, convert = (result) => result) {
    super();
    this.#mode = mode;
    this.#convert = convert;
    try {
      this.#job = prepare();
    } catch (error) {
      rethrow(error, self);
    }
  }

  run() {
    if (this.#mode === kCryptoJobWebCrypto) {
      return new Promise((resolve, reject) => {
        this.#start((error, result) => {
          if (error === undefined) resolve(result);
          else reject(new DOMException(FAILED, { name: 'OperationError', cause: error }));
        });
      });
    }
    if (this.#mode === kCryptoJobAsync) return this.#start((error, result) => this.ondone(error, result));
    return this.#settle(ossl.jobRun(this.#job));
  }

  #settle(both) {
    const { 0: error, 1: result } = both;
    return error === undefined ? [undefined, this.#convert(result)] : [error, undefined];
  }

  #start(done) {
    ossl.jobStart(this.#job, (both) => {
      const { 0: error, 1: result } = this.#settle(both);
      AsyncWrap.call(this, done, error, result);
    });
  }
}

const first = (result) => new Uint8Array(result)[0] === 1;

b.RandomBytesJob = class RandomBytesJob extends Job {
  #fill;
  constructor(mode, target, offset, size) {
    super(mode, RandomBytesJob, () => (mode === kCryptoJobAsync ? ossl.jobRandom(size) : undefined),
      (bytes) => { ossl.copyTo(target, offset, size, bytes); });
    if (mode !== kCryptoJobAsync) this.#fill = () => [ossl.randomFill(target, offset, size), undefined];
  }
  run() { return this.#fill === undefined ? super.run() : this.#fill(); }
};

b.RandomPrimeJob = class RandomPrimeJob extends Job {
  constructor(mode, size, safe, add, rem) {
    super(mode, RandomPrimeJob, () => ossl.jobPrime(size, safe, add, rem));
  }
};

b.CheckPrimeJob = class CheckPrimeJob extends Job {
  constructor(mode, candidate, checks) {
    super(mode, CheckPrimeJob, () => ossl.jobPrimeCheck(candidate, checks), first);
  }
};

b.PBKDF2Job = class PBKDF2Job extends Job {
  constructor(mode, password, salt, iterations, length, digest) {
    super(mode, PBKDF2Job, () => ossl.jobPbkdf2(bytesOf(password), salt, iterations, length, `${digest}`));
  }
};

b.ScryptJob = class ScryptJob extends Job {
  constructor(mode, password, salt, N, r, p, maxmem, length) {
    super(mode, ScryptJob, () => ossl.jobScrypt(bytesOf(password), salt, N, r, p, maxmem, length));
  }
};

b.HKDFJob = class HKDFJob extends Job {
  constructor(mode, digest, key, salt, info, length) {
    super(mode, HKDFJob, () => ossl.jobHkdf(`${digest}`, bytesOf(key), salt, info, length));
  }
};

b.HashJob = class HashJob extends Job {
  constructor(mode, digest, data, length) {
    super(mode, HashJob, () => ossl.jobHash(`${digest}`, data, length));
  }
};

b.HmacJob = class HmacJob extends Job {
  constructor(mode, signMode, digest, key, data, signature) {
    super(mode, HmacJob, () => ossl.jobHmac(`${digest}`, bytesOf(key), data, signature),
      signMode === b.kSignJobModeVerify ? first : undefined);
  }
};

b.SecretKeyGenJob = class SecretKeyGenJob extends Job {
  constructor(mode, bits, algorithm, usages, extractable) {
    const web = mode === kCryptoJobWebCrypto;
    const size = Math.floor(bits / 8) + (web && bits % 8 !== 0 ? 1 : 0);
    super(mode, SecretKeyGenJob, () => ossl.jobRandom(size, true), (result) => {
      const bytes = new Uint8Array(result);
      if (web && bits % 8 !== 0) bytes[size - 1] &= 0xff << 8 - bits % 8;
      const handle = KeyObjectHandle.of(bytes);
      return web ? new InternalCryptoKey(handle, algorithm, usages, extractable) : handle;
    });
  }
};

const PLAIN = 0;
const AUTHENTICATED = 1;
const WRAP = 2;
const COUNTER = 3;
const FORMS = [['ctr', COUNTER], ['cbc', PLAIN], ['gcm', AUTHENTICATED], ['wrap', WRAP], ['ocb', AUTHENTICATED]];

b.AESCipherJob = class AESCipherJob extends Job {
  constructor(mode, way, key, data, variant, iv, number, additional) {
    const { 0: name, 1: form } = FORMS[Math.floor(variant / 3)] ?? FORMS[0];
    const bits = 128 + variant % 3 * 64;
    super(mode, AESCipherJob, () => ossl.jobCipher(way === kWebCryptoCipherDecrypt,
      form === WRAP ? `id-aes${bits}-wrap` : `aes-${bits}-${name}`, form, bytesOf(key), data, iv, number, additional));
  }
};

b.ChaCha20Poly1305CipherJob = class ChaCha20Poly1305CipherJob extends Job {
  constructor(mode, way, key, data, iv, additional) {
    super(mode, ChaCha20Poly1305CipherJob, () => ossl.jobCipher(way === kWebCryptoCipherDecrypt,
      'chacha20-poly1305', AUTHENTICATED, bytesOf(key), data, iv, 16, additional));
  }
};

// --- The rest -------------------------------------------------------------------------------------------------------

b.getFipsCrypto = () => 0;
b.testFipsCrypto = () => 0;
b.getFipsCryptoGeneration = () => 0n;
b.setFipsCrypto = function setFipsCrypto(on) {
  if (on) refuse(setFipsCrypto, 'crypto.setFips'); // it would be for all guests
};
b.setupFipsIndicatorChannel = () => {};
b.getPqcKeyTypes = () => [
  'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87', 'ML-KEM-512', 'ML-KEM-768', 'ML-KEM-1024',
  ...['SHA2', 'SHAKE'].flatMap((hash) => ['128f', '128s', '192f', '192s', '256f', '256s'].map((form) => `SLH-DSA-${hash}-${form}`)),
];
b.setEngine = () => false;
b.secureHeapUsed = () => 0n;
b.secureBuffer = (size) => new Uint8Array(size);
b.getOpenSSLSecLevelCrypto = () => 2;
b.getCertificateCompressionAlgorithms = () => [];
b.isX509Certificate = () => false;
b.startLoadingCertificatesOffThread = () => {};
b.createX509CertificateClass = (make) => make(class NativeX509Certificate {
  constructor() { refuse(new.target, 'crypto.X509Certificate'); }
});
return b;
