#include "net/handshake.hpp"

#include <array>

#include <boost/uuid/detail/sha1.hpp>

namespace tare::net {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (unsigned k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : base64_digits[bits >> (18 - 6 * k) & 63U];
    }
  }
  return text;
}

std::string accept_key(std::string_view key) {
  boost::uuids::detail::sha1 hash;
  hash.process_bytes(key.data(), key.size());
  constexpr std::string_view guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  hash.process_bytes(guid.data(), guid.size());
  unsigned int words[5];
  hash.get_digest(words);
  std::string digest;
  for (const unsigned word : words) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) digest += static_cast<char>(word >> shift & 0xFFU);
  }
  return base64(digest);
}

bool is_websocket_key(std::string_view key) {
  return key.size() == 24 && key.ends_with("==") &&
         key.substr(0, 22).find_first_not_of(base64_digits) == std::string_view::npos;
}

}  // namespace tare::net
