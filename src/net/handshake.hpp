#pragma once

#include <string>
#include <string_view>

namespace tare::net {

/// Base64 with padding (RFC 4648, 4).
std::string base64(std::string_view bytes);

/// The Sec-WebSocket-Accept to a Sec-WebSocket-Key (RFC 6455, 4.2.2).
std::string accept_key(std::string_view key);

/// True for the base64 of 16 bytes.
bool is_websocket_key(std::string_view key);

}  // namespace tare::net
