// `host.sys`, part: what files are, and the changes of that: stat, chmod, chown, utimes.

#include <array>
#include <chrono>
#include <cmath>

#include "engine/bindings/sys.hpp"

namespace tare::engine::sys {
namespace {

using kernel::Stat;
using v8::Local;

constexpr std::int64_t second = 1'000'000'000;

kernel::FileSystem& stat_files(Guest& guest) {
  return guest.process().vm()->files();
}

/// The order of Node's stat arrays.
std::array<std::int64_t, 18> fields(const Stat& stat) {
  const auto seconds = [](std::int64_t ns) { return (ns - ((ns % second + second) % second)) / second; };
  const auto rest = [](std::int64_t ns) { return (ns % second + second) % second; };
  return {static_cast<std::int64_t>(stat.dev),
          stat.mode,
          static_cast<std::int64_t>(stat.nlink),
          stat.uid,
          stat.gid,
          static_cast<std::int64_t>(stat.rdev),
          stat.blksize,
          static_cast<std::int64_t>(stat.ino),
          stat.size,
          static_cast<std::int64_t>(stat.blocks),
          seconds(stat.atime_ns),
          rest(stat.atime_ns),
          seconds(stat.mtime_ns),
          rest(stat.mtime_ns),
          seconds(stat.ctime_ns),
          rest(stat.ctime_ns),
          seconds(stat.birthtime_ns),
          rest(stat.birthtime_ns)};
}

/// Into a Float64Array or a BigInt64Array that is long enough.
template <std::size_t size>
std::int64_t fill(Local<v8::Value> into, const std::array<std::int64_t, size>& values) {
  const std::span<std::byte> room = memory(into);
  if (room.size() < size * sizeof(std::int64_t)) return -EINVAL;
  if (into->IsBigInt64Array()) {
    std::copy(values.begin(), values.end(), reinterpret_cast<std::int64_t*>(room.data()));
  } else {
    auto* numbers = reinterpret_cast<double*>(room.data());
    for (std::size_t i = 0; i < size; ++i) numbers[i] = static_cast<double>(values[i]);
  }
  return 0;
}

std::int64_t fill_stat(const kernel::Result<Stat>& stat, Local<v8::Value> into) {
  return stat.ok() ? fill(into, fields(*stat)) : -stat.error();
}

// stat, lstat (path, array), fstat(fd, array): the array gets 18 numbers.
std::int64_t stat_path(Guest& guest, const Arguments& args) {
  return fill_stat(stat_files(guest).stat(guest.process().origin(), bytes(args, 0)), args[1]);
}

std::int64_t lstat_path(Guest& guest, const Arguments& args) {
  return fill_stat(stat_files(guest).lstat(guest.process().origin(), bytes(args, 0)), args[1]);
}

std::int64_t fstat_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? fill_stat((*open)->stat(), args[1]) : -open.error();
}

/// statfs(path, array of 8)
std::int64_t statfs_path(Guest& guest, const Arguments& args) {
  const auto stat = stat_files(guest).statfs(guest.process().origin(), bytes(args, 0));
  if (!stat.ok()) return -stat.error();
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const std::array<std::int64_t, 8> values{number(stat->type),   number(stat->bsize), number(stat->bsize),
                                           number(stat->blocks), number(stat->bfree), number(stat->bfree),
                                           number(stat->files),  number(stat->ffree)};
  return fill(args[1], values);
}

std::int64_t change_mode(Guest& guest, const Arguments& args) {
  return code(stat_files(guest).chmod(guest.process().origin(), bytes(args, 0),
                                      static_cast<std::uint32_t>(integer(args, 1))));
}

std::int64_t change_mode_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? code((*open)->change_mode(static_cast<std::uint32_t>(integer(args, 1)))) : -open.error();
}

kernel::Owner owner(const Arguments& args) {
  const auto id = [&](int at) -> std::optional<std::uint32_t> {
    const std::int64_t value = integer(args, at, -1);
    if (value < 0 || value == 0xffffffff) return std::nullopt;  // -1: as it is
    return static_cast<std::uint32_t>(value);
  };
  return {id(1), id(2)};
}

std::int64_t change_owner(Guest& guest, const Arguments& args) {
  return code(stat_files(guest).chown(guest.process().origin(), bytes(args, 0), owner(args)));
}

std::int64_t change_link_owner(Guest& guest, const Arguments& args) {
  return code(stat_files(guest).lchown(guest.process().origin(), bytes(args, 0), owner(args)));
}

std::int64_t change_owner_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? code((*open)->change_owner(owner(args))) : -open.error();
}

/// Seconds since 1970, as libuv takes them: infinity is now, NaN is what it was.
std::optional<std::int64_t> time_of(const Arguments& args, int at) {
  const double seconds = args[at]->IsNumber() ? args[at].As<v8::Number>()->Value() : std::nan("");
  if (std::isnan(seconds)) return std::nullopt;
  if (std::isinf(seconds)) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  const double whole = std::floor(seconds);
  if (std::abs(whole) > 9.2e9) return whole < 0 ? INT64_MIN : INT64_MAX;
  return static_cast<std::int64_t>(whole) * second + static_cast<std::int64_t>((seconds - whole) * 1e9);
}

kernel::Times times(const Arguments& args) {
  return {time_of(args, 1), time_of(args, 2)};
}

std::int64_t change_times(Guest& guest, const Arguments& args) {
  return code(stat_files(guest).utimes(guest.process().origin(), bytes(args, 0), times(args)));
}

std::int64_t change_link_times(Guest& guest, const Arguments& args) {
  return code(stat_files(guest).lutimes(guest.process().origin(), bytes(args, 0), times(args)));
}

std::int64_t change_times_fd(Guest& guest, const Arguments& args) {
  const auto open = description(guest, args, 0);
  return open.ok() ? code((*open)->change_times(times(args))) : -open.error();
}

const Native sys_stat_natives[] = {
    {"stat", number_call<stat_path>},
    {"lstat", number_call<lstat_path>},
    {"fstat", number_call<fstat_fd>},
    {"statfs", number_call<statfs_path>},
    {"chmod", number_call<change_mode>},
    {"fchmod", number_call<change_mode_fd>},
    {"chown", number_call<change_owner>},
    {"lchown", number_call<change_link_owner>},
    {"fchown", number_call<change_owner_fd>},
    {"utimes", number_call<change_times>},
    {"lutimes", number_call<change_link_times>},
    {"futimes", number_call<change_times_fd>},
};

}  // namespace

std::span<const Native> stat_natives() {
  return sys_stat_natives;
}

}  // namespace tare::engine::sys
