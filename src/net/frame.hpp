#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/utf8.hpp"
#include "net/websocket.hpp"

/// WebSocket framing (RFC 6455, section 5) without a socket.
namespace tare::net {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

using MaskKey = std::array<unsigned char, 4>;

/// Appends one unfragmented frame whose payload is `first` and then `second`. A client masks, a server
/// doesn't.
void append_frame(std::string& out, Opcode opcode, std::string_view first, std::string_view second,
                  std::optional<MaskKey> mask);

/// XORs the bytes with the key, which starts at its byte `at`.
void apply_mask(std::span<char> bytes, MaskKey key, std::size_t at);

/// The payload of a close frame; empty for CloseCode::none. A reason of more than 123 bytes is cut at a
/// character.
std::string close_payload(CloseCode code, std::string_view reason);

enum class Role { client, server };

/// Puts messages together from bytes that are split anywhere.
class FrameReader {
 public:
  /// `role`: of the side that reads. `limit`: bytes of a message.
  FrameReader(Role role, std::size_t limit) : role_(role), limit_(limit) {}
  /// Of the messages from now on.
  void set_limit(std::size_t limit) { limit_ = limit; }

  enum class Kind { nothing, text, binary, ping, pong, close };
  struct Result {
    std::size_t used = 0;  ///< of the bytes; all of them when the kind is `nothing`
    Kind kind = Kind::nothing;
    std::string data;  ///< of a message, ping or pong; the reason of a close
    CloseCode code{CloseCode::none};
  };
  /// Reads until the first message or control frame is complete, unmasking the bytes in place. Throws Closed
  /// with the code to close with when they break the protocol or a limit.
  Result read(std::span<char> bytes);

 private:
  std::size_t read_header(std::span<char> bytes);
  void check_header() const;
  void start_frame();
  void take_payload(std::span<char> piece);
  Result finish_message(std::size_t used);
  Result finish_control(std::size_t used);
  bool is_control() const { return (static_cast<unsigned>(opcode_) & 8U) != 0; }

  Role role_;
  std::size_t limit_;

  std::array<unsigned char, 14> header_{};
  std::size_t header_size_ = 0;
  bool in_payload_ = false;
  bool final_ = false;
  Opcode opcode_{};
  MaskKey key_{};
  std::uint64_t length_ = 0;  ///< of the frame's payload
  std::uint64_t left_ = 0;    ///< of it, not here yet

  std::string message_;
  Opcode message_opcode_ = Opcode::continuation;  ///< continuation: none has begun
  std::string control_;
  Utf8 utf8_;
};

}  // namespace tare::net
