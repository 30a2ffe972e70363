// `host.sys`, part: pipes, and what waits for them in the event loop.

#include <array>

#include "engine/bindings/sys.hpp"
#include "engine/kernel/pipe.hpp"

namespace tare::engine::sys {
namespace {

using kernel::Description;
using v8::Local;

Description::Direction direction(const Arguments& args, int at) {
  return args[at]->IsTrue() ? Description::Direction::write : Description::Direction::read;
}

/// watch(fd, for writing?, function) → id: it is called in every turn in which the descriptor is ready.
std::int64_t watch(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return -open.error();
  if (!args[2]->IsFunction()) return -EINVAL;
  return guest.loop().watch(*open, direction(args, 1), args[2].As<v8::Function>());
}

/// isOfHost(fd): whether asking it takes a call of the system
void is_of_host(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  args.GetReturnValue().Set(open.ok() && (*open)->host_fd().has_value());
}

std::int64_t unwatch(Guest& guest, const Arguments& args) {
  guest.loop().unwatch(static_cast<Loop::WatchId>(integer(args, 0)));
  return 0;
}

/// setCounted(id, counted?): whether the watch keeps the process alive
std::int64_t set_counted(Guest& guest, const Arguments& args) {
  guest.loop().set_counted(static_cast<Loop::WatchId>(integer(args, 0)), args[1]->IsTrue());
  return 0;
}

/// Two descriptors in an array, or -errno.
void give_pair(const Arguments& args, const kernel::Result<std::array<int, 2>>& fds) {
  if (!fds.ok()) return give(args, -fds.error());
  v8::Isolate* isolate = args.GetIsolate();
  Local<v8::Value> both[] = {v8::Integer::New(isolate, (*fds)[0]), v8::Integer::New(isolate, (*fds)[1])};
  args.GetReturnValue().Set(v8::Array::New(isolate, both, 2));
}

void make_pipe(Guest& guest, const Arguments& args) {
  give_pair(args, guest.process().pipe());
}

kernel::Result<std::array<int, 2>> duplex_fds(kernel::Process& process) {
  const kernel::DuplexEnds ends = kernel::make_duplex(process.vm()->shared_counters());
  const auto first = process.fds().add(ends.first);
  if (!first.ok()) return kernel::Errno{first.error()};
  const auto second = process.fds().add(ends.second);
  if (!second.ok()) {
    (void)process.fds().close(*first);
    return kernel::Errno{second.error()};
  }
  return std::array{*first, *second};
}

/// duplex() → the two ends of a socket pair, which is what Node gives a child for 'pipe'
void make_duplex(Guest& guest, const Arguments& args) {
  give_pair(args, duplex_fds(guest.process()));
}

std::int64_t shutdown(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? code(kernel::shutdown_write(**open)) : -open.error();
}

/// V8 collects young buffers once there are tens of megabytes of them, and only then is their memory used
/// again. This garbage in its young heap makes it do so about every four megabytes.
void hasten_collection(v8::Isolate* isolate) {
  constexpr int elements = 2048;
  v8::Array::New(isolate, elements);
}

v8::MaybeLocal<v8::ArrayBuffer> received(Guest& guest, std::span<const std::byte> bytes) {
  constexpr std::size_t much = ReceiveRoom::size / 2;
  v8::Isolate* isolate = guest.realm().isolate();
  if (bytes.size() >= much) {
    if (auto store = guest.receive_room().hand_over(bytes.size())) {
      hasten_collection(isolate);
      return v8::ArrayBuffer::New(isolate, std::move(store));
    }
  }
  return buffer_of(isolate, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// receive(fd) → an ArrayBuffer with what is there (up to 68 KiB); 0 at the end, -EAGAIN when there is
/// nothing yet
void receive(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return give(args, -open.error());
  const std::span<std::byte> room = guest.receive_room().get();
  if (room.empty()) return give(args, -ENOMEM);
  const auto got = (*open)->read(room);
  if (!got.ok() || *got == 0) return give(args, -got.error());
  v8::Local<v8::ArrayBuffer> buffer;
  if (received(guest, room.first(*got)).ToLocal(&buffer)) args.GetReturnValue().Set(buffer);
}

const Native sys_stream_natives[] = {
    {"watch", number_call<watch>},       {"isOfHost", any_call<is_of_host>},
    {"unwatch", number_call<unwatch>},   {"setCounted", number_call<set_counted>},
    {"pipe", any_call<make_pipe>},       {"duplex", any_call<make_duplex>},
    {"shutdown", number_call<shutdown>}, {"receive", any_call<receive>},
};

}  // namespace

std::span<const Native> stream_natives() {
  return sys_stream_natives;
}

}  // namespace tare::engine::sys
