#include "engine/bindings/crypto.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "engine/bindings/text.hpp"
#include "engine/isolate/guest.hpp"

namespace tare::engine::crypto {
namespace {

std::string error_text(unsigned long error) {
  std::array<char, 256> text{};
  ERR_error_string_n(error, text.data(), text.size());
  return text.data();
}

/// The libraries of OpenSSL that Node names in its codes.
std::string_view library_name(int library) {
  switch (library) {
    case ERR_LIB_SYS:
      return "SYS_";
    case ERR_LIB_BN:
      return "BN_";
    case ERR_LIB_RSA:
      return "RSA_";
    case ERR_LIB_DH:
      return "DH_";
    case ERR_LIB_EVP:
      return "EVP_";
    case ERR_LIB_BUF:
      return "BUF_";
    case ERR_LIB_OBJ:
      return "OBJ_";
    case ERR_LIB_PEM:
      return "PEM_";
    case ERR_LIB_DSA:
      return "DSA_";
    case ERR_LIB_X509:
      return "X509_";
    case ERR_LIB_ASN1:
      return "ASN1_";
    case ERR_LIB_CONF:
      return "CONF_";
    case ERR_LIB_CRYPTO:
      return "CRYPTO_";
    case ERR_LIB_EC:
      return "EC_";
    case ERR_LIB_RAND:
      return "RAND_";
    case ERR_LIB_KDF:
      return "KDF_";
    default:
      return "";
  }
}

/// Adds what is known of an error of OpenSSL's to its object.
void decorate(v8::Isolate* isolate, v8::Local<v8::Object> object, unsigned long error) {
  if (const char* library = ERR_lib_error_string(error))
    set(isolate, object, "library", to_v8(isolate, library));
  const char* reason = ERR_reason_error_string(error);
  if (reason == nullptr) return;
  set(isolate, object, "reason", to_v8(isolate, reason));
  std::string code = fmt::format("ERR_OSSL_{}{}", library_name(ERR_GET_LIB(error)), reason);
  std::ranges::transform(code, code.begin(),
                         [](unsigned char c) { return c == ' ' ? '_' : char(std::toupper(c)); });
  set(isolate, object, "code", to_v8(isolate, code));
}

void set_error_stack(v8::Isolate* isolate, v8::Local<v8::Object> object,
                     const std::vector<std::string>& errors) {
  if (errors.empty()) return;
  std::vector<v8::Local<v8::Value>> texts;
  for (const std::string& error : errors) texts.push_back(to_v8(isolate, error));
  set(isolate, object, "opensslErrorStack", v8::Array::New(isolate, texts.data(), texts.size()));
}

void drop(void* object, std::size_t, void*) {
  const std::unique_ptr<Held> mine(static_cast<Held*>(object));
}

/// timingSafeEqual(one, other)
void timing_safe_equal(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  for (int i = 0; i < 2; ++i) {
    if (has_bytes(args[i])) continue;
    return throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE",
                       fmt::format("The \"buf{}\" argument must be an instance of ArrayBuffer, Buffer, "
                                   "TypedArray, or DataView.",
                                   i + 1));
  }
  const Bytes one(args[0]);
  const Bytes other(args[1]);
  if (one.size() != other.size()) {
    return throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH",
                       "Input buffers must have the same byte length");
  }
  args.GetReturnValue().Set(one.size() == 0 || CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0);
}

/// decode(text, encoding): the bytes that a string stands for.
void decode_text(const Arguments& args) {
  const Input input(args.GetIsolate(), args[0], args[1]);
  v8::Local<v8::Uint8Array> bytes;
  if (make_bytes(args.GetIsolate(), input.span()).ToLocal(&bytes)) args.GetReturnValue().Set(bytes);
}

/// copy(bytes)
void copy(const Arguments& args) {
  const Bytes given(args[0]);
  v8::Local<v8::Uint8Array> bytes;
  if (make_bytes(args.GetIsolate(), given.span()).ToLocal(&bytes)) args.GetReturnValue().Set(bytes);
}

/// encode(bytes, encoding)
void encode_bytes(const Arguments& args) {
  const Bytes bytes(args[0]);
  v8::Local<v8::Value> text;
  if (output(args.GetIsolate(), bytes.span(), args[1]).ToLocal(&text)) args.GetReturnValue().Set(text);
}

constexpr Native crypto_natives[] = {
    {"timingSafeEqual", timing_safe_equal},
    {"decode", decode_text},
    {"encode", encode_bytes},
    {"copy", copy},
};

std::span<const Native> all_crypto_natives() {
  static const std::vector<Native> all = [] {
    std::vector<Native> natives(std::begin(crypto_natives), std::end(crypto_natives));
    for (const auto& part : {hash_natives(), mac_natives(), cipher_natives(), cipher_info_natives(),
                             job_natives(), kdf_natives(), web_natives()})
      natives.insert(natives.end(), part.begin(), part.end());
    return natives;
  }();
  return all;
}

}  // namespace

void throw_openssl(v8::Isolate* isolate, std::string_view otherwise, First first) {
  const unsigned long error = first == First::kept ? ERR_peek_error() : ERR_get_error();
  if (error == 0 && otherwise.empty()) otherwise = "error:00000000:lib(0)::reason(0)";
  const std::string text = error == 0 ? std::string(otherwise) : error_text(error);
  const v8::Local<v8::Object> object = v8::Exception::Error(to_v8(isolate, text)).As<v8::Object>();
  set_error_stack(isolate, object, take_errors());
  if (error != 0) decorate(isolate, object, error);
  isolate->ThrowException(object);
}

std::vector<std::string> take_errors() {
  std::vector<std::string> texts;
  while (const unsigned long error = ERR_get_error()) texts.push_back(error_text(error));
  std::ranges::reverse(texts);
  return texts;
}

v8::Local<v8::Value> job_error(v8::Isolate* isolate, std::vector<std::string> errors) {
  const std::string text = errors.empty() ? "Ok" : errors.back();
  if (!errors.empty()) errors.pop_back();
  const v8::Local<v8::Object> object = v8::Exception::Error(to_v8(isolate, text)).As<v8::Object>();
  set_error_stack(isolate, object, errors);
  return object;
}

void throw_invalid_digest(v8::Isolate* isolate, std::string_view name) {
  throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_DIGEST", fmt::format("Invalid digest: {}", name));
}

void throw_out_of_range(v8::Isolate* isolate, std::string_view message) {
  throw_error(isolate, ErrorKind::range, "ERR_OUT_OF_RANGE", message);
}

void throw_bad_call(v8::Isolate* isolate) {
  throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE", "Invalid argument");
}

bool Held::weigh(Buffers& budget, std::size_t weight) {
  if (!budget.take(weight)) return false;
  budget_ = &budget;
  weight_ = weight;
  return true;
}

void Held::weigh_nothing() {
  if (budget_ != nullptr) budget_->give_back(weight_);
  budget_ = nullptr;
}

v8::MaybeLocal<v8::ArrayBuffer> hold(v8::Isolate* isolate, std::unique_ptr<Held> object, std::size_t weight) {
  auto& budget = *static_cast<Buffers*>(isolate->GetArrayBufferAllocator());
  bool fits = object->weigh(budget, weight);
  if (!fits) {
    isolate->LowMemoryNotification();  // as V8 does for ArrayBuffers
    fits = object->weigh(budget, weight);
  }
  if (!fits) {
    throw_error(isolate, ErrorKind::range, "ERR_MEMORY_ALLOCATION_FAILED", "Failed to allocate memory");
    return {};
  }
  return v8::ArrayBuffer::New(isolate,
                              v8::ArrayBuffer::NewBackingStore(object.release(), weight, drop, nullptr));
}

Held* held(v8::Local<v8::Value> handle, Kind kind) {
  if (!handle->IsArrayBuffer()) return nullptr;
  auto* const object = static_cast<Held*>(handle.As<v8::ArrayBuffer>()->Data());
  return object != nullptr && object->kind() == kind ? object : nullptr;
}

ByteVector copy_bytes(v8::Local<v8::Value> value) {
  const Bytes bytes(value);
  return {bytes.span().begin(), bytes.span().end()};
}

Input::Input(v8::Isolate* isolate, v8::Local<v8::Value> value, v8::Local<v8::Value> encoding) {
  if (value->IsString()) {
    text_ = decode(isolate, value.As<v8::String>(), encoding_of(isolate, encoding));
    span_ = {reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size()};
  } else {
    bytes_.emplace(value);
    span_ = bytes_->span();
  }
}

v8::MaybeLocal<v8::Value> output(v8::Isolate* isolate, ByteSpan bytes, v8::Local<v8::Value> encoding) {
  const Encoding form = encoding_of(isolate, encoding, Encoding::buffer);
  if (form == Encoding::buffer) {
    v8::Local<v8::Uint8Array> copy;
    if (!make_bytes(isolate, bytes).ToLocal(&copy)) return {};
    return copy;
  }
  v8::Local<v8::String> text;
  if (!encode(isolate, bytes, form).ToLocal(&text)) return {};
  return text;
}

Digest fetch_digest(const std::string& name) {
  ERR_set_mark();
  const EVP_MD* legacy = EVP_get_digestbyname(name.c_str());
  Digest found;
  if (legacy != EVP_md_null()) {
    const char* known = legacy == nullptr ? name.c_str() : EVP_MD_get0_name(legacy);
    if (known != nullptr) found.reset(EVP_MD_fetch(nullptr, known, nullptr));
    // One that no provider has any more fails when it is to begin, and says why.
    if (found == nullptr) found.reset(const_cast<EVP_MD*>(legacy));
  }
  ERR_pop_to_mark();
  if (found != nullptr && EVP_MD_is_a(found.get(), "NULL") == 1) found.reset();
  return found;
}

namespace {

/// Not the one that does nothing, nor those that TLS alone can use.
bool is_usable(const EVP_CIPHER* cipher) {
  const char* name = EVP_CIPHER_get0_name(cipher);
  return name != nullptr && EVP_CIPHER_is_a(cipher, "NULL") != 1 &&
         std::string_view(name).find("-CBC-HMAC-") == std::string_view::npos;
}

}  // namespace

Cipher fetch_cipher(const std::string& name) {
  ERR_set_mark();
  const EVP_CIPHER* legacy = EVP_get_cipherbyname(name.c_str());
  Cipher found;
  // One that no provider has any more is still known by its name; to begin with it fails then, and says why.
  if (legacy != nullptr) found.reset(const_cast<EVP_CIPHER*>(legacy));
  if (found == nullptr) found.reset(EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr));
  ERR_pop_to_mark();
  if (found != nullptr && !is_usable(found.get())) found.reset();
  return found;
}

bool at_end(v8::Isolate* isolate) {
  Guest* const guest = guest_of(isolate);
  return guest != nullptr && guest->ending();
}

}  // namespace tare::engine::crypto

namespace tare::engine {

extern const Binding ossl_binding;
const Binding ossl_binding{"ossl", crypto::all_crypto_natives()};

}  // namespace tare::engine
