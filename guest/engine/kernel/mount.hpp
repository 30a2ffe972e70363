#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/kernel/host_folder.hpp"
#include "engine/kernel/inode.hpp"
#include "engine/kernel/synced.hpp"

namespace tare::kernel {

/// A folder of the host that a guest sees as one of its own.
///
/// What guests write into files stays in a shadow, in memory, until the process that opened them has ended:
/// then sync() puts each written file back, whole. New files are in the shadow, too. All else (folders,
/// links, names that are moved or removed, modes and times of files that nobody has written) is changed at
/// once, so that its errors are those of the call. What nobody has written is read from the host, as it is
/// there at that moment.
///
/// Guarded by the lock of its file system.
class Mount {
 public:
  enum class Access { read, write };

  struct Options {
    std::string path;      ///< where the guest sees it
    std::uint64_t device;  ///< of its files
    Access access = Access::read;
  };
  /// `usage` is charged for the shadow.
  Mount(Usage& usage, HostFolder folder, Options options, std::int64_t now_ns);
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  /// As the host has it now.
  const std::shared_ptr<Inode>& root();

  /// Forgets what nobody needs. Pointers from find() are good until then, or until sync() or remove_tree().
  void forget();

  /// What `name` of the directory stands for now; null when there is no such name.
  Result<Inode*> find(const Inode& directory, std::string_view name);
  /// The folder that the name stood for lately; null when that is not known, or something is in the shadow.
  /// Whether it still is there is found out by looking for what is in it.
  Inode* known_folder(const Inode& directory, std::string_view name) const;
  Result<std::vector<DirectoryEntry>> list(const Inode& directory) const;
  Result<FsStat> statfs(const Inode& node) const;

  /// Whether the file may be written: EROFS, EACCES.
  Result<void> may_write(const Inode& node) const;
  /// The host's file for reading; without a descriptor when it is in the shadow.
  Result<Fd> open(const Inode& node) const;
  /// The content of a file of the host that find() has found lately, by its path beneath the mount; nothing
  /// when it is not known, or not the same.
  std::optional<std::string> read_known(std::string_view path) const;
  /// Brings the file into the shadow on behalf of the process `writer`, which will write it. `host` is what
  /// open() gave; opened here when it is null, for a file that has its name.
  enum class Keep { contents, nothing };
  Result<void> prepare_write(Inode& node, int writer, Keep keep, const Fd* host, std::int64_t now_ns);

  // Each for a name that does not exist yet in `directory`.
  Result<Inode*> create_file(Inode& directory, std::string_view name, std::uint32_t mode, int writer,
                             std::int64_t now_ns);
  Result<void> make_directory(const Inode& directory, std::string_view name, std::uint32_t mode);
  Result<void> make_symlink(const Inode& directory, std::string_view name, const std::string& target);
  Result<void> link(Inode& existing, const Inode& directory, std::string_view name);

  Result<void> remove(Inode& node);
  /// With all that is in it.
  Result<void> remove_tree(Inode& node);
  /// `target` is what the name stands for so far, or null.
  Result<void> rename(Inode& node, const Inode& directory, std::string_view name, Inode* target);

  Result<void> set_mode(Inode& node, std::uint32_t mode, std::int64_t now_ns);
  Result<void> set_times(Inode& node, Times times, std::int64_t now_ns);

  /// Whether there is something to put back when `writer` has ended: also what nobody has written.
  bool has_written(int writer) const;
  /// Puts that back, or without a writer all, and adds how that went.
  void sync(std::optional<int> writer, Synced& synced);

 private:
  using Nodes = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;
  struct Dirty {
    std::shared_ptr<Inode> node;
    std::set<int> writers;
  };

  std::shared_ptr<Inode> make(std::string path, const HostFacts& facts);
  Result<void> may_change() const;
  void mark(Inode& node, int writer);
  void drop(Nodes::iterator entry);
  void drop_unused();
  bool has_new_files(const Inode& directory) const;
  void unlinked(Inode& node);
  void move_below(const std::string& from, const std::string& to);
  Result<void> put_back(Inode& node);
  Result<std::string> put_aside(Inode& node);
  /// A dirty file is on the host now.
  void settle(Inode& node, const HostFacts& facts);
  void sync_one(Inode& node, Synced& synced);
  Result<void> load(Inode& node, const Fd* host) const;

  Usage& usage_;
  const HostFolder folder_;
  const Options options_;
  const std::shared_ptr<Inode> root_;
  Nodes nodes_;                               ///< by path: what was looked at lately, and all of the shadow
  std::vector<std::shared_ptr<Inode>> gone_;  ///< were in nodes_; the call that goes on may still point there
  std::unordered_map<const Inode*, Dirty> dirty_;
  std::uint64_t next_number_ = std::uint64_t{1} << 48;  ///< of new files, until the host gives them one
};

}  // namespace tare::kernel
