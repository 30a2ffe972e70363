#include "runtime/gateway/device.hpp"

#include <array>
#include <memory>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tare::gateway {
namespace {

/// A device with a key of its own, which signs a text.
class Device {
 public:
  Device() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free) {}

  std::vector<unsigned char> public_key() const {
    std::vector<unsigned char> raw(32);
    std::size_t size = raw.size();
    EVP_PKEY_get_raw_public_key(key_.get(), raw.data(), &size);
    return raw;
  }
  std::string id() const {
    const auto raw = public_key();
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(raw.data(), raw.size(), digest.data());
    std::string id;
    for (const unsigned char byte : digest) id += fmt::format("{:02x}", byte);
    return id;
  }
  std::string sign(const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::vector<unsigned char> signature(64);
    std::size_t size = signature.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get());
    EVP_DigestSign(context.get(), signature.data(), &size,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return base64url(signature);
  }
  static std::string base64url(const std::vector<unsigned char>& bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3), '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes.data(),
                    static_cast<int>(bytes.size()));
    std::string url;
    for (const char c : out) {
      if (c != '=') url += c == '+' ? '-' : c == '/' ? '_' : c;
    }
    return url;
  }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    claim.id = device.id();
    claim.public_key = Device::base64url(device.public_key());
    claim.signed_at_ms = 1'700'000'000'000;
    claim.nonce = "n";
    claim.client_id = "cli";
    claim.client_mode = "cli";
    claim.role = "operator";
    claim.scopes = "operator.read,operator.write";
    claim.platform = " Linux ";
    claim.signature = device.sign("v3|" + signed_text() + "|linux|");
  }
  std::string signed_text() const {
    return claim.id + "|cli|cli|operator|operator.read,operator.write|1700000000000||n";
  }
  Device device;
  DeviceClaim claim;
};

TEST_F(DeviceTest, the_owner_of_the_key_is_believed) {
  EXPECT_TRUE(is_genuine(claim));
}

TEST_F(DeviceTest, older_clients_sign_less) {
  claim.signature = device.sign("v2|" + signed_text());
  EXPECT_TRUE(is_genuine(claim));
}

TEST_F(DeviceTest, nothing_that_was_signed_may_be_changed) {
  for (std::string DeviceClaim::* member :
       {&DeviceClaim::nonce, &DeviceClaim::client_id, &DeviceClaim::role, &DeviceClaim::scopes,
        &DeviceClaim::token, &DeviceClaim::platform}) {
    DeviceClaim changed = claim;
    changed.*member += "x";
    EXPECT_FALSE(is_genuine(changed));
  }
}

TEST_F(DeviceTest, another_devices_key_or_id_is_not_believed) {
  const Device other;
  DeviceClaim changed = claim;
  changed.public_key = Device::base64url(other.public_key());
  EXPECT_FALSE(is_genuine(changed));
  changed.id = other.id();
  EXPECT_FALSE(is_genuine(changed));
  changed.public_key = "not base64url!";
  EXPECT_FALSE(is_genuine(changed));
}

TEST(Secrets, are_equal_or_not) {
  EXPECT_TRUE(equal_secrets("sesame", "sesame"));
  EXPECT_FALSE(equal_secrets("sesam", "sesame"));
  EXPECT_FALSE(equal_secrets("", "sesame"));
}

TEST(RandomUuid, has_the_form_of_one_and_is_new_each_time) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = random_uuid();
    EXPECT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[14], '4');
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 100u);
}

}  // namespace
}  // namespace tare::gateway
