#include "lab/process/proc.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <map>

#include "base/fd.hpp"

namespace tare::process::proc {

Text read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {{}, errno};
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n == 0) return {std::move(text), 0};
    if (n < 0 && errno != EINTR) return {{}, errno};
  }
}

std::optional<Stat> parse_stat(std::string_view line) {
  Stat stat;
  const std::size_t close = line.rfind(')');
  if (std::from_chars(line.data(), line.data() + line.size(), stat.pid).ec != std::errc{})
    return std::nullopt;
  if (close == std::string_view::npos || close + 4 > line.size()) return std::nullopt;
  stat.state = line[close + 2];
  line.remove_prefix(close + 3);
  // Fields 4 (ppid) to 24 (rss), as proc(5) numbers them; some are negative.
  std::int64_t fields[25] = {};
  for (int i = 4; i <= 24; ++i) {
    const std::size_t digit = line.find_first_not_of(' ');
    if (digit == std::string_view::npos) return std::nullopt;
    line.remove_prefix(digit);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), fields[i]);
    // vsize or rsslim-like fields beyond 63 bits are of no interest here.
    if (error == std::errc::invalid_argument) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  }
  const auto count = [&](int i) { return fields[i] > 0 ? static_cast<std::uint64_t>(fields[i]) : 0; };
  stat.ppid = static_cast<pid_t>(fields[4]);
  stat.group = static_cast<pid_t>(fields[5]);
  stat.utime = count(14);
  stat.stime = count(15);
  stat.cutime = count(16);
  stat.cstime = count(17);
  stat.threads = count(20);
  stat.start_time = count(22);
  stat.rss_pages = count(24);
  return stat;
}

std::optional<Stat> read_stat(const std::string& proc, pid_t pid) {
  const Text text = read_file(proc + "/" + std::to_string(pid) + "/stat");
  if (text.error != 0) return std::nullopt;
  return parse_stat(text.text);
}

std::vector<Stat> read_all(const std::string& proc) {
  std::vector<Stat> all;
  DIR* folder = ::opendir(proc.c_str());
  if (folder == nullptr) return all;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    if (std::optional<Stat> stat = read_stat(proc, pid)) all.push_back(*stat);
  }
  ::closedir(folder);
  return all;
}

std::vector<Stat> tree_of(const std::vector<Stat>& all, pid_t root) {
  std::multimap<pid_t, const Stat*> children;
  std::vector<Stat> tree;
  for (const Stat& stat : all) {
    if (stat.pid == root) {
      tree.push_back(stat);
    } else {
      children.emplace(stat.ppid, &stat);
    }
  }
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const pid_t parent = tree[i].pid;
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) tree.push_back(*child->second);
    // Each family is taken once, so a loop in a snapshot torn by pid reuse ends.
    children.erase(parent);
  }
  return tree;
}

std::optional<std::uint64_t> kilobytes(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t value = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), value).ec != std::errc{}) return std::nullopt;
    return value * 1024;
  }
  return std::nullopt;
}

}  // namespace tare::process::proc
