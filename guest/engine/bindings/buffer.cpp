#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/bindings/buffer_search.hpp"
#include "engine/bindings/support.hpp"
#include "engine/bindings/text.hpp"

namespace tare::engine {
namespace {

void throw_not_a_buffer(v8::Isolate* isolate) {
  throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE", "argument must be a buffer");
}

/// (buffer, start, end): the string that these bytes are.
template <Encoding encoding>
void slice(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsArrayBufferView()) return throw_not_a_buffer(isolate);
  const std::size_t size = args[0].As<v8::ArrayBufferView>()->ByteLength();
  if (size == 0) return args.GetReturnValue().SetEmptyString();
  const std::optional<std::size_t> start = index_argument(isolate, args[1], 0);
  if (!start) return;
  const std::optional<std::size_t> end = index_argument(isolate, args[2], size);
  if (!end) return;
  const Bytes bytes(args[0]);  // only now: the arguments' own code may have detached it
  if (*end <= *start) return args.GetReturnValue().SetEmptyString();
  if (*end > bytes.size())
    return throw_error(isolate, ErrorKind::range, "ERR_OUT_OF_RANGE", "Index out of range");
  v8::Local<v8::String> text;
  if (encode(isolate, bytes.span().subspan(*start, *end - *start), encoding).ToLocal(&text))
    args.GetReturnValue().Set(text);
}

/// (buffer, string, offset, length): how many bytes were written.
template <Encoding encoding>
void write_string(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsArrayBufferView()) return throw_not_a_buffer(isolate);
  if (!args[1]->IsString())
    return throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE", "argument must be a string");
  const std::size_t size = args[0].As<v8::ArrayBufferView>()->ByteLength();
  const std::optional<std::size_t> offset = index_argument(isolate, args[2], 0);
  if (!offset) return;
  if (*offset > size)
    return throw_error(isolate, ErrorKind::range, "ERR_BUFFER_OUT_OF_BOUNDS",
                       "\"offset\" is outside of buffer bounds");
  const std::optional<std::size_t> length = index_argument(isolate, args[3], size - *offset);
  if (!length) return;
  const std::size_t most = std::min(*length, size - *offset);
  if (most == 0) return args.GetReturnValue().Set(0);
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  if (memory.size() < *offset + most)
    return args.GetReturnValue().Set(0);  // detached by an argument's valueOf
  const std::size_t written =
      write(isolate, memory.subspan(*offset, most), args[1].As<v8::String>(), encoding);
  args.GetReturnValue().Set(static_cast<double>(written));
}

void byte_length_utf8(const Arguments& args) {
  if (!args[0]->IsString()) return;
  args.GetReturnValue().Set(static_cast<double>(args[0].As<v8::String>()->Utf8LengthV2(args.GetIsolate())));
}

std::size_t size_argument(const Arguments& args, int index) {
  const std::int64_t number = args[index]->IntegerValue(args.GetIsolate()->GetCurrentContext()).FromMaybe(0);
  return number < 0 ? 0 : static_cast<std::size_t>(number);
}

void move_bytes(std::span<const std::uint8_t> from, std::size_t from_start, std::span<std::uint8_t> to,
                std::size_t to_start, std::size_t count) {
  if (from_start > from.size() || to_start > to.size()) return;
  count = std::min({count, from.size() - from_start, to.size() - to_start});
  if (count > 0) std::memmove(to.data() + to_start, from.data() + from_start, count);
}

/// (source, target, target start, source start, count).
void copy(const Arguments& args) {
  const std::size_t to_start = size_argument(args, 2);
  const std::size_t from_start = size_argument(args, 3);
  const std::size_t count = size_argument(args, 4);
  const std::span<std::uint8_t> to =
      memory_of(args[1]);  // before the source is looked at: it may move the two
  move_bytes(memory_of(args[0]), from_start, to, to_start, count);
  args.GetReturnValue().Set(static_cast<double>(count));
}

/// (target, target offset, source, source offset, count).
void copy_array_buffer(const Arguments& args) {
  const std::size_t to_start = size_argument(args, 1);
  const std::size_t from_start = size_argument(args, 3);
  const std::size_t count = size_argument(args, 4);
  move_bytes(memory_of(args[2]), from_start, memory_of(args[0]), to_start, count);
}

int order(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  const std::size_t common = std::min(a.size(), b.size());
  const int first = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (first != 0) return first < 0 ? -1 : 1;
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

void compare(const Arguments& args) {
  if (!args[0]->IsArrayBufferView() || !args[1]->IsArrayBufferView())
    return throw_not_a_buffer(args.GetIsolate());
  const Bytes a(args[0]);
  const Bytes b(args[1]);
  args.GetReturnValue().Set(order(a.span(), b.span()));
}

/// (source, target, target start, source start, target end, source end).
void compare_offset(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::size_t target_start = size_argument(args, 2);
  const std::size_t source_start = size_argument(args, 3);
  const std::size_t target_end = size_argument(args, 4);
  const std::size_t source_end = size_argument(args, 5);
  const Bytes source(args[0]);
  const Bytes target(args[1]);
  const auto out_of_range = [&](std::string_view message) {
    throw_error(isolate, ErrorKind::range, "ERR_OUT_OF_RANGE", message);
  };
  if (source_start > source.size()) return out_of_range("The value of \"sourceStart\" is out of range.");
  if (target_start > target.size()) return out_of_range("The value of \"targetStart\" is out of range.");
  const std::size_t source_length = source_end > source_start ? source_end - source_start : 0;
  const std::size_t target_length = target_end > target_start ? target_end - target_start : 0;
  const std::size_t common =
      std::min({source_length, target_length, source.size() - source_start, target.size() - target_start});
  const int first =
      order(source.span().subspan(source_start, common), target.span().subspan(target_start, common));
  const int longer = source_length == target_length ? 0 : source_length < target_length ? -1 : 1;
  args.GetReturnValue().Set(first != 0 ? first : longer);
}

std::string fill_pattern(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (args[1]->IsString()) return decode(isolate, args[1].As<v8::String>(), encoding_of(isolate, args[4]));
  if (has_bytes(args[1])) return std::string(Bytes(args[1]).text());
  return std::string(
      1, static_cast<char>(args[1]->Uint32Value(isolate->GetCurrentContext()).FromMaybe(0) & 255U));
}

/// (buffer, value, start, end, encoding): -1 when there is nothing to fill with, -2 when it is out of bounds.
void fill(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::optional<std::size_t> start = index_argument(isolate, args[2], 0);
  if (!start) return;
  const std::optional<std::size_t> end = index_argument(isolate, args[3], 0);
  if (!end) return;
  const std::string pattern = fill_pattern(args);
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  if (*start > *end || *end > memory.size()) return args.GetReturnValue().Set(-2);
  if (*start == *end) return;
  if (pattern.empty()) return args.GetReturnValue().Set(-1);
  const std::span<std::uint8_t> target = memory.subspan(*start, *end - *start);
  std::size_t done = std::min(pattern.size(), target.size());
  if (done > 0) std::memcpy(target.data(), pattern.data(), done);
  while (done < target.size()) {  // what is there twice over
    const std::size_t count = std::min(done, target.size() - done);
    std::memcpy(target.data() + done, target.data(), count);
    done += count;
  }
}

template <std::size_t width>
void swap_bytes(const Arguments& args) {
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  for (std::size_t i = 0; i + width <= memory.size(); i += width)
    std::reverse(memory.begin() + static_cast<std::ptrdiff_t>(i),
                 memory.begin() + static_cast<std::ptrdiff_t>(i + width));
  args.GetReturnValue().Set(args[0]);
}

template <bool (*is)(std::span<const std::uint8_t>)>
void test(const Arguments& args) {
  const Bytes bytes(args[0]);
  args.GetReturnValue().Set(is(bytes.span()));
}

void create_unsafe_array_buffer(const Arguments& args) {
  v8::Local<v8::ArrayBuffer> buffer;
  if (make_memory(args.GetIsolate(), size_argument(args, 0)).ToLocal(&buffer))
    args.GetReturnValue().Set(buffer);
}

void set_detach_key(const Arguments& args) {
  if (args[0]->IsArrayBuffer()) args[0].As<v8::ArrayBuffer>()->SetDetachKey(args[1]);
}

/// -1 when a character has no byte.
void btoa(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsString()) return args.GetReturnValue().Set(-1);
  const v8::Local<v8::String> text = args[0].As<v8::String>();
  if (!text->ContainsOnlyOneByte()) return args.GetReturnValue().Set(-1);
  const std::string bytes = decode(isolate, text, Encoding::latin1);
  v8::Local<v8::String> result;
  if (encode(isolate, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, Encoding::base64)
          .ToLocal(&result))
    args.GetReturnValue().Set(result);
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Forgiving-base64 decode of the Infra standard: -2 for what isn't a digit, -1 when one digit is left over.
void atob(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsString()) return args.GetReturnValue().Set(-2);
  if (!args[0].As<v8::String>()->ContainsOnlyOneByte()) return args.GetReturnValue().Set(-2);
  std::string text = decode(isolate, args[0].As<v8::String>(), Encoding::latin1);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; });
  const std::size_t given = text.size();
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.pop_back();
  if (!std::ranges::all_of(text, [](char c) { return base64_digit(c) >= 0; }))
    return args.GetReturnValue().Set(-2);
  if (text.size() % 4 == 1) return args.GetReturnValue().Set(-1);
  if (text.size() != given && given % 4 != 0) return args.GetReturnValue().Set(-2);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = bits << 6 | static_cast<std::uint32_t>(base64_digit(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> count));
  }
  v8::Local<v8::String> result;
  if (encode(isolate, bytes, Encoding::latin1).ToLocal(&result)) args.GetReturnValue().Set(result);
}

constexpr Native buffer_natives[] = {
    {"asciiSlice", slice<Encoding::ascii>},
    {"base64Slice", slice<Encoding::base64>},
    {"base64urlSlice", slice<Encoding::base64url>},
    {"latin1Slice", slice<Encoding::latin1>},
    {"hexSlice", slice<Encoding::hex>},
    {"ucs2Slice", slice<Encoding::utf16le>},
    {"utf8Slice", slice<Encoding::utf8>},
    {"base64Write", write_string<Encoding::base64>},
    {"base64urlWrite", write_string<Encoding::base64url>},
    {"hexWrite", write_string<Encoding::hex>},
    {"ucs2Write", write_string<Encoding::utf16le>},
    {"asciiWriteStatic", write_string<Encoding::ascii>},
    {"latin1WriteStatic", write_string<Encoding::latin1>},
    {"utf8WriteStatic", write_string<Encoding::utf8>},
    {"byteLengthUtf8", byte_length_utf8},
    {"copy", copy},
    {"copyArrayBuffer", copy_array_buffer},
    {"compare", compare},
    {"compareOffset", compare_offset},
    {"fill", fill},
    {"indexOfString", index_of_string},
    {"indexOfBuffer", index_of_buffer},
    {"indexOfNumber", index_of_number},
    {"swap16", swap_bytes<2>},
    {"swap32", swap_bytes<4>},
    {"swap64", swap_bytes<8>},
    {"isUtf8", test<is_utf8>},
    {"isAscii", test<is_ascii>},
    {"createUnsafeArrayBuffer", create_unsafe_array_buffer},
    {"setDetachKey", set_detach_key},
    {"btoa", btoa},
    {"atob", atob},
};

}  // namespace

extern const Binding buffer_binding;
const Binding buffer_binding{"buffer", buffer_natives};

}  // namespace tare::engine
