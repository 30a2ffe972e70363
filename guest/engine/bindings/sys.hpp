#pragma once

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/kernel/process.hpp"
#include "engine/kernel/result.hpp"
#include "engine/kernel/vm.hpp"

/// `host.sys`: the system calls of a guest for the JavaScript of guest/compat. Each answers a number that is
/// 0 or greater, or what it is asked for, or a negative errno (Linux's numbers, which are libuv's too). None
/// throws. Paths are strings or bytes. While a snapshot is built there is no kernel: then everything is
/// -ENOSYS.
namespace tare::engine::sys {

/// A call that answers a number.
using NumberCall = std::int64_t (*)(Guest& guest, const Arguments& args);
/// A call that sets its return value itself.
using AnyCall = void (*)(Guest& guest, const Arguments& args);

inline void give(const Arguments& args, std::int64_t value) {
  if (value >= INT32_MIN && value <= INT32_MAX)
    return args.GetReturnValue().Set(static_cast<std::int32_t>(value));
  args.GetReturnValue().Set(static_cast<double>(value));
}

template <NumberCall call>
void number_call(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  if (guest == nullptr) return give(args, -ENOSYS);
  try {
    give(args, call(*guest, args));
  } catch (const std::exception&) {
    give(args, -ENOMEM);
  }
}

template <AnyCall call>
void any_call(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  if (guest == nullptr) return give(args, -ENOSYS);
  try {
    call(*guest, args);
  } catch (const std::exception&) {
    give(args, -ENOMEM);
  }
}

inline std::int64_t code(const kernel::Result<void>& result) {
  return -result.error();
}

/// The bytes of a path or of data: of a string as UTF-8, of a view as they are; empty for anything else.
std::string bytes(v8::Isolate* isolate, v8::Local<v8::Value> value);
inline std::string bytes(const Arguments& args, int at) {
  return bytes(args.GetIsolate(), args[at]);
}

/// A number or a BigInt; `otherwise` for anything else.
std::int64_t integer(const Arguments& args, int at, std::int64_t otherwise = 0);

/// The memory of an ArrayBufferView; empty when it is none.
std::span<std::byte> memory(v8::Local<v8::Value> view);

/// `offset` and `length` of a view, cut to what is there. Nothing given for either means all of it.
std::span<std::byte> part(const Arguments& args, int view, int offset, int length);

/// Text out of bytes (what isn't UTF-8 becomes U+FFFD); or the bytes themselves as a Uint8Array.
enum class As : std::uint8_t { text, bytes };
v8::Local<v8::Value> encode(v8::Isolate* isolate, std::string_view bytes, As as);
inline As as_asked(const Arguments& args, int at) {
  return args[at]->IsTrue() ? As::bytes : As::text;
}

/// An ArrayBuffer with a copy of the bytes. RangeError is pending when the guest's budget is used up (empty).
v8::MaybeLocal<v8::ArrayBuffer> buffer_of(v8::Isolate* isolate, std::string_view bytes);

/// What the open descriptor `args[at]` stands for.
kernel::Result<std::shared_ptr<kernel::Description>> description(Guest& guest, const Arguments& args, int at);

/// The signal's number, or the exit code, of an end, as JavaScript gets it: {code or -1, signal or 0}.
struct Ended {
  int code;
  int signal;
};
Ended ended(const kernel::Exit& exit);

// The parts of the binding, one per file.
std::span<const Native> path_natives();
std::span<const Native> stat_natives();
std::span<const Native> io_natives();
std::span<const Native> stream_natives();
std::span<const Native> process_natives();
std::span<const Native> spawn_sync_natives();
std::span<const Native> usage_natives();

}  // namespace tare::engine::sys
