// `host.sys`, part: what takes descriptors of files, and whole files at once.

#include <algorithm>

#include <fcntl.h>

#include "engine/bindings/sys.hpp"

namespace tare::engine::sys {
namespace {

using kernel::Description;
using kernel::Result;
using v8::Local;
using v8::Value;

/// readFileUtf8 says by this much that reading was refused and not opening.
constexpr std::int64_t read_stage = 1 << 16;

enum class Blocking : std::uint8_t { no, yes };

/// A position of -1 is the description's own.
Result<std::size_t> read_some(Guest& guest, Description& from, std::span<std::byte> into,
                              std::int64_t position, Blocking blocking) {
  if (position >= 0) return from.pread(into, position);
  return blocking == Blocking::yes ? kernel::read_blocking(guest.process().wait(), from, into)
                                   : from.read(into);
}

Result<std::size_t> write_some(Guest& guest, Description& to, std::span<const std::byte> bytes,
                               std::int64_t position, Blocking blocking) {
  if (position >= 0) return to.pwrite(bytes, position);
  if (blocking == Blocking::no) return to.write(bytes);
  const Result<void> written = kernel::write_blocking(guest.process().wait(), to, bytes);
  if (!written.ok()) return kernel::Errno{written.error()};
  return bytes.size();
}

std::int64_t count(const Result<std::size_t>& result) {
  return result.ok() ? static_cast<std::int64_t>(*result) : -result.error();
}

/// open(path, flags, mode) → descriptor
std::int64_t open_path(Guest& guest, const Arguments& args) {
  const auto fd = guest.process().open(bytes(args, 0), static_cast<int>(integer(args, 1)),
                                       static_cast<std::uint32_t>(integer(args, 2, 0666)));
  return fd.ok() ? *fd : -fd.error();
}

std::int64_t close_fd(Guest& guest, const Arguments& args) {
  return code(guest.process().fds().close(static_cast<int>(integer(args, 0, -1))));
}

// read, tryRead (fd, view, offset, length, position): tryRead is -EAGAIN where read waits.
template <Blocking blocking>
std::int64_t read_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return -open.error();
  return count(read_some(guest, **open, part(args, 1, 2, 3), integer(args, 4, -1), blocking));
}

template <Blocking blocking>
std::int64_t write_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return -open.error();
  return count(write_some(guest, **open, part(args, 1, 2, 3), integer(args, 4, -1), blocking));
}

/// One after the other until one is not whole. An error counts only before the first byte.
template <class Move>
std::int64_t vectored(const Arguments& args, Move move) {
  const Local<v8::Context> context = args.GetIsolate()->GetCurrentContext();
  if (!args[1]->IsArray()) return -EINVAL;
  const Local<v8::Array> views = args[1].As<v8::Array>();
  std::int64_t position = integer(args, 2, -1);
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < views->Length(); ++i) {
    Local<Value> view;
    if (!views->Get(context, i).ToLocal(&view) || !has_bytes(view)) return -EINVAL;
    const std::span<std::byte> room = memory(view);
    if (room.empty()) continue;
    const Result<std::size_t> moved = move(room, position);
    if (!moved.ok()) return total > 0 ? total : -moved.error();
    total += static_cast<std::int64_t>(*moved);
    if (position >= 0) position += static_cast<std::int64_t>(*moved);
    if (*moved < room.size()) break;
  }
  return total;
}

/// readv(fd, views, position)
std::int64_t read_vector(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return -open.error();
  Blocking blocking = Blocking::yes;  // once something was read, what else there is now
  return vectored(args, [&](std::span<std::byte> room, std::int64_t position) {
    const auto result = read_some(guest, **open, room, position, blocking);
    blocking = Blocking::no;
    return result;
  });
}

/// writev(fd, views, position)
std::int64_t write_vector(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return -open.error();
  return vectored(args, [&](std::span<std::byte> bytes, std::int64_t position) {
    return write_some(guest, **open, bytes, position, Blocking::yes);
  });
}

/// writeText(fd, text, position): as UTF-8
std::int64_t write_text(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  if (!open.ok()) return -open.error();
  const std::string text = bytes(args, 1);
  return count(
      write_some(guest, **open, std::as_bytes(std::span(text)), integer(args, 2, -1), Blocking::yes));
}

std::int64_t truncate_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? code((*open)->truncate(integer(args, 1))) : -open.error();
}

std::int64_t sync_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? code((*open)->sync()) : -open.error();
}

/// An open descriptor, or what a path opens as; closed by itself only in the second case.
Result<std::shared_ptr<Description>> opened(Guest& guest, const Arguments& args, int flags, int mode) {
  if (args[0]->IsNumber()) return description(guest, args, 0);
  return guest.process().open_description(bytes(args, 0), static_cast<int>(integer(args, flags)),
                                          static_cast<std::uint32_t>(integer(args, mode, 0666)));
}

/// ENOMEM for more than the guest's heap could take as a string: the bytes here are in no budget.
Result<std::string> rest_of(Guest& guest, Description& from) {
  const std::uint64_t most = 2 * guest.process().vm()->limits().heap_bytes;
  std::string all;
  const auto stat = from.stat();
  std::size_t room =
      stat.ok() && S_ISREG(stat->mode) ? static_cast<std::size_t>(std::max<std::int64_t>(stat->size, 0)) : 0;
  if (room > most) return kernel::Errno{ENOMEM};
  room = std::clamp<std::size_t>(room + 1, 4096, std::size_t{1} << 30);
  for (std::size_t size = 0;;) {
    all.resize(size + room);
    const auto got = kernel::read_blocking(guest.process().wait(), from,
                                           std::as_writable_bytes(std::span(all)).subspan(size));
    if (!got.ok()) return kernel::Errno{got.error()};
    size += *got;
    if (size > most) return kernel::Errno{ENOMEM};
    if (*got == 0) {
      all.resize(size);
      return all;
    }
    room = std::max<std::size_t>(64 << 10, size / 2);
  }
}

/// readFileUtf8(path or fd, flags) → text; -errno of opening, or -errno - 65536 of reading
void read_file(Guest& guest, const Arguments& args) {
  const auto open = opened(guest, args, 1, 3);
  if (!open.ok()) return give(args, -open.error() - (args[0]->IsNumber() ? read_stage : 0));
  const auto text = rest_of(guest, **open);
  if (!text.ok()) return give(args, -text.error() - read_stage);
  args.GetReturnValue().Set(encode(args.GetIsolate(), *text, As::text));
}

/// writeFileUtf8(path or fd, text, flags, mode) → 0; -errno of opening, or -errno - 65536 of writing
std::int64_t write_file(Guest& guest, const Arguments& args) {
  const auto open = opened(guest, args, 2, 3);
  if (!open.ok()) return -open.error() - (args[0]->IsNumber() ? read_stage : 0);
  const std::string text = bytes(args, 1);
  const Result<void> written =
      kernel::write_blocking(guest.process().wait(), **open, std::as_bytes(std::span(text)));
  return written.ok() ? 0 : -written.error() - read_stage;
}

/// handleType(fd) as internal/util numbers it. The standard outputs are always 'FILE': Node then writes to
/// them at once and in order, which is what its pipes do on Linux too.
std::int64_t handle_type(Guest& guest, const Arguments& args) {
  constexpr std::int64_t file = 3;
  constexpr std::int64_t pipe = 4;
  constexpr std::int64_t unknown = 5;
  const std::int64_t fd = integer(args, 0, -1);
  const auto open = description(guest, args, 0);
  if (!open.ok()) return unknown;
  if (fd == 1 || fd == 2) return file;
  switch ((*open)->kind()) {
    case Description::Kind::pipe_reader:
    case Description::Kind::pipe_writer:
    case Description::Kind::duplex:
    case Description::Kind::host:
      return pipe;
    case Description::Kind::directory:
      return unknown;
    default:
      return file;
  }
}

const Native sys_io_natives[] = {
    {"open", number_call<open_path>},
    {"close", number_call<close_fd>},
    {"read", number_call<read_fd<Blocking::yes>>},
    {"tryRead", number_call<read_fd<Blocking::no>>},
    {"write", number_call<write_fd<Blocking::yes>>},
    {"tryWrite", number_call<write_fd<Blocking::no>>},
    {"readv", number_call<read_vector>},
    {"writev", number_call<write_vector>},
    {"writeText", number_call<write_text>},
    {"ftruncate", number_call<truncate_fd>},
    {"fsync", number_call<sync_fd>},
    {"readFileUtf8", any_call<read_file>},
    {"writeFileUtf8", number_call<write_file>},
    {"handleType", number_call<handle_type>},
};

}  // namespace

std::span<const Native> io_natives() {
  return sys_io_natives;
}

}  // namespace tare::engine::sys
