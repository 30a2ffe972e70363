#include "engine/kernel/path_walk.hpp"

#include <cerrno>

#include "engine/kernel/mount.hpp"

namespace tare::kernel {
namespace {

constexpr std::size_t max_name = 255;
constexpr int max_links = 40;

/// Whether the folders of the host on the way are asked for, or taken as they were last time. What lies below
/// them is looked for by its whole path, and a folder that has become something else is found out then.
enum class Way { asked, known };

Result<Inode*> child_of(Inode& directory, const std::string& name, Way way) {
  if (directory.host) {
    Mount& mount = *directory.host->mount;
    Inode* const known = way == Way::known ? mount.known_folder(directory, name) : nullptr;
    return known != nullptr ? known : mount.find(directory, name);
  }
  const auto entry = directory.entries().find(name);
  if (entry == directory.entries().end()) return nullptr;
  Inode* const node = entry->second.get();
  if (node->host && way == Way::asked) node->host->mount->root();  // as it is now
  return node;
}

class Walker {
 public:
  Walker(Inode& root, Follow follow, Way way) : follow_(follow), way_(way) { found_.above.push_back(&root); }

  Result<Found> run(std::string path) {
    rest_ = std::move(path);
    at_ = 0;
    for (;;) {
      if (!next_component()) return finish(Found::Last::root);
      if (component_ == ".") {
        if (is_last_) return finish(Found::Last::dot);
        continue;
      }
      if (component_ == "..") {
        leave();
        if (is_last_) return finish(Found::Last::dot_dot);
        continue;
      }
      if (component_.size() > max_name) return Errno{ENAMETOOLONG};
      const auto child = child_of(*found_.above.back(), component_, is_last_ ? Way::asked : way_);
      if (!child.ok()) return child.failure();
      Inode* const node = *child;
      if (node == nullptr && !is_last_) return Errno{ENOENT};
      if (node != nullptr && node->is_symlink() && follows()) {
        if (++links_ > max_links) return Errno{ELOOP};
        expand(node->target());
        continue;
      }
      if (is_last_) return finish(node);
      if (!node->is_directory()) return Errno{ENOTDIR};
      enter(*node);
    }
  }

 private:
  // Cuts the next name off; false when there is none.
  bool next_component() {
    while (at_ < rest_.size() && rest_[at_] == '/') ++at_;
    if (at_ == rest_.size()) return false;
    std::size_t end = rest_.find('/', at_);
    if (end == std::string::npos) end = rest_.size();
    component_.assign(rest_, at_, end - at_);
    const std::size_t next = rest_.find_first_not_of('/', end);
    is_last_ = next == std::string::npos;
    found_.trailing_slash = is_last_ && end < rest_.size();
    at_ = end;
    return true;
  }

  bool follows() const {
    if (!is_last_ || follow_ == Follow::yes) return true;
    return follow_ == Follow::no && found_.trailing_slash;
  }

  void expand(const std::string& target) {
    if (target.front() == '/') {
      found_.above.resize(1);
      found_.path.clear();
    }
    rest_ = target + rest_.substr(at_);
    at_ = 0;
  }

  void enter(Inode& directory) {
    found_.above.push_back(&directory);
    found_.path += '/';
    found_.path += component_;
  }
  void leave() {
    if (found_.above.size() == 1) return;
    found_.above.pop_back();
    found_.path.resize(found_.path.rfind('/'));
  }

  Result<Found> finish(Found::Last last) {
    found_.last = last;
    found_.node = found_.above.back();
    if (found_.path.empty()) found_.path = "/";
    return std::move(found_);
  }
  Result<Found> finish(Inode* node) {
    if (node != nullptr && found_.trailing_slash && !node->is_directory() && follow_ != Follow::parent) {
      return Errno{ENOTDIR};
    }
    found_.node = node;
    found_.path += '/';
    found_.path += component_;
    found_.name = std::move(component_);
    return std::move(found_);
  }

  const Follow follow_;
  const Way way_;
  Found found_;
  std::string rest_;
  std::size_t at_ = 0;
  std::string component_;
  bool is_last_ = false;
  int links_ = 0;
};

}  // namespace

Result<Found> walk(Inode& root, std::string_view cwd, std::string_view path, Follow follow) {
  if (path.empty()) return Errno{ENOENT};
  if (path.find('\0') != std::string_view::npos) return Errno{EINVAL};
  if (path.size() > max_path) return Errno{ENAMETOOLONG};
  std::string whole;
  if (path.front() != '/') {
    whole.append(cwd);
    whole += '/';
  }
  whole.append(path);
  if (follow != Follow::parent) {
    auto found = Walker(root, follow, Way::known).run(whole);
    if (found.ok() || (found.error() != ELOOP && found.error() != ENOTDIR)) return found;
  }
  return Walker(root, follow, Way::asked).run(std::move(whole));
}

}  // namespace tare::kernel
