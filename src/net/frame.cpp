#include "net/frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tare::net {
namespace {

constexpr unsigned final_bit = 0x80;
constexpr unsigned mask_bit = 0x80;
constexpr std::size_t most_control = 125;
constexpr std::size_t first_reserve = 64 * 1024;  ///< a length alone makes nobody allocate more

[[noreturn]] void refuse(CloseCode code, const char* why) {
  throw Closed(code, why);
}

/// Codes that may stand in a close frame (RFC 6455, 7.4 and the registry of IANA).
bool may_be_sent(unsigned code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

std::uint64_t big_endian(const unsigned char* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | at[i];
  return value;
}

}  // namespace

void apply_mask(std::span<char> bytes, MaskKey key, std::size_t at) {
  std::rotate(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(at % 4), key.end());
  std::uint32_t four;
  std::memcpy(&four, key.data(), sizeof four);
  const std::uint64_t eight = static_cast<std::uint64_t>(four) << 32U | four;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t chunk;
    std::memcpy(&chunk, bytes.data() + i, sizeof chunk);
    chunk ^= eight;
    std::memcpy(bytes.data() + i, &chunk, sizeof chunk);
  }
  for (; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ key[i % 4]);
}

void append_frame(std::string& out, Opcode opcode, std::string_view first, std::string_view second,
                  std::optional<MaskKey> mask) {
  std::array<unsigned char, 14> header;
  std::size_t size = 0;
  header[size++] = static_cast<unsigned char>(final_bit | static_cast<unsigned>(opcode));
  const std::uint64_t length = first.size() + second.size();
  const unsigned masked = mask ? mask_bit : 0;
  const auto put_length = [&](unsigned marker, unsigned bytes) {
    header[size++] = static_cast<unsigned char>(masked | marker);
    for (unsigned i = bytes; i-- > 0;) header[size++] = static_cast<unsigned char>(length >> (8 * i));
  };
  if (length <= 125) {
    put_length(static_cast<unsigned>(length), 0);
  } else if (length <= 0xFFFF) {
    put_length(126, 2);
  } else {
    put_length(127, 8);
  }
  if (mask) {
    std::copy(mask->begin(), mask->end(), header.begin() + static_cast<std::ptrdiff_t>(size));
    size += mask->size();
  }
  out.append(reinterpret_cast<const char*>(header.data()), size);
  const std::size_t payload = out.size();
  out.append(first).append(second);
  if (mask) apply_mask(std::span(out).subspan(payload), *mask, 0);
}

std::string close_payload(CloseCode code, std::string_view reason) {
  if (code == CloseCode::none) return {};
  std::string payload;
  payload += static_cast<char>(static_cast<unsigned>(code) >> 8U);
  payload += static_cast<char>(static_cast<unsigned>(code) & 0xFFU);
  std::size_t size = std::min(reason.size(), most_control - 2);
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(reason[i]) & 0xC0U) == 0x80;
  };
  while (size > 0 && size < reason.size() && continues(size)) --size;
  return payload.append(reason.substr(0, size));
}

FrameReader::Result FrameReader::read(std::span<char> bytes) {
  Result result;
  for (;;) {
    if (!in_payload_) result.used += read_header(bytes.subspan(result.used));
    if (!in_payload_) return result;
    const std::span<char> rest = bytes.subspan(result.used);
    const std::span<char> piece =
        rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size())));
    take_payload(piece);
    result.used += piece.size();
    if (left_ > 0) return result;
    in_payload_ = false;
    if (is_control()) return finish_control(result.used);
    if (final_) return finish_message(result.used);
  }
}

/// Returns how many bytes of the header were there; `in_payload_` says that they complete it.
std::size_t FrameReader::read_header(std::span<char> bytes) {
  std::size_t used = 0;
  const auto need = [&] {
    if (header_size_ < 2) return std::size_t{2};
    const unsigned marker = header_[1] & 0x7FU;
    return std::size_t{2} +
           (marker == 126   ? 2
            : marker == 127 ? 8
                            : 0) +
           ((header_[1] & mask_bit) != 0 ? 4 : 0);
  };
  while (header_size_ < need()) {
    const std::size_t n = std::min(need() - header_size_, bytes.size() - used);
    if (n == 0) return used;
    std::memcpy(header_.data() + header_size_, bytes.data() + used, n);
    header_size_ += n;
    used += n;
    if (header_size_ == 2) check_header();
  }
  start_frame();
  return used;
}

void FrameReader::check_header() const {
  if ((header_[0] & 0x70U) != 0) refuse(CloseCode::protocol_error, "a reserved bit is set");
  const unsigned opcode = header_[0] & 0x0FU;
  if ((opcode & 7U) > 2) refuse(CloseCode::protocol_error, "an unknown opcode");
  const bool masked = (header_[1] & mask_bit) != 0;
  if (masked != (role_ == Role::server)) {
    refuse(CloseCode::protocol_error,
           masked ? "a server's frame is masked" : "a client's frame is not masked");
  }
  if ((opcode & 8U) == 0) return;
  if ((header_[0] & final_bit) == 0) refuse(CloseCode::protocol_error, "a control frame is fragmented");
  if ((header_[1] & 0x7FU) > most_control) refuse(CloseCode::protocol_error, "a control frame is too long");
}

void FrameReader::start_frame() {
  opcode_ = static_cast<Opcode>(header_[0] & 0x0FU);
  final_ = (header_[0] & final_bit) != 0;
  const unsigned marker = header_[1] & 0x7FU;
  const std::size_t extra = marker == 126 ? 2 : marker == 127 ? 8 : 0;
  length_ = extra == 0 ? marker : big_endian(header_.data() + 2, extra);
  if ((extra == 2 && length_ < 126) || (extra == 8 && length_ <= 0xFFFF) || length_ >> 63U != 0) {
    refuse(CloseCode::protocol_error, "a length that is not the shortest");
  }
  if (role_ == Role::server)
    std::copy_n(header_.begin() + static_cast<std::ptrdiff_t>(2 + extra), 4, key_.begin());
  left_ = length_;
  header_size_ = 0;
  in_payload_ = true;
  if (is_control()) {
    control_.clear();
    return;
  }
  const bool begun = message_opcode_ != Opcode::continuation;
  if (begun != (opcode_ == Opcode::continuation)) {
    refuse(CloseCode::protocol_error,
           begun ? "a message within a fragmented one" : "a continuation of nothing");
  }
  if (!begun) message_opcode_ = opcode_;
  if (message_.size() > limit_ || length_ > limit_ - message_.size()) {
    refuse(CloseCode::too_big, "the message is too big");
  }
  message_.reserve(message_.size() +
                   static_cast<std::size_t>(std::min<std::uint64_t>(length_, first_reserve)));
}

void FrameReader::take_payload(std::span<char> piece) {
  if (role_ == Role::server) apply_mask(piece, key_, static_cast<std::size_t>(length_ - left_));
  left_ -= piece.size();
  const std::string_view text(piece.data(), piece.size());
  if (is_control()) {
    control_.append(text);
    return;
  }
  if (message_opcode_ == Opcode::text && !utf8_.feed(text))
    refuse(CloseCode::bad_payload, "the text is not UTF-8");
  message_.append(text);
}

FrameReader::Result FrameReader::finish_message(std::size_t used) {
  const Opcode opcode = std::exchange(message_opcode_, Opcode::continuation);
  if (opcode == Opcode::text && !utf8_.complete()) refuse(CloseCode::bad_payload, "the text is not UTF-8");
  return {used, opcode == Opcode::text ? Kind::text : Kind::binary, std::exchange(message_, {}),
          CloseCode::none};
}

FrameReader::Result FrameReader::finish_control(std::size_t used) {
  if (opcode_ == Opcode::ping) return {used, Kind::ping, std::move(control_), CloseCode::none};
  if (opcode_ == Opcode::pong) return {used, Kind::pong, std::move(control_), CloseCode::none};
  if (control_.empty()) return {used, Kind::close, {}, CloseCode::none};
  if (control_.size() == 1) refuse(CloseCode::protocol_error, "a close frame with half a code");
  const auto code =
      static_cast<std::uint16_t>(big_endian(reinterpret_cast<unsigned char*>(control_.data()), 2));
  if (!may_be_sent(code)) refuse(CloseCode::protocol_error, "a close code that is reserved");
  std::string reason = control_.substr(2);
  Utf8 check;
  if (!check.feed(reason) || !check.complete()) refuse(CloseCode::bad_payload, "the reason is not UTF-8");
  return {used, Kind::close, std::move(reason), static_cast<CloseCode>(code)};
}

}  // namespace tare::net
