#include <memory>
#include <vector>

#include "engine/bindings/support.hpp"
#include "engine/bindings/ucnv.hpp"

namespace tare::engine {
namespace {

constexpr int buffer_overflow = 15;  // U_BUFFER_OVERFLOW_ERROR
constexpr int wrong_argument = 1;    // U_ILLEGAL_ARGUMENT_ERROR

struct Close {
  void operator()(UConverter* converter) const { ucnv_close_78(converter); }
};
using Converter = std::unique_ptr<UConverter, Close>;

Converter open(const std::string& name) {
  int status = 0;
  Converter converter(name.empty() ? nullptr : ucnv_open_78(name.c_str(), &status));
  if (status > 0) converter.reset();
  return converter;
}

void has_converter(const Arguments& args) {
  args.GetReturnValue().Set(open(to_string(args.GetIsolate(), args[0])) != nullptr);
}

struct Decoded {
  std::vector<char16_t> units;
  int status = 0;
  int pending = 0;  ///< bytes at the end that begin a character
};

Decoded convert(UConverter* converter, std::string_view bytes, signed char flush) {
  Decoded decoded;
  const char* source = bytes.data();
  const char* const end = source + bytes.size();
  std::size_t done = 0;
  decoded.units.resize(bytes.size() + 16);
  do {
    decoded.status = 0;
    char16_t* target = decoded.units.data() + done;
    ucnv_toUnicode_78(converter, &target, decoded.units.data() + decoded.units.size(), &source, end, nullptr,
                      flush, &decoded.status);
    done = static_cast<std::size_t>(target - decoded.units.data());
    if (decoded.status == buffer_overflow) decoded.units.resize(decoded.units.size() * 2);
  } while (decoded.status == buffer_overflow);
  decoded.units.resize(done);
  int status = 0;
  if (flush == 0) decoded.pending = ucnv_toUCountPending_78(converter, &status);
  return decoded;
}

/// decode(name, bytes held, bytes, flush, fatal): [text, how many bytes of the two are to be held]. The
/// converter lives for one call: between two of them all there is to keep is the start of a character.
void decode(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!has_bytes(args[2])) {
    return throw_error(
        isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE",
        "The \"input\" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.");
  }
  const std::string name = to_string(isolate, args[0]);
  const Converter converter = open(name);
  if (converter == nullptr) return args.GetReturnValue().Set(wrong_argument);
  int status = 0;
  if (args[4]->IsTrue())
    ucnv_setToUCallBack_78(converter.get(), UCNV_TO_U_CALLBACK_STOP_78, nullptr, nullptr, nullptr, &status);
  // What can't be converted becomes U+FFFD, not the encoding's own mark for it.
  ucnv_setSubstChars_78(converter.get(), "?", 1, &status);
  std::string bytes(Bytes(args[1]).text());
  bytes += Bytes(args[2]).text();
  const Decoded decoded = convert(converter.get(), bytes, args[3]->IsTrue() ? 1 : 0);
  if (decoded.status > 0) {
    return throw_error(isolate, ErrorKind::type, "ERR_ENCODING_INVALID_ENCODED_DATA",
                       "The encoded data was not valid for encoding " + to_string(isolate, args[5]));
  }
  v8::Local<v8::String> text;
  if (decoded.units.size() > v8::String::kMaxLength ||
      !v8::String::NewFromTwoByte(isolate, reinterpret_cast<const std::uint16_t*>(decoded.units.data()),
                                  v8::NewStringType::kNormal, static_cast<int>(decoded.units.size()))
           .ToLocal(&text)) {
    return throw_error(isolate, ErrorKind::error, "ERR_STRING_TOO_LONG",
                       "Cannot create a string longer than 0x1fffffe8 characters");
  }
  v8::Local<v8::Value> result[] = {text, v8::Integer::New(isolate, decoded.pending)};
  args.GetReturnValue().Set(v8::Array::New(isolate, result, 2));
}

void icu_error_name(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const int status = args[0]->Int32Value(isolate->GetCurrentContext()).FromMaybe(0);
  args.GetReturnValue().Set(to_v8(isolate, u_errorName_78(status)));
}

constexpr int emoji_presentation = 58;
constexpr int emoji_modifier = 59;

/// Columns of a character in a terminal, by its class and its East Asian width.
int columns(std::int32_t character, bool wide_when_ambiguous) {
  constexpr int east_asian_width = 0x1004;
  constexpr unsigned no_width = 1U << 6 | 1U << 7 | 1U << 15 | 1U << 16;  // Mn, Me, Cc, Cf
  switch (u_getIntPropertyValue_78(character, east_asian_width)) {
    case 3:  // full width
    case 5:  // wide
      return 2;
    case 1:
      if (wide_when_ambiguous) return 2;
      [[fallthrough]];
    case 0:
      if (u_hasBinaryProperty_78(character, emoji_presentation) != 0) return 2;
      break;
    default:
      break;
  }
  const bool invisible = (no_width >> u_charType_78(character) & 1U) != 0;
  return character != 0xad && invisible ? 0 : 1;
}

/// getStringWidth(text, whether ambiguous characters are wide, whether emoji sequences count each)
void get_string_width(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsString()) return;
  const v8::Local<v8::String> text = args[0].As<v8::String>();
  std::vector<std::uint16_t> units(static_cast<std::size_t>(text->Length()));
  text->WriteV2(isolate, 0, static_cast<std::uint32_t>(units.size()), units.data());
  std::uint32_t width = 0;
  std::int32_t before = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::int32_t character = units[i];
    if ((character & 0xfc00) == 0xd800 && i + 1 < units.size() && (units[i + 1] & 0xfc00) == 0xdc00)
      character = 0x10000 + ((character & 0x3ff) << 10) + (units[++i] & 0x3ff);
    const bool joined = args[2]->IsFalse() && before == 0x200d &&
                        (u_hasBinaryProperty_78(character, emoji_presentation) != 0 ||
                         u_hasBinaryProperty_78(character, emoji_modifier) != 0);
    before = character;
    if (!joined) width += static_cast<std::uint32_t>(columns(character, args[1]->IsTrue()));
  }
  args.GetReturnValue().Set(width);
}

constexpr Native icu_natives[] = {
    {"hasConverter", has_converter},
    {"decode", decode},
    {"icuErrName", icu_error_name},
    {"getStringWidth", get_string_width},
};

}  // namespace

extern const Binding icu_binding;
const Binding icu_binding{"icu", icu_natives};

}  // namespace tare::engine
