#include <algorithm>
#include <cstring>

#include "engine/bindings/support.hpp"
#include "engine/bindings/text.hpp"

namespace tare::engine {
namespace {

/// What a StringDecoder keeps between two pieces, in a buffer of its own that programs can read (lastChar,
/// lastNeed): up to four bytes of a character, how many it lacks, how many there are, the encoding.
class State {
 public:
  static constexpr std::size_t size = 7;
  explicit State(std::span<std::uint8_t> memory) : memory_(memory) {}

  std::span<std::uint8_t> held() { return memory_.first(std::min<std::size_t>(have(), 4)); }
  std::uint8_t& missing() { return memory_[4]; }
  std::uint8_t& have() { return memory_[5]; }
  Encoding encoding() const {
    return memory_[6] <= static_cast<std::uint8_t>(Encoding::base64url) ? static_cast<Encoding>(memory_[6])
                                                                        : Encoding::utf8;
  }
  void hold(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) {
      if (have() < 4) memory_[have()++] = byte;
    }
  }
  void forget() { missing() = have() = 0; }

 private:
  std::span<std::uint8_t> memory_;
};

bool keeps_characters_whole(Encoding encoding) {
  return encoding == Encoding::utf8 || encoding == Encoding::utf16le || encoding == Encoding::base64 ||
         encoding == Encoding::base64url;
}

/// How many bytes a character has that begins with this one; 0 if none does.
std::uint8_t utf8_length(std::uint8_t lead) {
  if ((lead & 0xe0) == 0xc0) return 2;
  if ((lead & 0xf0) == 0xe0) return 3;
  return (lead & 0xf8) == 0xf0 ? 4 : 0;
}

/// The unfinished UTF-8 character at the end: what there is of it, and what it lacks.
void find_utf8_rest(State& state, std::span<const std::uint8_t> bytes) {
  std::uint8_t seen = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    ++seen;
    if ((bytes[i] & 0xc0) == 0x80) {
      if (seen >= 4) return;
      continue;
    }
    const std::uint8_t length = utf8_length(bytes[i]);
    if (seen < length) {
      state.have() = seen;
      state.missing() = static_cast<std::uint8_t>(length - seen);
    }
    return;
  }
}

/// Sets how many bytes at the end are held back, and how many more their character needs.
void find_rest(State& state, std::span<const std::uint8_t> bytes) {
  const std::uint8_t last = bytes.back();
  if (state.encoding() == Encoding::utf8) {
    if ((last & 0x80) != 0) find_utf8_rest(state, bytes);
  } else if (state.encoding() == Encoding::utf16le) {
    if (bytes.size() % 2 == 1) {
      state.have() = 1;
      state.missing() = 1;
    } else if ((last & 0xfc) == 0xd8) {  // half of a pair
      state.have() = 2;
      state.missing() = 2;
    }
  } else {
    state.have() = static_cast<std::uint8_t>(bytes.size() % 3);
    if (state.have() > 0) state.missing() = static_cast<std::uint8_t>(3 - state.have());
  }
}

/// Completes the character that is held, out of the first of `bytes`; nothing when an exception was thrown.
v8::MaybeLocal<v8::String> complete(v8::Isolate* isolate, State& state,
                                    std::span<const std::uint8_t>& bytes) {
  if (state.encoding() == Encoding::utf8) {
    const std::size_t most = std::min<std::size_t>(bytes.size(), state.missing());
    for (std::size_t i = 0; i < most; ++i) {
      if ((bytes[i] & 0xc0) == 0x80) continue;
      state.missing() = 0;  // it ends here, incomplete
      state.hold(bytes.first(i));
      bytes = bytes.subspan(i);
      break;
    }
  }
  const std::size_t taken = std::min<std::size_t>(bytes.size(), state.missing());
  state.hold(bytes.first(taken));
  state.missing() = static_cast<std::uint8_t>(state.missing() - taken);
  bytes = bytes.subspan(taken);
  if (state.missing() > 0) return v8::String::Empty(isolate);
  v8::Local<v8::String> text;
  if (!encode(isolate, state.held(), state.encoding()).ToLocal(&text)) return {};
  state.have() = 0;
  return text;
}

/// decode(state, bytes): the whole characters so far.
void decode_bytes(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  if (memory.size() < State::size) return;
  if (!args[1]->IsArrayBufferView()) {
    return throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_TYPE",
                       "The \"buf\" argument must be an instance of Buffer, TypedArray, or DataView.");
  }
  State state(memory);
  const Bytes given(args[1]);
  std::span<const std::uint8_t> bytes = given.span();
  v8::Local<v8::String> first = v8::String::Empty(isolate);
  v8::Local<v8::String> rest = first;
  if (keeps_characters_whole(state.encoding())) {
    if (state.missing() > 0 && !complete(isolate, state, bytes).ToLocal(&first)) return;
    if (!bytes.empty() && state.missing() == 0) {
      state.have() = 0;
      find_rest(state, bytes);
      const std::span<const std::uint8_t> left = bytes.last(state.have());
      bytes = bytes.first(bytes.size() - left.size());
      state.have() = 0;
      state.hold(left);
    }
  }
  if (!encode(isolate, bytes, state.encoding()).ToLocal(&rest)) return;
  args.GetReturnValue().Set(v8::String::Concat(isolate, first, rest));
}

/// flush(state): what is held, as it is.
void flush(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  if (memory.size() < State::size) return;
  State state(memory);
  std::span<const std::uint8_t> held = state.held();
  if (state.encoding() == Encoding::utf16le) held = held.first(held.size() / 2 * 2);
  v8::Local<v8::String> text;
  if (encode(isolate, held, state.encoding()).ToLocal(&text)) args.GetReturnValue().Set(text);
  state.forget();
}

constexpr Native string_decoder_natives[] = {{"decode", decode_bytes}, {"flush", flush}};

}  // namespace

extern const Binding string_decoder_binding;
const Binding string_decoder_binding{"string_decoder", string_decoder_natives};

}  // namespace tare::engine
