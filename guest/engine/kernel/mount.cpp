#include "engine/kernel/mount.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tare::kernel {
namespace {

constexpr std::size_t nodes_kept = 1024;
constexpr int most_copies = 100;

std::string path_in(const Inode& directory, std::string_view name) {
  const std::string& above = directory.host->path;
  return above.empty() ? std::string(name) : fmt::format("{}/{}", above, name);
}

/// What comes first of the paths beneath a folder.
std::string prefix_of(const Inode& directory) {
  return directory.host->path.empty() ? "" : directory.host->path + "/";
}

/// The name beside a file; one that is too long loses its end.
std::string aside_of(const std::string& path, int copy) {
  constexpr std::size_t longest = 255;
  const std::string suffix = copy == 1 ? ".guest" : fmt::format(".guest{}", copy);
  const std::size_t begin = path.rfind('/') + 1;  // 0 without a slash
  return path.substr(0, begin) + path.substr(begin, longest - suffix.size()) + suffix;
}

HostFolder::Contents contents_of(const FileContent& content) {
  return {content.size(),
          [&content](const HostFolder::Contents::Write& write) { return content.for_each_part(write); }};
}

}  // namespace

Mount::Mount(Usage& usage, HostFolder folder, Options options, std::int64_t now_ns)
    : usage_(usage),
      folder_(std::move(folder)),
      options_(std::move(options)),
      root_(std::make_shared<Inode>(usage, 0, S_IFDIR | 0755, now_ns)) {
  root_->host = std::make_unique<HostNode>(HostNode{this, "", options_.device, std::nullopt});
  root();
}

const std::shared_ptr<Inode>& Mount::root() {
  if (const auto facts = folder_.look(""); facts.ok()) root_->refresh(*facts);
  return root_;
}

std::shared_ptr<Inode> Mount::make(std::string path, const HostFacts& facts) {
  auto node = std::make_shared<Inode>(usage_, facts.stat.ino, facts.stat.mode, facts.stat.mtime_ns);
  node->host = std::make_unique<HostNode>(HostNode{this, std::move(path), options_.device, std::nullopt});
  node->refresh(facts);
  if (node->is_symlink()) node->set_target(facts.target);
  return node;
}

void Mount::drop(Nodes::iterator entry) {
  gone_.push_back(std::move(entry->second));
  nodes_.erase(entry);
}

void Mount::forget() {
  gone_.clear();
  if (nodes_.size() > nodes_kept + dirty_.size()) drop_unused();
}

void Mount::drop_unused() {
  gone_.clear();
  std::erase_if(
      nodes_, [](const auto& entry) { return entry.second.use_count() == 1 && !entry.second->host->dirty; });
}

Result<Inode*> Mount::find(const Inode& directory, std::string_view name) {
  std::string path = path_in(directory, name);
  const auto known = nodes_.find(path);
  if (known != nodes_.end() && known->second->host->dirty) return known->second.get();
  const auto facts = folder_.look(path);
  if (known != nodes_.end()) {
    Inode& node = *known->second;
    const HostNode& host = *node.host;
    const bool same = facts.ok() && facts->stat.ino == host.facts->stat.ino &&
                      facts->stat.dev == host.facts->stat.dev && (facts->stat.mode & S_IFMT) == node.type() &&
                      (!host.in_shadow || facts->same_content(*host.facts));
    if (same) {
      node.refresh(*facts);
      return &node;
    }
    drop(known);
  }
  if (!facts.ok()) return facts.error() == ENOENT ? Result<Inode*>(nullptr) : facts.failure();
  auto node = make(path, *facts);
  return nodes_.insert_or_assign(std::move(path), std::move(node)).first->second.get();
}

Inode* Mount::known_folder(const Inode& directory, std::string_view name) const {
  if (!dirty_.empty()) return nullptr;
  const auto known = nodes_.find(path_in(directory, name));
  return known != nodes_.end() && known->second->is_directory() ? known->second.get() : nullptr;
}

Result<std::vector<DirectoryEntry>> Mount::list(const Inode& directory) const {
  auto on_host = folder_.list(directory.host->path);
  if (!on_host.ok()) return on_host;
  const std::string prefix = prefix_of(directory);
  std::vector<DirectoryEntry> entries;
  for (auto at = nodes_.lower_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix); ++at) {
    const std::string_view name = std::string_view(at->first).substr(prefix.size());
    const Inode& node = *at->second;
    // Also one that the host has removed meanwhile: here it is still there.
    if (!node.host->dirty || name.find('/') != std::string_view::npos) continue;
    const std::uint64_t number = node.host->facts ? node.host->facts->stat.ino : node.number;
    entries.push_back({std::string(name), node.type(), number});
  }
  entries.insert(entries.end(), std::make_move_iterator(on_host->begin()),
                 std::make_move_iterator(on_host->end()));
  // Of two with one name that of the shadow stays, as it came first.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  const auto same = [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name == b.name; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return entries;
}

Result<FsStat> Mount::statfs(const Inode& node) const {
  return folder_.statfs(node.host->facts ? node.host->path : "");
}

Result<void> Mount::may_change() const {
  if (options_.access == Access::read) return Errno{EROFS};
  return {};
}

Result<void> Mount::may_write(const Inode& node) const {
  if (auto may = may_change(); !may.ok()) return may;
  if (!node.host->facts || node.host->unlinked) return {};
  return folder_.may_write(node.host->path);
}

Result<Fd> Mount::open(const Inode& node) const {
  if (!node.on_host()) return Fd();
  return folder_.open_file(node.host->path);
}

Result<void> Mount::load(Inode& node, const Fd* host) const {
  Fd opened;
  if (host == nullptr || !*host) {
    if (node.host->unlinked) return Errno{ENOENT};  // another may have its name
    auto file = open(node);
    if (!file.ok()) return file.failure();
    opened = *std::move(file);
    host = &opened;
  }
  std::array<std::byte, 65536> buffer;
  for (std::int64_t at = 0;;) {
    const ssize_t size = ::pread(host->get(), buffer.data(), buffer.size(), at);
    if (size == 0) return {};
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Errno{errno};
    const auto bytes = std::span<const std::byte>(buffer).first(static_cast<std::size_t>(size));
    const auto written = node.content().write(bytes, at);
    if (!written.ok() || *written < bytes.size()) {
      (void)node.content().truncate(0);
      return Errno{written.ok() ? ENOSPC : written.error()};
    }
    at += size;
  }
}

std::optional<std::string> Mount::read_known(std::string_view path) const {
  const auto known = nodes_.find(path);
  if (known == nodes_.end() || !known->second->is_regular() || !known->second->on_host()) return std::nullopt;
  return folder_.read_same(path, *known->second->host->facts);
}

void Mount::mark(Inode& node, int writer) {
  Dirty& dirty = dirty_[&node];
  if (!node.host->dirty) {
    node.host->dirty = true;
    dirty.node = node.shared_from_this();
  }
  dirty.writers.insert(writer);
}

Result<void> Mount::prepare_write(Inode& node, int writer, Keep keep, const Fd* host, std::int64_t now_ns) {
  HostNode& place = *node.host;
  if (!place.in_shadow) {
    // What it is compared with later is what it was before it was read.
    const auto facts = place.unlinked ? Result<HostFacts>(Errno{ENOENT}) : folder_.look(place.path);
    if (facts.ok() && facts->stat.ino == place.facts->stat.ino) place.facts = *facts;
    if (keep == Keep::contents) {
      if (auto loaded = load(node, host); !loaded.ok()) return loaded;
    }
    place.in_shadow = true;
    node.modified(now_ns);
  }
  if (!place.unlinked) mark(node, writer);
  return {};
}

Result<Inode*> Mount::create_file(Inode& directory, std::string_view name, std::uint32_t mode, int writer,
                                  std::int64_t now_ns) {
  if (const auto may = may_change(); !may.ok()) return may.failure();
  if (const auto may = folder_.may_write(directory.host->path); !may.ok()) return may.failure();
  std::string path = path_in(directory, name);
  auto node = std::make_shared<Inode>(usage_, next_number_++, S_IFREG | (mode & 0777), now_ns);
  node->nlink = 1;
  node->host = std::make_unique<HostNode>(HostNode{this, path, options_.device, std::nullopt, true});
  mark(*node, writer);
  return nodes_.insert_or_assign(std::move(path), std::move(node)).first->second.get();
}

Result<void> Mount::make_directory(const Inode& directory, std::string_view name, std::uint32_t mode) {
  if (auto may = may_change(); !may.ok()) return may;
  return folder_.make_directory(path_in(directory, name), mode);
}

Result<void> Mount::make_symlink(const Inode& directory, std::string_view name, const std::string& target) {
  if (auto may = may_change(); !may.ok()) return may;
  return folder_.make_symlink(target, path_in(directory, name));
}

Result<void> Mount::link(Inode& existing, const Inode& directory, std::string_view name) {
  if (auto may = may_change(); !may.ok()) return may;
  if (existing.host->dirty) {
    if (auto put = put_back(existing); !put.ok()) return put;
  }
  return folder_.link(existing.host->path, path_in(directory, name));
}

bool Mount::has_new_files(const Inode& directory) const {
  const std::string prefix = prefix_of(directory);
  return std::any_of(dirty_.begin(), dirty_.end(), [&](const auto& entry) {
    const HostNode& host = *entry.second.node->host;
    return !host.facts && host.path.starts_with(prefix);
  });
}

void Mount::unlinked(Inode& node) {
  HostNode& host = *node.host;
  host.unlinked = true;
  host.dirty = false;
  if (node.nlink > 0) --node.nlink;
  if (const auto entry = nodes_.find(host.path); entry != nodes_.end() && entry->second.get() == &node)
    drop(entry);
  if (const auto entry = dirty_.find(&node); entry != dirty_.end()) {
    gone_.push_back(std::move(entry->second.node));
    dirty_.erase(entry);
  }
}

Result<void> Mount::remove(Inode& node) {
  if (auto may = may_change(); !may.ok()) return may;
  const HostNode& host = *node.host;
  if (host.is_root()) return Errno{EBUSY};
  if (node.is_directory()) {
    if (has_new_files(node)) return Errno{ENOTEMPTY};
    if (auto removed = folder_.remove_directory(host.path); !removed.ok()) return removed;
  } else if (host.facts) {
    // Of a file that is in the shadow the host's may be gone already.
    auto removed = folder_.remove_file(host.path);
    if (!removed.ok() && !(host.dirty && removed.error() == ENOENT)) return removed;
  }
  unlinked(node);
  return {};
}

// Without recursion: a tree may be deeper than the stack of a guest's thread.
Result<void> Mount::remove_tree(Inode& node) {
  if (auto may = may_change(); !may.ok()) return may;
  if (node.host->is_root()) return Errno{EBUSY};
  std::vector<std::shared_ptr<Inode>> left{node.shared_from_this()};
  while (!left.empty()) {
    Inode& last = *left.back();
    if (last.is_directory()) {
      const auto entries = list(last);
      if (!entries.ok()) return entries.failure();
      const std::size_t before = left.size();
      for (const DirectoryEntry& entry : *entries) {
        const auto child = find(last, entry.name);
        if (!child.ok()) return child.failure();
        if (*child == nullptr) continue;
        if ((*child)->is_directory()) {
          left.push_back((*child)->shared_from_this());
        } else if (auto removed = remove(**child); !removed.ok()) {
          return removed;
        }
      }
      gone_.clear();
      if (left.size() > before) continue;
    }
    if (auto removed = remove(last); !removed.ok()) return removed;
    left.pop_back();
  }
  return {};
}

void Mount::move_below(const std::string& from, const std::string& to) {
  std::vector<std::shared_ptr<Inode>> moved;
  for (auto at = nodes_.lower_bound(from); at != nodes_.end() && at->first.starts_with(from);) {
    const bool beneath = at->first.size() == from.size() || at->first[from.size()] == '/';
    if (!beneath) {
      ++at;
      continue;
    }
    moved.push_back(std::move(at->second));
    at = nodes_.erase(at);
  }
  for (auto& node : moved) {
    node->host->path.replace(0, from.size(), to);
    nodes_.insert_or_assign(node->host->path, std::move(node));
  }
}

Result<void> Mount::rename(Inode& node, const Inode& directory, std::string_view name, Inode* target) {
  if (auto may = may_change(); !may.ok()) return may;
  if (node.host->is_root() || (target != nullptr && target->host->is_root())) return Errno{EBUSY};
  if (target != nullptr && target->is_directory() && has_new_files(*target)) return Errno{ENOTEMPTY};
  // Two names of one file: Linux leaves both as they are.
  if (target != nullptr && target->host->facts && node.host->facts &&
      target->host->facts->stat.ino == node.host->facts->stat.ino &&
      target->host->facts->stat.dev == node.host->facts->stat.dev)
    return {};
  // Otherwise the old file of that name would be replaced by one that is not written yet.
  if (node.host->dirty) {
    if (auto put = put_back(node); !put.ok()) return put;
  }
  const std::string from = node.host->path;
  const std::string to = path_in(directory, name);
  if (auto renamed = folder_.rename(from, to); !renamed.ok()) return renamed;
  if (target != nullptr) unlinked(*target);
  move_below(from, to);
  return {};
}

Result<void> Mount::set_mode(Inode& node, std::uint32_t mode, std::int64_t now_ns) {
  if (auto may = may_change(); !may.ok()) return may;
  if (node.host->is_root()) return Errno{EPERM};
  if (node.host->facts && !node.host->unlinked) {
    if (auto set = folder_.set_mode(node.host->path, mode); !set.ok()) return set;
  }
  node.mode = node.type() | (mode & 0777);
  node.host->has_own_mode = true;
  node.ctime_ns = now_ns;
  return {};
}

Result<void> Mount::set_times(Inode& node, Times times, std::int64_t now_ns) {
  if (auto may = may_change(); !may.ok()) return may;
  if (node.host->is_root()) return Errno{EPERM};
  // The host's times tell whether somebody else has written: those of a written file are set when it goes
  // back.
  if (node.host->facts && !node.host->dirty && !node.host->unlinked) {
    if (auto set = folder_.set_times(node.host->path, times); !set.ok()) return set;
    if (const auto facts = folder_.look(node.host->path); facts.ok()) node.host->facts = *facts;
  }
  node.atime_ns = times.atime_ns.value_or(node.atime_ns);
  node.mtime_ns = times.mtime_ns.value_or(node.mtime_ns);
  node.ctime_ns = now_ns;
  return {};
}

void Mount::settle(Inode& node, const HostFacts& facts) {
  node.host->facts = facts;
  node.host->dirty = false;
  node.host->has_own_mode = false;
  const auto entry = dirty_.find(&node);
  gone_.push_back(std::move(entry->second.node));
  dirty_.erase(entry);
}

/// EBUSY when the host's file is not the one any more that was read.
Result<void> Mount::put_back(Inode& node) {
  const HostNode& host = *node.host;
  auto existing = HostFolder::Existing::refuse;
  if (host.facts) {
    const auto now = folder_.look(host.path);
    if (now.ok() && !now->same_content(*host.facts)) return Errno{EBUSY};
    if (now.ok()) existing = HostFolder::Existing::replace;
    // Who has made a file private meanwhile wants it to stay so.
    if (now.ok() && !host.has_own_mode) node.mode = now->stat.mode;
  }
  const auto put = folder_.put(host.path, contents_of(node.content()), node.mode,
                               {node.atime_ns, node.mtime_ns}, existing);
  if (!put.ok()) return Errno{put.error() == EEXIST ? EBUSY : put.error()};
  settle(node, *put);
  return {};
}

/// Beside the file that somebody else has changed; the name.
Result<std::string> Mount::put_aside(Inode& node) {
  const std::string path = node.host->path;
  for (int copy = 1; copy <= most_copies; ++copy) {
    std::string aside = aside_of(path, copy);
    const auto put = folder_.put(aside, contents_of(node.content()), node.mode,
                                 {node.atime_ns, node.mtime_ns}, HostFolder::Existing::refuse);
    if (!put.ok() && put.error() == EEXIST) continue;
    if (!put.ok()) return put.failure();
    // From now on the name is the host's file again.
    if (const auto entry = nodes_.find(path); entry != nodes_.end() && entry->second.get() == &node)
      drop(entry);
    settle(node, *put);
    node.host->path = aside;
    return aside;
  }
  return Errno{EEXIST};
}

void Mount::sync_one(Inode& node, Synced& synced) {
  const std::string path = node.host->path;
  const auto tell = [&](const std::string& what) {
    synced.add_problem(fmt::format("{}/{}: {}", options_.path, path, what));
  };
  const bool was_there = node.host->facts && !folder_.look(path).ok();
  auto put = put_back(node);
  if (put.ok() && was_there) tell("removed on the host meanwhile; what the guest wrote is there again");
  if (!put.ok() && put.error() == EBUSY) {
    if (const auto aside = put_aside(node); aside.ok()) {
      tell(fmt::format("changed on the host meanwhile; what the guest wrote is in {}/{}", options_.path,
                       *aside));
      put = {};
    } else {
      put = aside.failure();
    }
  }
  if (put.ok()) {
    ++synced.files;
  } else {
    ++synced.lost;
    tell("not written back: " + errno_text(put.error()));
    dirty_[&node].writers.clear();  // tried again with whatever is written back next
  }
}

bool Mount::has_written(int writer) const {
  return std::any_of(dirty_.begin(), dirty_.end(), [&](const auto& entry) {
    const std::set<int>& writers = entry.second.writers;
    return writers.contains(writer) || writers.contains(nobody);
  });
}

void Mount::sync(std::optional<int> writer, Synced& synced) {
  std::vector<std::shared_ptr<Inode>> written;
  for (const auto& [node, dirty] : dirty_) {
    const std::set<int>& writers = dirty.writers;
    const bool wanted = !writer || writers.empty() || writers.contains(*writer) || writers.contains(nobody);
    if (wanted) written.push_back(dirty.node);
  }
  std::sort(written.begin(), written.end(),
            [](const auto& a, const auto& b) { return a->host->path < b->host->path; });
  for (const auto& node : written) sync_one(*node, synced);
  written.clear();
  drop_unused();
}

}  // namespace tare::kernel
