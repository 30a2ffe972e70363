#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <v8.h>

/// Strings as bytes and back, in the encodings of Buffer.
namespace tare::engine {

/// The numbers are those of the library's `encodings`.
enum class Encoding : std::uint8_t { ascii, utf8, base64, utf16le, latin1, hex, buffer, base64url };

/// The string that the bytes stand for; nothing with ERR_STRING_TOO_LONG thrown when V8 can't hold it.
/// `buffer` counts as utf8.
v8::MaybeLocal<v8::String> encode(v8::Isolate* isolate, std::span<const std::uint8_t> bytes,
                                  Encoding encoding);

/// Writes the bytes that the string stands for, as many as fit, and never half a character. Returns how many.
std::size_t write(v8::Isolate* isolate, std::span<std::uint8_t> to, v8::Local<v8::String> text,
                  Encoding encoding);

/// All of the bytes that the string stands for.
std::string decode(v8::Isolate* isolate, v8::Local<v8::String> text, Encoding encoding);

/// An encoding as the library's functions give it: a number or a name; `otherwise` when it is neither.
Encoding encoding_of(v8::Isolate* isolate, v8::Local<v8::Value> value, Encoding otherwise = Encoding::utf8);

bool is_ascii(std::span<const std::uint8_t> bytes);
bool is_utf8(std::span<const std::uint8_t> bytes);

enum class Base64 : std::uint8_t { standard, url };
std::string to_base64(std::span<const std::uint8_t> bytes, Base64 alphabet);

}  // namespace tare::engine
