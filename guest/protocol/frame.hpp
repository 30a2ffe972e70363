#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What the client and the guest engine say to each other over the engine's descriptor 3.
///
/// A frame is little endian: u32 length of all that follows it, u8 kind, u32 id, payload. The payload is JSON
/// (see messages.hpp), but for write_file and profile, where raw bytes follow one line of JSON.
namespace tare::guest {

enum class Kind : std::uint8_t {
  // client to engine
  create_vm = 1,       ///< id: the virtual machine; CreateVm
  dispose_vm = 2,      ///< id: the virtual machine; {}; kills what lives in it
  spawn = 3,           ///< id: the execution; Spawn; a socket rides along on its first byte with Stdio::pipe
  kill = 4,            ///< id: the execution; Kill
  stats = 5,           ///< id: any; {}
  write_file = 6,      ///< id: the virtual machine; WriteFile, newline, bytes
  create_context = 7,  ///< id: the context; CreateContext
  stages = 8,          ///< id: any; {}; of an engine that traces
  // engine to client
  ready = 64,    ///< id: 0; Ready
  started = 65,  ///< id: the execution; Started
  exited = 66,   ///< id: the execution; Exited
  log = 67,      ///< id: 0; Log
  reply = 68,    ///< id: of the request; Reply
  profile = 69,  ///< id: the execution; ProfilePart, newline, bytes; before `exited`
};

/// The descriptor of the engine that carries the frames.
inline constexpr int control_fd = 3;

/// Of a payload, in bytes.
inline constexpr std::size_t payload_limit = std::size_t{16} << 20;

/// Bytes before the payload: length, kind and id.
inline constexpr std::size_t frame_header_bytes = 9;

struct Frame {
  Kind kind{};
  std::uint32_t id = 0;
  std::string payload;
};

/// The bytes of one frame. Throws Error(input) for a payload over the limit.
std::string encode(Kind kind, std::uint32_t id, std::string_view payload);

/// Frames out of a stream of bytes that comes in pieces of any size. Not thread-safe.
class Decoder {
 public:
  void append(std::string_view bytes);

  /// The next whole frame, if it is there. Throws Error(input) for a length that no frame has: the stream is
  /// of no use from there on. A kind that this side does not know is returned as it is.
  std::optional<Frame> next();

  /// Whether the stream has ended, or could end, between two frames.
  bool empty() const { return begin_ == buffer_.size(); }

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of what has not been returned
};

// The stdio socket of an execution. Client to guest: the bytes of stdin as they are, ended by
// shutdown(SHUT_WR). Guest to client: u8 stream, u32 length, bytes.

enum class Stream : std::uint8_t { standard_output = 1, standard_error = 2 };

inline constexpr std::size_t stdio_header_bytes = 5;

/// What precedes `length` bytes of a stream.
std::string encode_stdio_header(Stream stream, std::uint32_t length);

struct StdioHeader {
  Stream stream{};
  std::uint32_t length = 0;
};

/// The header at the start of `bytes`, of which there must be stdio_header_bytes. Throws Error(input) for a
/// stream that there is not.
StdioHeader decode_stdio_header(std::string_view bytes);

}  // namespace tare::guest
