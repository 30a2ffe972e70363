// `host.sys`, part: what takes paths.

#include <algorithm>

#include <unistd.h>

#include "engine/bindings/sys.hpp"

namespace tare::engine::sys {
namespace {

using v8::Local;
using v8::Value;

kernel::FileSystem& files(Guest& guest) {
  return guest.process().vm()->files();
}

std::int64_t access(Guest& guest, const Arguments& args) {
  return code(files(guest).access(guest.process().origin(), bytes(args, 0),
                                  static_cast<int>(integer(args, 1, F_OK))));
}

std::int64_t make_directory(Guest& guest, const Arguments& args) {
  return code(files(guest).mkdir(guest.process().origin(), bytes(args, 0),
                                 static_cast<std::uint32_t>(integer(args, 1, 0777))));
}

std::int64_t remove_directory(Guest& guest, const Arguments& args) {
  return code(files(guest).rmdir(guest.process().origin(), bytes(args, 0)));
}

std::int64_t unlink_path(Guest& guest, const Arguments& args) {
  return code(files(guest).unlink(guest.process().origin(), bytes(args, 0)));
}

std::int64_t remove_tree(Guest& guest, const Arguments& args) {
  return code(files(guest).remove_tree(guest.process().origin(), bytes(args, 0)));
}

std::int64_t rename_path(Guest& guest, const Arguments& args) {
  return code(files(guest).rename(guest.process().origin(), bytes(args, 0), bytes(args, 1)));
}

std::int64_t link_path(Guest& guest, const Arguments& args) {
  return code(files(guest).link(guest.process().origin(), bytes(args, 0), bytes(args, 1)));
}

std::int64_t symlink_path(Guest& guest, const Arguments& args) {
  return code(files(guest).symlink(guest.process().origin(), bytes(args, 0), bytes(args, 1)));
}

std::int64_t truncate_path(Guest& guest, const Arguments& args) {
  return code(files(guest).truncate(guest.process().origin(), bytes(args, 0), integer(args, 1)));
}

/// copyFile(from, to, mode): COPYFILE_EXCL (1) refuses an existing file; a copy on write can't be forced (4).
std::int64_t copy_file(Guest& guest, const Arguments& args) {
  constexpr std::int64_t exclusive = 1;
  constexpr std::int64_t force_clone = 4;
  const std::int64_t mode = integer(args, 2);
  if ((mode & force_clone) != 0) return -ENOTSUP;
  using Existing = kernel::FileSystem::Existing;
  return code(files(guest).copy_file(guest.process().origin(), bytes(args, 0), bytes(args, 1),
                                     (mode & exclusive) != 0 ? Existing::refuse : Existing::replace));
}

void give_path(const Arguments& args, const kernel::Result<std::string>& path, As as) {
  if (!path.ok()) return give(args, -path.error());
  args.GetReturnValue().Set(encode(args.GetIsolate(), *path, as));
}

// readlink, realpath, mkdtemp: (path, as bytes?) → text, bytes, or -errno.
void read_link(Guest& guest, const Arguments& args) {
  give_path(args, files(guest).readlink(guest.process().origin(), bytes(args, 0)), as_asked(args, 1));
}

void real_path(Guest& guest, const Arguments& args) {
  give_path(args, files(guest).realpath(guest.process().origin(), bytes(args, 0)), as_asked(args, 1));
}

void make_temporary(Guest& guest, const Arguments& args) {
  give_path(args, files(guest).mkdtemp(guest.process().origin(), bytes(args, 0)), as_asked(args, 1));
}

/// The type as libuv numbers it for directory entries (UV_DIRENT_*).
int entry_type(std::uint32_t type) {
  switch (type & S_IFMT) {
    case S_IFREG:
      return 1;
    case S_IFDIR:
      return 2;
    case S_IFLNK:
      return 3;
    case S_IFIFO:
      return 4;
    case S_IFSOCK:
      return 5;
    case S_IFCHR:
      return 6;
    case S_IFBLK:
      return 7;
    default:
      return 0;
  }
}

/// readdir(path, as bytes?) → [names, types], or -errno.
void read_directory(Guest& guest, const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const auto entries = files(guest).read_directory(guest.process().origin(), bytes(args, 0));
  if (!entries.ok()) return give(args, -entries.error());
  const As as = as_asked(args, 1);
  std::vector<Local<Value>> names;
  std::vector<Local<Value>> types;
  names.reserve(entries->size());
  types.reserve(entries->size());
  for (const kernel::DirectoryEntry& entry : *entries) {
    names.push_back(encode(isolate, entry.name, as));
    types.push_back(v8::Integer::New(isolate, entry_type(entry.type)));
  }
  Local<Value> both[] = {v8::Array::New(isolate, names.data(), names.size()),
                         v8::Array::New(isolate, types.data(), types.size())};
  args.GetReturnValue().Set(v8::Array::New(isolate, both, 2));
}

/// moduleStat(path) → 0 a file, 1 a directory, -1 neither or nothing.
std::int64_t module_stat(Guest& guest, const Arguments& args) {
  const auto stat = files(guest).stat(guest.process().origin(), bytes(args, 0));
  if (!stat.ok()) return -stat.error();
  return S_ISDIR(stat->mode) ? 1 : 0;
}

/// Whether a path stands in a file's URL letter by letter, whichever of the ways to make one is gone.
bool is_plain(std::string_view path) {
  constexpr std::string_view others = "/._-@+";
  return std::ranges::all_of(path, [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || others.find(c) != std::string_view::npos;
  });
}

/// modulePlace(path): as moduleStat; 2 for a file whose path is real and plain.
std::int64_t module_place(Guest& guest, const Arguments& args) {
  using Place = kernel::FileSystem::ModulePlace;
  const std::string path = bytes(args, 0);
  const auto place = files(guest).module_place(guest.process().origin(), path);
  if (!place.ok()) return -place.error();
  if (*place == Place::directory) return 1;
  return *place == Place::real_file && is_plain(path) ? 2 : 0;
}

/// readModule(URL) → ArrayBuffer, or undefined where it is to be read in the usual way.
void read_module(Guest& guest, const Arguments& args) {
  constexpr std::string_view origin = "file://";
  const std::string url = bytes(args, 0);
  const std::string_view path = std::string_view(url).substr(std::min(origin.size(), url.size()));
  if (!url.starts_with(origin) || !path.starts_with('/') || !is_plain(path)) return;
  const auto content = files(guest).read_known(guest.process().origin(), path);
  v8::Local<v8::ArrayBuffer> buffer;
  if (content && buffer_of(args.GetIsolate(), *content).ToLocal(&buffer)) args.GetReturnValue().Set(buffer);
}

/// legacyMain(package folder, main or undefined) → which of the ten names Node tries is a file (0 to 9), or
/// -ENOENT.
std::int64_t legacy_main(Guest& guest, const Arguments& args) {
  static constexpr std::string_view endings[] = {"",          ".js",         ".json",      ".node",
                                                 "/index.js", "/index.json", "/index.node"};
  static constexpr std::string_view defaults[] = {"index.js", "index.json", "index.node"};
  const kernel::Origin origin = guest.process().origin();
  const std::string folder = bytes(args, 0);
  const auto is_file = [&](const std::string& path) {
    const auto stat = files(guest).stat(origin, path);
    return stat.ok() && !S_ISDIR(stat->mode);
  };
  if (args[1]->IsString()) {
    const std::string stem = folder + "/" + bytes(args, 1);
    for (std::size_t i = 0; i < std::size(endings); ++i) {
      if (is_file(stem + std::string(endings[i]))) return static_cast<std::int64_t>(i);
    }
  }
  for (std::size_t i = 0; i < std::size(defaults); ++i) {
    if (is_file(folder + "/" + std::string(defaults[i])))
      return static_cast<std::int64_t>(std::size(endings) + i);
  }
  return -ENOENT;
}

/// startsLikeWasm(path) → whether the file begins as WebAssembly does.
std::int64_t starts_like_wasm(Guest& guest, const Arguments& args) {
  const auto file = files(guest).open(guest.process().origin(), bytes(args, 0), O_RDONLY);
  if (!file.ok()) return -file.error();
  std::byte head[4]{};
  const auto count = (*file)->read(head);
  constexpr std::byte magic[4] = {std::byte{0}, std::byte{'a'}, std::byte{'s'}, std::byte{'m'}};
  return count.ok() && *count == sizeof magic && std::ranges::equal(head, magic) ? 1 : 0;
}

const Native sys_paths_natives[] = {
    {"access", number_call<access>},
    {"mkdir", number_call<make_directory>},
    {"rmdir", number_call<remove_directory>},
    {"unlink", number_call<unlink_path>},
    {"removeTree", number_call<remove_tree>},
    {"rename", number_call<rename_path>},
    {"link", number_call<link_path>},
    {"symlink", number_call<symlink_path>},
    {"truncate", number_call<truncate_path>},
    {"copyFile", number_call<copy_file>},
    {"readlink", any_call<read_link>},
    {"realpath", any_call<real_path>},
    {"mkdtemp", any_call<make_temporary>},
    {"readdir", any_call<read_directory>},
    {"moduleStat", number_call<module_stat>},
    {"modulePlace", number_call<module_place>},
    {"readModule", any_call<read_module>},
    {"legacyMain", number_call<legacy_main>},
    {"startsLikeWasm", number_call<starts_like_wasm>},
};

}  // namespace

std::span<const Native> path_natives() {
  return sys_paths_natives;
}

}  // namespace tare::engine::sys
