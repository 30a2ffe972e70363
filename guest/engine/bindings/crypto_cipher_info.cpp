#include <openssl/objects.h>

#include "engine/bindings/crypto.hpp"

/// What there is to know of a cipher.
namespace tare::engine::crypto {
namespace {

const char* mode_name(int mode) {
  switch (mode) {
    case EVP_CIPH_CBC_MODE:
      return "cbc";
    case EVP_CIPH_CCM_MODE:
      return "ccm";
    case EVP_CIPH_CFB_MODE:
      return "cfb";
    case EVP_CIPH_CTR_MODE:
      return "ctr";
    case EVP_CIPH_ECB_MODE:
      return "ecb";
    case EVP_CIPH_GCM_MODE:
      return "gcm";
    case EVP_CIPH_OCB_MODE:
      return "ocb";
    case EVP_CIPH_OFB_MODE:
      return "ofb";
    case EVP_CIPH_WRAP_MODE:
      return "wrap";
    case EVP_CIPH_XTS_MODE:
      return "xts";
    case EVP_CIPH_SIV_MODE:
      return "siv";
    case EVP_CIPH_GCM_SIV_MODE:
      return "gcm-siv";
    case EVP_CIPH_STREAM_CIPHER:
      return "stream";
    default:
      return nullptr;
  }
}

/// Whether the cipher takes a key of this length and such an IV; sets what it then has.
bool try_lengths(const EVP_CIPHER* cipher, v8::Local<v8::Value> key, v8::Local<v8::Value> iv, int& key_length,
                 int& iv_length) {
  if (!key->IsInt32() && !iv->IsInt32()) return true;
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (context == nullptr || EVP_CipherInit_ex(context.get(), cipher, nullptr, nullptr, nullptr, 1) != 1)
    return false;
  if (key->IsInt32()) {
    key_length = key.As<v8::Int32>()->Value();
    if (EVP_CIPHER_CTX_set_key_length(context.get(), key_length) != 1) return false;
  }
  if (!iv->IsInt32()) return true;
  const int asked = iv.As<v8::Int32>()->Value();
  const int mode = EVP_CIPHER_get_mode(cipher);
  if (mode == EVP_CIPH_CCM_MODE) {
    if (asked < 7 || asked > 13) return false;
  } else if (mode == EVP_CIPH_OCB_MODE) {
    if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, asked, nullptr) != 1) return false;
  } else if (mode != EVP_CIPH_GCM_MODE && asked != iv_length) {
    return false;
  }
  iv_length = asked;
  return true;
}

/// cipherInfo(object, name or number, keyLength, ivLength): the object, filled; undefined if there is no
/// such.
void cipher_info(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsObject()) return;
  Cipher cipher;
  if (args[1]->IsInt32())
    cipher.reset(const_cast<EVP_CIPHER*>(EVP_get_cipherbynid(args[1].As<v8::Int32>()->Value())));
  else
    cipher = fetch_cipher(to_string(isolate, args[1]));
  if (cipher == nullptr) return;
  int key_length = EVP_CIPHER_get_key_length(cipher.get());
  int iv_length = EVP_CIPHER_get_iv_length(cipher.get());
  if (!try_lengths(cipher.get(), args[2], args[3], key_length, iv_length)) return;
  const v8::Local<v8::Object> info = args[0].As<v8::Object>();
  const int mode = EVP_CIPHER_get_mode(cipher.get());
  const int nid = EVP_CIPHER_get_nid(cipher.get());
  const auto number = [&](std::string_view name, int value) {
    set(isolate, info, name, v8::Integer::New(isolate, value));
  };
  if (const char* name = mode_name(mode)) set(isolate, info, "mode", to_v8(isolate, name));
  const char* name = nid == NID_undef ? EVP_CIPHER_get0_name(cipher.get()) : OBJ_nid2sn(nid);
  set(isolate, info, "name", to_v8(isolate, name == nullptr ? "" : name));
  if (nid != NID_undef) number("nid", nid);
  if (mode != EVP_CIPH_STREAM_CIPHER) number("blockSize", EVP_CIPHER_get_block_size(cipher.get()));
  if (iv_length != 0) number("ivLength", iv_length);
  number("keyLength", key_length);
  args.GetReturnValue().Set(info);
}

constexpr Native crypto_cipher_info_natives[] = {{"cipherInfo", cipher_info}};

}  // namespace

std::span<const Native> cipher_info_natives() {
  return crypto_cipher_info_natives;
}

}  // namespace tare::engine::crypto
