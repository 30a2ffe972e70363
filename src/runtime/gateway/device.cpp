#include "runtime/gateway/device.hpp"

#include <array>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <sys/random.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::gateway {
namespace {

using Bytes = std::vector<unsigned char>;
constexpr std::size_t key_size = 32;

std::optional<unsigned> base64url_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  if (c == '_') return 63;
  return std::nullopt;
}

std::optional<Bytes> from_base64url(std::string_view text) {
  Bytes bytes;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto digit = base64url_digit(c);
    if (!digit) return std::nullopt;
    bits = (bits << 6 | *digit) & 0xFFFFFF;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<unsigned char>(bits >> held & 0xFF));
  }
  return bytes;
}

std::array<unsigned char, SHA256_DIGEST_LENGTH> sha256(const void* data, std::size_t size) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(static_cast<const unsigned char*>(data), size, digest.data());
  return digest;
}

/// What is trimmed and lowered before it is signed.
std::string plain(std::string_view text) {
  std::string out(text::trim(text));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool verifies(const Bytes& key, const Bytes& signature, std::string_view text) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> public_key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!public_key || !context) return false;
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, public_key.get()) != 1) return false;
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

}  // namespace

bool is_genuine(const DeviceClaim& claim) {
  const auto key = from_base64url(claim.public_key);
  const auto signature = from_base64url(claim.signature);
  if (!key || !signature || key->size() != key_size) return false;
  std::string id;
  for (const unsigned char byte : sha256(key->data(), key->size())) id += fmt::format("{:02x}", byte);
  if (id != claim.id) return false;
  const std::string common =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", claim.id, claim.client_id, claim.client_mode, claim.role,
                  claim.scopes, claim.signed_at_ms, claim.token, claim.nonce);
  return verifies(*key, *signature,
                  fmt::format("v3|{}|{}|{}", common, plain(claim.platform), plain(claim.device_family))) ||
         verifies(*key, *signature, "v2|" + common);
}

bool equal_secrets(std::string_view given, std::string_view secret) {
  const auto a = sha256(given.data(), given.size());
  const auto b = sha256(secret.data(), secret.size());
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_uuid() {
  std::array<unsigned char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0)
    throw Error(ErrorCode::failed, "no random numbers", errno_text(errno));
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3F) | 0x80);
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += hex[bytes[i] >> 4];
    out += hex[bytes[i] & 0xF];
  }
  return out;
}

}  // namespace tare::gateway
