#include "protocol/frame.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::guest {
namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t kind_and_id_bytes = frame_header_bytes - length_bytes;

// Byte by byte, so that it is little endian on every machine.
void put_u32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

std::uint32_t get_u32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

std::string encode(Kind kind, std::uint32_t id, std::string_view payload) {
  if (payload.size() > payload_limit)
    throw Error(ErrorCode::input, "a message for the guest engine is too large",
                fmt::format("{}; at most {} fit", text::bytes(payload.size()), text::bytes(payload_limit)));
  std::string out;
  out.reserve(frame_header_bytes + payload.size());
  put_u32(out, static_cast<std::uint32_t>(kind_and_id_bytes + payload.size()));
  out += static_cast<char>(kind);
  put_u32(out, id);
  out += payload;
  return out;
}

void Decoder::append(std::string_view bytes) {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_ += bytes;
}

std::optional<Frame> Decoder::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < length_bytes) return std::nullopt;
  const std::size_t length = get_u32(rest);
  if (length < kind_and_id_bytes || length > kind_and_id_bytes + payload_limit)
    throw Error(ErrorCode::input, "the stream of a guest engine is broken",
                fmt::format("a frame of {} bytes", length));
  if (rest.size() < length_bytes + length) return std::nullopt;
  begin_ += length_bytes + length;
  return Frame{static_cast<Kind>(rest[length_bytes]), get_u32(rest.substr(length_bytes + 1)),
               std::string(rest.substr(frame_header_bytes, length - kind_and_id_bytes))};
}

std::string encode_stdio_header(Stream stream, std::uint32_t length) {
  std::string out(1, static_cast<char>(stream));
  put_u32(out, length);
  return out;
}

StdioHeader decode_stdio_header(std::string_view bytes) {
  const auto stream = static_cast<Stream>(bytes[0]);
  if (stream != Stream::standard_output && stream != Stream::standard_error)
    throw Error(ErrorCode::input, "the output of a guest is broken",
                fmt::format("stream {}", static_cast<int>(stream)));
  return {stream, get_u32(bytes.substr(1))};
}

}  // namespace tare::guest
