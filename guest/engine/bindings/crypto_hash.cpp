#include <algorithm>
#include <cctype>
#include <memory>
#include <openssl/ec.h>
#include <openssl/objects.h>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "engine/bindings/crypto.hpp"

namespace tare::engine::crypto {
namespace {

constexpr std::size_t hash_weight = 768;
constexpr std::size_t most_kept = 1024;  // of a result that may be asked for again
constexpr std::string_view no_method = "Digest method not supported";

/// A hash in the making.
class Hash final : public Held {
 public:
  static constexpr Kind held_kind = Kind::hash;
  explicit Hash(DigestContext context) : Held(held_kind), context(std::move(context)) {}

  const DigestContext context;
  std::size_t length = 0;
  std::optional<ByteVector> result;  ///< some algorithms can only say it once
};

bool is_xof(const EVP_MD* digest) {
  return (EVP_MD_get_flags(digest) & EVP_MD_FLAG_XOF) != 0;
}

/// SHAKE has no length of its own any more; what it was is what Node goes on with.
std::size_t usual_length(const EVP_MD* digest) {
  const int size = EVP_MD_get_size(digest);
  if (size > 0) return static_cast<std::size_t>(size);
  if (EVP_MD_is_a(digest, "SHAKE128") == 1) return 16;
  return EVP_MD_is_a(digest, "SHAKE256") == 1 ? 32 : 0;
}

void mark_invalid_length() {
  ERR_raise(ERR_LIB_EVP, EVP_R_NOT_XOF_OR_INVALID_LENGTH);
}

/// A hash that is begun; null with OpenSSL's errors, or none.
std::unique_ptr<Hash> begin_hash(const EVP_MD* digest, v8::Local<v8::Value> length) {
  DigestContext context(EVP_MD_CTX_new());
  if (digest == nullptr || context == nullptr || EVP_DigestInit_ex(context.get(), digest, nullptr) != 1)
    return {};
  auto hash = std::make_unique<Hash>(std::move(context));
  hash->length = usual_length(digest);
  const bool asked = length->IsUint32();
  if (is_xof(digest) && !asked && hash->length == 0) {
    mark_invalid_length();
    return {};
  }
  if (asked && length.As<v8::Uint32>()->Value() != hash->length) {
    if (!is_xof(digest)) {
      mark_invalid_length();
      return {};
    }
    hash->length = length.As<v8::Uint32>()->Value();
  }
  return hash;
}

bool final_digest(EVP_MD_CTX* context, std::span<std::uint8_t> to) {
  if (to.size() == static_cast<std::size_t>(std::max(EVP_MD_CTX_get_size(context), 0)) &&
      !is_xof(EVP_MD_CTX_get0_md(context))) {
    return EVP_DigestFinal_ex(context, to.data(), nullptr) == 1;
  }
  return EVP_DigestFinalXOF(context, to.data(), to.size()) == 1;
}

void give_handle(const Arguments& args, std::unique_ptr<Held> object, std::size_t weight) {
  v8::Local<v8::ArrayBuffer> handle;
  if (hold(args.GetIsolate(), std::move(object), weight).ToLocal(&handle)) args.GetReturnValue().Set(handle);
}

/// hashNew(name, length, hasOptions)
void hash_new(const Arguments& args) {
  const CleanErrors clean;
  // What cSHAKE could be told: no provider takes it.
  const Digest digest = args[2]->IsTrue() ? nullptr : fetch_digest(to_string(args.GetIsolate(), args[0]));
  std::unique_ptr<Hash> hash = begin_hash(digest.get(), args[1]);
  if (hash == nullptr) return throw_openssl(args.GetIsolate(), no_method);
  give_handle(args, std::move(hash), hash_weight);
}

/// hashCopy(hash, length)
void hash_copy(const Arguments& args) {
  const CleanErrors clean;
  const Hash* from = held_as<Hash>(args[0]);
  if (from == nullptr) return throw_bad_call(args.GetIsolate());
  std::unique_ptr<Hash> hash = begin_hash(EVP_MD_CTX_get0_md(from->context.get()), args[1]);
  if (hash == nullptr) return throw_openssl(args.GetIsolate(), no_method);
  if (EVP_MD_CTX_copy_ex(hash->context.get(), from->context.get()) != 1)
    return throw_openssl(args.GetIsolate(), "Digest copy error");
  give_handle(args, std::move(hash), hash_weight);
}

/// hashUpdate(hash, data, encoding): whether that went well.
void hash_update(const Arguments& args) {
  const CleanErrors clean;
  Hash* hash = held_as<Hash>(args[0]);
  if (hash == nullptr) return throw_bad_call(args.GetIsolate());
  const Input data(args.GetIsolate(), args[1], args[2]);
  if (data.span().size() > INT_MAX) return throw_out_of_range(args.GetIsolate(), "data is too long");
  args.GetReturnValue().Set(!hash->result.has_value() &&
                            EVP_DigestUpdate(hash->context.get(), data.span().data(), data.span().size()) ==
                                1);
}

/// A result of this length, made by `make(memory)`, in the encoding that is asked for. What is long lies in
/// the guest's budget while it is made.
template <class Make>
v8::MaybeLocal<v8::Value> make_output(v8::Isolate* isolate, std::size_t length, v8::Local<v8::Value> encoding,
                                      const Make& make) {
  v8::Local<v8::ArrayBuffer> buffer;
  if (!make_memory(isolate, length).ToLocal(&buffer)) return {};
  const std::span<std::uint8_t> memory = memory_of(buffer);
  if (length > 0 && !make(memory)) {
    throw_openssl(isolate, {});
    return {};
  }
  return output(isolate, memory, encoding);
}

/// hashDigest(hash, encoding)
void hash_digest(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  Hash* hash = held_as<Hash>(args[0]);
  if (hash == nullptr) return throw_bad_call(isolate);
  v8::Local<v8::Value> result;
  if (hash->result.has_value()) {
    if (output(isolate, *hash->result, args[1]).ToLocal(&result)) args.GetReturnValue().Set(result);
    return;
  }
  const auto make = [&](std::span<std::uint8_t> memory) {
    if (!final_digest(hash->context.get(), memory)) return false;
    if (memory.size() <= most_kept) hash->result.emplace(memory.begin(), memory.end());
    return true;
  };
  if (make_output(isolate, hash->length, args[1], make).ToLocal(&result)) args.GetReturnValue().Set(result);
}

void throw_wrong_length(v8::Isolate* isolate, std::uint32_t length, std::string_view name) {
  throw_openssl(isolate,
                fmt::format("Output length {} is invalid for {}, which does not support XOF", length, name));
}

/// hashOnce(name, data, encoding, length, hasOptions)
void hash_once(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  const Digest digest = fetch_digest(name);
  if (digest == nullptr)
    return throw_openssl(isolate, fmt::format("Digest method {} is not supported", name));
  std::size_t length = usual_length(digest.get());
  if (args[3]->IsUint32()) {
    const std::uint32_t asked = args[3].As<v8::Uint32>()->Value();
    if (!is_xof(digest.get()) && asked != length) return throw_wrong_length(isolate, asked, name);
    length = asked;
  } else if (is_xof(digest.get()) && length == 0) {
    mark_invalid_length();
    return throw_openssl(isolate, no_method);
  }
  if (args[4]->IsTrue()) return throw_openssl(isolate, "Digest options are not supported");
  const Input data(isolate, args[1], v8::Undefined(isolate));
  const DigestContext context(EVP_MD_CTX_new());
  const auto make = [&](std::span<std::uint8_t> memory) {
    return context != nullptr && EVP_DigestInit_ex(context.get(), digest.get(), nullptr) == 1 &&
           EVP_DigestUpdate(context.get(), data.span().data(), data.span().size()) == 1 &&
           final_digest(context.get(), memory);
  };
  v8::Local<v8::Value> result;
  if (make_output(isolate, length, args[2], make).ToLocal(&result)) args.GetReturnValue().Set(result);
}

// --- Names
// ------------------------------------------------------------------------------------------------------

using Names = std::vector<std::string>;

void add_provided_name(const char* name, void* names) {
  const std::string_view view(name);
  const bool number =
      view.find('.') != std::string_view::npos &&
      std::ranges::all_of(view, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
  if (number) return;
  std::string lower(view);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  static_cast<Names*>(names)->push_back(std::move(lower));
}

void give_names(const Arguments& args, const Names& names) {
  std::vector<v8::Local<v8::Value>> texts;
  for (const std::string& name : names) texts.push_back(to_v8(args.GetIsolate(), name));
  args.GetReturnValue().Set(v8::Array::New(args.GetIsolate(), texts.data(), texts.size()));
}

void get_hashes(const Arguments& args) {
  const CleanErrors clean;
  Names names;
  EVP_MD_do_all_sorted(
      [](const EVP_MD*, const char* from, const char*, void* found) {
        const EVP_MD* legacy = from == nullptr ? nullptr : EVP_get_digestbyname(from);
        if (legacy == nullptr) return;
        const Digest provided(EVP_MD_fetch(nullptr, EVP_MD_get0_name(legacy), nullptr));
        if (provided != nullptr) static_cast<Names*>(found)->emplace_back(from);
      },
      &names);
  EVP_MD_do_all_provided(
      nullptr, [](EVP_MD* digest, void* found) { EVP_MD_names_do_all(digest, add_provided_name, found); },
      &names);
  std::erase_if(names, [](const std::string& name) { return fetch_digest(name) == nullptr; });
  give_names(args, names);
}

void get_ciphers(const Arguments& args) {
  const CleanErrors clean;
  Names names;
  EVP_CIPHER_do_all_sorted(
      [](const EVP_CIPHER*, const char* from, const char*, void* found) {
        const EVP_CIPHER* legacy = from == nullptr ? nullptr : EVP_get_cipherbyname(from);
        if (legacy == nullptr) return;
        const Cipher provided(EVP_CIPHER_fetch(nullptr, EVP_CIPHER_get0_name(legacy), nullptr));
        if (provided != nullptr) static_cast<Names*>(found)->emplace_back(from);
      },
      &names);
  EVP_CIPHER_do_all_provided(
      nullptr,
      [](EVP_CIPHER* cipher, void* found) { EVP_CIPHER_names_do_all(cipher, add_provided_name, found); },
      &names);
  std::erase_if(names, [](const std::string& name) { return fetch_cipher(name) == nullptr; });
  give_names(args, names);
}

void get_macs(const Arguments& args) {
  const CleanErrors clean;
  Names names;
  EVP_MAC_do_all_provided(
      nullptr, [](EVP_MAC* mac, void* found) { EVP_MAC_names_do_all(mac, add_provided_name, found); },
      &names);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  give_names(args, names);
}

void get_curves(const Arguments& args) {
  std::vector<EC_builtin_curve> curves(EC_get_builtin_curves(nullptr, 0));
  EC_get_builtin_curves(curves.data(), curves.size());
  Names names;
  for (const EC_builtin_curve& curve : curves) names.emplace_back(OBJ_nid2sn(curve.nid));
  give_names(args, names);
}

constexpr Native crypto_hash_natives[] = {
    {"hashNew", hash_new},       {"hashCopy", hash_copy}, {"hashUpdate", hash_update},
    {"hashDigest", hash_digest}, {"hashOnce", hash_once}, {"getHashes", get_hashes},
    {"getCiphers", get_ciphers}, {"getMacs", get_macs},   {"getCurves", get_curves},
};

}  // namespace

std::span<const Native> hash_natives() {
  return crypto_hash_natives;
}

}  // namespace tare::engine::crypto
