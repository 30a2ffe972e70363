#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <openssl/core_names.h>
#include <openssl/objects.h>
#include <openssl/params.h>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "engine/bindings/crypto.hpp"

namespace tare::engine::crypto {
namespace {

constexpr std::size_t cipher_weight = 1024;
constexpr std::size_t longest_tag = 16;

/// One tag, and one message at once.
bool is_siv(int mode) {
  return mode == EVP_CIPH_SIV_MODE || mode == EVP_CIPH_GCM_SIV_MODE;
}

bool is_authenticated(const EVP_CIPHER* cipher) {
  const int mode = EVP_CIPHER_get_mode(cipher);
  return mode == EVP_CIPH_CCM_MODE || mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_OCB_MODE ||
         is_siv(mode) || EVP_CIPHER_get_nid(cipher) == NID_chacha20_poly1305;
}

enum class Direction : std::uint8_t { decrypt, encrypt };
enum class TagState : std::uint8_t { unknown, known, passed };

/// A cipher at work.
class Working final : public Held {
 public:
  static constexpr Kind held_kind = Kind::cipher;
  Working(CipherContext context, Direction direction)
      : Held(held_kind), context(std::move(context)), direction(direction) {}

  CipherContext context;  ///< null once it is through
  const Direction direction;
  std::optional<std::size_t> tag_length;
  TagState tag_state = TagState::unknown;
  std::array<std::uint8_t, longest_tag> tag{};
  std::size_t most = INT_MAX;  ///< of a message
  bool unauthentic = false;    ///< CCM: final() says it

  const EVP_CIPHER* cipher() const { return EVP_CIPHER_CTX_get0_cipher(context.get()); }
  int mode() const { return EVP_CIPHER_get_mode(cipher()); }
  bool authenticated() const { return is_authenticated(cipher()); }
  bool encrypts() const { return direction == Direction::encrypt; }

  /// Gives OpenSSL the tag that it is to find, once.
  bool pass_tag() {
    if (tag_state != TagState::known) return true;
    if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(*tag_length),
                            tag.data()) != 1)
      return false;
    tag_state = TagState::passed;
    return true;
  }
};

void throw_invalid_tag(v8::Isolate* isolate, std::uint64_t length) {
  throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_AUTH_TAG",
              fmt::format("Invalid authentication tag length: {}", length));
}

void throw_invalid_iv(v8::Isolate* isolate) {
  throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
}

bool is_gcm_tag_length(std::uint64_t length) {
  return length == 4 || length == 8 || (length >= 12 && length <= longest_tag);
}

/// What a cipher with authentication is told before its key. False with an error thrown.
bool begin_authenticated(v8::Isolate* isolate, Working& working, std::string_view name, std::size_t iv_length,
                         v8::Local<v8::Value> asked) {
  EVP_CIPHER_CTX* context = working.context.get();
  if (is_siv(working.mode())) {
    working.tag_length = longest_tag;
    if (!asked->IsUint32() || asked.As<v8::Uint32>()->Value() == longest_tag) return true;
    throw_invalid_tag(isolate, asked.As<v8::Uint32>()->Value());
    return false;
  }
  if (iv_length > INT_MAX ||
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(iv_length), nullptr) != 1) {
    throw_invalid_iv(isolate);
    return false;
  }
  std::optional<std::uint32_t> length;
  if (asked->IsUint32()) length = asked.As<v8::Uint32>()->Value();
  if (working.mode() == EVP_CIPH_GCM_MODE) {
    if (length.has_value() && !is_gcm_tag_length(*length)) {
      throw_invalid_tag(isolate, *length);
      return false;
    }
    working.tag_length = length;
    return true;
  }
  if (!length.has_value()) {
    if (EVP_CIPHER_CTX_get_nid(context) != NID_chacha20_poly1305) {
      throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_AUTH_TAG",
                  fmt::format("authTagLength required for {}", name));
      return false;
    }
    length = 16;
  }
  if (*length > longest_tag ||
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(*length), nullptr) != 1) {
    throw_invalid_tag(isolate, *length);
    return false;
  }
  working.tag_length = length;
  if (working.mode() == EVP_CIPH_CCM_MODE) {
    if (iv_length == 12) working.most = 16777215;
    if (iv_length == 13) working.most = 65535;
  }
  return true;
}

/// Whether the cipher can be told this by a name of OpenSSL's; an undefined value is nothing to tell.
bool set_variant(v8::Isolate* isolate, Working& working, std::string_view name, v8::Local<v8::Value> value,
                 const char* option, const char* parameter) {
  if (value->IsUndefined()) return true;
  std::string text = to_string(isolate, value);
  const OSSL_PARAM* settable = EVP_CIPHER_CTX_settable_params(working.context.get());
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(parameter, text.data(), 0),
                                   OSSL_PARAM_construct_end()};
  if (settable == nullptr || OSSL_PARAM_locate_const(settable, parameter) == nullptr ||
      EVP_CIPHER_CTX_set_params(working.context.get(), parameters) != 1) {
    throw_error(isolate, ErrorKind::error, "ERR_CRYPTO_UNSUPPORTED_OPERATION",
                fmt::format("{} does not support the {} option", name, option));
    return false;
  }
  return true;
}

bool check_iv(v8::Isolate* isolate, const EVP_CIPHER* cipher, ByteSpan iv) {
  const auto expected = static_cast<std::size_t>(std::max(EVP_CIPHER_get_iv_length(cipher), 0));
  const bool bad = (iv.empty() && expected != 0) ||
                   ((!is_authenticated(cipher) || is_siv(EVP_CIPHER_get_mode(cipher))) && !iv.empty() &&
                    iv.size() != expected) ||
                   (EVP_CIPHER_get_nid(cipher) == NID_chacha20_poly1305 && iv.size() > 12);
  if (bad) throw_invalid_iv(isolate);
  return !bad;
}

/// cipherNew(encrypt, name, key, iv, tagLength, ctsMode, xtsStandard)
void cipher_new(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[1]);
  const Cipher cipher = fetch_cipher(name);
  if (cipher == nullptr)
    return throw_error(isolate, ErrorKind::error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
  const ByteVector key = copy_bytes(args[2]);
  if (key.size() > INT_MAX) return throw_out_of_range(isolate, "key is too big");
  const ByteVector iv = copy_bytes(args[3]);
  if (iv.size() > INT_MAX) return throw_out_of_range(isolate, "iv is too big");
  if (!check_iv(isolate, cipher.get(), iv)) return;
  const Direction direction = args[0]->IsTrue() ? Direction::encrypt : Direction::decrypt;
  auto working = std::make_unique<Working>(CipherContext(EVP_CIPHER_CTX_new()), direction);
  EVP_CIPHER_CTX* context = working->context.get();
  if (context == nullptr) return throw_openssl(isolate, "Failed to initialize cipher");
  if (EVP_CIPHER_get_mode(cipher.get()) == EVP_CIPH_WRAP_MODE)
    EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
  const int encrypt = working->encrypts() ? 1 : 0;
  if (EVP_CipherInit_ex(context, cipher.get(), nullptr, nullptr, nullptr, encrypt) != 1)
    return throw_openssl(isolate, "Failed to initialize cipher", First::kept);
  if (working->authenticated() && !begin_authenticated(isolate, *working, name, iv.size(), args[4])) return;
  if (!set_variant(isolate, *working, name, args[5], "ctsMode", OSSL_CIPHER_PARAM_CTS_MODE) ||
      !set_variant(isolate, *working, name, args[6], "xtsStandard", OSSL_CIPHER_PARAM_XTS_STANDARD))
    return;
  if (EVP_CIPHER_CTX_set_key_length(context, static_cast<int>(key.size())) != 1)
    return throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  if (EVP_CipherInit_ex(context, nullptr, nullptr, key.data(), iv.empty() ? nullptr : iv.data(), encrypt) !=
      1)
    return throw_openssl(isolate, "Failed to initialize cipher", First::kept);
  v8::Local<v8::ArrayBuffer> handle;
  if (hold(isolate, std::move(working), cipher_weight).ToLocal(&handle)) args.GetReturnValue().Set(handle);
}

Working* working_of(const Arguments& args) {
  Working* working = held_as<Working>(args[0]);
  if (working == nullptr) throw_bad_call(args.GetIsolate());
  return working;
}

bool check_ccm_length(v8::Isolate* isolate, const Working& working, std::size_t length) {
  if (working.mode() != EVP_CIPH_CCM_MODE || length <= working.most) return true;
  throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_INVALID_MESSAGELEN", "Invalid message length");
  return false;
}

/// The first bytes of a buffer, in one of their own size if that is another.
void give_bytes(const Arguments& args, v8::Local<v8::ArrayBuffer> buffer, std::size_t size) {
  if (size == buffer->ByteLength()) return args.GetReturnValue().Set(v8::Uint8Array::New(buffer, 0, size));
  v8::Local<v8::Uint8Array> bytes;
  const ByteSpan all = memory_of(buffer);
  if (make_bytes(args.GetIsolate(), all.first(size)).ToLocal(&bytes)) args.GetReturnValue().Set(bytes);
}

constexpr std::size_t slack = 32;

/// Space for what comes out of `size` bytes; nothing if OpenSSL doesn't want them.
std::optional<std::size_t> room_for(Working& working, ByteSpan data) {
  const int block = EVP_CIPHER_CTX_get_block_size(working.context.get());
  if (data.size() + static_cast<std::size_t>(std::max(block, 1)) > INT_MAX) return std::nullopt;
  int room = static_cast<int>(data.size()) + std::max(block, 1);
  if (working.mode() == EVP_CIPH_WRAP_MODE &&
      EVP_CipherUpdate(working.context.get(), nullptr, &room, data.data(), static_cast<int>(data.size())) !=
          1)
    return std::nullopt;
  return static_cast<std::size_t>(std::max({room, static_cast<int>(data.size()) + block, 0})) + slack;
}

/// Whether it is known before the end that a message isn't authentic, but only said then.
bool says_at_the_end(const Working& working) {
  return working.mode() == EVP_CIPH_CCM_MODE || is_siv(working.mode());
}

/// cipherUpdate(cipher, data, encoding)
void cipher_update(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  Working* working = working_of(args);
  if (working == nullptr) return;
  const Input input(isolate, args[1], args[2]);
  const ByteSpan data = input.span();
  if (data.size() > INT_MAX) return throw_out_of_range(isolate, "data is too long");
  const auto refuse = [&] {
    ERR_clear_error();  // Node has forgotten them by then
    throw_openssl(isolate, "Trying to add data in unsupported state");
  };
  if (working->context == nullptr) return refuse();
  if (!check_ccm_length(isolate, *working, data.size())) return;
  if (!working->encrypts() && working->authenticated() && !working->pass_tag()) return refuse();
  const std::optional<std::size_t> room = room_for(*working, data);
  if (!room.has_value()) return refuse();
  v8::Local<v8::ArrayBuffer> buffer;
  if (!make_memory(isolate, *room).ToLocal(&buffer)) return;
  int length = static_cast<int>(*room);
  static constexpr std::uint8_t nothing = 0;
  const bool done =
      EVP_CipherUpdate(working->context.get(), static_cast<std::uint8_t*>(buffer->Data()), &length,
                       data.empty() ? &nothing : data.data(), static_cast<int>(data.size())) == 1;
  if (!done) {
    if (working->encrypts() || !says_at_the_end(*working)) return refuse();
    working->unauthentic = true;
    length = 0;
  }
  give_bytes(args, buffer, std::min(*room, static_cast<std::size_t>(std::max(length, 0))));
}

/// Asks for the tag of what was encrypted.
bool take_tag(Working& working) {
  if (!working.tag_length.has_value()) working.tag_length = longest_tag;  // GCM
  return EVP_CIPHER_CTX_ctrl(working.context.get(), EVP_CTRL_AEAD_GET_TAG,
                             static_cast<int>(*working.tag_length), working.tag.data()) == 1;
}

/// cipherFinal(cipher)
void cipher_final(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  Working* working = working_of(args);
  if (working == nullptr) return;
  if (working->context == nullptr)
    return throw_error(isolate, ErrorKind::error, "ERR_CRYPTO_INVALID_STATE", "Invalid state");
  const bool authenticated = working->authenticated();
  const bool decided = !working->encrypts() && working->mode() == EVP_CIPH_CCM_MODE;
  const auto room =
      static_cast<std::size_t>(std::max(EVP_CIPHER_CTX_get_block_size(working->context.get()), 1));
  v8::Local<v8::ArrayBuffer> buffer;
  if (!make_memory(isolate, std::max<std::size_t>(room, EVP_MAX_BLOCK_LENGTH)).ToLocal(&buffer)) return;
  int length = 0;
  bool good = true;
  if (!working->encrypts() && authenticated) working->pass_tag();
  if (decided || working->unauthentic) {
    good = !working->unauthentic;
  } else {
    good =
        EVP_CipherFinal_ex(working->context.get(), static_cast<std::uint8_t*>(buffer->Data()), &length) == 1;
    if (good && working->encrypts() && authenticated) good = take_tag(*working);
  }
  working->context.reset();
  if (!good) {
    return throw_openssl(
        isolate, authenticated ? "Unsupported state or unable to authenticate data" : "Unsupported state",
        First::kept);
  }
  give_bytes(args, buffer, std::min(buffer->ByteLength(), static_cast<std::size_t>(std::max(length, 0))));
}

/// cipherSetAutoPadding(cipher, on): whether that can be said any more.
void set_auto_padding(const Arguments& args) {
  const CleanErrors clean;
  Working* working = working_of(args);
  if (working == nullptr) return;
  args.GetReturnValue().Set(working->context != nullptr &&
                            EVP_CIPHER_CTX_set_padding(working->context.get(), args[1]->IsTrue() ? 1 : 0) ==
                                1);
}

/// cipherGetAuthTag(cipher): undefined unless something was encrypted to its end.
void get_auth_tag(const Arguments& args) {
  Working* working = working_of(args);
  if (working == nullptr) return;
  if (working->context != nullptr || !working->encrypts() || !working->tag_length.has_value()) return;
  v8::Local<v8::Uint8Array> bytes;
  if (make_bytes(args.GetIsolate(), ByteSpan(working->tag).first(*working->tag_length)).ToLocal(&bytes))
    args.GetReturnValue().Set(bytes);
}

/// cipherSetAuthTag(cipher, tag): whether it could be set; 'short' if it was, but is less than one expects.
void set_auth_tag(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Working* working = working_of(args);
  if (working == nullptr) return;
  if (working->context == nullptr || !working->authenticated() || working->encrypts() ||
      working->tag_state != TagState::unknown)
    return args.GetReturnValue().Set(false);
  const Bytes tag(args[1]);
  const bool unexpected = !working->tag_length.has_value() && tag.size() < longest_tag;
  const bool fits = !working->tag_length.has_value() || *working->tag_length == tag.size();
  const bool valid = working->mode() == EVP_CIPH_GCM_MODE ? fits && is_gcm_tag_length(tag.size()) : fits;
  if (!valid || tag.size() > longest_tag) return throw_invalid_tag(isolate, tag.size());
  working->tag_length = tag.size();
  working->tag_state = TagState::known;
  working->tag.fill(0);
  std::ranges::copy(tag.span(), working->tag.begin());
  if (unexpected) return args.GetReturnValue().Set(key(isolate, "short"));
  args.GetReturnValue().Set(true);
}

/// cipherSetAAD(cipher, data, plaintextLength): whether it could be set.
void set_aad(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  Working* working = working_of(args);
  if (working == nullptr) return;
  if (working->context == nullptr || !working->authenticated()) return args.GetReturnValue().Set(false);
  const Bytes data(args[1]);
  if (data.size() > INT_MAX) return throw_out_of_range(isolate, "buffer is too big");
  int length = 0;
  EVP_CIPHER_CTX* context = working->context.get();
  if (working->mode() == EVP_CIPH_CCM_MODE) {
    const std::int32_t plain = args[2]->IsInt32() ? args[2].As<v8::Int32>()->Value() : -1;
    if (plain < 0) {
      return throw_error(isolate, ErrorKind::type, "ERR_MISSING_ARGS",
                         "options.plaintextLength required for CCM mode with AAD");
    }
    if (!check_ccm_length(isolate, *working, static_cast<std::size_t>(plain))) return;
    if ((!working->encrypts() && !working->pass_tag()) ||
        EVP_CipherUpdate(context, nullptr, &length, nullptr, plain) != 1)
      return args.GetReturnValue().Set(false);
  }
  static constexpr std::uint8_t nothing = 0;
  args.GetReturnValue().Set(EVP_CipherUpdate(context, nullptr, &length,
                                             data.size() == 0 ? &nothing : data.data(),
                                             static_cast<int>(data.size())) == 1);
}

constexpr Native crypto_cipher_natives[] = {
    {"cipherNew", cipher_new},          {"cipherUpdate", cipher_update},
    {"cipherFinal", cipher_final},      {"cipherSetAutoPadding", set_auto_padding},
    {"cipherGetAuthTag", get_auth_tag}, {"cipherSetAuthTag", set_auth_tag},
    {"cipherSetAAD", set_aad},
};

}  // namespace

std::span<const Native> cipher_natives() {
  return crypto_cipher_natives;
}

}  // namespace tare::engine::crypto
