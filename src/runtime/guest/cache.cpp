#include "runtime/guest/cache.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "base/json.hpp"
#include "protocol/messages.hpp"
#include "runtime/guest/child.hpp"

namespace tare::guest {
namespace {

namespace fs = std::filesystem;

constexpr const char* pack_name = "pack";
constexpr const char* snapshot_name = "snapshot.blob";
constexpr const char* receipt_name = "receipt.json";
constexpr std::string_view unfinished = ".new-";
constexpr std::size_t installations_kept = 6;
constexpr std::chrono::seconds tool_limit{120};

/// Of a file, without reading it.
struct Facts {
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const Facts&) const = default;
};
BOOST_DESCRIBE_STRUCT(Facts, (), (size, changed_ns))

/// Written last into a folder: its files as they were then.
struct Receipt {
  Facts pack;
  Facts snapshot;
  bool operator==(const Receipt&) const = default;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (pack, snapshot))

std::optional<Facts> facts_of(const fs::path& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return Facts{static_cast<std::uint64_t>(facts.st_size),
               std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

std::optional<Receipt> receipt_of(const fs::path& folder) {
  const auto pack = facts_of(folder / pack_name);
  const auto snapshot = facts_of(folder / snapshot_name);
  if (!pack || !snapshot || pack->size == 0 || snapshot->size == 0) return std::nullopt;
  return Receipt{*pack, *snapshot};
}

/// Whether the files are there as they were made.
bool is_whole(const fs::path& folder) {
  const auto now = receipt_of(folder);
  if (!now) return false;
  try {
    const fs::path path = folder / receipt_name;
    return json::read<Receipt>(json::parse(file::read(path), path.string()), path.string()) == *now;
  } catch (const Error&) {
    return false;
  }
}

void run_tool(const std::string& what, std::vector<std::string> argv) {
  Child tool({std::move(argv), engine_environment()});
  const auto status = tool.wait(tool_limit);
  if (status == 0) return;
  const std::string words = tool.last_words();
  const std::string how =
      status ? tool.how_it_ended() : fmt::format("not done after {} s", tool_limit.count());
  throw Error(ErrorCode::failed, "cannot make the guest engine's " + what,
              words.empty() ? how : how + ": " + words);
}

void make(const Installation& installation, Library library, const fs::path& folder) {
  const std::string node = installation.node.string();
  const std::string pack = (folder / pack_name).string();
  const std::string snapshot = (folder / snapshot_name).string();
  run_tool("library",
           {node, "--expose-internals", (installation.lib / "compat" / "extract.cjs").string(), pack});
  EngineConfig config;
  config.build = true;
  if (library != Library::small) config.library = library;
  config.pack = pack;
  config.snapshot = snapshot;
  std::vector<std::string> build{node};
  build.insert(build.end(), installation.node_flags.begin(), installation.node_flags.end());
  build.insert(build.end(), {installation.engine().string(), json::line(config)});
  run_tool("start-up snapshot", std::move(build));
  const auto receipt = receipt_of(folder);
  if (!receipt) {
    throw Error(ErrorCode::failed, "cannot make the guest engine's start-up snapshot",
                "its tool ended well and left no file");
  }
  file::write_atomically(folder / receipt_name, json::line(*receipt));
}

Prepared in_folder(const fs::path& folder) {
  return {folder / pack_name, folder / snapshot_name, {}, {}};
}

/// Holds a lock file as long as it lives; empty, with errno, when there can be none.
Fd lock_folder(const fs::path& folder) {
  Fd lock(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) return lock;
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return {};
  }
  return lock;
}

/// Under the lock, so that whatever is unfinished was left by a process that is gone.
void sweep(const fs::path& cache, const fs::path& in_use) {
  std::vector<std::pair<fs::file_time_type, fs::path>> finished;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    if (!entry.is_directory(error)) continue;
    if (entry.path().string().find(unfinished) != std::string::npos) {
      fs::remove_all(entry.path(), error);
    } else if (entry.path() != in_use) {
      finished.emplace_back(entry.last_write_time(error), entry.path());
    }
  }
  std::sort(finished.rbegin(), finished.rend());
  for (std::size_t i = installations_kept - 1; i < finished.size(); ++i)
    fs::remove_all(finished[i].second, error);
}

/// For a folder that is used and not written: what is made is this process's own.
Prepared in_private(const Installation& installation, Library library, const std::string& why) {
  auto folder = std::make_shared<file::TemporaryFolder>("tare-guest");
  make(installation, library, folder->path());
  Prepared prepared = in_folder(folder->path());
  prepared.notice =
      fmt::format("the guest engine starts from a temporary folder, and slowly: cannot write {} ({})",
                  installation.cache.string(), why);
  prepared.folder = std::move(folder);
  return prepared;
}

class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) {
      value_ ^= static_cast<unsigned char>(byte);
      value_ *= 0x100000001b3;
    }
    value_ *= 0x100000001b3;  // where one text ends
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;  // FNV-1a, 64 bits
};

}  // namespace

std::string cache_key(const Installation& installation, Library library) {
  std::vector<fs::path> files{installation.node};
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(installation.lib, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Hash hash;
  for (const fs::path& path : files) {
    const auto facts = facts_of(path);
    if (!facts)
      throw Error(ErrorCode::unavailable, "the guest engine is unavailable", path.string() + " is missing");
    hash.add(path.string());
    hash.add(json::line(*facts));
  }
  for (const std::string& flag : installation.node_flags) hash.add(flag);
  const std::string key = fmt::format("{}-{:016x}", node_version, hash.value());
  return library == Library::small ? key : key + "-" + boost::describe::enum_to_string(library, "");
}

Prepared prepare(const Installation& installation, Library library, Reuse reuse) {
  const fs::path folder = installation.cache / cache_key(installation, library);
  if (reuse == Reuse::allowed && is_whole(folder)) return in_folder(folder);

  std::error_code error;
  fs::create_directories(installation.cache, error);
  if (error) return in_private(installation, library, error.message());
  const auto before = receipt_of(folder);
  const Fd lock = lock_folder(installation.cache);
  if (!lock) return in_private(installation, library, errno_text(errno));
  // Somebody else may have made it while we waited.
  const bool made_meanwhile = reuse == Reuse::allowed || receipt_of(folder) != before;
  if (made_meanwhile && is_whole(folder)) return in_folder(folder);

  sweep(installation.cache, folder);
  const fs::path fresh = folder.string() + std::string(unfinished) + std::to_string(::getpid());
  fs::create_directory(fresh, error);
  if (error) return in_private(installation, library, error.message());
  try {
    make(installation, library, fresh);
  } catch (const Error&) {
    fs::remove_all(fresh, error);
    throw;
  }
  fs::remove_all(folder, error);
  fs::rename(fresh, folder, error);
  if (error) {
    fs::remove_all(fresh, error);
    return in_private(installation, library, error.message());
  }
  return in_folder(folder);
}

}  // namespace tare::guest
