#include "lab/verdict/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <boost/describe.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "base/file.hpp"
#include "lab/verdict/compare.hpp"

namespace tare::verdict {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view cache_schema = "tare.calibration.v1";

struct Machine {
  measure::HostFacts host;
  std::vector<report::Calibration> entries;
};
BOOST_DESCRIBE_STRUCT(Machine, (), (host, entries))

struct Cache {
  std::string schema = std::string(cache_schema);
  std::vector<Machine> machines;
};
BOOST_DESCRIBE_STRUCT(Cache, (), (schema, machines))

constexpr const char* repair = "remove it and calibrate again";

void check_pairs(const Cache& cache, const fs::path& path) {
  for (const Machine& machine : cache.machines) {
    for (const report::Calibration& entry : machine.entries) {
      if (entry.first.size() == entry.second.size()) continue;
      throw Error(ErrorCode::input, path.string(),
                  fmt::format("{} on {}: first and second differ in length", entry.row, entry.target));
    }
  }
}

Cache load(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !fs::is_symlink(path, error)) return {};
  try {
    auto cache = json::read<Cache>(json::parse(file::read(path), path.string()), path.string());
    if (cache.schema != cache_schema)
      throw Error(ErrorCode::input, path.string(), "its schema is " + cache.schema);
    check_pairs(cache, path);
    return cache;
  } catch (const Error& damage) {
    throw Error(ErrorCode::input, damage.what(), damage.why(), repair);
  }
}

/// Keeps other processes out while the file is read, changed and written.
class Lock {
 public:
  explicit Lock(const fs::path& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_.get() < 0 || ::flock(fd_.get(), LOCK_EX) != 0)
      throw Error(ErrorCode::failed, fmt::format("cannot lock {}", folder.string()), errno_text(errno));
  }

 private:
  Fd fd_;
};

bool on(const Machine& machine, const report::Document& document) {
  report::Document other;
  other.host = machine.host;
  return same_machine(other, document);
}

bool about_the_same(const report::Calibration& a, const report::Calibration& b) {
  return a.target == b.target && a.row == b.row && a.metric == b.metric && a.quantile == b.quantile;
}

}  // namespace

fs::path calibration_file() {
  return file::cache_folder() / "calibration.json";
}

std::vector<report::Calibration> calibrations_for(const report::Document& document, const fs::path& cache) {
  std::vector<report::Calibration> known;
  for (Machine& machine : load(cache).machines) {
    if (on(machine, document)) known = std::move(machine.entries);
  }
  if (document.calibrations)
    known.insert(known.end(), document.calibrations->begin(), document.calibrations->end());
  return known;
}

void check_cache(const fs::path& cache) {
  load(cache);
  file::check_writable(cache);
}

void save_calibrations(const report::Document& document, std::vector<report::Calibration> entries,
                       const fs::path& path) {
  fs::create_directories(path.parent_path());
  const Lock lock(path.parent_path());
  Cache cache = load(path);
  auto machine = std::ranges::find_if(cache.machines, [&](const Machine& one) { return on(one, document); });
  if (machine == cache.machines.end()) machine = cache.machines.insert(cache.machines.end(), Machine{});
  machine->host = document.host;
  std::erase_if(machine->entries, [&](const report::Calibration& old) {
    return std::ranges::any_of(entries, [&](const auto& entry) { return about_the_same(entry, old); });
  });
  for (report::Calibration& entry : entries) machine->entries.push_back(std::move(entry));
  file::write_atomically(path, json::pretty(cache));
}

std::optional<double> minimum_detectable(const std::vector<report::Calibration>& known,
                                         const Design& design) {
  const auto found = std::ranges::find_if(known, [&](const report::Calibration& entry) {
    return entry.target == design.target && entry.row == design.row && entry.metric == design.metric &&
           entry.quantile == design.quantile;
  });
  if (found == known.end() || found->first.size() != found->second.size()) return std::nullopt;
  const auto effect =
      measure::minimum_detectable(found->first, found->second, design.pairing, design.processes);
  // Fewer samples a process than were calibrated see less: the error of a median goes with 1/√n.
  const double scarcity = static_cast<double>(found->iterations) /
                          static_cast<double>(std::max<std::uint64_t>(design.samples, 1));
  if (!effect || !std::isfinite(*effect)) return std::nullopt;
  return *effect * std::sqrt(std::max(scarcity, 1.0));
}

}  // namespace tare::verdict
