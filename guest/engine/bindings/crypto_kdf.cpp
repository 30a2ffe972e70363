#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <openssl/proverr.h>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "engine/bindings/crypto_jobs.hpp"

/// Keys out of passwords. OpenSSL can't be stopped while it derives one, which may take days when a program
/// wants that: the loops are here, over its HMAC, and ask now and then whether anybody still waits.
namespace tare::engine::crypto {
namespace {

constexpr std::uint32_t between_checks = 1024;

std::array<std::uint8_t, 4> big_endian(std::uint32_t number) {
  return {static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
}

/// PBKDF2 with one password.
class Pbkdf2 {
 public:
  Pbkdf2(const EVP_MD* digest, ByteSpan password) : keyed_(HMAC_CTX_new()), context_(HMAC_CTX_new()) {
    const void* bytes = password.empty() ? static_cast<const void*>("") : password.data();
    good_ = keyed_ != nullptr && context_ != nullptr &&
            HMAC_Init_ex(keyed_.get(), bytes, static_cast<int>(password.size()), digest, nullptr) == 1;
    size_ = static_cast<std::size_t>(std::max(EVP_MD_get_size(digest), 0));
  }

  bool derive(std::span<std::uint8_t> key, ByteSpan salt, std::uint32_t iterations, const Job& job) {
    for (std::uint32_t number = 1; good_ && !key.empty(); ++number) {
      const std::array<std::uint8_t, 4> index = big_endian(number);
      one({salt, index});
      std::array<std::uint8_t, EVP_MAX_MD_SIZE> block = last_;
      for (std::uint32_t i = 1; i < iterations && good_; ++i) {
        if (i % between_checks == 0 && !job.wanted()) return false;
        one({ByteSpan(last_).first(size_)});
        for (std::size_t at = 0; at < size_; ++at) block[at] ^= last_[at];
      }
      if (!job.wanted()) return false;
      const std::size_t taken = std::min(key.size(), size_);
      std::copy_n(block.begin(), taken, key.begin());
      key = key.subspan(taken);
    }
    return good_;
  }

 private:
  void one(std::initializer_list<ByteSpan> message) {
    good_ = good_ && size_ > 0 && HMAC_CTX_copy(context_.get(), keyed_.get()) == 1;
    for (const ByteSpan part : message) {
      if (!part.empty()) good_ = good_ && HMAC_Update(context_.get(), part.data(), part.size()) == 1;
    }
    good_ = good_ && HMAC_Final(context_.get(), last_.data(), nullptr) == 1;
  }

  HmacContext keyed_;
  HmacContext context_;
  std::size_t size_ = 0;
  bool good_ = false;
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> last_{};
};

class Pbkdf2Job final : public Job {
 public:
  Pbkdf2Job(v8::Isolate* isolate, Digest digest, ByteVector password, ByteVector salt,
            std::uint32_t iterations, std::size_t length)
      : Job(isolate, deriving_failed),
        digest_(std::move(digest)),
        password_(std::move(password)),
        salt_(std::move(salt)),
        iterations_(iterations),
        length_(length) {}

 protected:
  bool run(ByteVector& result) override {
    if ((EVP_MD_get_flags(digest_.get()) & EVP_MD_FLAG_XOF) != 0) {
      ERR_raise(ERR_LIB_PROV, PROV_R_XOF_DIGESTS_NOT_ALLOWED);
      return false;
    }
    if (length_ == 0) return false;
    result.resize(length_);
    return Pbkdf2(digest_.get(), password_).derive(result, salt_, iterations_, *this);
  }

 private:
  const Digest digest_;
  const ByteVector password_;
  const ByteVector salt_;
  const std::uint32_t iterations_;
  const std::size_t length_;
};

/// A length that is a positive 32-bit integer, or 0.
std::optional<std::size_t> length_argument(const Arguments& args, int at) {
  if (args[at]->IsUint32() && args[at].As<v8::Uint32>()->Value() <= INT_MAX)
    return args[at].As<v8::Uint32>()->Value();
  throw_out_of_range(args.GetIsolate(), fmt::format("length must be <= {}", INT_MAX));
  return std::nullopt;
}

/// jobPbkdf2(password, salt, iterations, length, digest)
void job_pbkdf2(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[2]->IsUint32()) return throw_out_of_range(isolate, "iterations must be <= 2147483647");
  const auto length = length_argument(args, 3);
  if (!length.has_value()) return;
  const std::string name = to_string(isolate, args[4]);
  Digest digest = fetch_digest(name);
  if (digest == nullptr) return throw_invalid_digest(isolate, name);
  ByteVector password = copy_bytes(args[0]);
  ByteVector salt = copy_bytes(args[1]);
  const std::size_t weight = password.size() + salt.size() + *length;
  give_job(args,
           std::make_shared<Pbkdf2Job>(isolate, std::move(digest), std::move(password), std::move(salt),
                                       args[2].As<v8::Uint32>()->Value(), *length),
           weight);
}

// --- HKDF
// -------------------------------------------------------------------------------------------------------

class HkdfJob final : public Job {
 public:
  HkdfJob(v8::Isolate* isolate, Digest digest, ByteVector key, ByteVector salt, ByteVector info,
          std::size_t length)
      : Job(isolate, deriving_failed),
        digest_(std::move(digest)),
        key_(std::move(key)),
        salt_(std::move(salt)),
        info_(std::move(info)),
        length_(length) {}

 protected:
  bool run(ByteVector& result) override {
    if (length_ == 0 || EVP_MD_get_size(digest_.get()) <= 0) return false;
    const ByteVector secret = hmac(digest_.get(), salt_, {key_});
    ByteVector last;
    for (std::uint8_t number = 1; result.size() < length_; ++number) {
      last = hmac(digest_.get(), secret, {last, info_, ByteSpan(&number, 1)});
      if (last.empty()) return false;
      result.insert(result.end(), last.begin(), last.end());
    }
    result.resize(length_);
    return true;
  }

 private:
  const Digest digest_;
  const ByteVector key_;
  const ByteVector salt_;
  const ByteVector info_;
  const std::size_t length_;
};

/// jobHkdf(digest, key, salt, info, length)
void job_hkdf(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  Digest digest = fetch_digest(name);
  if (digest == nullptr) return throw_invalid_digest(isolate, name);
  const double length = args[4]->IsNumber() ? args[4].As<v8::Number>()->Value() : -1;
  const int size = EVP_MD_get_size(digest.get());
  if (!(length >= 0 && length <= 255.0 * std::max(size, 1)))
    return throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  ByteVector key = copy_bytes(args[1]);
  ByteVector salt = copy_bytes(args[2]);
  ByteVector info = copy_bytes(args[3]);
  const std::size_t weight = key.size() + salt.size() + info.size() + static_cast<std::size_t>(length);
  give_job(args,
           std::make_shared<HkdfJob>(isolate, std::move(digest), std::move(key), std::move(salt),
                                     std::move(info), static_cast<std::size_t>(length)),
           weight);
}

// --- scrypt
// -----------------------------------------------------------------------------------------------------

constexpr std::size_t salsa_words = 16;
using Words = std::span<std::uint32_t>;
using Salsa = std::array<std::uint32_t, salsa_words>;

void quarter(Salsa& x, int a, int b, int c, int d) {
  x[b] ^= std::rotl(x[a] + x[d], 7);
  x[c] ^= std::rotl(x[b] + x[a], 9);
  x[d] ^= std::rotl(x[c] + x[b], 13);
  x[a] ^= std::rotl(x[d] + x[c], 18);
}

/// Salsa20/8 of RFC 7914.
void salsa(Salsa& block) {
  Salsa x = block;
  for (int round = 0; round < 4; ++round) {
    quarter(x, 0, 4, 8, 12);
    quarter(x, 5, 9, 13, 1);
    quarter(x, 10, 14, 2, 6);
    quarter(x, 15, 3, 7, 11);
    quarter(x, 0, 1, 2, 3);
    quarter(x, 5, 6, 7, 4);
    quarter(x, 10, 11, 8, 9);
    quarter(x, 15, 12, 13, 14);
  }
  for (std::size_t i = 0; i < salsa_words; ++i) block[i] += x[i];
}

/// scryptBlockMix: from `in` to `out`, which are 32 r words.
void mix_block(std::span<const std::uint32_t> in, Words out) {
  const std::size_t blocks = in.size() / salsa_words;
  Salsa x;
  std::copy_n(in.end() - salsa_words, salsa_words, x.begin());
  for (std::size_t i = 0; i < blocks; ++i) {
    for (std::size_t k = 0; k < salsa_words; ++k) x[k] ^= in[i * salsa_words + k];
    salsa(x);
    std::ranges::copy(
        x, out.begin() + static_cast<std::ptrdiff_t>((i / 2 + (i % 2) * (blocks / 2)) * salsa_words));
  }
}

struct Cost {
  std::uint64_t n;
  std::uint64_t r;
  std::uint64_t p;

  std::uint64_t words() const { return 32 * r; }
  /// All that it takes while it runs: the blocks, what was, two to mix in.
  std::uint64_t memory() const { return 128 * r * (p + n + 2); }
};

class ScryptJob final : public Job {
 public:
  ScryptJob(v8::Isolate* isolate, ByteVector password, ByteVector salt, Cost cost, std::size_t length)
      : Job(isolate, deriving_failed),
        password_(std::move(password)),
        salt_(std::move(salt)),
        cost_(cost),
        length_(length) {}

 protected:
  bool run(ByteVector& result) override {
    const Digest sha256(EVP_MD_fetch(nullptr, "SHA256", nullptr));
    if (sha256 == nullptr) return false;
    Pbkdf2 pbkdf2(sha256.get(), password_);
    ByteVector blocks(128 * cost_.r * cost_.p);
    if (!pbkdf2.derive(blocks, salt_, 1, *this)) return false;
    before_.resize(cost_.words() * cost_.n);
    now_.resize(cost_.words());
    other_.resize(cost_.words());
    for (std::uint64_t i = 0; i < cost_.p; ++i) {
      if (!mix(std::span(blocks).subspan(128 * cost_.r * i, 128 * cost_.r))) return false;
    }
    before_ = {};  // the most of it; the job may stay for a while
    result.resize(length_);
    return pbkdf2.derive(result, blocks, 1, *this);
  }

 private:
  static_assert(std::endian::native == std::endian::little, "the words of a block are little endian");

  /// scryptROMix. False when nobody waits any more.
  bool mix(std::span<std::uint8_t> block) {
    std::memcpy(now_.data(), block.data(), block.size());
    for (std::uint64_t i = 0; i < cost_.n; ++i) {
      if (i % between_checks == 0 && !wanted()) return false;
      std::ranges::copy(now_, before_.begin() + static_cast<std::ptrdiff_t>(i * cost_.words()));
      mix_block(now_, other_);
      std::swap(now_, other_);
    }
    for (std::uint64_t i = 0; i < cost_.n; ++i) {
      if (i % between_checks == 0 && !wanted()) return false;
      const std::uint32_t* last = now_.data() + now_.size() - salsa_words;
      const std::uint64_t j = (std::uint64_t{last[1]} << 32 | last[0]) & (cost_.n - 1);
      const std::uint32_t* was = before_.data() + j * cost_.words();
      for (std::size_t k = 0; k < now_.size(); ++k) now_[k] ^= was[k];
      mix_block(now_, other_);
      std::swap(now_, other_);
    }
    std::memcpy(block.data(), now_.data(), block.size());
    return true;
  }

  const ByteVector password_;
  const ByteVector salt_;
  const Cost cost_;
  const std::size_t length_;
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> now_;
  std::vector<std::uint32_t> other_;
};

/// jobScrypt(password, salt, N, r, p, maxmem, length)
void job_scrypt(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  for (int i = 2; i < 5; ++i) {
    if (!args[i]->IsUint32()) return throw_bad_call(isolate);
  }
  const Cost cost{args[2].As<v8::Uint32>()->Value(), args[3].As<v8::Uint32>()->Value(),
                  args[4].As<v8::Uint32>()->Value()};
  const double most = args[5]->IsNumber() ? args[5].As<v8::Number>()->Value() : 0;
  const std::uint64_t maxmem = most >= 0 && most <= 9007199254740991.0 ? static_cast<std::uint64_t>(most) : 0;
  if (EVP_PBE_scrypt(nullptr, 0, nullptr, 0, cost.n, cost.r, cost.p, maxmem, nullptr, 0) != 1) {
    const std::vector<std::string> errors = take_errors();
    return throw_error(isolate, ErrorKind::range, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS",
                       errors.empty() ? "Invalid scrypt params" : "Invalid scrypt params: " + errors.back());
  }
  const auto length = length_argument(args, 6);
  if (!length.has_value()) return;
  ByteVector password = copy_bytes(args[0]);
  ByteVector salt = copy_bytes(args[1]);
  const std::size_t weight = password.size() + salt.size() + *length + cost.memory();
  give_job(args, std::make_shared<ScryptJob>(isolate, std::move(password), std::move(salt), cost, *length),
           weight);
}

constexpr Native crypto_kdf_natives[] = {
    {"jobPbkdf2", job_pbkdf2},
    {"jobHkdf", job_hkdf},
    {"jobScrypt", job_scrypt},
};

}  // namespace

std::span<const Native> kdf_natives() {
  return crypto_kdf_natives;
}

}  // namespace tare::engine::crypto
