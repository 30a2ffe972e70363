#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// How a client proves that it is the device that it says: an Ed25519 signature over what it asks for and the
/// nonce of the connection.
namespace tare::gateway {

/// What a device signs.
struct DeviceClaim {
  std::string id;          ///< SHA-256 of the public key, in lower-case hexadecimal
  std::string public_key;  ///< 32 bytes, base64url without padding
  std::string signature;   ///< 64 bytes, base64url without padding
  std::int64_t signed_at_ms = 0;
  std::string nonce;

  std::string client_id;
  std::string client_mode;
  std::string role;
  std::string scopes;  ///< joined by commas, in the order of the request
  std::string token;   ///< as sent, or empty
  std::string platform;
  std::string device_family;
};

/// Whether the id is the key's, and the signature is the key's over this claim, in version 2 or 3 of its
/// text.
bool is_genuine(const DeviceClaim& claim);

/// Compares in a time that tells nothing of where they differ, or of how long the secret is.
bool equal_secrets(std::string_view given, std::string_view secret);

/// 128 random bits as a UUID of version 4.
std::string random_uuid();

}  // namespace tare::gateway
