#include <array>
#include <memory>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "engine/bindings/crypto.hpp"

namespace tare::engine::crypto {
namespace {

constexpr std::size_t mac_weight = 2048;

class Hmac final : public Held {
 public:
  static constexpr Kind held_kind = Kind::hmac;
  explicit Hmac(HmacContext context) : Held(held_kind), context(std::move(context)) {}
  HmacContext context;  ///< null once it has said its result
};

class AnyMac final : public Held {
 public:
  static constexpr Kind held_kind = Kind::mac;
  AnyMac(MacContext context, std::size_t length)
      : Held(held_kind), context(std::move(context)), length(length) {}
  MacContext context;  ///< null once it has said its result
  const std::size_t length;
};

/// For (mac, data, encoding): whether that went well.
template <class Mac, class Update>
void update_mac(const Arguments& args, Update update) {
  const CleanErrors clean;
  Mac* mac = held_as<Mac>(args[0]);
  if (mac == nullptr) return throw_bad_call(args.GetIsolate());
  const Input data(args.GetIsolate(), args[1], args[2]);
  if (data.span().size() > INT_MAX) return throw_out_of_range(args.GetIsolate(), "data is too long");
  args.GetReturnValue().Set(mac->context != nullptr &&
                            in_pieces(args.GetIsolate(), data.span(), [&](ByteSpan piece) {
                              return update(mac->context.get(), piece.data(), piece.size()) == 1;
                            }));
}

/// hmacNew(name, key)
void hmac_new(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  const Digest digest = fetch_digest(name);
  if (digest == nullptr) return throw_invalid_digest(isolate, name);
  const Bytes key(args[1]);
  if (key.size() > INT_MAX) return throw_out_of_range(isolate, "key is too big");
  HmacContext context(HMAC_CTX_new());
  const void* bytes = key.size() == 0 ? static_cast<const void*>("") : key.data();
  if (context == nullptr ||
      HMAC_Init_ex(context.get(), bytes, static_cast<int>(key.size()), digest.get(), nullptr) != 1)
    return throw_openssl(isolate, {});
  v8::Local<v8::ArrayBuffer> handle;
  if (hold(isolate, std::make_unique<Hmac>(std::move(context)), mac_weight).ToLocal(&handle))
    args.GetReturnValue().Set(handle);
}

/// hmacUpdate(hmac, data, encoding): whether that went well.
void hmac_update(const Arguments& args) {
  update_mac<Hmac>(args, HMAC_Update);
}

/// hmacDigest(hmac, encoding)
void hmac_digest(const Arguments& args) {
  const CleanErrors clean;
  Hmac* hmac = held_as<Hmac>(args[0]);
  if (hmac == nullptr) return throw_bad_call(args.GetIsolate());
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> bytes{};
  unsigned int length = 0;
  if (const HmacContext context = std::move(hmac->context);
      context != nullptr && HMAC_Final(context.get(), bytes.data(), &length) != 1)
    return throw_openssl(args.GetIsolate(), "Failed to finalize HMAC");
  v8::Local<v8::Value> result;
  if (output(args.GetIsolate(), ByteSpan(bytes).first(length), args[1]).ToLocal(&result))
    args.GetReturnValue().Set(result);
}

// --- Any MAC of OpenSSL's
// ---------------------------------------------------------------------------------------

void throw_mac(v8::Isolate* isolate, std::string_view otherwise) {
  if (ERR_peek_error() != 0) return throw_openssl(isolate, {});
  throw_error(isolate, ErrorKind::error, "ERR_CRYPTO_OPERATION_FAILED", otherwise);
}

/// What a MAC is told before it begins; the memory that it points to lives as long as this.
class MacParameters {
 public:
  MacParameters(v8::Isolate* isolate, std::string_view mac, EVP_MAC_CTX* context)
      : isolate_(isolate), mac_(mac), settable_(EVP_MAC_CTX_settable_params(context)) {}

  /// Each: false with an error thrown when the MAC doesn't know the option. Undefined is none.
  bool text(v8::Local<v8::Value> value, const char* option, const char* name) {
    if (value->IsUndefined()) return true;
    texts_.push_back(std::make_unique<std::string>(to_string(isolate_, value)));
    std::string& text = *texts_.back();
    return add(option, name, OSSL_PARAM_UTF8_STRING, OSSL_PARAM_construct_utf8_string(name, text.data(), 0));
  }
  bool bytes(v8::Local<v8::Value> value, const char* option, const char* name) {
    if (value->IsUndefined()) return true;
    bytes_.push_back(std::make_unique<ByteVector>(copy_bytes(value)));
    const std::size_t size = bytes_.back()->size();
    bytes_.back()->push_back(0);  // there must be some memory
    return add(option, name, OSSL_PARAM_OCTET_STRING,
               OSSL_PARAM_construct_octet_string(name, bytes_.back()->data(), size));
  }
  bool size(v8::Local<v8::Value> value, const char* option, const char* name) {
    if (!value->IsUint32()) return true;
    size_ = value.As<v8::Uint32>()->Value();
    return add(option, name, OSSL_PARAM_UNSIGNED_INTEGER, OSSL_PARAM_construct_size_t(name, &size_));
  }

  const OSSL_PARAM* end() {
    parameters_.push_back(OSSL_PARAM_construct_end());
    return parameters_.data();
  }

 private:
  bool add(const char* option, const char* name, unsigned int type, const OSSL_PARAM& parameter) {
    const OSSL_PARAM* known = settable_ == nullptr ? nullptr : OSSL_PARAM_locate_const(settable_, name);
    if (known == nullptr || known->data_type != type) {
      throw_error(isolate_, ErrorKind::type, "ERR_INVALID_ARG_VALUE",
                  fmt::format("The property 'options.{}' is not supported by MAC {}", option, mac_));
      return false;
    }
    parameters_.push_back(parameter);
    return true;
  }

  v8::Isolate* isolate_;
  std::string_view mac_;
  const OSSL_PARAM* settable_;
  std::vector<OSSL_PARAM> parameters_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<ByteVector>> bytes_;
  std::size_t size_ = 0;
};

/// What these MACs can't do without; the message if it is missing.
std::string_view missing_option(const EVP_MAC* mac, v8::Local<v8::Value> digest, v8::Local<v8::Value> cipher,
                                v8::Local<v8::Value> iv) {
  if (EVP_MAC_is_a(mac, "HMAC") == 1 && digest->IsUndefined())
    return "The property 'options.digest' is required for HMAC";
  if (EVP_MAC_is_a(mac, "CMAC") == 1 && cipher->IsUndefined())
    return "The property 'options.cipher' is required for CMAC";
  if (EVP_MAC_is_a(mac, "GMAC") != 1) return {};
  if (cipher->IsUndefined()) return "The property 'options.cipher' is required for GMAC";
  return Bytes(iv).size() == 0 ? "The property 'options.iv' must be non-empty for GMAC" : std::string_view();
}

/// macNew(name, key, digest, cipher, iv, customization, salt, outputLength)
void mac_new(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  const Mac mac(EVP_MAC_fetch(nullptr, name.c_str(), nullptr));
  ERR_clear_error();
  if (mac == nullptr) {
    return throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_MAC",
                       fmt::format("Invalid MAC: {}", name));
  }
  if (const auto message = missing_option(mac.get(), args[2], args[3], args[4]); !message.empty())
    return throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_VALUE", message);
  MacContext context(EVP_MAC_CTX_new(mac.get()));
  if (context == nullptr) return throw_mac(isolate, "Failed to create MAC context");
  MacParameters parameters(isolate, name, context.get());
  if (!parameters.text(args[2], "digest", OSSL_MAC_PARAM_DIGEST) ||
      !parameters.text(args[3], "cipher", OSSL_MAC_PARAM_CIPHER) ||
      !parameters.bytes(args[4], "iv", OSSL_MAC_PARAM_IV) ||
      !parameters.bytes(args[5], "customization", OSSL_MAC_PARAM_CUSTOM) ||
      !parameters.bytes(args[6], "salt", OSSL_MAC_PARAM_SALT) ||
      !parameters.size(args[7], "outputLength", OSSL_MAC_PARAM_SIZE))
    return;
  const Bytes key(args[1]);
  static constexpr std::uint8_t none = 0;
  if (EVP_MAC_init(context.get(), key.size() == 0 ? &none : key.data(), key.size(), parameters.end()) != 1)
    return throw_mac(isolate, "Failed to initialize MAC");
  const std::size_t length = EVP_MAC_CTX_get_mac_size(context.get());
  if (args[7]->IsUint32() && length != args[7].As<v8::Uint32>()->Value()) {
    return throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_VALUE",
                       fmt::format("The property 'options.outputLength' was not honored by MAC {}", name));
  }
  v8::Local<v8::ArrayBuffer> handle;
  if (hold(isolate, std::make_unique<AnyMac>(std::move(context), length), mac_weight).ToLocal(&handle))
    args.GetReturnValue().Set(handle);
}

/// macUpdate(mac, data, encoding): whether that went well.
void mac_update(const Arguments& args) {
  update_mac<AnyMac>(args, EVP_MAC_update);
}

/// macFinal(mac, encoding)
void mac_final(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  AnyMac* mac = held_as<AnyMac>(args[0]);
  if (mac == nullptr || mac->context == nullptr) return throw_bad_call(isolate);
  v8::Local<v8::ArrayBuffer> buffer;
  if (!make_memory(isolate, mac->length).ToLocal(&buffer)) return;
  const std::span<std::uint8_t> memory = memory_of(buffer);
  const MacContext context = std::move(mac->context);
  std::size_t length = 0;
  if (EVP_MAC_final(context.get(), memory.data(), &length, memory.size()) != 1)
    return throw_mac(isolate, "Failed to finalize MAC");
  v8::Local<v8::Value> result;
  if (output(isolate, memory.first(length), args[1]).ToLocal(&result)) args.GetReturnValue().Set(result);
}

constexpr Native crypto_mac_natives[] = {
    {"hmacNew", hmac_new}, {"hmacUpdate", hmac_update}, {"hmacDigest", hmac_digest},
    {"macNew", mac_new},   {"macUpdate", mac_update},   {"macFinal", mac_final},
};

}  // namespace

std::span<const Native> mac_natives() {
  return crypto_mac_natives;
}

}  // namespace tare::engine::crypto
