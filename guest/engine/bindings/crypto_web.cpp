#include <algorithm>
#include <array>
#include <openssl/objects.h>
#include <string>
#include <utility>

#include <climits>

#include "engine/bindings/crypto_jobs.hpp"

/// What crypto.subtle does with hashes and secret keys, each in one piece.
namespace tare::engine::crypto {
namespace {

constexpr std::size_t block_size = 16;

class HashJob final : public Job {
 public:
  HashJob(v8::Isolate* isolate, Digest digest, ByteVector data, std::optional<std::size_t> length)
      : Job(isolate, deriving_failed), digest_(std::move(digest)), data_(std::move(data)), length_(length) {}

 protected:
  bool run(ByteVector& result) override {
    const DigestContext context(EVP_MD_CTX_new());
    if (context == nullptr || EVP_DigestInit_ex(context.get(), digest_.get(), nullptr) != 1 ||
        EVP_DigestUpdate(context.get(), data_.data(), data_.size()) != 1)
      return false;
    result.resize(length_.value_or(static_cast<std::size_t>(std::max(EVP_MD_get_size(digest_.get()), 0))));
    if (result.empty()) return true;
    if (!length_.has_value()) return EVP_DigestFinal_ex(context.get(), result.data(), nullptr) == 1;
    return EVP_DigestFinalXOF(context.get(), result.data(), result.size()) == 1;
  }

 private:
  const Digest digest_;
  const ByteVector data_;
  const std::optional<std::size_t> length_;
};

/// jobHash(name, data, length in bits)
void job_hash(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  Digest digest = fetch_digest(name);
  if (digest == nullptr) return throw_invalid_digest(isolate, name);
  std::optional<std::size_t> length;
  if (args[2]->IsUint32()) {
    const std::size_t asked = args[2].As<v8::Uint32>()->Value() / CHAR_BIT;
    if ((EVP_MD_get_flags(digest.get()) & EVP_MD_FLAG_XOF) != 0)
      length = asked;
    else if (asked != static_cast<std::size_t>(EVP_MD_get_size(digest.get())))
      return throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_DIGEST",
                         "Digest method not supported");
  }
  ByteVector data = copy_bytes(args[1]);
  if (data.size() > INT_MAX) return throw_out_of_range(isolate, "data is too big");
  const std::size_t weight = data.size() + length.value_or(0);
  give_job(args, std::make_shared<HashJob>(isolate, std::move(digest), std::move(data), length), weight);
}

class HmacJob final : public Job {
 public:
  HmacJob(v8::Isolate* isolate, Digest digest, ByteVector key, ByteVector data,
          std::optional<ByteVector> signature)
      : Job(isolate, deriving_failed),
        digest_(std::move(digest)),
        key_(std::move(key)),
        data_(std::move(data)),
        signature_(std::move(signature)) {}

 protected:
  bool run(ByteVector& result) override {
    result = hmac(digest_.get(), key_, {data_});
    if (result.empty()) return false;
    if (!signature_.has_value()) return true;
    const bool same = signature_->size() == result.size() &&
                      CRYPTO_memcmp(signature_->data(), result.data(), result.size()) == 0;
    result.assign(1, same ? 1 : 0);
    return true;
  }

 private:
  const Digest digest_;
  const ByteVector key_;
  const ByteVector data_;
  const std::optional<ByteVector> signature_;
};

/// jobHmac(name, key, data, signature): the signature; or with one, a byte that says whether it is that.
void job_hmac(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  Digest digest = fetch_digest(name);
  if (digest == nullptr) return throw_invalid_digest(isolate, name);
  ByteVector key = copy_bytes(args[1]);
  ByteVector data = copy_bytes(args[2]);
  if (key.size() > INT_MAX || data.size() > INT_MAX) return throw_out_of_range(isolate, "data is too big");
  std::optional<ByteVector> signature;
  if (!args[3]->IsUndefined()) signature = copy_bytes(args[3]);
  const std::size_t weight = key.size() + data.size() + (signature.has_value() ? signature->size() : 0);
  give_job(args,
           std::make_shared<HmacJob>(isolate, std::move(digest), std::move(key), std::move(data),
                                     std::move(signature)),
           weight);
}

// --- Ciphers
// ----------------------------------------------------------------------------------------------------

enum class Mode : std::uint8_t { plain, authenticated, wrap, counter };
enum class Way : std::uint8_t { encrypt, decrypt };  ///< as kWebCryptoCipherEncrypt and -Decrypt

struct Message {
  Cipher cipher;
  Mode mode = Mode::plain;
  Way way = Way::encrypt;
  ByteVector key;
  ByteVector data;
  ByteVector iv;
  ByteVector additional;
  std::size_t tag_length = 0;
  std::uint32_t counter_bits = 0;

  std::size_t weight() const { return key.size() + 2 * data.size() + iv.size() + additional.size(); }
};

class CipherJob final : public Job {
 public:
  CipherJob(v8::Isolate* isolate, Message message)
      : Job(isolate, cipher_failed), message_(std::move(message)) {}

 protected:
  bool run(ByteVector& result) override {
    return message_.mode == Mode::counter ? count(result) : whole(result);
  }

 private:
  bool encrypts() const { return message_.way == Way::encrypt; }

  CipherContext begin(const std::uint8_t* iv, std::size_t iv_length) const {
    CipherContext context(EVP_CIPHER_CTX_new());
    const int encrypt = encrypts() ? 1 : 0;
    if (context == nullptr) return {};
    if (message_.mode == Mode::wrap) EVP_CIPHER_CTX_set_flags(context.get(), EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    if (EVP_CipherInit_ex(context.get(), message_.cipher.get(), nullptr, nullptr, nullptr, encrypt) != 1)
      return {};
    if (message_.mode == Mode::authenticated) {
      const auto length = static_cast<int>(message_.tag_length);
      if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(iv_length), nullptr) !=
          1)
        return {};
      if (EVP_CIPHER_get_mode(message_.cipher.get()) == EVP_CIPH_OCB_MODE &&
          EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, length, nullptr) != 1)
        return {};
    }
    if (EVP_CIPHER_CTX_set_key_length(context.get(), static_cast<int>(message_.key.size())) != 1 ||
        EVP_CipherInit_ex(context.get(), nullptr, nullptr, message_.key.data(), iv, encrypt) != 1)
      return {};
    return context;
  }

  /// Appends what becomes of the data.
  static bool update(EVP_CIPHER_CTX* context, ByteSpan data, ByteVector& result) {
    const std::size_t before = result.size();
    result.resize(before + data.size() + 2 * EVP_MAX_BLOCK_LENGTH);
    int length = 0;
    if (!data.empty() && EVP_CipherUpdate(context, result.data() + before, &length, data.data(),
                                          static_cast<int>(data.size())) != 1)
      return false;
    int rest = 0;
    if (EVP_CipherFinal_ex(context, result.data() + before + length, &rest) != 1) return false;
    result.resize(before + static_cast<std::size_t>(length + rest));
    return true;
  }

  bool whole(ByteVector& result) {
    ByteSpan data = message_.data;
    const CipherContext context = begin(message_.iv.data(), message_.iv.size());
    if (context == nullptr) return false;
    const auto tag_length = static_cast<int>(message_.tag_length);
    if (message_.mode == Mode::authenticated && !encrypts()) {
      if (data.size() < message_.tag_length) return false;
      ByteVector tag(data.end() - tag_length, data.end());
      data = data.first(data.size() - tag.size());
      if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, tag_length, tag.data()) != 1)
        return false;
    }
    int ignored = 0;
    if (!message_.additional.empty() &&
        EVP_CipherUpdate(context.get(), nullptr, &ignored, message_.additional.data(),
                         static_cast<int>(message_.additional.size())) != 1)
      return false;
    if (!update(context.get(), data, result)) return false;
    if (message_.mode != Mode::authenticated || !encrypts()) return true;
    std::array<std::uint8_t, block_size> tag{};
    if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, tag_length, tag.data()) != 1) return false;
    result.insert(result.end(), tag.begin(), tag.begin() + tag_length);
    return true;
  }

  /// Only the last bits of the block count, and begin anew at 0 when they are through; OpenSSL counts all
  /// 128.
  bool count(ByteVector& result) {
    const std::uint32_t bits = message_.counter_bits;
    const std::uint64_t blocks = (message_.data.size() + block_size - 1) / block_size;
    std::uint64_t left = UINT64_MAX;  // until they are through, if that fits
    if (bits < 64 && blocks > (std::uint64_t{1} << bits)) return false;
    if (bits <= 64) {
      std::uint64_t now = 0;
      for (std::size_t i = 8; i < block_size; ++i) now = now << 8 | message_.iv[i];
      if (bits < 64) now &= (std::uint64_t{1} << bits) - 1;
      left = bits < 64 ? (std::uint64_t{1} << bits) - now : now == 0 ? UINT64_MAX : UINT64_MAX - now + 1;
    } else {
      left = until_through(bits);
    }
    const std::size_t first =
        left >= blocks ? message_.data.size() : static_cast<std::size_t>(left * block_size);
    if (!piece(ByteSpan(message_.data).first(first), message_.iv, result)) return false;
    if (first == message_.data.size()) return true;
    ByteVector again = message_.iv;
    for (std::uint32_t bit = 0; bit < bits; ++bit)
      again[block_size - 1 - bit / 8] &= static_cast<std::uint8_t>(~(1U << bit % 8));
    return piece(ByteSpan(message_.data).subspan(first), again, result);
  }

  /// For more than 64 bits: how many blocks are left, or more than any message has.
  std::uint64_t until_through(std::uint32_t bits) const {
    for (std::uint32_t bit = 64; bit < bits; ++bit) {
      if ((message_.iv[block_size - 1 - bit / 8] >> bit % 8 & 1) == 0) return UINT64_MAX;
    }
    std::uint64_t low = 0;
    for (std::size_t i = 8; i < block_size; ++i) low = low << 8 | message_.iv[i];
    return low == 0 ? UINT64_MAX : UINT64_MAX - low + 1;
  }

  bool piece(ByteSpan data, const ByteVector& counter, ByteVector& result) const {
    const CipherContext context = begin(counter.data(), counter.size());
    return context != nullptr && update(context.get(), data, result);
  }

  const Message message_;
};

/// jobCipher(decrypt, name, mode, key, data, iv, tagLength or counter bits, additional)
void job_cipher(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  Message message;
  message.way = args[0]->IsTrue() ? Way::decrypt : Way::encrypt;
  message.cipher = fetch_cipher(to_string(isolate, args[1]));
  if (message.cipher == nullptr || !args[2]->IsUint32())
    return throw_error(isolate, ErrorKind::error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
  message.mode = static_cast<Mode>(std::min(args[2].As<v8::Uint32>()->Value(), 3U));
  message.key = copy_bytes(args[3]);
  message.data = copy_bytes(args[4]);
  message.iv = copy_bytes(args[5]);
  message.additional = copy_bytes(args[7]);
  const std::uint32_t number = args[6]->IsUint32() ? args[6].As<v8::Uint32>()->Value() : 0;
  constexpr std::size_t most = INT_MAX - 64;
  if (message.data.size() > most || message.additional.size() > most || message.iv.size() > most)
    return throw_out_of_range(isolate, "data is too big");
  const auto expected = static_cast<std::size_t>(std::max(EVP_CIPHER_get_iv_length(message.cipher.get()), 0));
  const bool own_iv = message.mode == Mode::authenticated;
  if (own_iv ? message.iv.empty() : message.mode != Mode::wrap && message.iv.size() != expected)
    return throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
  if (message.mode == Mode::wrap) message.iv.assign(expected, 0xa6);
  if (message.key.size() != static_cast<std::size_t>(EVP_CIPHER_get_key_length(message.cipher.get())))
    return throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  if (own_iv) {
    if (number > block_size)
      return throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_INVALID_TAG_LENGTH", "Invalid taglength");
    message.tag_length = number;
  } else if (message.mode == Mode::counter) {
    if (number == 0 || number > block_size * 8)
      return throw_error(isolate, ErrorKind::type, "ERR_CRYPTO_INVALID_COUNTER", "Invalid counter");
    message.counter_bits = number;
  }
  const std::size_t weight = message.weight();
  give_job(args, std::make_shared<CipherJob>(isolate, std::move(message)), weight);
}

constexpr Native crypto_web_natives[] = {
    {"jobHash", job_hash},
    {"jobHmac", job_hmac},
    {"jobCipher", job_cipher},
};

}  // namespace

std::span<const Native> web_natives() {
  return crypto_web_natives;
}

}  // namespace tare::engine::crypto
