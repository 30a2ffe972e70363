#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <v8.h>
#include <vector>

#include "engine/bindings/support.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/native.hpp"

/// `host.ossl`: hashes, ciphers and keys for the glue in guest/compat/bindings/crypto.js, by the OpenSSL that
/// the host Node exports. Natives throw what Node's C++ throws. Only the glue calls them; what it passes on
/// from a program is checked here all the same.
namespace tare::engine::crypto {

template <auto free>
struct Free {
  void operator()(auto* pointer) const { free(pointer); }
};
using Digest = std::unique_ptr<EVP_MD, Free<EVP_MD_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using HmacContext = std::unique_ptr<HMAC_CTX, Free<HMAC_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER, Free<EVP_CIPHER_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Free<EVP_CIPHER_CTX_free>>;
using Mac = std::unique_ptr<EVP_MAC, Free<EVP_MAC_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, Free<EVP_MAC_CTX_free>>;
using Bignum = std::unique_ptr<BIGNUM, Free<BN_free>>;

using ByteVector = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

// --- Errors
// -------------------------------------------------------------------------------------------------

/// OpenSSL keeps errors by thread: those of one call must not be seen by the next, whose guest may be
/// another.
class CleanErrors {
 public:
  CleanErrors() { ERR_clear_error(); }
  ~CleanErrors() { ERR_clear_error(); }
  CleanErrors(const CleanErrors&) = delete;
  CleanErrors& operator=(const CleanErrors&) = delete;
};

/// Whether the first error stays in the list that becomes `opensslErrorStack`.
enum class First : std::uint8_t { taken, kept };

/// OpenSSL's first error with all that Node tells of it; an Error with `otherwise` when OpenSSL has none.
void throw_openssl(v8::Isolate* isolate, std::string_view otherwise, First first = First::taken);

/// What OpenSSL said on whichever thread, as texts, the first one last.
std::vector<std::string> take_errors();
/// The error of a job: the text of the last, the others as `opensslErrorStack`.
v8::Local<v8::Value> job_error(v8::Isolate* isolate, std::vector<std::string> errors);

void throw_invalid_digest(v8::Isolate* isolate, std::string_view name);
void throw_out_of_range(v8::Isolate* isolate, std::string_view message);
/// The library never calls like this; a program that reached a class of the glue may.
void throw_bad_call(v8::Isolate* isolate);

// --- Things that JavaScript holds
// -----------------------------------------------------------------------------

enum class Kind : std::uint8_t { hash, hmac, mac, cipher, job };

/// What a handle stands for. Its weight counts against the guest's budget for ArrayBuffers while it lives.
class Held {
 public:
  explicit Held(Kind kind) : kind_(kind) {}
  virtual ~Held() { weigh_nothing(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Kind kind() const { return kind_; }

  /// False when the budget has no room for it.
  bool weigh(Buffers& budget, std::size_t weight);
  /// What it weighed is not there any more.
  void weigh_nothing();

 private:
  const Kind kind_;
  Buffers* budget_ = nullptr;
  std::size_t weight_ = 0;
};

/// A handle: an ArrayBuffer whose memory is the object. V8 frees it with the buffer or with the isolate, on a
/// thread of its own. The glue must never let a program see one. Nothing, with a RangeError thrown, when the
/// weight is beyond the budget.
v8::MaybeLocal<v8::ArrayBuffer> hold(v8::Isolate* isolate, std::unique_ptr<Held> object, std::size_t weight);

/// Null for anything that is no handle of this kind.
Held* held(v8::Local<v8::Value> handle, Kind kind);

template <class T>
T* held_as(v8::Local<v8::Value> handle) {
  return static_cast<T*>(held(handle, T::held_kind));
}

// --- Arguments
// --------------------------------------------------------------------------------------------------

/// A copy of the bytes of a view or a buffer; empty for anything else.
ByteVector copy_bytes(v8::Local<v8::Value> value);

/// Text in an encoding, or bytes, to feed to something. Lives until JavaScript runs again.
class Input {
 public:
  /// The encoding is that of a string; by default UTF-8.
  Input(v8::Isolate* isolate, v8::Local<v8::Value> value, v8::Local<v8::Value> encoding);
  ByteSpan span() const { return span_; }

 private:
  std::string text_;
  std::optional<Bytes> bytes_;
  ByteSpan span_;
};

/// Bytes as a string in this encoding, or as a Buffer's memory when it is none (or 'buffer').
v8::MaybeLocal<v8::Value> output(v8::Isolate* isolate, ByteSpan bytes, v8::Local<v8::Value> encoding);

/// By its name as Node finds it: that of a legacy digest, or any that a provider knows.
Digest fetch_digest(const std::string& name);
Cipher fetch_cipher(const std::string& name);

/// Whether the process of this thread is at its end: what takes long asks.
bool at_end(v8::Isolate* isolate);

std::span<const Native> hash_natives();
std::span<const Native> mac_natives();
std::span<const Native> cipher_natives();
std::span<const Native> cipher_info_natives();
std::span<const Native> job_natives();
std::span<const Native> kdf_natives();
std::span<const Native> web_natives();

}  // namespace tare::engine::crypto
