#include "engine/bindings/ada.hpp"
#include "engine/bindings/support.hpp"
#include "engine/bindings/text.hpp"

namespace tare::engine {
namespace {

/// encodeInto(text, bytes, results): results are the characters read and the bytes written.
void encode_into(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  if (!args[0]->IsString() || !args[2]->IsUint32Array()) return;
  const std::span<std::uint8_t> memory = memory_of(args[1]);
  std::size_t read = 0;
  std::size_t written = 0;
  if (!memory.empty()) {
    written =
        args[0].As<v8::String>()->WriteUtf8V2(isolate, reinterpret_cast<char*>(memory.data()), memory.size(),
                                              v8::String::WriteFlags::kReplaceInvalidUtf8, &read);
  }
  const v8::Local<v8::Object> results = args[2].As<v8::Object>();
  results->Set(context, 0, v8::Number::New(isolate, static_cast<double>(read))).Check();
  results->Set(context, 1, v8::Number::New(isolate, static_cast<double>(written))).Check();
}

void encode_utf8_string(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsString()) return;
  const v8::Local<v8::String> text = args[0].As<v8::String>();
  v8::Local<v8::ArrayBuffer> buffer;
  const std::size_t size = text->Utf8LengthV2(isolate);
  if (!make_memory(isolate, size).ToLocal(&buffer)) return;
  if (size > 0) write(isolate, {static_cast<std::uint8_t*>(buffer->Data()), size}, text, Encoding::utf8);
  args.GetReturnValue().Set(v8::Uint8Array::New(buffer, 0, size));
}

/// decodeUTF8(bytes, whether a byte order mark is kept, whether bad bytes throw).
void decode_utf8(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!has_bytes(args[0])) {
    return throw_error(
        isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE",
        "The \"list\" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.");
  }
  const bool keep_mark = args[1]->BooleanValue(isolate);
  const bool fatal = args[2]->BooleanValue(isolate);
  const Bytes given(args[0]);
  std::span<const std::uint8_t> bytes = given.span();
  if (fatal && !is_utf8(bytes)) {
    return throw_error(isolate, ErrorKind::type, "ERR_ENCODING_INVALID_ENCODED_DATA",
                       "The encoded data was not valid for encoding utf-8");
  }
  if (!keep_mark && given.text().starts_with("\xef\xbb\xbf")) bytes = bytes.subspan(3);
  v8::Local<v8::String> text;
  if (encode(isolate, bytes, Encoding::utf8).ToLocal(&text)) args.GetReturnValue().Set(text);
}

template <ada_owned_string (*convert)(const char*, std::size_t)>
void convert_domain(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  args.GetReturnValue().Set(to_v8(isolate, take(convert(name.data(), name.size()))));
}

constexpr Native encoding_natives[] = {
    {"encodeInto", encode_into},
    {"encodeUtf8String", encode_utf8_string},
    {"decodeUTF8", decode_utf8},
    {"toASCII", convert_domain<ada_idna_to_ascii>},
    {"toUnicode", convert_domain<ada_idna_to_unicode>},
};

}  // namespace

extern const Binding encoding_binding;
const Binding encoding_binding{"encoding_binding", encoding_natives};

}  // namespace tare::engine
