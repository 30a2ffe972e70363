#include "engine/bindings/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <node.h>
#include <vector>

#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

v8::MaybeLocal<v8::String> too_long(v8::Isolate* isolate) {
  throw_error(isolate, ErrorKind::error, "ERR_STRING_TOO_LONG",
              "Cannot create a string longer than 0x1fffffe8 characters");
  return {};
}

v8::MaybeLocal<v8::String> one_byte(v8::Isolate* isolate, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > v8::String::kMaxLength) return too_long(isolate);
  v8::Local<v8::String> text;
  if (!v8::String::NewFromOneByte(isolate, bytes.data(), v8::NewStringType::kNormal,
                                  static_cast<int>(bytes.size()))
           .ToLocal(&text))
    return too_long(isolate);
  return text;
}

v8::MaybeLocal<v8::String> one_byte(v8::Isolate* isolate, std::string_view text) {
  return one_byte(isolate, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

v8::MaybeLocal<v8::String> from_ascii(v8::Isolate* isolate, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > v8::String::kMaxLength) return too_long(isolate);
  if (is_ascii(bytes)) return one_byte(isolate, bytes);
  std::vector<std::uint8_t> seven(bytes.size());
  std::ranges::transform(bytes, seven.begin(), [](std::uint8_t byte) { return byte & 0x7f; });
  return one_byte(isolate, seven);
}

v8::MaybeLocal<v8::String> from_utf8(v8::Isolate* isolate, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > v8::String::kMaxLength) return too_long(isolate);
  if (is_ascii(bytes)) return one_byte(isolate, bytes);
  v8::Local<v8::String> text;
  if (!v8::String::NewFromUtf8(isolate, reinterpret_cast<const char*>(bytes.data()),
                               v8::NewStringType::kNormal, static_cast<int>(bytes.size()))
           .ToLocal(&text))
    return too_long(isolate);
  return text;
}

v8::MaybeLocal<v8::String> from_utf16(v8::Isolate* isolate, std::span<const std::uint8_t> bytes) {
  const std::size_t count = bytes.size() / 2;
  if (count > v8::String::kMaxLength) return too_long(isolate);
  const auto* units = reinterpret_cast<const std::uint16_t*>(bytes.data());
  std::vector<std::uint16_t> aligned;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint16_t) != 0) {
    aligned.resize(count);
    std::memcpy(aligned.data(), bytes.data(), count * 2);
    units = aligned.data();
  }
  v8::Local<v8::String> text;
  if (!v8::String::NewFromTwoByte(isolate, units, v8::NewStringType::kNormal, static_cast<int>(count))
           .ToLocal(&text))
    return too_long(isolate);
  return text;
}

v8::MaybeLocal<v8::String> from_hex(v8::Isolate* isolate, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > v8::String::kMaxLength / 2) return too_long(isolate);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(bytes.size() * 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  return one_byte(isolate, text);
}

v8::MaybeLocal<v8::String> from_base64(v8::Isolate* isolate, std::span<const std::uint8_t> bytes,
                                       Base64 alphabet) {
  if (bytes.size() > v8::String::kMaxLength / 4 * 3) return too_long(isolate);
  return one_byte(isolate, to_base64(bytes, alphabet));
}

int hex_digit(std::uint8_t unit) {
  if (unit >= '0' && unit <= '9') return unit - '0';
  const int lower = unit | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Stops at the first pair that isn't one. Of a character counts what latin1 would keep.
std::size_t write_hex(v8::Isolate* isolate, std::span<std::uint8_t> to, v8::Local<v8::String> text) {
  const std::size_t most = std::min(to.size(), static_cast<std::size_t>(text->Length()) / 2);
  std::array<std::uint8_t, 512> units;
  std::size_t done = 0;
  while (done < most) {
    const std::size_t pairs = std::min(most - done, units.size() / 2);
    text->WriteOneByteV2(isolate, static_cast<std::uint32_t>(done * 2), static_cast<std::uint32_t>(pairs * 2),
                         units.data());
    for (std::size_t i = 0; i < pairs; ++i) {
      const int high = hex_digit(units[2 * i]);
      const int low = hex_digit(units[2 * i + 1]);
      if (high < 0 || low < 0) return done;
      to[done++] = static_cast<std::uint8_t>(high << 4 | low);
    }
  }
  return done;
}

std::size_t write_utf16(v8::Isolate* isolate, std::span<std::uint8_t> to, v8::Local<v8::String> text) {
  const std::size_t count = std::min(to.size() / 2, static_cast<std::size_t>(text->Length()));
  if (reinterpret_cast<std::uintptr_t>(to.data()) % alignof(std::uint16_t) == 0) {
    text->WriteV2(isolate, 0, static_cast<std::uint32_t>(count), reinterpret_cast<std::uint16_t*>(to.data()));
  } else {
    std::vector<std::uint16_t> aligned(count);
    text->WriteV2(isolate, 0, static_cast<std::uint32_t>(count), aligned.data());
    std::memcpy(to.data(), aligned.data(), count * 2);
  }
  return count * 2;
}

std::size_t most_bytes(v8::Isolate* isolate, v8::Local<v8::String> text, Encoding encoding) {
  const auto length = static_cast<std::size_t>(text->Length());
  switch (encoding) {
    case Encoding::utf8:
    case Encoding::buffer:
      return text->Utf8LengthV2(isolate);
    case Encoding::utf16le:
      return length * 2;
    case Encoding::hex:
      return length / 2;
    default:
      return length;
  }
}

}  // namespace

v8::MaybeLocal<v8::String> encode(v8::Isolate* isolate, std::span<const std::uint8_t> bytes,
                                  Encoding encoding) {
  if (bytes.empty()) return v8::String::Empty(isolate);
  switch (encoding) {
    case Encoding::ascii:
      return from_ascii(isolate, bytes);
    case Encoding::latin1:
      return one_byte(isolate, bytes);
    case Encoding::utf16le:
      return from_utf16(isolate, bytes);
    case Encoding::hex:
      return from_hex(isolate, bytes);
    case Encoding::base64:
      return from_base64(isolate, bytes, Base64::standard);
    case Encoding::base64url:
      return from_base64(isolate, bytes, Base64::url);
    case Encoding::utf8:
    case Encoding::buffer:
      break;
  }
  return from_utf8(isolate, bytes);
}

std::size_t write(v8::Isolate* isolate, std::span<std::uint8_t> to, v8::Local<v8::String> text,
                  Encoding encoding) {
  if (to.empty()) return 0;
  switch (encoding) {
    case Encoding::ascii:
    case Encoding::latin1: {
      const std::size_t count = std::min(to.size(), static_cast<std::size_t>(text->Length()));
      text->WriteOneByteV2(isolate, 0, static_cast<std::uint32_t>(count), to.data());
      return count;
    }
    case Encoding::utf16le:
      return write_utf16(isolate, to, text);
    case Encoding::hex:
      return write_hex(isolate, to, text);
    case Encoding::base64:
    case Encoding::base64url: {
      // What counts as base64 is a matter of many small rules: those of the Node that hosts this.
      const auto like = encoding == Encoding::base64 ? node::BASE64 : node::BASE64URL;
      const ssize_t count =
          node::DecodeWrite(isolate, reinterpret_cast<char*>(to.data()), to.size(), text, like);
      return count < 0 ? 0 : static_cast<std::size_t>(count);
    }
    case Encoding::utf8:
    case Encoding::buffer:
      break;
  }
  return text->WriteUtf8V2(isolate, reinterpret_cast<char*>(to.data()), to.size(),
                           v8::String::WriteFlags::kReplaceInvalidUtf8);
}

std::string decode(v8::Isolate* isolate, v8::Local<v8::String> text, Encoding encoding) {
  std::string bytes(most_bytes(isolate, text, encoding), '\0');
  bytes.resize(write(isolate, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}, text, encoding));
  return bytes;
}

Encoding encoding_of(v8::Isolate* isolate, v8::Local<v8::Value> value, Encoding otherwise) {
  if (value->IsUint32()) {
    const std::uint32_t number = value.As<v8::Uint32>()->Value();
    return number <= static_cast<std::uint32_t>(Encoding::base64url) ? static_cast<Encoding>(number)
                                                                     : otherwise;
  }
  if (!value->IsString()) return otherwise;
  std::string name = to_string(isolate, value);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
  if (name == "utf8" || name == "utf-8") return Encoding::utf8;
  if (name == "ucs2" || name == "ucs-2" || name == "utf16le" || name == "utf-16le") return Encoding::utf16le;
  if (name == "latin1" || name == "binary") return Encoding::latin1;
  if (name == "ascii") return Encoding::ascii;
  if (name == "base64") return Encoding::base64;
  if (name == "base64url") return Encoding::base64url;
  if (name == "hex") return Encoding::hex;
  return name == "buffer" ? Encoding::buffer : otherwise;
}

bool is_ascii(std::span<const std::uint8_t> bytes) {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + i, 8);
    if ((eight & 0x8080808080808080U) != 0) return false;
  }
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.end(),
                     [](std::uint8_t byte) { return byte < 0x80; });
}

bool is_utf8(std::span<const std::uint8_t> bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (i + 8 <= bytes.size() && is_ascii(bytes.subspan(i, 8))) {
      i += 8;
      continue;
    }
    const std::uint8_t lead = bytes[i++];
    if (lead < 0x80) continue;
    // The second byte has a narrower range where a longer form, a surrogate or more than 21 bits would begin.
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xbf;
    int more = 0;
    if (lead >= 0xc2 && lead <= 0xdf)
      more = 1;
    else if (lead >= 0xe0 && lead <= 0xef)
      more = 2;
    else if (lead >= 0xf0 && lead <= 0xf4)
      more = 3;
    else
      return false;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    for (; more > 0; --more, low = 0x80, high = 0xbf) {
      if (i == bytes.size() || bytes[i] < low || bytes[i] > high) return false;
      ++i;
    }
  }
  return true;
}

std::string to_base64(std::span<const std::uint8_t> bytes, Base64 alphabet) {
  const std::string_view digits = alphabet == Base64::url
                                      ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                                      : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  std::size_t at = 0;
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t three = static_cast<std::uint32_t>(bytes[i]) << 16 | bytes[i + 1] << 8 | bytes[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) text[at++] = digits[three >> shift & 63];
  }
  const std::size_t left = bytes.size() - i;
  if (left > 0) {
    const std::uint32_t last =
        static_cast<std::uint32_t>(bytes[i]) << 16 | (left == 2 ? bytes[i + 1] << 8 : 0);
    for (std::size_t digit = 0; digit <= left; ++digit) text[at++] = digits[last >> (18 - 6 * digit) & 63];
    if (alphabet == Base64::url) text.resize(at);
  }
  return text;
}

}  // namespace tare::engine
